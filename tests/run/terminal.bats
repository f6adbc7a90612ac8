#!/usr/bin/env bats
# At a terminal: keys, job control, who has the terminal when.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2034,SC2089,SC2090,SC2153

load ../lib/rlock
load ../lib/pty

setup_file() { redis_start; }
teardown_file() { redis_stop; }

setup() {
  rlock_setup
  PTY_DRIVERS=()
  # Commands: one that reads the terminal, and one that does not, and says it
  # is there.
  export READS='echo $$ >"$T/cmd.pid"; exec cat'
  export SLEEPS='echo $$ >"$T/cmd.pid"; exec sleep 30'
}

teardown() {
  redis_thaw
  pty_stop
  rlock_teardown
}

# started: the command has said its pid: sets CMD and HOLDER.
started() {
  CMD=$(wait_pidfile "$T/cmd.pid") || return 1
  HOLDER=$(ps -o ppid= -p "$CMD" | tr -d ' ')
  rm "$T/cmd.pid"
}

group_of() { ps -o pgid= -p "$1" | tr -d ' '; }

# goes_on FILE: lines are added to it.
goes_on() {
  local n=0
  [[ ! -e $1 ]] || n=$(lines "$1")
  wait_until 5 _longer "$1" $((n + 3))
}

_longer() { (($(lines "$1") >= $2)); }

@test "Ctrl-Z, jobs, fg, Ctrl-C" {
  pty_start
  types '$RLOCK -k $K -- cat'
  wait_key "$L"
  types 'one'
  sees '^one$'
  presses '\x1a'
  sees 'Stopped'
  prompts 148
  types 'jobs'
  sees 'Stopped .*cat$'
  prompts 0
  types 'fg'
  sees 'cat$'
  types 'two'
  sees '^two$'
  is_key
  presses '\x03'
  prompts 130
  no_key
}

@test "Ctrl-Z and fg, over and over" {
  local _
  pty_start
  types '$RLOCK -k $K -- cat'
  for _ in 1 2 3 4 5 6 7 8; do
    types 'word'
    sees '^word$'
    presses '\x1a'
    prompts 148
    types 'fg'
    sees 'cat$'
  done
  types 'last'
  sees '^last$'
  presses '\x04'
  prompts 0
  no_key
}

@test "Ctrl-C and Ctrl-\\ end a command that does not read the terminal" {
  pty_start
  types '$RLOCK -k $K -- sh -c "$SLEEPS"'
  started
  presses '\x03'
  prompts 130
  no_key
  types '$RLOCK -k $K -- sh -c "$SLEEPS"'
  started
  presses '\x1c'
  prompts 131
  no_key
}

@test "Ctrl-C and Ctrl-\\ end a command that reads the terminal" {
  pty_start
  types '$RLOCK -k $K -- cat'
  types 'a'
  sees '^a$'
  presses '\x03'
  prompts 130
  no_key
  types '$RLOCK -k $K -- cat'
  types 'b'
  sees '^b$'
  presses '\x1c'
  prompts 131
  no_key
}

# Counts INT for as long as $T/end is not there; reads the terminal first if
# told so.
COUNTS='
  $SIG{INT} = sub { open my $f, ">>", "$ENV{T}/ints"; print $f "INT\n" };
  $| = 1;
  if (@ARGV) { open my $t, "<", "/dev/tty"; my $line = <$t> }
  open my $p, ">", "$ENV{T}/p"; print $p "$$\n"; close $p; rename "$ENV{T}/p", "$ENV{T}/cmd.pid";
  for (1 .. 2000) { exit 7 if -e "$ENV{T}/end"; select undef, undef, undef, 0.01 }
  exit 9'

@test "one Ctrl-C is one INT to the command, as is one kill" {
  export COUNTS
  pty_start
  types '$RLOCK -k $K --kill-after 20 -- perl -e "$COUNTS"'
  started
  presses '\x03'
  wait_file "$T/ints"
  pass_ms 150
  is "$(cat "$T/ints")" INT
  kill -INT "$HOLDER"
  wait_until 5 eval '[[ $(lines "$T/ints") == 2 ]]'
  pass_ms 150
  is "$(lines "$T/ints")" 2
  touch "$T/end"
  prompts 7
}

