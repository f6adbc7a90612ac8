#!/usr/bin/env bats
# When rlock itself dies or stands still, the guard ends the command.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2153

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { rlock_setup; }
teardown() { rlock_teardown; }

# killed RLOCK GROUP: KILL to rlock; within a second nothing of the group runs.
killed() {
  kill -KILL "$1"
  wait_until 1 group_gone "$2"
  ended "$1"
}

@test "KILL of rlock: its command ends, the lock lapses" {
  hold -t 0.6
  killed "$HOLDER" "$CMD"
  wait_no_key "$L" 1.5
}

@test "KILL of rlock: a pipeline ends" {
  bg "$RLOCK" -k "$K" -- sh -c 'echo $$ >"$0"; sleep 30 | cat | cat' "$T/pid"
  local rlock=$PID group
  group=$(wait_pidfile "$T/pid")
  wait_until 5 eval '[[ $(pgrep -g '"$group"' | wc -l) -ge 3 ]]'
  killed "$rlock" "$group"
}

@test "KILL of rlock: shells that trap or ignore TERM, HUP and INT end" {
  bg "$RLOCK" -k "$K" -- bash -c 'trap : TERM HUP INT; trap "" QUIT USR1
    (while :; do sleep 30; done) & echo $$ >"$0"; while :; do sleep 30; done' "$T/pid"
  local rlock=$PID group
  group=$(wait_pidfile "$T/pid")
  killed "$rlock" "$group"
}

@test "KILL of rlock: a stopped command ends" {
  hold
  kill -STOP "$CMD"
  wait_stopped "$CMD"
  killed "$HOLDER" "$CMD"
}

@test "KILL of rlock while it ends the command" {
  bg "$RLOCK" -k "$K" --kill-after 30 -- bash -c 'trap "echo >\"$0.term\"" TERM
    echo $$ >"$0"; while :; do sleep 30 & wait; done' "$T/pid"
  local rlock=$PID group
  group=$(wait_pidfile "$T/pid")
  kill -TERM "$rlock"
  wait_until 5 test -e "$T/pid.term"
  killed "$rlock" "$group"
}

@test "KILL to rlock's whole process group: the command ends" {
  bg setsid "$RLOCK" -k "$K" -- sh -c "$SH_HOLD" "$T/pid"
  local rlock=$PID group
  group=$(wait_pidfile "$T/pid")
  kill -KILL -- "-$rlock"
  wait_until 1 group_gone "$group"
  ended "$rlock"
}

@test "KILL of rlock with --on-lost warn: its command ends all the same" {
  hold --on-lost warn
  killed "$HOLDER" "$CMD"
}

@test "a crash of rlock counts as a KILL" {
  [[ ${RLOCK_SANITIZE:-} ]] && skip "the sanitizers would report it"
  hold
  kill -SEGV "$HOLDER"
  wait_until 1 group_gone "$CMD"
  ended "$HOLDER"
}

@test "the guard is gone when rlock was killed" {
  hold
  local guard
  guard=$(guard_of "$HOLDER")
  killed "$HOLDER" "$CMD"
  wait_gone "$guard" 1
}

@test "the guard is gone with rlock, and no zombie is left" {
  bg "$RLOCK" -k "$K" -- sh -c 'echo $PPID >"$0"; until [ -e "$0.end" ]; do sleep 0.01; done' "$T/pid"
  local rlock guard
  rlock=$(wait_pidfile "$T/pid")
  guard=$(guard_of "$rlock")
  is "$(ps -o sid= -p "$guard" | tr -d ' ')" "$guard"
  touch "$T/pid.end"
  ended "$PID"
  is "$status" 0
  [ ! -e "/proc/$guard" ]
  is "$(ps -eo pid=,ppid=,stat= | awk -v p="$rlock" '$2 == p')" ''
}

@test "the guard has none of the caller's descriptors" {
  rm -f "$T/hold.pid"
  exec 7>"$T/seven"
  hold
  local guard
  guard=$(guard_of "$HOLDER")
  is "$(fds "$guard" | cut -d' ' -f2 | sed 's/socket:.*/socket/' | sort)" $'anon_inode:[timerfd]\nsocket'
  exec 7>&-
}

@test "a guard that was stopped is gone with rlock" {
  hold
  local guard
  guard=$(guard_of "$HOLDER")
  STARTED+=("$guard")
  kill -STOP "$guard"
  wait_stopped "$guard"
  let_go
  is "$status" 143
  wait_gone "$guard" 1
}

@test "a guard that was stopped and continued: what is left at a normal end is spared" {
  bg "$RLOCK" -k "$K" -- sh -c 'sleep 20 & echo $! >"$0.left"; echo $PPID >"$0"
    until [ -e "$0.end" ]; do sleep 0.01; done' "$T/pid"
  local guard left
  guard=$(guard_of "$(wait_pidfile "$T/pid")")
  left=$(cat "$T/pid.left")
  kill -STOP "$guard"
  wait_stopped "$guard"
  kill -CONT "$guard"
  wait_until 5 not _wait_state "$guard" T
  touch "$T/pid.end"
  ended "$PID"
  is "$status" 0
  wait_gone "$guard" 1
  alive "$left"
  kill "$left"
}

