#!/usr/bin/env bats
# shellcheck disable=SC2016 # for the shells within
# -s and -j, --fence and --shard, as the command sees them.

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { rlock_setup; }
teardown() { rlock_teardown; }

@test "slots: numbers from 0 on, each held by one at a time, never more than N" {
  local i
  for i in $(seq 24); do
    # mkdir fails where somebody is in the slot already.
    # shellcheck disable=SC2016
    bg "$RLOCK" -k "$K" -j 3 -w 30 -- sh -c '[ "$RLOCK_SLOT" -le 2 ] &&
      mkdir "$T/in.$RLOCK_SLOT" && echo "$RLOCK_SLOT" >>"$T/log" &&
      rmdir "$T/in.$RLOCK_SLOT"'
  done
  for i in "${STARTED[@]}"; do
    ended "$i" 30
    is "$status" 0
  done
  is "$(lines "$T/log")" 24
  not grep -qv '^[012]$' "$T/log"
  is "$(r exists "$L" "$Q")" 0
}

@test "slots: a killed holder's is free when its lease is over" {
  hold -j 1 -t 700ms
  kill -KILL "$HOLDER"
  try "$RLOCK" -k "$K" -j 1 -w 10 -- sh -c 'exit "$RLOCK_SLOT"'
  is "$status" 0
}

@test "shared: together; a writer waits for all, and readers behind it for the writer" {
  hold -s
  FIRST=$HOLDER
  hold -s
  bg "$RLOCK" -k "$K" -w 20 -- sh -c 'echo writer >>"$T/order"'
  wait_waiters 1
  bg "$RLOCK" -k "$K" -s -w 20 -- sh -c 'echo reader >>"$T/order"'
  READER=$PID
  wait_waiters 2
  let_go
  is "$(lines "$T/order" 2>/dev/null)" ''
  HOLDER=$FIRST
  let_go
  ended "$READER"
  is "$(tr '\n' ' ' <"$T/order")" 'writer reader '
}

@test "shared: a writer that was killed in line holds up nobody for longer than six seconds" {
  local writer reader
  hold -s -t 10m
  bg "$RLOCK" -k "$K" -t 10m -w 60 -- true
  writer=$PID
  wait_waiters 1
  bg "$RLOCK" -k "$K" -s -t 10m -w 60 -- true
  reader=$PID
  wait_waiters 2
  kill -KILL "$writer"
  ended "$reader" 10
  is "$status" 0
  is_key
  is "$(r exists "$Q")" 0
}

@test "shared: renewed as any, and told when it is lost" {
  hold -s -t 600ms
  pass_ms 900
  is_key
  r del "$L" >/dev/null
  ended "$HOLDER"
  is "$status" 76
}

@test "kinds that can't meet: 78, with both named" {
  hold -j 4
  try "$RLOCK" -k "$K" -- true
  is "$status" 78
  [[ $output == *"one of 4 slots (-j 4), and asked for as exclusive"* ]]
  try "$RLOCK" -k "$K" -j 5 -- true
  is "$status" 78
}

@test "shared: five at once, each sees the other four" {
  local i
  for i in 1 2 3 4 5; do
    # None ends before all have been in.
    bg "$RLOCK" -k "$K" -s -w 20 -- sh -c ': >"$T/in.$$"
      until [ "$(ls "$T" | grep -c "^in")" = 5 ]; do :; done'
  done
  for i in "${STARTED[@]}"; do
    ended "$i" 20
    is "$status" 0
  done
  is "$(r exists "$L" "$Q")" 0
}

@test "shared: one that was killed holds the writer up for its own lease, no longer" {
  hold -s -t 700ms
  kill -KILL "$HOLDER"
  try "$RLOCK" -k "$K" -w 10 -- true
  is "$status" 0
  # Nor does it shorten the time of those that live.
  hold -s -t 20
  FIRST=$HOLDER
  hold -s -t 700ms
  kill -KILL "$HOLDER"
  pass_ms 800
  try "$RLOCK" -k "$K" -n -- true
  is "$status" 75
  HOLDER=$FIRST
  let_go
  try "$RLOCK" -k "$K" -w 10 -- true
  is "$status" 0
}