@test "one Ctrl-C is one INT to a command that has the terminal" {
  export COUNTS
  pty_start
  types '$RLOCK -k $K --kill-after 20 -- perl -e "$COUNTS" reads'
  types 'line'
  started
  in_front "$CMD"
  presses '\x03'
  wait_file "$T/ints"
  pass_ms 150
  is "$(cat "$T/ints")" INT
  touch "$T/end"
  prompts 7
}

@test "bg and fg of a command that does not read the terminal" {
  pty_start
  types '$RLOCK -k $K -t 0.6 -- sh -c "$SLEEPS"'
  started
  presses '\x1a'
  prompts 148
  _wait_state "$CMD" T
  _wait_state "$HOLDER" T
  types 'bg'
  prompts 0
  wait_until 5 _wait_state "$CMD" S
  pass_ms 700
  is_key
  types 'jobs'
  sees 'Running .*RLOCK'
  prompts 0
  types 'fg'
  sees 'SLEEPS"$'
  presses '\x03'
  prompts 130
  no_key
}

@test "kill of a suspended job ends it" {
  local which
  for which in SLEEPS READS; do
    pty_start
    types "\$RLOCK -k \$K -- sh -c \"\$$which\""
    started
    [[ $which == READS ]] && { types 'x'; sees '^x$'; }
    presses '\x1a'
    prompts 148
    types 'kill %1'
    prompts 0
    wait_gone "$HOLDER"
    not alive "$CMD"
    wait_no_key "$L"
    types 'wait %1'
    prompts 143
  done
}

@test "KILL of a suspended rlock ends its command" {
  pty_start
  types '$RLOCK -k $K -t 0.6 -- sh -c "$SLEEPS"'
  started
  presses '\x1a'
  prompts 148
  kill -KILL "$HOLDER"
  wait_gone "$CMD" 1
  wait_no_key "$L" 1.5
}

@test "started in the background a reader stops as any job; fg lets it read" {
  pty_start
  types '$RLOCK -k $K -- sh -c "$READS" & echo $! >$T/rlock.pid'
  prompts 0
  started
  wait_stopped "$HOLDER"
  _wait_state "$CMD" T
  types 'jobs'
  sees 'Stopped .*READS'
  prompts 0
  types 'fg'
  types 'hello'
  sees '^hello$'
  presses '\x04'
  prompts 0
  no_key
}

@test "tostop: a command in the foreground writes" {
  pty_start
  types 'stty tostop; $RLOCK -k $K -- sh -c "echo 1; echo 2"; echo after'
  sees '^1\n2\nafter$'
  prompts 0
}

@test "tostop: in the background it stops as any job, and rlock's words are no reason" {
  pty_start
  types 'stty tostop'
  prompts 0
  types '$RLOCK -v -k $K -- sh -c "$SLEEPS" &'
  sees 'acquired after'
  started
  wait_until 5 _wait_state "$CMD" S
  not _wait_state "$HOLDER" T
  types 'kill %1; wait %1; echo over'
  sees '^over$'
  prompts 0
  types '$RLOCK -k $K -- sh -c "echo \$PPID >$T/ppid; echo said; echo two" &'
  prompts 0
  wait_file "$T/ppid"
  wait_stopped "$(cat "$T/ppid")"
  types 'fg'
  sees '^said\ntwo$'
  prompts 0
  no_key
}

@test "a password is read from /dev/tty" {
  pty_start
  types '$RLOCK -k $K -- sh -c "stty -echo </dev/tty; echo ask; read p </dev/tty; stty echo </dev/tty; echo \"[\$p]\""'
  sees '^ask$'
  presses 'x y\r'
  sees '^\[x y\]$'
  prompts 0
  types 'echo visible'
  sees '^visible$'
  prompts 0
}

@test "in a pipeline with less: less has the keys, rlock runs" {
  command -v less >/dev/null || skip 'no less here'
  pty_start
  types 'seq 1000 | $RLOCK -k $K -- cat | LESS= less'
  sees '\b23\b'
  presses ' '
  sees '\b46\b'
  presses 'q'
  prompts 0
  wait_no_key "$L"
}