@test "a reader of the command's output sees its end with rlock" {
  mkfifo "$T/pipe"
  (exec 3>&-; exec "$RLOCK" -k "$K" -- sh -c "$SH_HOLD" "$T/pid" >"$T/pipe" 2>&1) &
  STARTED+=("$!")
  bg sh -c 'cat "$1" >/dev/null; echo eof >"$0"' "$T/eof" "$T/pipe"
  wait_pidfile "$T/pid"
  local rlock
  rlock=$(ps -o ppid= -p "$(cat "$T/pid")" | tr -d ' ')
  local guard
  guard=$(guard_of "$rlock")
  STARTED+=("$guard")
  kill -STOP "$guard" # were it to hold the pipe: no end
  kill -TERM "$rlock"
  wait_file "$T/eof" 2
}

@test "the guard minds no signal but KILL" {
  hold -t 0.6
  local guard s
  guard=$(guard_of "$HOLDER")
  for s in HUP INT QUIT TERM USR1 USR2 ALRM PIPE CONT TSTP TTIN TTOU RTMIN; do
    kill -s "$s" "$guard"
  done
  pass_ms 100
  alive "$guard"
  alive "$CMD"
  killed "$HOLDER" "$CMD"
}

@test "the guard is small" {
  hold
  local guard
  guard=$(guard_of "$HOLDER")
  [[ ${RLOCK_SANITIZE:-} ]] && skip "sanitizers need memory"
  between 0 "$(awk '/^Private_Dirty/ { n += $2 } END { print n }' "/proc/$guard/smaps")" 150
}

# A command that writes the wall clock in ms, every 2 ms.
CLOCK='
  use Time::HiRes qw(time sleep); $| = 1;
  open my $f, ">", $ARGV[0]; select $f; $| = 1;
  $SIG{TERM} = "IGNORE" if $ARGV[1];
  open my $p, ">", "$ARGV[0].pid"; print $p "$$\n"; close $p;
  for (1 .. 10000) { printf "%d\n", time * 1000; sleep 0.002 }'

@test "rlock stopped beyond the lease: the guard ends the command before its end" {
  bg "$RLOCK" -t 1 -k "$K" -- perl -e "$CLOCK" "$T/clock"
  local rlock=$PID cmd end
  cmd=$(wait_pidfile "$T/clock.pid")
  kill -STOP "$rlock"
  wait_stopped "$rlock"
  end=$(r pexpiretime "$L")
  wait_gone "$cmd" 3
  wait_no_key "$L" 2
  between $((end - 500)) "$(tail -n 1 "$T/clock")" $((end - 1))
  r set "$L" another >/dev/null
  kill -CONT "$rlock"
  ended "$rlock" 2
  is "$status" 76
  is "$(r get "$L")" another
}

@test "rlock stopped beyond the lease, the command with children that ignore TERM" {
  bg "$RLOCK" -t 0.6 -k "$K" -- sh -c 'trap "" TERM; sleep 30 & echo $$ >"$0"; sleep 30' "$T/pid"
  local rlock=$PID group
  group=$(wait_pidfile "$T/pid")
  kill -STOP "$rlock"
  wait_stopped "$rlock"
  wait_no_key "$L" 2
  group_gone "$group"
  kill -CONT "$rlock"
  ended "$rlock" 2
  is "$status" 76
}

@test "rlock stopped for less than the lease: nothing happens" {
  hold -t 1.5
  kill -STOP "$HOLDER"
  wait_stopped "$HOLDER"
  pass_ms 800
  kill -CONT "$HOLDER"
  pass_ms 1000
  alive "$CMD"
  let_go
  is "$status" 143
}

@test "rlock stopped beyond the lease with --on-lost warn: the command goes on" {
  hold -t 0.4 --on-lost warn
  kill -STOP "$HOLDER"
  wait_stopped "$HOLDER"
  wait_no_key "$L" 2
  alive "$CMD"
  kill -CONT "$HOLDER"
  pass_ms 200
  alive "$CMD"
  let_go
  is "$status" 143
}

@test "KILL of guard: rlock and command go on" {
  hold -t 0.6
  kill -KILL "$(guard_of "$HOLDER")"
  pass_ms 500
  alive "$CMD"
  let_go
  is "$status" 143
  no_key
}

@test "KILL of the guard and then of rlock: the command ends" {
  hold
  kill -KILL "$(guard_of "$HOLDER")"
  killed "$HOLDER" "$CMD"
}

@test "KILL at any moment of a run: no command survives, every key has a lease" {
  local i
  for i in $(seq 60); do
    bg "$RLOCK" -k "$K.$i" -t 20 -- sh -c 'echo $$ >"$0"; exec sleep 30' "$T/$i.pid"
    perl -e 'select undef, undef, undef, $ARGV[0] / 5000' "$i"
    kill -KILL "$PID"
    ended "$PID"
  done
  for i in $(seq 60); do
    (($(r pttl "lock:$K.$i") != -1))
  done
  for i in "$T"/*.pid; do
    [ ! -s "$i" ] || # ended before it wrote
      wait_gone "$(cat "$i")" 1
  done
  wait_until 1 not pgrep -f "$T/[0-9]*.pid"
}

@test "KILL of a waiter: it leaves no process" {
  hold
  bg "$RLOCK" -k "$K" -- touch "$T/ran"
  local waiter=$PID guard
  wait_waiters 1
  guard=$(guard_of "$waiter" || true)
  kill -KILL "$waiter"
  ended "$waiter"
  [ -z "$guard" ] || wait_gone "$guard" 1
  let_go
  [ ! -e "$T/ran" ]
}
