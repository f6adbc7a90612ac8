#!/usr/bin/env bats
# shellcheck disable=SC2016 # for the shells within
# Runs below runs: the same lock again, by the tokens in the environment.

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { rlock_setup; }
teardown() { rlock_teardown; }

rl() { "$RLOCK" -k "$K" "$@"; }

@test "in again at once, as deep as one likes, and all is gone at the end" {
  try "$RLOCK" -k "$K" -n -- "$RLOCK" -k "$K" -n -- "$RLOCK" -k "$K" -n -- \
    sh -c 'exit 7'
  is "$status" 7
  is "$output" ''
  is "$(r exists "$L" "$Q" "rlock:holds:{$L}")" 0
}

@test "the tokens of all are in RLOCK_TOKENS, its own in RLOCK_TOKEN" {
  # shellcheck disable=SC2016
  try "$RLOCK" -k "$K" -- "$RLOCK" -k "$K" -- \
    sh -c 'set -- $RLOCK_TOKENS; [ $# = 2 ] && [ "$2" = "$RLOCK_TOKEN" ]'
  is "$status" 0
}

@test "two locks nest, and inside the other the first one again" {
  try "$RLOCK" -k "$K" -n -- "$RLOCK" -k "$K.b" -n -- "$RLOCK" -k "$K" -n -- true
  is "$status" 0
  is "$(r exists "$L" "$L.b")" 0
}

@test "through sh, xargs -P, make -j and a pool of workers" {
  # shellcheck disable=SC2016
  try "$RLOCK" -k "$K" -- sh -c 'seq 8 | xargs -P 4 -I@ "$RLOCK" -n -k "$K" -- sh -c "echo @ >>$T/xargs"'
  is "$status" 0
  is "$(lines "$T/xargs")" 8
  printf 'all: 1 2 3 4\n1 2 3 4:\n\t@"$(RLOCK)" -n -k "$(K)" -- sh -c "echo $@ >>$(T)/make"\n' >"$T/Makefile"
  try "$RLOCK" -k "$K" -- env -u MAKEFLAGS make -s -j4 -f "$T/Makefile"
  is "$status" 0
  is "$(lines "$T/make")" 4
  # shellcheck disable=SC2016
  try "$RLOCK" -k "$K" -- bash -c 'for i in 1 2 3 4 5; do
    "$RLOCK" -n -k "$K" -- sh -c "echo $i >>$T/pool" & done; wait'
  is "$status" 0
  is "$(lines "$T/pool")" 5
  is "$(r exists "$L" "rlock:holds:{$L}")" 0
}

@test "one that outlives the outer run keeps the lock, renews it, then frees it" {
  bg "$RLOCK" -k "$K" -t 1 -- sh -c 'setsid -f "$RLOCK" -t 1 -k "$K" -- \
    sh -c "echo \$PPID >\$T/rlock; exec sh -c \"\$SH_HOLD\" \"\$T/inner\"" \
    >"$T/out" 2>&1 3>&-
    while [ ! -s "$T/inner" ]; do :; done'
  OUTER=$PID
  INNER=$(wait_pidfile "$T/inner")
  ended "$OUTER"
  is "$status" 0
  STARTED+=("$(cat "$T/rlock")")
  pass_ms 1300 # longer than the lease of either
  alive "$INNER"
  try rl -n -- true
  is "$status" 75
  is "$(r exists "rlock:holds:{$L}")" 0
  kill -TERM "$(cat "$T/rlock")"
  wait_gone "$INNER"
  wait_no_key "$L" 1
}

@test "the outer rlock is killed: what it ran ends, nested or not, and the lock is free" {
  bg "$RLOCK" -k "$K" -t 1500ms -- "$RLOCK" -k "$K" -t 1500ms -- \
    sh -c "$SH_HOLD" "$T/inner"
  INNER=$(wait_pidfile "$T/inner")
  kill -KILL "$PID"
  wait_gone "$INNER" 5
  wait_no_key "$L" 5
  is "$(r exists "rlock:holds:{$L}")" 0
}

