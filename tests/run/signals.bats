#!/usr/bin/env bats
# Signals sent to rlock, and how the command is ended.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2153

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { rlock_setup; }
teardown() { rlock_teardown; }

# A command that writes each signal it gets into "$T/got", one a line, ignores
# them, and ends with status 7 once "$T/end" is there.  It is a process that
# counts right: perl, without a shell between.
COUNTER='
  use POSIX; $| = 1;
  my ($t, @names) = @ARGV;
  my %number; @number{split " ", $Config::Config{sig_name}} = split " ", $Config::Config{sig_num};
  open my $got, ">>", "$t/got"; select $got; $| = 1;
  for my $n (@names) {
    my $no = $n =~ /^RTMIN\+(\d+)/ ? SIGRTMIN + $1 : $number{$n};
    POSIX::sigaction($no, POSIX::SigAction->new(sub { syswrite $got, "$n\n" }, POSIX::SigSet->new, 0));
  }
  open my $p, ">", "$t/cmd.new"; print $p "$$\n"; close $p; rename "$t/cmd.new", "$t/cmd.pid";
  for (1 .. 2000) { exit 7 if -e "$t/end"; select undef, undef, undef, 0.01 }
  exit 9'

# counter SIGNALS... -- RLOCK OPTIONS...
counter() {
  local signals=()
  while [[ $1 != -- ]]; do
    signals+=("$1")
    shift
  done
  shift
  bg "$RLOCK" -k "$K" "$@" -- perl -MConfig -e "$COUNTER" "$T" "${signals[@]}"
  HOLDER=$PID
  CMD=$(wait_pidfile "$T/cmd.pid")
}

@test "signals are passed on, exactly once each" {
  local all=(HUP QUIT USR1 USR2 WINCH CONT RTMIN+1 ALRM URG IO) s
  counter "${all[@]}" --
  for s in USR1 USR2 WINCH CONT RTMIN+1 ALRM URG IO; do
    kill -s "$s" "$HOLDER"
    wait_line "$T/got" "^${s/+/[+]}\$"
  done
  is "$(sort "$T/got")" "$(printf '%s\n' USR1 USR2 WINCH CONT RTMIN+1 ALRM URG IO | sort)"
  # After those that usually end a process comes CONT, too.
  : >"$T/got"
  kill -s HUP "$HOLDER"
  wait_line "$T/got" '^CONT$'
  kill -s QUIT "$HOLDER"
  wait_line "$T/got" '^QUIT$'
  wait_until 5 eval '[[ $(lines "$T/got") == 4 ]]'
  is "$(grep -v CONT "$T/got")" $'HUP\nQUIT'
  is_key
  touch "$T/end"
  ended "$HOLDER"
  is "$status" 7
  no_key
}

@test "real-time signals are queued, none is lost" {
  counter RTMIN+1 --
  local i
  for i in 1 2 3 4 5 6 7 8; do
    kill -s RTMIN+1 "$HOLDER"
  done
  wait_until 5 eval '[[ $(lines "$T/got") == 8 ]]'
  touch "$T/end"
  ended "$HOLDER"
  is "$(lines "$T/got")" 8
}

@test "TERM and INT are passed on once" {
  counter TERM INT -- --kill-after 20
  kill -s TERM "$HOLDER"
  wait_line "$T/got" TERM
  touch "$T/end"
  ended "$HOLDER"
  is "$status" 7
  is "$(cat "$T/got")" TERM
  rm "$T/end" "$T/got" "$T/cmd.pid"
  counter TERM INT -- --kill-after 20
  kill -s INT "$HOLDER"
  wait_line "$T/got" INT
  touch "$T/end"
  ended "$HOLDER"
  is "$(cat "$T/got")" INT
}

@test "HUP INT QUIT TERM end the command, and rlock by the same signal" {
  local s
  for s in HUP INT QUIT TERM; do
    hold
    kill -s "$s" "$HOLDER"
    ended "$HOLDER" 2
    is "$s $status" "$s $((128 + $(kill -l "$s")))"
    not alive "$CMD"
    no_key
  done
}

