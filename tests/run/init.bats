#!/usr/bin/env bats
# rlock as the first process of a container.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2153

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }

AS_INIT=("${UNSHARE[@]}" -pf --mount-proc --kill-child)

setup() {
  as_init true 2>/dev/null || skip "no PID namespaces here (they take root)"
  rlock_setup
}

teardown() { rlock_teardown; }

as_init() { "${AS_INIT[@]}" "$@"; }

@test "as PID 1: the status passes" {
  try as_init "$RLOCK" -k "$K" -- sh -c 'echo $PPID; exit 3'
  is "$status $output" '3 1'
  no_key
}

@test "as PID 1: no false death of the parent, renewing works" {
  try as_init "$RLOCK" -k "$K" -t 0.3 -- sh -c 'sleep 1; exit 4'
  is "$status $output" '4 '
  no_key
}

@test "below PID 1 of an unshare, and with a sub-reaper" {
  try as_init sh -c '"$RLOCK" -k "$K" -t 0.3 -- sh -c "sleep 0.5; exit 5"; exit $?'
  is "$status" 5
}

@test "as PID 1: orphans are reaped, their status is never the command's" {
  try as_init "$RLOCK" -k "$K" -- sh -c '
    for i in 1 2 3 4 5; do (sh -c "echo \$\$ >>$0; exit 7" &); done
    n=0
    until [ "$(grep -c . "$0")" = 5 ]; do sleep 0.01; n=$((n + 1)); [ $n -lt 500 ] || exit 8; done
    for pid in $(cat "$0"); do
      while [ -e /proc/$pid ]; do sleep 0.01; n=$((n + 1)); [ $n -lt 500 ] || exit 9; done
    done
    exit 3' "$T/orphans"
  is "$status" 3
}

@test "as PID 1: an orphan that ends right before the command" {
  local _
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    try as_init "$RLOCK" -k "$K" -- sh -c '(sh -c "exit 7" &); exit 3'
    is "$status" 3
  done
}

@test "as PID 1: TERM, INT, HUP are forwarded, 128+N is the status" {
  local s init
  for s in TERM INT HUP; do
    rm -f "$T/pid"
    bg "${AS_INIT[@]}" "$RLOCK" -k "$K" -- sh -c "$SH_HOLD" "$T/pid"
    wait_file "$T/pid"
    init=$(pgrep -P "$PID")
    kill -s "$s" "$init"
    ended "$PID" 3
    is "$s $status" "$s $((128 + $(kill -l "$s")))"
    no_key
  done
}

@test "as PID 1: the end of a waiter by TERM" {
  hold
  bg "${AS_INIT[@]}" "$RLOCK" -k "$K" -- touch "$T/ran"
  local waiter=$PID
  wait_waiters 1
  kill -TERM "$(pgrep -P "$waiter")"
  ended "$waiter" 2
  is "$status" 143
  wait_waiters 0
  let_go
  [ ! -e "$T/ran" ]
}

@test "not PID 1: orphans are reaped as well while the command runs" {
  try "$RLOCK" -k "$K" -- sh -c '
    (sh -c "echo \$\$ >$0; exit 7" &)
    n=0
    until [ -s "$0" ]; do sleep 0.01; n=$((n + 1)); [ $n -lt 500 ] || exit 8; done
    while [ -e "/proc/$(cat "$0")" ]; do sleep 0.01; n=$((n + 1)); [ $n -lt 500 ] || exit 9; done
    exit 3' "$T/orphan"
  is "$status $output" '3 '
}

@test "a child that rlock was started with is not taken for the command" {
  try bash -c 'sleep 0.1 & exec "$@"' - "$RLOCK" -k "$K" -- sh -c 'sleep 0.4; exit 5'
  is "$status $output" '5 '
}