@test "after a loss the tokens of the run are worth nothing" {
  bg "$RLOCK" -k "$K" -t 600ms --on-lost warn -- sh -c 'echo $$ >"$T/pid"
    until [ -e "$T/go" ]; do :; done; "$RLOCK" -n -k "$K" -- true; echo $? >"$T/status"'
  wait_pidfile "$T/pid" >/dev/null
  r set "$L" other px 60000 >/dev/null
  : >"$T/go"
  ended "$PID"
  is "$(cat "$T/status")" 75
  is "$(r get "$L")" other
}

@test "who waits is served when the last of all is out, not before" {
  bg "$RLOCK" -k "$K" -- sh -c '"$RLOCK" -k "$K" -- sh -c "echo \$\$ >\$T/pid
      until [ -e \$T/go ]; do :; done; echo inner >>\$T/order"
    "$RLOCK" -k "$K" -n -- sh -c "echo again >>\$T/order"'
  OUTER=$PID
  wait_pidfile "$T/pid" >/dev/null
  bg "$RLOCK" -k "$K" -w 20 -- sh -c 'echo waiter >>"$T/order"'
  wait_waiters 1
  : >"$T/go"
  ended "$PID" 20
  is "$status" 0
  ended "$OUTER"
  is "$status" 0
  is "$(tr '\n' ' ' <"$T/order")" 'inner again waiter '
  is "$(r exists "$L" "$Q" "rlock:holds:{$L}")" 0
}

@test "each nested run has its own status, also when they end out of order" {
  try "$RLOCK" -k "$K" -- bash -c '
    "$RLOCK" -k "$K" -n -- sh -c "until [ -e \"\$T/a\" ]; do :; done; exit 3" & a=$!
    "$RLOCK" -k "$K" -n -- sh -c "until [ -e \"\$T/b\" ]; do :; done; exit 4" & b=$!
    : >"$T/b"; wait $b; echo $?; : >"$T/a"; wait $a; echo $?'
  is "$output" '4
3'
  no_key
}

@test "a killed inner run costs the outer one nothing" {
  bg "$RLOCK" -k "$K" -t 1 -- sh -c '"$RLOCK" -k "$K" -t 1 -- sh -c "$SH_HOLD" "$T/inner" &
    echo $! >"$T/pid"; wait; exec sh -c "$SH_HOLD" "$T/outer"'
  OUTER=$PID
  wait_pidfile "$T/inner" >/dev/null
  kill -KILL "$(cat "$T/pid")"
  wait_pidfile "$T/outer" >/dev/null
  # Its entry lapses, and the outer one goes on being renewed.
  wait_until 10 eval '[ "$(r exists "rlock:holds:{$L}")" = 0 ]'
  try rl -n -- true
  is "$status" 75
  kill -TERM "$OUTER"
  ended "$OUTER"
  no_key
}

@test "a lock taken by --acquire is entered by its token" {
  local token
  token=$("$RLOCK" --acquire -k "$K" -t 20)
  try env RLOCK_TOKENS="$token" "$RLOCK" -k "$K" -n -- true
  is "$status" 0
  is "$(r get "$L")" "$token"
  try "$RLOCK" -k "$K" -n -- true
  is "$status" 75
  "$RLOCK" --release -k "$K" --token "$token"
  # Worth nothing now.
  hold
  try env RLOCK_TOKENS="$token" "$RLOCK" -k "$K" -n -- true
  is "$status" 75
}

@test "shared below exclusive is granted, exclusive below shared refused at once" {
  try rl -- "$RLOCK" -k "$K" -n -s -- true
  is "$status" 0
  try rl -s -- "$RLOCK" -k "$K" -- true
  is "$status" 64
  [[ $output == *"would wait for itself"* ]]
  try rl -s -- "$RLOCK" -k "$K" -s -n -- true
  is "$status" 0
  no_key
}

@test "slots that are full of runs above: refused at once; else one more" {
  try rl -j 2 -- "$RLOCK" -k "$K" -j 2 -n -- sh -c 'exit $RLOCK_SLOT'
  is "$status" 1
  try rl -j 1 -- "$RLOCK" -k "$K" -j 1 -- true
  is "$status" 64
}

@test "the outer run's lease is not shortened by an inner one" {
  bg "$RLOCK" -k "$K" -t 1m -- "$RLOCK" -k "$K" -t 1 -- sh -c "$SH_HOLD" "$T/pid"
  wait_pidfile "$T/pid" >/dev/null
  between 50000 "$(r pttl "$L")" 60000
}
