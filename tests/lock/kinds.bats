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

@test "what this run has not, is not in the environment" {
  try env RLOCK_SLOT=7 RLOCK_FENCE=7 RLOCK_SHARD=7 "$RLOCK" -k "$K" -- env
  is "$(grep -cE '^RLOCK_(SLOT|FENCE|SHARD)=' <<<"$output" || true)" 0
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
