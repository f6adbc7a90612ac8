#!/usr/bin/env bats
# --on-lost pause: the command stands still while the lock is in doubt.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2153

load ../lib/net

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() {
  net_setup
  export T
}
teardown() {
  redis_thaw
  net_teardown
}

boot_ms() { perl -MTime::HiRes=clock_gettime,CLOCK_BOOTTIME -e 'printf "%d\n", clock_gettime(7) * 1000'; }
stamps() { grep -c '' "$T/log" || true; }
more_stamps() { (($(stamps) > $1)); }
goes_on() { wait_until 5 more_stamps $(($(stamps) + 2)); }
stands_still() {
  local n
  n=$(stamps)
  let_pass "${1:-300}"
  is "$n" "$(stamps)"
}
alive() { not _wait_ended "$1"; }
not() { ! "$@"; }

# paused_run OPTIONS: rlock through the proxy, its command stamping; sets RL
# and CMD.
paused_run() {
  proxy_start
  begin a "$RLOCK" -u "$PROXY_URL" -k "$K" --on-lost pause "$@" -- "$RLOCK_PROGS/stamp" "$T/log" beat 2
  RL=$PID
  wait_file "$T/log"
  CMD=$(pgrep -P "$RL" -x stamp)
}

# The server keeps the lock for as long as the test takes.
kept() { r pexpire "$L" 60000 >/dev/null; }

# in_doubt OPTIONS: such a run whose server does not answer, its command stopped.
in_doubt() {
  paused_run "$@"
  proxy freeze
  kept
  wait_stopped "$CMD"
}

@test "pause: stopped before the end of the lease, continued when the lock is proven" {
  local from left
  begin a "$RLOCK" -k "$K" -t 5 --on-lost pause -- "$RLOCK_PROGS/stamp" "$T/log" beat 2
  wait_file "$T/log"
  left=$(r pttl "$L")
  from=$(boot_ms)
  CMD=$(pgrep -P "$PID" -x stamp)
  redis_freeze
  wait_stopped "$CMD"
  within $((from + left - 1500)) "$(($(tail -n 1 "$T/log" | cut -d' ' -f2) / 1000))" $((from + left - 1))
  redis_thaw
  goes_on
  said a.err "^rlock: $K: lock in doubt: .*paused"
  said a.err "^rlock: $K: lock proven: the command goes on"
  is 2 "$(wc -l <"$T/a.err")"
  kill -TERM "$PID"
  status "$PID"
  is 143 "$GOT"
  no_trace
}

@test "pause: no answer, but the lock turns out to be ours after all: it goes on, twice" {
  in_doubt -t 1
  stands_still 800 # beyond the lease; not beyond --kill-after
  proxy pass
  goes_on
  proxy freeze
  kept
  wait_stopped "$CMD"
  proxy pass
  goes_on
  kill -TERM "$RL"
  status "$RL"
  is 143 "$GOT"
  is 2 "$(grep -c 'lock proven' "$T/a.err")"
  no_trace
}

@test "pause: the connection cut and refused: the same" {
  paused_run -t 1
  proxy refuse
  kept
  wait_stopped "$CMD"
  stands_still
  proxy pass
  goes_on
  kill -TERM "$RL"
  status "$RL"
  is 143 "$GOT"
  no_trace
}

@test "pause: the lock gone when the server is back: KILL without a step, 76" {
  local n
  in_doubt -t 1
  n=$(stamps)
  r del "$L" >/dev/null
  proxy pass
  status "$RL" 3
  is 76 "$GOT"
  is "$n" "$(stamps)"
  no_trace
}

@test "pause: the lock somebody else's when the server is back: 76, and it stays theirs" {
  local n
  in_doubt -t 1
  n=$(stamps)
  r set "$L" another >/dev/null
  proxy pass
  status "$RL" 3
  is 76 "$GOT"
  is "$n" "$(stamps)"
  said a.err 'lock lost: now held by'
  is another "$(r get "$L")"
}

@test "pause: the loss proven while it runs: it is stopped as with kill, 76" {
  paused_run -t 1
  r del "$L" >/dev/null
  status "$RL" 3
  is 76 "$GOT"
  no_trace
}

@test "pause: --kill-after beyond the lease: KILL, 76" {
  local from n
  paused_run -t 1 --kill-after 0.6
  from=$(boot_ms)
  proxy freeze
  wait_stopped "$CMD"
  n=$(stamps)
  wait_gone "$CMD" 5
  # The lease ended 1 s after a renewal of up to 0.33 s before.
  within 1200 $(($(boot_ms) - from)) 2600
  is "$n" "$(stamps)"
  status "$RL" 5
  is 76 "$GOT"
}

@test "pause: --kill-after 0: KILL at the end of the lease" {
  local from left
  paused_run -t 1 --kill-after 0
  proxy freeze
  left=$(r pttl "$L")
  from=$(boot_ms)
  status "$RL" 5
  is 76 "$GOT"
  ((($(tail -n 1 "$T/log" | cut -d' ' -f2) / 1000) < from + left))
}

