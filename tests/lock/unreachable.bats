#!/usr/bin/env bats
# --on-unreachable: what is done when no server is to be had.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2034,SC2153

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() {
  rlock_setup
  GONE=unix://$T/nobody
}
teardown() { rlock_teardown; }

# out ACTION [ARGUMENT...]: a run that finds no server.
out() { try "$RLOCK" -u "$GONE" --connect-timeout 100ms -k "$K" --on-unreachable "$@"; }

@test "fail, the default: 69, and the command is not run" {
  out fail -- touch "$T/ran"
  is "$status" 69
  try "$RLOCK" -u "$GONE" --connect-timeout 100ms -k "$K" -- touch "$T/ran"
  is "$status" 69
  [[ ! -e $T/ran ]]
}

@test "skip: 0, one line, and the command is not run" {
  out skip --once-exit-code 9 --report "$T/report" -- touch "$T/ran"
  is "$status" 0
  is "${#lines[@]}" 1
  [[ $output == "rlock: $K: $GONE: "*'--on-unreachable skip'* ]]
  [[ ! -e $T/ran ]]
  is "$(fact "$T/report" outcome)" skipped
  is "$(fact "$T/report" message)" "${output#rlock: "$K": }"
}

@test "run: the command runs without a lock, a line each time, its own status" {
  out run --report "$T/report" -- sh -c 'env >"$T/env"; exit 3'
  is "$status" 3
  is "${#lines[@]}" 1
  [[ $output == *'WITHOUT THE LOCK'* ]]
  not grep -q '^RLOCK_TOKEN=' "$T/env"
  grep -q "^RLOCK_KEY=$K\$" "$T/env"
  is "$(fact "$T/report" outcome)" ran
  is "$(fact "$T/report" token)" ''
  out run -- sh -c 'kill -KILL $$'
  is "$status" 137
}

@test "run: nobody is kept out" {
  bg "$RLOCK" -u "$GONE" --connect-timeout 100ms -k "$K" --on-unreachable run -- sh -c "$SH_HOLD" "$T/hold.pid"
  HOLDER=$PID
  CMD=$(wait_pidfile "$T/hold.pid")
  out run -- true
  is "$status" 0
  let_go
  is "$status" 143
  group_gone "$CMD"
}

@test "run: --max-run, signals and the guard are as ever" {
  out run --max-run 100ms -- sleep 30
  is "$status" 124
  bg "$RLOCK" -u "$GONE" --connect-timeout 100ms -k "$K" --on-unreachable run -t 200ms -- sh -c "$SH_HOLD" "$T/hold.pid"
  CMD=$(wait_pidfile "$T/hold.pid")
  pass_ms 500
  alive "$CMD"
  kill -KILL "$PID"
  wait_gone "$CMD"
}

@test "local: the lock of this host, whose busy is busy" {
  needs_root
  "${UNSHARE[@]}" -m true || skip 'no mounts can be made here'
  try "${UNSHARE[@]}" -m sh -c '
    mount -t tmpfs tmpfs /run/lock
    set -- "$RLOCK" -u "$1" --connect-timeout 100ms -k "$K" --on-unreachable local
    "$@" -- sh -c "exit 3"; echo "first $?"
    "$RLOCK" -u local: -k "$K" -- env -u RLOCK_TOKENS "$@" -n -- touch "$T/ran"; echo "second $?"' sh "$GONE"
  [[ $output == *'under the lock of this host only'*'first 3'*'second 75'* ]]
  [[ ! -e $T/ran ]]
}

@test "the command gets the signal mask and the descriptors it would have got" {
  "$RLOCK" -k "$K" -- grep -E '^Sig(Blk|Ign)' /proc/self/status >"$T/want"
  "$RLOCK" -u "$GONE" --connect-timeout 100ms -k "$K" --on-unreachable run -- \
    grep -E '^Sig(Blk|Ign)' /proc/self/status >"$T/got"
  cmp "$T/want" "$T/got"
  "$RLOCK" -k "$K" -- ls /proc/self/fd >"$T/want"
  "$RLOCK" -u "$GONE" --connect-timeout 100ms -k "$K" --on-unreachable run -- ls /proc/self/fd >"$T/got"
  cmp "$T/want" "$T/got"
}

@test "a server that holds the lock, refuses us or can't is no reason" {
  hold
  try "$RLOCK" -k "$K" -n --on-unreachable run -- touch "$T/ran"
  is "$status" 75
  let_go
  r lpush "$L" x >/dev/null
  try "$RLOCK" -k "$K" -n --on-unreachable run -- touch "$T/ran"
  is "$status" 78
  r config set requirepass secret >/dev/null
  try "$RLOCK" -k "$K" -n --on-unreachable run -- touch "$T/ran"
  r -a secret config set requirepass '' 2>/dev/null >&2
  is "$status" 77
  [[ ! -e $T/ran ]]
}

@test "who was told of a holder ends as busy, not without a server" {
  hold
  bg "$RLOCK" -v -k "$K" -w 2 --on-unreachable run -- touch "$T/ran" 2>"$T/err"
  wait_line "$T/err" 'waiting: held by'
  redis_freeze
  ended "$PID"
  redis_thaw
  is "$status" 75
  [[ ! -e $T/ran ]]
}

@test "a signal while there is no server yet: no fallback" {
  bg "$RLOCK" -v -u "$GONE" -k "$K" -w 30 --on-unreachable run -- touch "$T/ran" 2>"$T/err"
  wait_line "$T/err" 'no lock yet: .*trying again'
  kill -TERM "$PID"
  ended "$PID" 3
  is "$status" 143
  [[ ! -e $T/ran ]]
}

@test "too few replicas is no reason: the lock was there" {
  try "$RLOCK" -k "$K" -t 1 --replicas 1 --on-unreachable run -- touch "$T/ran"
  is "$status" 69
  [[ ! -e $T/ran ]]
}

@test "--fence with run or local is a usage error; other verbs know no such option" {
  out run --fence -- true
  is "$status" 64
  out local --fence -- true
  is "$status" 64
  try "$RLOCK" --status "$K" --on-unreachable skip
  is "$status" 64
  out perhaps -- true
  is "$status" 64
  [[ $output == *"'perhaps' is not fail, skip, run or local"* ]]
}