@test "slots: waiters get them in the order in which they came" {
  local i
  hold -j 1
  for i in 1 2 3 4; do
    bg "$RLOCK" -k "$K" -j 1 -w 20 -- sh -c 'echo "$0" >>"$T/order"' "$i"
    wait_waiters "$i"
  done
  let_go
  for i in "${STARTED[@]}"; do ended "$i" 20; done
  is "$(tr '\n' ' ' <"$T/order")" '1 2 3 4 '
  no_key
}

@test "slots: a killed holder's goes on to who waits, the other stays where it is" {
  hold -j 2 -t 20
  FIRST=$HOLDER
  hold -j 2 -t 700ms
  bg "$RLOCK" -k "$K" -j 2 -w 20 -- sh -c 'exit "$RLOCK_SLOT"'
  wait_waiters 1
  kill -KILL "$HOLDER"
  ended "$PID" 10
  is "$status" 1
  alive "$FIRST"
  is "$(r zcount "$L" 1 +inf)" 1
  HOLDER=$FIRST
  let_go
  no_key
}

@test "what this run has not, is not in the environment" {
  try env RLOCK_SLOT=7 RLOCK_FENCE=7 RLOCK_SHARD=7 "$RLOCK" -k "$K" -- env
  is "$(grep -cE '^RLOCK_(SLOT|FENCE|SHARD)=' <<<"$output" || true)" 0
}

@test "RLOCK_KEY is the key as given, RLOCK_TOKENS all tokens, inherited ones are gone" {
  try env RLOCK_KEY=no RLOCK_TOKEN=no RLOCK_TOKENS= RLOCK_SHARD=no \
    "$RLOCK" -k "$K" --prefix "p.$K:" --shard a/b/1 -j 1 --fence -- \
    sh -c 'r() { "$REDIS_CLI" -s "$REDIS_SOCK" "$@"; }
      env | grep ^RLOCK_ | grep -vE "^RLOCK_(URL|TESTS|PROGS|TAP_DIR|BUILD|SANITIZE)="
      r zrange "p.$K:$K:0" 0 -1; r get "rlock:fence:{p.$K:$K:0}"'
  is "$status" 0
  is "$(sed -n 's/^RLOCK_KEY=//p' <<<"$output")" "$K"
  is "$(sed -n 's/^RLOCK_SHARD=//p' <<<"$output")" 0
  is "$(sed -n 's/^RLOCK_SLOT=//p' <<<"$output")" 0
  token=$(sed -n 's/^RLOCK_TOKEN=//p' <<<"$output")
  is "$(sed -n 's/^RLOCK_TOKENS=//p' <<<"$output")" "$token"
  is "$(grep -c "^j1:0:$token\$" <<<"$output")" 1
  is "$(grep -c "^$(sed -n 's/^RLOCK_FENCE=//p' <<<"$output")\$" <<<"$output")" 1
  is "$(grep -c =no <<<"$output" || true)" 0
}

@test "fence: in the environment and the report, growing" {
  local a b
  a=$("$RLOCK" -k "$K" --fence --report "$T/report" -- printenv RLOCK_FENCE)
  is "$(fact "$T/report" fence)" "$a"
  b=$("$RLOCK" -k "$K" --fence -s -- printenv RLOCK_FENCE)
  ((b > a))
}

@test "shard: the lock is one of N, by the checksum of the id" {
  local got want
  want=$(printf u42 | gzip -c | tail -c 8 | od -An -N4 -tu4 | tr -d ' ')
  # shellcheck disable=SC2016
  got=$("$RLOCK" -k "$K" --shard u42/10 -- sh -c 'echo "$RLOCK_KEY $RLOCK_SHARD"; "$REDIS_CLI" -s "$REDIS_SOCK" keys "lock:$K*"')
  is "$got" "$K $((want % 10))
$L:$((want % 10))"
}

@test "shard: the numbers are spread evenly" {
  local i
  for i in $(seq 300); do
    "$RLOCK" -k "$K" --shard "user-$i/3" -- printenv RLOCK_SHARD
  done | sort | uniq -c >"$T/counts"
  is "$(lines "$T/counts")" 3
  while read -r n _; do between 75 "$n" 125; done <"$T/counts"
}