@test "pause: the command is never stopped when all is well, or only slow" {
  paused_run -t 1
  proxy delay 100
  let_pass 1500
  goes_on
  unsaid . "$T/a.err"
  kill -TERM "$RL"
  status "$RL"
  is 143 "$GOT"
  no_trace
}

@test "pause: TERM while paused: it gets it when the lock is proven, with time to clean up" {
  proxy_start
  begin a "$RLOCK" -u "$PROXY_URL" -k "$K" -t 1 --kill-after 20 --on-lost pause -- bash -c \
    'trap "echo >$T/term; exit 3" TERM; echo $$ >"$T/cmd.pid"; while :; do sleep 0.05; done'
  CMD=$(wait_pidfile "$T/cmd.pid")
  proxy freeze
  kept
  wait_stopped "$CMD"
  kill -TERM "$PID"
  let_pass 300
  [ ! -e "$T/term" ]
  _wait_state "$CMD" T
  proxy pass
  status "$PID"
  [ -e "$T/term" ]
  is 3 "$GOT"
  no_trace
}

@test "pause: TERM while paused and the server stays silent: KILL after --kill-after" {
  in_doubt -t 1 --kill-after 0.7
  local from n
  n=$(stamps)
  from=$(boot_ms)
  kill -TERM "$RL"
  wait_gone "$CMD" 3
  within 100 $(($(boot_ms) - from)) 1700
  is "$n" "$(stamps)"
  status "$RL" 5
  [[ $GOT == 137 || $GOT == 76 ]] || { echo "status $GOT"; false; }
}

@test "pause: a second TERM while paused: KILL now" {
  in_doubt -t 1 --kill-after 30
  kill -TERM "$RL"
  let_pass 300
  alive "$CMD"
  kill -TERM "$RL"
  wait_gone "$CMD" 1
  status "$RL" 5
}

@test "pause: --max-run while paused: 124" {
  in_doubt -t 1 --max-run 2 --kill-after 30
  wait_gone "$CMD" 5
  proxy pass
  status "$RL" 5
  is 124 "$GOT"
}

@test "pause: CONT, USR1 and TSTP to rlock while paused: the command sees nothing before the proof" {
  proxy_start
  begin a "$RLOCK" -u "$PROXY_URL" -k "$K" -t 1 --kill-after 20 --on-lost pause -- perl -e '
    $SIG{USR1} = sub { open my $f, ">", "$ENV{T}/usr1" };
    open my $f, ">", "$ENV{T}/p"; print $f "$$\n"; close $f; rename "$ENV{T}/p", "$ENV{T}/cmd.pid";
    select undef, undef, undef, 0.01 until -e "$ENV{T}/usr1"; exit 4'
  CMD=$(wait_pidfile "$T/cmd.pid")
  proxy freeze
  kept
  wait_stopped "$CMD"
  kill -USR1 "$PID"
  kill -TSTP "$PID"
  kill -CONT "$PID"
  let_pass 200
  [ ! -e "$T/usr1" ]
  _wait_state "$CMD" T
  not _wait_state "$PID" T
  proxy pass
  status "$PID"
  is 4 "$GOT"
  no_trace
}

@test "pause: KILL of rlock while paused: the command ends within a second" {
  in_doubt -t 1
  kill -KILL "$RL"
  wait_gone "$CMD" 1
}

@test "pause: rlock stopped while paused: the guard ends the command after --kill-after" {
  local n
  in_doubt -t 1 --kill-after 0.6
  n=$(stamps)
  kill -STOP "$RL"
  wait_stopped "$RL"
  wait_gone "$CMD" 4
  is "$n" "$(stamps)"
  kill -CONT "$RL"
  status "$RL" 5
  is 76 "$GOT"
}

@test "pause: rlock stopped before the doubt: the guard keeps the command from running on" {
  local from left
  paused_run -t 2.5
  kill -STOP "$RL"
  wait_stopped "$RL"
  left=$(r pttl "$L")
  from=$(boot_ms) # the lease ends at from + left, or before
  wait_no_key "$L" 4
  stands_still 100
  ((($(tail -n 1 "$T/log" | cut -d' ' -f2) / 1000) < from + left))
  kill -CONT "$RL"
  status "$RL" 5
  is 76 "$GOT"
}

@test "pause: what has left the command's group stands still, too" {
  proxy_start
  begin a "$RLOCK" -u "$PROXY_URL" -k "$K" -t 1 --on-lost pause -- sh -c \
    'echo $$ >"$T/cmd.pid"; timeout 60 "$RLOCK_PROGS/stamp" "$T/log" beat 2; exit'
  CMD=$(wait_pidfile "$T/cmd.pid")
  wait_file "$T/log"
  proxy freeze
  kept
  wait_stopped "$CMD"
  let_pass 200 # until the lease is over
  stands_still
  proxy pass
  goes_on
  kill -TERM "$PID"
  status "$PID"
  no_trace
}
