#!/usr/bin/env bats
# Waiting: in order of arrival, woken by the release itself.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2153

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { rlock_setup; }
teardown() { rlock_teardown; }

# waiter NAME [RLOCK OPTIONS...]: a waiter that appends NAME to "$T/order" when
# its turn comes; PID is its process.  It stands in the queue on return.
waiter() {
  local name=$1 n
  shift
  n=$(r zcard "$Q")
  bg "$RLOCK" -k "$K" "$@" -- sh -c 'echo "$1" >>"$0"' "$T/order" "$name"
  wait_waiters $((n + 1))
}

# all_ended PID...: all with status 0.
all_ended() {
  local pid
  for pid; do
    ended "$pid" 20
    is "$status" 0
  done
}

nothing_left() {
  no_key
  no_key "$Q"
}

@test "ten waiters are served in the order they came" {
  hold
  local i pids=()
  for i in 1 2 3 4 5 6 7 8 9 10; do
    waiter "$i"
    pids+=("$PID")
  done
  let_go
  all_ended "${pids[@]}"
  is "$(paste -sd ' ' "$T/order")" '1 2 3 4 5 6 7 8 9 10'
  nothing_left
}

@test "more dead ahead than one release drops: who lives is served all the same, at once" {
  local first from
  hold -t 60
  waiter 1 -t 60
  first=$PID
  waiter 2 -t 60 # not the head: by itself it looks after 5 s at the earliest
  kill -KILL "$first"
  wait_gone "$first"
  r eval "for i = 1, 2500 do
    redis.call('ZADD', KEYS[1], i, string.format('x0:10000:0:rlock:1:%032x:h:u:%d:0:', i, i))
  end" 1 "$Q" >/dev/null
  from=$(now_ms)
  let_go
  ended "$PID"
  is "$status" 0
  between 0 $(($(now_ms) - from)) 2000
  is "$(cat "$T/order")" 2
  nothing_left
}

@test "a hundred waiters: each gets its turn, alone" {
  hold
  local i pids=()
  for i in $(seq 100); do
    "$RLOCK" -k "$K" -- sh -c 'echo "+" >>"$0"; echo "-" >>"$0"' "$T/log" 3>&- &
    STARTED+=("$!")
    pids+=("$!")
  done
  wait_waiters 100
  let_go
  all_ended "${pids[@]}"
  is "$(lines "$T/log")" 200
  awk 'NR % 2 == 1 && $1 != "+" || NR % 2 == 0 && $1 != "-" { exit 1 }' "$T/log"
  nothing_left
}

@test "the hand-over is at once, with a lease of 30 s" {
  hold -t 30
  waiter next -t 30
  local next=$PID start
  start=$(now_ms)
  let_go
  ended "$next" 2
  is "$status" 0
  between 0 $(($(now_ms) - start)) 1000
  nothing_left
}

@test "twenty hand-overs in a row between two, each at once" {
  local i start
  start=$(now_ms)
  for i in 1 2 3 4; do
    bg sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do "$RLOCK" -t 30 -k "$K" -- true || exit; done'
  done
  for i in "${STARTED[@]}"; do
    ended "$i" 20
    is "$status" 0
  done
  between 0 $(($(now_ms) - start)) 5000
  nothing_left
}

@test "a newcomer with -n does not overtake, nor one that comes at the release" {
  hold
  waiter first
  local first=$PID
  kill -STOP "$first"
  wait_stopped "$first"
  let_go # the first one has its grant, and does not take it
  try "$RLOCK" -n -k "$K" -- true
  is "$status" 75
  kill -CONT "$first"
  ended "$first" 3
  is "$status" 0
}

@test "killed waiters ahead cost nothing" {
  hold -t 30
  local i dead=() last start
  for i in 1 2 3 4 5; do
    waiter "$i" -t 30
    dead+=("$PID")
  done
  waiter last -t 30
  last=$PID
  for i in "${dead[@]}"; do
    kill -KILL "$i"
    ended "$i"
  done
  start=$(now_ms)
  let_go
  ended "$last" 2
  is "$status" 0
  between 0 $(($(now_ms) - start)) 1000
  is "$(cat "$T/order")" last
  nothing_left
}

@test "killed ones between the living: the order is kept" {
  hold
  local i pids=()
  for i in 1 2 3 4 5 6; do
    waiter "$i"
    pids+=("$PID")
  done
  kill -KILL "${pids[1]}" "${pids[3]}"
  ended "${pids[1]}"
  ended "${pids[3]}"
  let_go
  all_ended "${pids[0]}" "${pids[2]}" "${pids[4]}" "${pids[5]}"
  is "$(paste -sd ' ' "$T/order")" '1 3 5 6'
  nothing_left
}

@test "all waiters and the holder killed: a newcomer is in after the lease" {
  hold -t 0.8
  local i pids=() end
  for i in 1 2 3 4 5; do
    waiter "$i"
    pids+=("$PID")
  done
  kill -KILL "$HOLDER" "${pids[@]}"
  for i in "$HOLDER" "${pids[@]}"; do
    ended "$i"
  done
  end=$(r pexpiretime "$L")
  try "$RLOCK" -w 10 -k "$K" -- true
  is "$status" 0
  between 0 $(($(now_ms) - end)) 1000
  nothing_left
}

@test "killed holder: the next runs right after the lease, not before" {
  local end
  hold -t 1
  bg "$RLOCK" -k "$K" -- perl -MTime::HiRes=time -e 'printf "%d\n", time * 1000' >"$T/ran"
  local next=$PID
  wait_waiters 1
  kill -KILL "$HOLDER"
  wait_gone "$HOLDER"
  end=$(r pexpiretime "$L")
  (( end > 0 ))
  ended "$next" 5
  is "$status" 0
  between 0 $(($(cat "$T/ran") - end)) 700
}