# rests PATTERN: the process with these arguments sleeps, and does so again.
rests() {
  local pid
  pid=$(pgrep -f "$1") || return 1
  [[ $(ps -o stat= "$pid") == S* && $(ps -o stat= "$pid") == S* ]]
}

@test "less as the command: its keys, and the terminal as it was" {
  command -v less >/dev/null || skip 'no less here'
  seq 1000 >"$T/numbers"
  pty_start
  types '$RLOCK -k $K -- less $T/numbers'
  sees '\b23\b'
  presses ' '
  # A stop that comes while it draws is only seen by less at the next key.
  sees '\b46\b[^:]*:'
  wait_until 10 rests "^less $T/numbers"
  presses '\x1a'
  prompts 148
  modes 'echo icanon isig -tostop'
  types 'fg'
  sees '\b46\b'
  presses ' '
  sees '\b69\b'
  presses 'q'
  prompts 0
  modes 'echo icanon isig -tostop'
}

@test "a pipeline whose reader has had enough" {
  pty_start
  types 'yes | $RLOCK -k $K -- cat | head -1; echo ${PIPESTATUS[@]}'
  sees '^y\n141 141 0$'
  prompts 0
  no_key
}

@test "one Ctrl-C ends a script's loop" {
  local shell command
  for shell in bash dash; do
    command -v "$shell" >/dev/null || continue
    for command in SLEEPS READS; do
      export COMMAND=${!command} SHELL_NAME=$shell
      pty_start
      types '$SHELL_NAME -c "for i in 1 2 3; do $RLOCK -k $K -- sh -c \"\$COMMAND\"; done; echo loop\"\"end"'
      started
      [[ $command == READS ]] && { types 'x'; sees '^x$'; }
      presses '\x03'
      prompts 130
      pass_ms 100
      unseen loopend
      [ ! -e "$T/cmd.pid" ] # no second round
      no_key
    done
  done
}

@test "Ctrl-Z and fg of a script without job control" {
  local shell command
  for shell in bash dash; do
    command -v "$shell" >/dev/null || continue
    for command in SLEEPS READS; do
      export COMMAND=${!command} SHELL_NAME=$shell
      pty_start
      types '$SHELL_NAME -c "$RLOCK -k $K -- sh -c \"\$COMMAND\"; echo status \$?"'
      started
      [[ $command == READS ]] && { types 'x'; sees '^x$'; }
      presses '\x1a'
      prompts 148
      wait_stopped "$HOLDER"
      types 'fg'
      sees '\$\?"$'
      if [[ $command == READS ]]; then
        types 'y'
        sees '^y$'
        presses '\x04'
        sees '^status 0$'
        prompts 0
      else
        presses '\x03'
        prompts 130
      fi
      no_key
    done
  done
}

@test "a shell with job control below rlock" {
  pty_start
  types '$RLOCK -k $K -- bash --norc --noprofile --noediting -i'
  prompts 0
  unseen 'no job control'
  types 'sleep 50'
  pass_ms 200
  presses '\x1a'
  sees 'Stopped'
  prompts 148
  types 'bg'
  prompts 0
  types 'jobs'
  sees 'Running'
  prompts 0
  types 'kill %1; wait; echo; sh -c "read x; echo [\$x]"'
  types 'in'
  sees '^\[in\]$'
  prompts 0
  is_key
  types 'exit 5'
  prompts 5
  no_key
  types 'echo outer'
  sees '^outer$'
}

@test "two runs, one in the other, and the terminal goes through both" {
  pty_start
  types '$RLOCK -k $K -- $RLOCK -k $K.in -- cat'
  types 'hi'
  sees '^hi$'
  presses '\x1a'
  sees Stopped
  prompts 148
  is_key
  is_key "$L.in"
  types 'fg'
  sees 'cat$'
  types 'yo'
  sees '^yo$'
  presses '\x03'
  prompts 130
  no_key
  no_key "$L.in"
}