@test "HUP, QUIT, USR1 start no clock" {
  counter HUP QUIT USR1 -- --kill-after 50ms
  kill -s HUP "$HOLDER"
  wait_line "$T/got" HUP
  kill -s QUIT "$HOLDER"
  wait_line "$T/got" QUIT
  kill -s USR1 "$HOLDER"
  wait_line "$T/got" USR1
  pass_ms 200
  alive "$CMD"
  touch "$T/end"
  ended "$HOLDER"
  is "$status" 7
}

@test "a stopped command gets the TERM" {
  hold --kill-after 20
  kill -STOP "$CMD"
  wait_stopped "$CMD"
  kill -TERM "$HOLDER"
  ended "$HOLDER" 2
  is "$status" 143
}

@test "a command that is stopped from outside keeps the lock" {
  hold -t 0.3
  kill -STOP "$CMD"
  wait_stopped "$CMD"
  pass_ms 700
  is_key
  alive "$HOLDER"
  kill -CONT "$CMD"
  let_go
  is "$status" 143
}

@test "TERM: the whole group ends, and the key goes only after the last of it" {
  bg "$RLOCK" -k "$K" --kill-after 20 -- sh -c '
    true; sleep 30 &
    echo $! >"$0/a.pid"
    perl -e "\$SIG{TERM} = sub { open F, q(>), qq($0/term); };
      open F, q(>), qq($0/b.new); print F qq(\$\$\n); close F; rename qq($0/b.new), qq($0/b.pid);
      for (1 .. 1000) { exit if -e qq($0/go); select undef, undef, undef, 0.01 }" &
    wait' "$T"
  local rlock=$PID a b
  a=$(wait_pidfile "$T/a.pid")
  b=$(wait_pidfile "$T/b.pid")
  kill -TERM "$rlock"
  wait_gone "$a"
  wait_until 5 test -e "$T/term"
  pass_ms 100
  alive "$b"
  alive "$rlock"
  is_key
  touch "$T/go"
  ended "$rlock"
  is "$status" 143
  not alive "$b"
  no_key
}

@test "a shell's loop ends at once, its child with it" {
  bg "$RLOCK" -k "$K" --kill-after 20 -- bash -c \
    'echo $$ >"$0"; while :; do sleep 30; done' "$T/pid"
  local rlock=$PID group
  group=$(wait_pidfile "$T/pid")
  kill -TERM "$rlock"
  ended "$rlock" 2
  is "$status" 143
  group_gone "$group"
}

@test "TERM ignored: KILL after --kill-after, then the key goes" {
  bg "$RLOCK" -k "$K" --kill-after 0.4 -- sh -c 'trap "" TERM INT; sleep 30 & '"$SH_HOLD" "$T/pid"
  local rlock=$PID group start
  group=$(wait_pidfile "$T/pid")
  start=$(now_ms)
  kill -TERM "$rlock"
  pass_ms 150
  alive "$group"
  is_key
  ended "$rlock" 3
  is "$status" 137
  between 400 $(($(now_ms) - start)) 2000
  group_gone "$group"
  no_key
}

@test "INT from a process ignored: KILL after --kill-after" {
  bg "$RLOCK" -k "$K" --kill-after 0.2 -- sh -c 'trap "" TERM INT; '"$SH_HOLD" "$T/pid"
  local rlock=$PID
  wait_pidfile "$T/pid"
  kill -INT "$rlock"
  ended "$rlock" 3
  is "$status" 137
  no_key
}

@test "a second TERM, or INT after TERM: KILL now" {
  local second
  for second in TERM INT; do
    rm -f "$T/got" "$T/cmd.pid"
    counter TERM INT -- --kill-after 30
    kill -TERM "$HOLDER"
    wait_line "$T/got" TERM
    pass_ms 300 # it is a second thought, no echo of the first
    alive "$CMD"
    kill -s "$second" "$HOLDER"
    ended "$HOLDER" 2
    is "$status" 137
    not alive "$CMD"
    no_key
  done
}

@test "--kill-after 0: KILL at once" {
  bg "$RLOCK" -k "$K" --kill-after 0 -- sh -c 'trap "" TERM; '"$SH_HOLD" "$T/pid"
  local rlock=$PID
  wait_pidfile "$T/pid"
  kill -TERM "$rlock"
  ended "$rlock" 2
  is "$status" 137
  no_key
}

