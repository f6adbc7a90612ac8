#!/usr/bin/env bats
# shellcheck disable=SC2016 # for the shells within
# --min-hold and --once.

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { rlock_setup; D="rlock:done:{$L}"; }
teardown() { rlock_teardown; }

@test "min-hold: the lock stays taken, rlock does not" {
  try "$RLOCK" -k "$K" --min-hold 1h -t 5 -- sh -c 'exit 3'
  is "$status" 3
  between 3500000 "$(r pttl "$L")" 3600000
  try "$RLOCK" -k "$K" -n -- true
  is "$status" 75
}

@test "min-hold: counted from when it was taken; over, nothing is left" {
  "$RLOCK" -k "$K" --min-hold 300ms -- sh -c 'exec sleep 0.4'
  no_key
  "$RLOCK" -k "$K" --min-hold 1 -- true
  between 1 "$(r pttl "$L")" 1000
}

@test "min-hold: who waits is served when it is over" {
  local from
  hold --min-hold 1500ms
  bg "$RLOCK" -k "$K" -w 20 -- true
  wait_waiters 1
  from=$(now_ms)
  let_go
  ended "$PID"
  is "$status" 0
  between 300 $(($(now_ms) - from)) 3000
}

@test "min-hold: a command that did not start leaves nothing" {
  try "$RLOCK" -k "$K" --min-hold 1h -- /does/not/exist
  is "$status" 127
  no_key
}

@test "min-hold: a run that was interrupted in line leaves nothing of it" {
  hold
  bg "$RLOCK" -k "$K" --min-hold 1h -- true
  wait_waiters 1
  kill -TERM "$PID"
  ended "$PID"
  let_go
  no_key
}

@test "min-hold: a slot" {
  "$RLOCK" -k "$K" -j 2 --min-hold 1h -- true
  "$RLOCK" -k "$K" -j 2 -n -- sh -c '[ "$RLOCK_SLOT" = 1 ]'
  hold -j 2
  try "$RLOCK" -k "$K" -j 2 -n -- true
  is "$status" 75
}

@test "min-hold: a slot goes on to who waits for it when it is over" {
  local from
  hold -j 1 --min-hold 1500ms
  bg "$RLOCK" -k "$K" -j 1 -w 20 -- true
  wait_waiters 1
  from=$(now_ms)
  let_go
  like_cooling
  ended "$PID"
  is "$status" 0
  between 300 $(($(now_ms) - from)) 3000
  no_key
}

like_cooling() { [[ $(r zrange "$L" 0 -1) == j1:0:rlock:1:cooling:* ]]; }

@test "min-hold: also of a command that was stopped, by a signal or --max-run" {
  hold --min-hold 1h
  let_go
  is "$status" 143
  between 3500000 "$(r pttl "$L")" 3600000
  r del "$L" >/dev/null
  try "$RLOCK" -k "$K" --min-hold 1h --max-run 100ms -- sh -c "$SH_HOLD" "$T/pid"
  is "$status" 124
  between 3500000 "$(r pttl "$L")" 3600000
}

# Thirty hosts fire the same line, their clocks a minute apart.  No clock of a
# host is in the rule: how long it was held is counted by the boottime clock of
# the one that held it (no wall clock, and it goes on in a suspend), and how
# long it stays taken from then on by the server, in PX.  The wall clock is in
# the token alone, as START_MS, for --status to show.  So what is left to be
# shown here is that whoever comes before the time is over, comes too late.
@test "min-hold: one line in the crontabs of many: run once, whenever they come" {
  local i
  for i in 1 2 3 4 5 6; do
    bg "$RLOCK" -n -E 0 -k "$K" -t 5 --min-hold 1h -- sh -c 'echo ran >>"$T/log"'
  done
  for i in "${STARTED[@]}"; do
    ended "$i"
    is "$status" 0
  done
  for i in 1 2 3; do
    "$RLOCK" -n -E 0 -k "$K" -t 5 --min-hold 1h -- sh -c 'echo ran >>"$T/log"'
  done
  is "$(lines "$T/log")" 1
  # Nobody who came too late has made it longer.
  between 3500000 "$(r pttl "$L")" 3600000
}

@test "min-hold: a lost lock leaves nothing" {
  hold -t 600ms --min-hold 1h
  r set "$L" other px 60000 >/dev/null
  ended "$HOLDER"
  is "$status" 76
  is "$(r get "$L")" other
}

@test "min-hold: of a nested run" {
  "$RLOCK" -k "$K" -- "$RLOCK" -k "$K" --min-hold 1h -- true
  try "$RLOCK" -k "$K" -n -- true
  is "$status" 75
  between 3500000 "$(r pttl "$L")" 3600000
  is "$(r exists "rlock:holds:{$L}")" 0
}