@test "a session leader without a shell: keys, and no job control to hang in" {
  pty_open sh -c 'exec "$RLOCK" -k "$K" -t 0.6 -- sh -c "$READS"'
  started
  types 'hi'
  sees '^hi$'
  presses '\x1a'
  pass_ms 700
  is_key
  types 'still here'
  sees '^still here$'
  presses '\x03'
  ends 130
  no_key
}

@test "a session leader without a shell: Ctrl-Z of a command that does not read" {
  pty_open "$RLOCK" -k "$K" -t 0.6 -- "$RLOCK_PROGS/stamp" "$T/log" beat 10
  goes_on "$T/log"
  presses '\x1a'
  pass_ms 700
  goes_on "$T/log"
  is_key
  presses '\x1c'
  ends 131
  no_key
}

@test "a shell without job control as session leader: Ctrl-Z hangs nothing" {
  pty_open sh -c '"$RLOCK" -k "$K" -t 0.6 -- sh -c "$READS"; echo "status $?"; read x; echo "[$x]"'
  started
  types 'hi'
  sees '^hi$'
  presses '\x1a'
  pass_ms 300
  types 'on'
  sees '^on$'
  presses '\x04'
  sees '^status 0$'
  types 'mine'
  sees '^\[mine\]$'
  ends 0
}

@test "the terminal is given back when the command has ended, or was killed" {
  # To a script, which does not take it by itself as a shell at a prompt does.
  pty_open sh -c '
    "$RLOCK" -k "$K" -- sh -c "read x; echo \"one \$x\""
    read y; echo "two $y"
    "$RLOCK" -k "$K" -- sh -c "$READS"; echo "status $?"
    read z; echo "three $z"'
  types 'a'
  sees '^one a$'
  types 'b'
  sees '^two b$'
  started
  types 'c'
  sees '^c$'
  in_front "$CMD"
  kill -KILL "$CMD"
  sees '^status 137$'
  in_front "$PTY_PID"
  types 'd'
  sees '^three d$'
  ends 0
}

@test "the terminal is taken back when the command is stopped; Ctrl-C reaches it all the same" {
  pty_start
  types '$RLOCK -k $K -t 0.6 -- sh -c "$READS"'
  started
  types 'a'
  sees '^a$'
  in_front "$CMD"
  kill -STOP "$CMD"
  wait_until 5 in_front "$(group_of "$HOLDER")"
  pass_ms 700
  is_key # it is renewed
  unseen Stopped
  kill -CONT "$CMD"
  types 'b'
  sees '^b$'
  in_front "$CMD"
  kill -STOP "$CMD"
  wait_until 5 in_front "$(group_of "$HOLDER")"
  presses '\x03'
  prompts 130
  no_key
}

@test "Ctrl-Z of a command that was stopped before" {
  pty_start
  types '$RLOCK -k $K -- sh -c "$SLEEPS"'
  started
  kill -STOP "$CMD"
  wait_stopped "$CMD"
  presses '\x1a'
  sees Stopped
  prompts 148
  types 'fg'
  wait_until 5 _wait_state "$CMD" S
  presses '\x03'
  prompts 130
  no_key
}

@test "TSTP from a process: as Ctrl-Z" {
  local command
  for command in SLEEPS READS; do
    export COMMAND=${!command}
    pty_start
    types '$RLOCK -k $K -- sh -c "$COMMAND"'
    started
    [[ $command == READS ]] && { types 'x'; sees '^x$'; }
    kill -TSTP "$HOLDER"
    prompts 148
    _wait_state "$CMD" T
    types 'fg'
    sees 'COMMAND"$'
    [[ $command == READS ]] && { types 'y'; sees '^y$'; }
    presses '\x03'
    prompts 130
    no_key
  done
}

@test "a command that has the terminal and stops itself: as Ctrl-Z" {
  pty_start
  types '$RLOCK -k $K -- sh -c "read x; kill -TSTP \$\$; read y; echo [\$x \$y]"'
  types 'a'
  prompts 148
  types 'fg'
  sees 'y\]"$'
  types 'b'
  sees '^\[a b\]$'
  prompts 0
  no_key
}