@test "TERM, INT, HUP, QUIT end a waiter: no entry, no command, the signal's status" {
  hold
  local s start
  for s in TERM INT HUP QUIT USR1; do
    bg "$RLOCK" -k "$K" -- touch "$T/ran"
    wait_waiters 1
    start=$(now_ms)
    kill -s "$s" "$PID"
    ended "$PID" 2
    is "$s $status" "$s $((128 + $(kill -l "$s")))"
    between 0 $(($(now_ms) - start)) 500
    no_key "$Q"
  done
  alive "$CMD"
  let_go
  [ ! -e "$T/ran" ]
  nothing_left
}

@test "signals that end nothing do not end the wait" {
  hold
  waiter next
  local next=$PID s
  for s in CHLD CONT URG WINCH; do
    kill -s "$s" "$next"
  done
  pass_ms 100
  alive "$next"
  let_go
  ended "$next" 2
  is "$status" 0
}

@test "a waiter ends at once while the server is frozen" {
  hold
  bg "$RLOCK" -k "$K" -- touch "$T/ran"
  local waiter=$PID start
  wait_waiters 1
  redis_freeze
  start=$(now_ms)
  kill -TERM "$waiter"
  ended "$waiter" 3
  redis_thaw
  is "$status" 143
  between 0 $(($(now_ms) - start)) 900
  wait_until 3 eval '_waiters 0'
  let_go
  [ ! -e "$T/ran" ]
}

@test "the first leaves by TERM, the second gets the lock" {
  hold
  waiter first
  local first=$PID second
  waiter second
  second=$PID
  kill -TERM "$first"
  ended "$first"
  wait_waiters 1
  let_go
  ended "$second" 2
  is "$status" 0
  is "$(cat "$T/order")" second
  nothing_left
}

@test "-w over in the queue: no entry, the next one keeps its place" {
  hold
  bg "$RLOCK" -k "$K" -w 0.3 -- touch "$T/ran"
  local first=$PID
  wait_waiters 1
  waiter second
  local second=$PID
  ended "$first"
  is "$status" 75
  wait_waiters 1
  let_go
  ended "$second" 2
  is "$status" 0
  [ ! -e "$T/ran" ]
}

@test "a stopped waiter at the head costs two seconds at most" {
  hold
  waiter stopped -t 30
  local stopped=$PID next start
  waiter next -t 30
  next=$PID
  kill -STOP "$stopped"
  wait_stopped "$stopped"
  start=$(now_ms)
  let_go
  ended "$next" 4
  is "$status" 0
  between 0 $(($(now_ms) - start)) 3000
  kill -CONT "$stopped"
  ended "$stopped" 4
  is "$status" 0
  is "$(paste -sd ' ' "$T/order")" 'next stopped'
  nothing_left
}

@test "key deleted by hand: the first waiter is in within two seconds" {
  hold -t 600
  waiter next
  local next=$PID start
  start=$(now_ms)
  r del "$L" >/dev/null
  ended "$next" 4
  is "$status" 0
  between 0 $(($(now_ms) - start)) 2000
}

@test "queue deleted by hand: the waiters come back by themselves" {
  hold
  waiter next -t 3
  local next=$PID
  r del "$Q" >/dev/null
  wait_waiters 1
  let_go
  ended "$next" 4
  is "$status" 0
  nothing_left
}

@test "the queue has a TTL, the lock of a granted one too" {
  hold
  waiter next
  local next=$PID
  between 100000 "$(r pttl "$Q")" 120000
  kill -STOP "$next"
  wait_stopped "$next"
  let_go
  between 0 "$(r pttl "$L")" 2000
  kill -CONT "$next"
  ended "$next" 4
  is "$status" 0
}

@test "the command of a granted one runs under its full lease" {
  hold
  bg "$RLOCK" -t 20 -k "$K" -- "$REDIS_CLI" -s "$REDIS_SOCK" pttl "$L" >"$T/pttl"
  local next=$PID
  wait_waiters 1
  let_go
  ended "$next"
  is "$status" 0
  between 19000 "$(cat "$T/pttl")" 20000
}

@test "an idle waiter asks seldom" {
  hold
  waiter next
  local next=$PID before after
  before=$(r info stats | awk -F: '/^total_commands_processed/ { print $2 + 0 }')
  pass_ms 1500
  after=$(r info stats | awk -F: '/^total_commands_processed/ { print $2 + 0 }')
  # at most a look a second, of some ten commands
  between 0 $((after - before)) 60
  let_go
  ended "$next"
}

@test "the connections of waiters are cut: all come back, in their order" {
  hold
  local i pids=()
  for i in 1 2 3; do
    waiter "$i"
    pids+=("$PID")
  done
  r client kill type pubsub skipme yes >/dev/null
  pass_ms 50
  wait_until 3 eval '[[ $(r pubsub channels | grep -c .) == 3 ]]'
  let_go
  all_ended "${pids[@]}"
  is "$(paste -sd ' ' "$T/order")" '1 2 3'
  nothing_left
}

@test "the database is as empty as before after waits that were in vain" {
  hold
  local i pids=()
  for i in $(seq 20); do
    "$RLOCK" -k "$K" -w "0.$((i % 5 + 3))" -- true 3>&- &
    STARTED+=("$!")
    pids+=("$!")
  done
  for i in "${pids[@]}"; do
    ended "$i"
    is "$status" 75
  done
  no_key "$Q"
  let_go
  nothing_left
}