@test "once: a success is remembered, and by whom and how long it took" {
  "$RLOCK" -k "$K" --once 1h -- sh -c 'echo ran >>"$T/log"'
  try "$RLOCK" -k "$K" --once 1h -v -- sh -c 'echo ran >>"$T/log"'
  is "$status" 0
  [[ $output == *"$K: skipped: done at 20"*"(--once)" ]]
  try "$RLOCK" -k "$K" --once 1h --once-exit-code 9 --report "$T/report" -- false
  is "$status" 9
  is "$output" ''
  is "$(fact "$T/report" outcome)" skipped
  is "$(lines "$T/log")" 1
  no_key
  between 3590000 "$(r pttl "$D")" 3600000
}

@test "once: a failure, a signal, a command that is not there leave no marker" {
  local command
  for command in false 'kill -TERM $$' /does/not/exist; do
    try "$RLOCK" -k "$K" --once 1h -c "$command"
    is "$(r exists "$D")" 0
  done
}

@test "once: a lost lock leaves no marker" {
  hold -t 600ms --once 1h
  r del "$L" >/dev/null
  ended "$HOLDER"
  is "$(r exists "$D")" 0
}

@test "once: lost with --on-lost warn, over --max-run or stopped: no marker" {
  bg "$RLOCK" -k "$K" --once 1h -t 600ms --on-lost warn -- sh -c 'echo $$ >"$T/pid"
    until [ -e "$T/go" ]; do :; done'
  wait_pidfile "$T/pid" >/dev/null
  r set "$L" other px 60000 >/dev/null
  : >"$T/go"
  ended "$PID"
  is "$status" 0
  is "$(r exists "$D")" 0
  r del "$L" >/dev/null
  # These end with 0, but not of themselves.
  try "$RLOCK" -k "$K" --once 1h --max-run 100ms -- \
    sh -c 'trap "exit 0" TERM; while :; do :; done'
  is "$status" 124
  is "$(r exists "$D")" 0
  bg "$RLOCK" -k "$K" --once 1h -- sh -c 'echo $$ >"$T/stopped"; exec sleep 30'
  wait_pidfile "$T/stopped" >/dev/null
  kill -TERM "$PID"
  ended "$PID"
  is "$status" 143
  is "$(r exists "$D" "$L")" 0
}

@test "once: a nested run that finds it done does not run, nor end the outer one" {
  "$RLOCK" -k "$K" --once 1h -- true
  try "$RLOCK" -k "$K" -- sh -c '"$RLOCK" -k "$K" --once 1h --once-exit-code 9 -- false
    echo $?; "$RLOCK" -k "$K" -n -- echo in'
  is "$status" 0
  is "$output" '9
in'
  no_key
}

@test "once: ten at once, one runs, and all leave when it has succeeded" {
  local i
  for i in $(seq 10); do
    bg "$RLOCK" -k "$K" --once 1h --once-exit-code 9 -w 20 -- \
      sh -c 'echo ran >>"$T/log"'
  done
  for i in "${STARTED[@]}"; do
    ended "$i"
    echo "$status" >>"$T/statuses"
  done
  is "$(sort "$T/statuses" | uniq -c | awk '{ print $1 "x" $2 }' | tr '\n' ' ')" '1x0 9x9 '
  is "$(lines "$T/log")" 1
  is "$(r exists "$L" "$Q")" 0
}

@test "once: when it fails, the next in line tries" {
  local i
  for i in $(seq 5); do
    bg "$RLOCK" -k "$K" --once 1h -w 20 -- \
      sh -c 'echo ran >>"$T/log"; [ "$(grep -c . "$T/log")" = 3 ]'
  done
  for i in "${STARTED[@]}"; do ended "$i"; done
  is "$(lines "$T/log")" 3
}

@test "once: with min-hold, shared, slots and nested runs" {
  local kind
  for kind in '' -s '-j 2' '--min-hold 200ms'; do
    r del "$D" >/dev/null
    # shellcheck disable=SC2086
    "$RLOCK" -k "$K" $kind --once 1h -- true
    is "$(r exists "$D")" 1
    # shellcheck disable=SC2086
    try "$RLOCK" -k "$K" $kind --once 1h --once-exit-code 9 -n -- true
    is "$status" 9
    wait_no_key "$L"
  done
  r del "$D" >/dev/null
  "$RLOCK" -k "$K" -- "$RLOCK" -k "$K" --once 1h -- true
  is "$(r exists "$D")" 1
}