@test "a command that answers Ctrl-Z with a STOP of itself is suspended" {
  pty_start
  types '$RLOCK -k $K -- perl -e '\''$SIG{TSTP} = sub { kill STOP => $$ }; open P, ">$ENV{T}/cmd.pid"; print P "$$\n"; close P; select undef, undef, undef, 0.01 until -e "$ENV{T}/end"; exit 3'\'
  started
  presses '\x1a'
  prompts 148
  types 'fg'
  wait_until 5 _wait_state "$CMD" S
  touch "$T/end"
  prompts 3
}

@test "a command that ignores TSTP is not suspended, the lock renewed" {
  pty_start
  types 'env --ignore-signal=TSTP $RLOCK -k $K -t 0.6 -- $RLOCK_PROGS/stamp $T/ignored beat 10 & wait'
  goes_on "$T/ignored"
  presses '\x03'
  prompts 130
  types 'kill -KILL %1; wait'
  prompts 0
  types '$RLOCK -k $K -t 0.6 -- env --ignore-signal=TSTP $RLOCK_PROGS/stamp $T/log beat 10'
  goes_on "$T/log"
  presses '\x1a'
  pass_ms 700
  unseen Stopped
  goes_on "$T/log"
  is_key
  presses '\x03'
  prompts 130
  no_key
}

# suspended OPTIONS: a command that stamps, under a lease of 1 s, suspended;
# after which STAMPS is how many there are.
suspended() {
  pty_start
  types "\$RLOCK -k \$K $* -- \$RLOCK_PROGS/stamp \$T/log beat 2"
  goes_on "$T/log"
  presses '\x1a'
  prompts 148
  STAMPS=$(lines "$T/log")
}

@test "Ctrl-Z for less than the TTL: it goes on, the lock proven" {
  suspended -t 2
  pass_ms 700
  is "$(lines "$T/log")" "$STAMPS"
  types 'fg'
  goes_on "$T/log"
  between 1500 "$(r pttl "$L")" 2000
  presses '\x03'
  prompts 130
  no_key
}

@test "Ctrl-Z for longer than the TTL: 76 at fg, and the command sees nothing more" {
  suspended -t 0.5
  wait_no_key "$L" 2
  types 'fg'
  prompts 76
  is "$(lines "$T/log")" "$STAMPS"
  no_key
}

@test "Ctrl-Z for longer than the TTL, taken meanwhile: 76 at fg, the other's lock untouched" {
  suspended -t 0.5
  wait_no_key "$L" 2
  r set "$L" another >/dev/null
  types 'fg'
  sees 'lock (lost|in doubt)'
  prompts 76
  is "$(lines "$T/log")" "$STAMPS"
  is "$(r get "$L")" another
}

@test "Ctrl-Z for longer than the TTL, --on-lost warn: a line, and it goes on" {
  suspended -t 0.5 --on-lost warn
  wait_no_key "$L" 2
  types 'fg'
  sees 'lock lost'
  goes_on "$T/log"
  presses '\x03'
  prompts 130
}

@test "Ctrl-Z for longer than the TTL: what has left the command's group sees nothing more, either" {
  pty_start
  types '$RLOCK -k $K -t 0.6 -- sh -c "timeout 60 $RLOCK_PROGS/stamp $T/log beat 2; exit"'
  goes_on "$T/log"
  presses '\x1a'
  prompts 148
  wait_no_key "$L" 2
  STAMPS=$(lines "$T/log")
  pass_ms 200
  is "$(lines "$T/log")" "$STAMPS"
}

@test "Ctrl-Z, and at fg the server is silent: the command sees nothing, 76 in time" {
  suspended -t 1
  redis_freeze
  types 'fg'
  prompts 76 3
  redis_thaw
  is "$(lines "$T/log")" "$STAMPS"
}

@test "Ctrl-Z, and at fg the server is silent for a while: it goes on when proven" {
  suspended -t 4
  redis_freeze
  types 'fg'
  pass_ms 400
  is "$(lines "$T/log")" "$STAMPS"
  redis_thaw
  goes_on "$T/log"
  presses '\x03'
  prompts 130
}

