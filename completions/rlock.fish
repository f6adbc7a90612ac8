# Completion of rlock for fish; behind the options it is the command's own.
# `make lint` compares the options with --help.

# The options that take a value: letters in a row, and long names.
set -g __rlock_letters
set -g __rlock_names
# What takes no command, but a lock's name or a pattern.
set -g __rlock_verbs --acquire --renew --release --status --list --break --doctor

# Succeed where the command is to be completed; print its words so far.
function __rlock_command
    set -l words (commandline -opc)
    set -l value no
    set -l shell no
    set -e words[1]
    while set -q words[1]
        set -l word $words[1]
        if test $value = yes
            set value no
        else if test $shell = yes; and not string match -q -- '-*' $word
            set -e words[1]
            continue
        else if not string match -qr -- '^-.' $word; or test $word = --
            break
        else
            string match -qr -- "^(-[^-$__rlock_letters]*c|--command(=|\$))" $word
            and set shell yes
            string match -qr -- '^--.' $word
            and string match -q -- "$word*" $__rlock_verbs
            and set shell yes
            string match -qr -- "^-[^-$__rlock_letters]*[$__rlock_letters]\$" $word
            or contains -- $word --$__rlock_names
            and set value yes
        end
        set -e words[1]
    end
    test $value$shell = nono; or return 1
    if set -q words[1]
        test $words[1] = --; and set -e words[1]
        string join \n -- $words
        return 0
    end
    not string match -q -- '-*' (commandline -ct)
end

function __rlock_complete_command
    complete -C (string join ' ' -- (string escape -- (__rlock_command)) (commandline -ct | string collect -a))
end

function __rlock_option
    complete -c rlock -n 'not __rlock_command' $argv
    argparse -i r x 's=+' 'l=+' -- $argv
    if set -q _flag_r; or set -q _flag_x
        set -g __rlock_letters (string join '' $__rlock_letters $_flag_s)
        set -ga __rlock_names $_flag_l
    end
end

complete -c rlock -f
complete -c rlock -n __rlock_command -a '(__rlock_complete_command)'

__rlock_option -s k -l key -x -d 'Name of the lock'
__rlock_option -s t -l ttl -x -d 'Lease time (30s)'
__rlock_option -s x -s e -l exclusive -d 'One holder (the default)'
__rlock_option -s s -l shared -d 'Any number of holders, but no exclusive one'
__rlock_option -s j -l slots -x -d 'At most N holders, each in a slot'
__rlock_option -s n -l nonblock -l nb -l nonblocking -d 'Give up at once if the lock is held'
__rlock_option -s w -l wait -l timeout -x -d 'Give up after this time'
__rlock_option -s r -l retries -x -d 'Give up after so many pauses'
__rlock_option -l retry-delay -x -d 'First pause (100ms)'
__rlock_option -l retry-max -x -d 'Longest pause (1s)'
__rlock_option -s E -l conflict-exit-code -x -d 'Status when the lock was not obtained (75)'
__rlock_option -l note -x -d 'What others see of the holder'
__rlock_option -l prefix -x -d 'Put in front of the key (lock:)'
__rlock_option -l shard -x -d 'One of N locks, by a hash of ID: ID/N'
__rlock_option -l fence -d 'Number each acquisition, ever increasing'
__rlock_option -s c -l command -x -d 'Run a string by /bin/sh'
__rlock_option -s o -l close -d 'The command gets no descriptor of rlock (always)'
__rlock_option -l on-unreachable -x -a 'fail skip run local' -d 'When no server is (fail)'
__rlock_option -l on-lost -x -a 'kill warn pause' -d 'When the lock is lost (kill)'
__rlock_option -l signal -x -a "(kill -l | string split ' ' -n)" -d 'First signal to stop the command (TERM)'
__rlock_option -l kill-after -x -d 'KILL follows this long after it (5s)'
__rlock_option -l max-run -x -d 'Stop the command after this time'
__rlock_option -l min-hold -x -d 'Keep the lock taken for this time at least'
__rlock_option -l once -x -d 'Not if it has succeeded within this time'
__rlock_option -l once-exit-code -x -d 'Status when it was done before (0)'
__rlock_option -s u -l url -x -d 'The server'
__rlock_option -l connect-timeout -x -d 'To connect and log in (2s)'
__rlock_option -l command-timeout -x -d 'For one answer of the server (2s)'
__rlock_option -l password-file -r -F -d 'Its first line is the password'
__rlock_option -l tls-cacert -r -F -d 'Whom to trust'
__rlock_option -l tls-cert -r -F -d 'Our certificate'
__rlock_option -l tls-key -r -F -d 'Its key'
__rlock_option -l tls-insecure -d "Don't check the server's certificate"
__rlock_option -l replicas -x -d 'That must have the lock, too (0)'
__rlock_option -l acquire -d 'Take the lock, print its token'
__rlock_option -l renew -d 'Set the lease of --token again'
__rlock_option -l release -d 'Release the lock of --token'
__rlock_option -l token -x -d 'What --acquire printed'
__rlock_option -l status -d 'Who holds the lock, who waits'
__rlock_option -l list -d 'A line for each lock'
__rlock_option -l doctor -d 'Check the server for what makes locks unsafe'
__rlock_option -l break -d 'Release the lock, whoever holds it'
__rlock_option -l json -d 'Print JSON'
__rlock_option -l report -r -F -d 'Write how the run ended, a JSON object'
__rlock_option -l metrics -r -F -d 'Count this run in a file for Prometheus'
__rlock_option -l log -x -a 'text json' -d 'Lines on stderr (text)'
__rlock_option -s v -l verbose -d 'Say who holds the lock, waits, times'
__rlock_option -s q -l quiet -d 'Say nothing at all'
__rlock_option -s h -l help -d 'Print a summary of the options'
__rlock_option -s V -l version -d 'Print the version'