@test "while the command cleans up the lock is renewed" {
  counter TERM -- -t 0.3 --kill-after 20
  kill -TERM "$HOLDER"
  wait_line "$T/got" TERM
  pass_ms 900
  is_key
  alive "$CMD"
  touch "$T/end"
  ended "$HOLDER"
  is "$status" 7
  no_key
}

@test "--max-run: the signal, by all its spellings; status 124" {
  local spelling want all=(TERM SIGTERM 15 USR1 SIGUSR1 10 HUP INT QUIT RTMIN+3 SIGRTMIN+3 37)
  # The command has its time to start, ignores the signals and ends in the end.
  for spelling in "${all[@]}"; do
    mkdir "$T/$spelling"
    bg "$RLOCK" -k "$K.$spelling" --signal "$spelling" --max-run 1 --kill-after 20 -- \
      perl -MConfig -e "$COUNTER" "$T/$spelling" TERM USR1 HUP INT QUIT RTMIN+3
  done
  for spelling in "${all[@]}"; do
    wait_line "$T/$spelling/got" .
    touch "$T/$spelling/end"
  done
  for spelling in "${all[@]}"; do
    ended "${STARTED[0]}"
    STARTED=("${STARTED[@]:1}")
    is "$spelling $status" "$spelling 124"
    case $spelling in
    TERM | SIGTERM | 15) want=TERM ;;
    USR1 | SIGUSR1 | 10) want=USR1 ;;
    RTMIN+3 | SIGRTMIN+3 | 37) want=RTMIN+3 ;;
    *) want=$spelling ;;
    esac
    is "$spelling $(cat "$T/$spelling/got")" "$spelling $want"
    no_key "lock:$K.$spelling"
  done
}

@test "--signal: what is none is a usage error" {
  local s
  for s in NONE SIG '' 0 -1 65 1.5 'TERM ' RTMIN+99 15x; do
    try "$RLOCK" -u unix:///nonexistent -k "$K" --signal "$s" -- true
    is "$s $status" "$s 64"
  done
}

@test "--max-run: 124 when it ignores TERM, when it exits 0, when it dies" {
  try "$RLOCK" -k "$K" --max-run 0.1 --kill-after 0.1 -- sh -c 'trap "" TERM; sleep 30'
  is "$status" 124
  no_key
  try "$RLOCK" -k "$K" --max-run 0.1 -- bash -c 'trap "kill \$s; exit 0" TERM; sleep 30 & s=$!; wait'
  is "$status" 124
  try "$RLOCK" -k "$K" --max-run 0.1 -- sleep 30
  is "$status" 124
  no_key
}

@test "--max-run 0 is off; a command that is quicker is not touched" {
  try "$RLOCK" -k "$K" --max-run 0 -- sh -c 'sleep 0.2; exit 4'
  is "$status" 4
  try "$RLOCK" -k "$K" --max-run 20 -- sh -c 'exit 4'
  is "$status" 4
}

@test "--max-run does not count the wait" {
  hold
  bg "$RLOCK" -k "$K" --max-run 0.4 -- sh -c 'exit 6'
  local waiter=$PID
  wait_waiters 1
  pass_ms 500
  let_go
  ended "$waiter"
  is "$status" 6
}

@test "a process left in the background at a normal end is spared" {
  try "$RLOCK" -k "$K" -- sh -c 'sleep 20 >/dev/null 2>&1 3>&- & echo $! >"$0"; exit 3' "$T/pid"
  is "$status" 3
  no_key
  alive "$(cat "$T/pid")"
  kill "$(cat "$T/pid")"
}

@test "a daemon in its own session is spared by a TERM and delays nothing" {
  bg "$RLOCK" -k "$K" --kill-after 20 -- sh -c 'setsid sh -c "echo \$\$ >\"\$0/d.pid\"; exec sleep 20" "$0" &
    echo $$ >"$0/cmd.pid"; sleep 30' "$T"
  local rlock=$PID daemon
  daemon=$(wait_pidfile "$T/d.pid")
  wait_pidfile "$T/cmd.pid"
  kill -TERM "$rlock"
  ended "$rlock" 2
  is "$status" 143
  alive "$daemon"
  kill "$daemon"
  no_key
}