@test "Ctrl-C between fg and the proof of the lock: it ends" {
  suspended -t 6
  redis_freeze
  types 'fg'
  pass_ms 200
  presses '\x03'
  pass_ms 200
  redis_thaw
  prompts 130
  no_key
}

@test "Ctrl-Z while waiting, fg: its turn comes" {
  hold
  pty_start
  types '$RLOCK -k $K -- echo got'
  wait_waiters 1
  presses '\x1a'
  sees Stopped
  prompts 148
  types 'fg'
  sees 'echo got$'
  pass_ms 100
  let_go
  sees 'got$'
  prompts 0
  no_key
}

@test "Ctrl-Z while waiting, the lock free at fg, and later ones do not wait for it" {
  hold
  pty_start
  types '$RLOCK -k $K -t 1 -- echo got'
  wait_waiters 1
  presses '\x1a'
  prompts 148
  bg "$RLOCK" -k "$K" -- touch "$T/later"
  local later=$PID
  wait_waiters 2
  let_go
  ended "$later" 20
  is "$status" 0
  types 'fg'
  sees 'got$'
  prompts 0
  no_key
}

@test "Ctrl-C and Ctrl-\\ while waiting" {
  hold
  pty_start
  types '$RLOCK -k $K -- touch $T/ran'
  wait_waiters 1
  presses '\x03'
  prompts 130 2
  wait_waiters 0
  types '$RLOCK -k $K -- touch $T/ran'
  wait_waiters 1
  presses '\x1c'
  prompts 131 2
  wait_waiters 0
  let_go
  [ ! -e "$T/ran" ]
}

@test "the terminal hangs up: all ends" {
  local command
  for command in SLEEPS READS; do
    export COMMAND=${!command}
    pty_start
    types '$RLOCK -k $K -- sh -c "$COMMAND"'
    started
    [[ $command == READS ]] && { types 'x'; sees '^x$'; }
    hangs_up
    wait_gone "$HOLDER" 3
    not alive "$CMD"
    wait_no_key "$L" 1
    ends 129
  done
}

@test "the terminal hangs up: a suspended job ends" {
  pty_start
  types '$RLOCK -k $K -- sh -c "$SLEEPS"'
  started
  presses '\x1a'
  prompts 148
  hangs_up
  wait_gone "$HOLDER" 3
  not alive "$CMD"
  no_key
}

@test "the terminal hangs up: a session leader without a shell ends" {
  local command
  for command in SLEEPS READS; do
    export COMMAND=${!command}
    pty_open sh -c 'exec "$RLOCK" -k "$K" -- sh -c "$COMMAND"'
    started
    [[ $command == READS ]] && { types 'x'; sees '^x$'; }
    hangs_up
    pty status 3
    # cat may find the terminal gone before it gets HUP.
    [[ $REPLY == 129 || ($command == READS && $REPLY == 1) ]] || { echo "$REPLY"; false; }
    not alive "$CMD"
    no_key
  done
}

@test "the terminal hangs up: who ignores HUP keeps the lock, renewed" {
  pty_open "$RLOCK" -k "$K" -t 0.6 -- env --ignore-signal=HUP "$RLOCK_PROGS/stamp" "$T/log" beat 10
  goes_on "$T/log"
  hangs_up
  pass_ms 800
  goes_on "$T/log"
  is_key
  kill -TERM "$PTY_PID"
  ends 143
  no_key
}

@test "a command that touches the terminal's modes, from a script" {
  pty_start
  types 'bash -c '\''$RLOCK -k $K -- stty sane; $RLOCK -k $K -- stty -a >/dev/null; echo done'\'
  sees '^done$' 3
  prompts 0
  types '$RLOCK -k $K -- stty tostop'
  prompts 0
  modes 'echo icanon isig tostop'
}

@test "rlock opens no terminal for a command that wants none" {
  pty_start
  types '$RLOCK -k $K -- sh -c "$SLEEPS"'
  started
  is "$(fds "$HOLDER" | awk '$1 > 2' | grep -c 'pts\|tty' || true)" 0
  presses '\x03'
  prompts 130
}