@test "a zombie in the group, whose parent has left it, holds up nothing" {
  # The parent goes into a session of its own and does not wait for its child,
  # which stays in the command's group.
  bg "$RLOCK" -k "$K" --kill-after 0.3 -- sh -c 'perl -MPOSIX -e "
    fork or do { sleep 30; exit }; setsid; \$SIG{CHLD} = q(DEFAULT);
    open P, q(>), qq(\$ARGV[0].new); print P qq(\$\$\n); close P; rename qq(\$ARGV[0].new), \$ARGV[0]; sleep 12" "$0" & sleep 30' "$T/daemon.pid"
  local rlock=$PID daemon
  daemon=$(wait_pidfile "$T/daemon.pid")
  kill -TERM "$rlock"
  ended "$rlock" 3
  is "$status" 143
  alive "$daemon"
  kill -KILL "$daemon"
  no_key
}

# rounds N SIGNAL COMMAND...: start it N times, K.1 to K.N its keys, each time
# the signal 0 to 12 ms later; prints how they ended (wait(2)'s number), sorted.
# By perl: between fork and exec a shell may lose a signal.
rounds() {
  perl -e '
    my ($n, $signal, @command) = @ARGV;
    my @pids = map {
      my $i = $_;
      my $pid = fork // die;
      exec map { s/ROUND/$i/r } @command unless $pid;
      select undef, undef, undef, $i / $n * 0.012;
      kill $signal, $pid;
      $pid } 1 .. $n;
    alarm 20;
    my %ends;
    waitpid($_, 0) == $_ and $ends{$?}++ for @pids;
    print join(" ", map { "$_*$ends{$_}" } sort keys %ends), "\n"' "$@"
}

@test "TERM at any moment of a run: no key stays, nor a place, nor a process" {
  local i
  is "$(rounds 60 TERM "$RLOCK" -k "$K.ROUND" -t 60 -- \
    sh -c 'echo $$ >"$0"; exec sleep 30' "$T/ROUND.pid")" '15*60'
  is "$(r --raw keys "*$K.*")" ''
  for i in "$T"/*.pid; do
    [ ! -s "$i" ] || # ended before it wrote
      not alive "$(cat "$i")"
  done
}

@test "cascades end cleanly: timeout around, timeout within, rlock within" {
  try timeout 0.2 "$RLOCK" -k "$K" -- sleep 30
  is "$status" 124
  wait_no_key "$L" 2
  try "$RLOCK" -k "$K" -- timeout 0.1 sleep 30
  is "$status" 124
  no_key
  try timeout 0.3 "$RLOCK" -k "$K" -- "$RLOCK" -k "$K.in" -- sleep 30
  is "$status" 124
  wait_no_key "$L" 2
  wait_no_key "$L.in" 2
}

@test "two TERMs within milliseconds are one: no KILL" {
  counter TERM -- --kill-after 20
  perl -e 'kill TERM => $ARGV[0]; select undef, undef, undef, 0.003; kill TERM => $ARGV[0]' "$HOLDER"
  wait_line "$T/got" TERM
  pass_ms 100
  touch "$T/end"
  ended "$HOLDER"
  is "$status" 7
}

@test "under timeout the command has its time to clean up" {
  # timeout sends TERM twice at once, to its child and then to its own group:
  # that is no second thought, and must not bring the KILL forward.
  local i
  for i in 1 2 3 4 5; do
    rm -f "$T/clean"
    try timeout 0.1 "$RLOCK" -k "$K" -- bash -c '
      trap "sleep 0.2; echo >\"$0\"; exit 0" TERM; while :; do sleep 0.01; done' "$T/clean"
    is "$i $status" "$i 124"
    [ -e "$T/clean" ]
    wait_no_key "$L" 2
  done
}

@test "a foreground timeout's TERM, too, is passed on" {
  try timeout --foreground 0.2 "$RLOCK" -k "$K" -- sleep 30
  is "$status" 124
  wait_no_key "$L" 2
}

@test "supervision: SIGPIPE to rlock does not end it" {
  try bash -c '"$@" 2>&1 >/dev/null | true; echo "${PIPESTATUS[0]}"' - \
    "$RLOCK" -v -t 0.2 -k "$K" -- sh -c 'sleep 0.5; exit 5'
  is "$output" 5
  no_key
}