@test "stdin from elsewhere, the command asks the terminal" {
  pty_start
  types 'echo data | $RLOCK -k $K -- sh -c "read d; read t </dev/tty; echo [\$d \$t]"'
  types 'key'
  sees '^\[data key\]$'
  prompts 0
}

# --- what rlock says at a terminal ------------------------------------------------

@test "the line of who waits: from a second on, once a second, erased" {
  local t
  hold
  pty_start
  types '$RLOCK -k $K -- echo got'
  sees 'waiting 1 s: held by' 3
  sees 'waiting 2 s: held by' 3
  sees 'waiting 3 s: held by' 3
  pty times 'echo got$|waiting \d s'
  read -ra t <<<"$REPLY"
  is "${#t[@]}" 4
  between 900 $((t[1] - t[0])) 1900
  between 2800 $((t[3] - t[0])) 4000
  let_go
  sees 'got\n'
  prompts 0
  pty rows
  [[ $REPLY != *waiting* ]] || { echo "$REPLY"; false; }
  [[ $REPLY == *'|got|[0]> ' ]]
}

@test "the line of who waits: none before a second, none when the wait is short" {
  hold
  pty_start
  types '$RLOCK -k $K -- echo got'
  wait_waiters 1
  pass_ms 500
  let_go
  sees 'got'
  prompts 0
  pty count 'waiting|\x1b'
  is "$REPLY" 0
}

@test "the line of who waits: cut to the width" {
  local row rows
  hold
  pty_start --size 24x40
  types '$RLOCK -k $K -- sh -c :'
  sees 'waiting 2 s' 5
  pty rows
  IFS='|' read -ra rows <<<"$REPLY"
  row=${rows[-1]}
  between 30 "${#row}" 39
  is "${#rows[@]}" 2 # what was typed, and it
  pty size 24 30
  sees 'waiting 4 s' 5
  pty rows
  row=${REPLY##*|}
  between 20 "${#row}" 29
}

@test "the line of who waits: none in a pipe, for a dumb terminal, with -q, in the background" {
  hold
  pty_start
  types '$RLOCK -k $K -w 1.4 -- true 2>&1 | cat; echo ${PIPESTATUS[0]}'
  sees '^75$'
  types 'TERM=dumb $RLOCK -q -k $K -w 1.4 -- true; TERM= $RLOCK -k $K -w 1.4 -- true; $RLOCK -q -k $K -w 1.4 -- true; echo over'
  sees '^over$'
  types 'TERM=dumb $RLOCK -k $K -- true'
  wait_waiters 1
  pass_ms 1300
  presses '\x03'
  prompts 130
  types '$RLOCK -k $K -- echo got &'
  prompts 0
  wait_waiters 1
  pass_ms 1300
  pty count 'waiting'
  is "$REPLY" 0
  types 'fg'
  sees 'waiting \d s' 2
  let_go
  sees 'got'
  prompts 0
}

@test "the line of who waits goes before rlock stops, and before it dies" {
  hold
  pty_start
  types '$RLOCK -k $K -- true'
  sees 'waiting 1 s' 3
  presses '\x1a'
  prompts 148
  pty rows
  [[ $REPLY != *waiting* ]] || { echo "$REPLY"; false; }
  types 'fg'
  sees 'waiting \d s' 3
  presses '\x03'
  prompts 130
  pty rows
  [[ $REPLY != *waiting* ]] || { echo "$REPLY"; false; }
}

@test "busy: at a terminal a line says who holds it, else none does" {
  hold
  pty_start
  types '$RLOCK -n -k $K -- true'
  sees '^rlock: '"$K"': busy: held by .*pid'
  prompts 75
  types '$RLOCK -k $K -w 1.3 -- true'
  prompts 75
  pty rows
  [[ $REPLY =~ 'true|rlock: '"$K"': busy: held by '[^|]*'|[75]> '$ ]] || { echo "$REPLY"; false; }
  types '$RLOCK -n -k $K -- true 2>$T/said; $RLOCK -q -n -k $K -- true'
  prompts 75
  [ ! -s "$T/said" ]
  pty count 'busy:'
  is "$REPLY" 2
}
