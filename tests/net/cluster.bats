#!/usr/bin/env bats
# A lock on Redis Cluster: six nodes.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2153

load ../lib/rlock
load ../lib/cluster

setup_file() { redis_start; cluster_start; }
teardown_file() { cluster_stop; redis_stop; }
setup() { rlock_setup; K=k$BATS_TEST_NUMBER.$RANDOM L=lock:$K Q="rlock:queue:{lock:$K}"; }
teardown() { rlock_teardown; }

in_line() { [[ $(c zcard "$Q") == "$1" ]]; }

@test "the owner is found from any node; nothing is left" {
  local i k
  for k in a b c d e f; do
    for i in 1 2 3 4 5 6; do
      "$RLOCK" -u "cluster://127.0.0.1:$(port "$i")" -k "$K$k" -n -- true
    done
  done
  for i in 1 2 3; do is "$(n "$i" dbsize)" 0; done
}

@test "the key is on the owner of its slot" {
  hold
  [[ $(n "$(owner "$(slot "$L")")" get "$L") == rlock:1:* ]]
  let_go
}

@test "a node of the URL that is dead or silent costs little" {
  local from
  from=$(now_ms)
  "$RLOCK" -u "cluster://127.0.0.1:1,127.0.0.1:$(port 2)" -k "$K" -- true
  between 0 $(($(now_ms) - from)) 1500
  kill -STOP "$(cat "$CLUSTER/4/pid")"
  try "$RLOCK" -u "cluster://127.0.0.1:$(port 4),127.0.0.1:$(port 2)" -k "$K" -- true
  kill -CONT "$(cat "$CLUSTER/4/pid")"
  is "$status" 0
  try "$RLOCK" -u 'cluster://127.0.0.1:1,127.0.0.1:2' --connect-timeout 300ms -k "$K" -- true
  is "$status" 69
  wait_until 20 cluster_ready
}

@test "all kinds, nested, guards, verbs" {
  local token
  "$RLOCK" -k "$K" -- "$RLOCK" -k "$K" -n -- true
  "$RLOCK" -k "$K" --fence --once 1h -- sh -c '[ -n "$RLOCK_FENCE" ]'
  try "$RLOCK" -k "$K" --once 1h --once-exit-code 9 -- true
  is "$status" 9
  hold -k "$K.s" -s
  "$RLOCK" -k "$K.s" -s -n -- true
  try "$RLOCK" -k "$K.s" -n -- true
  is "$status" 75
  is "$("$RLOCK" -k "$K.j" -j 2 -- sh -c 'echo $RLOCK_SLOT')" 0
  "$RLOCK" -k "$K.h" --min-hold 1h -- true
  try "$RLOCK" -k "$K.h" -n -- true
  is "$status" 75
  token=$("$RLOCK" --acquire "$K.a" -t 20)
  "$RLOCK" --renew "$K.a" --token "$token" -t 20
  try "$RLOCK" --status "$K.a"
  is "$status" 0
  "$RLOCK" --release "$K.a" --token "$token"
  hold -k "$K.b"
  try "$RLOCK" --break "$K.b"
  is "$status" 0
  ended "$HOLDER"
  is "$status" 76
}

@test "who waits is handed the lock" {
  local from
  hold
  bg "$RLOCK" -v -k "$K" -w 30 -- true 2>"$T/err"
  wait_line "$T/err" 'waiting: held by'
  from=$(now_ms)
  let_go
  ended "$PID"
  is "$status" 0
  between 0 $(($(now_ms) - from)) 900
}

@test "--replicas: the owner's" {
  "$RLOCK" -k "$K" -t 6 --replicas 1 -- true
  try "$RLOCK" -k "$K" -t 1 --replicas 2 -- true
  is "$status" 69
}

@test "a slot that moves while the lock is held is followed" {
  local at to slot
  hold -t 1500ms
  slot=$(slot "$L") at=$(owner "$(slot "$L")")
  to=$((at % 3 + 1))
  migrate "$slot" "$at" "$to"
  pass_ms 2500
  alive "$CMD"
  is "$(n "$to" exists "$L")" 1
  let_go
  is "$status" 143
  is "$(n "$to" exists "$L")" 0
}

@test "held while the slot is on its way for longer than the TTL: renewed by ASK" {
  local at to slot
  hold -t 1500ms
  slot=$(slot "$L") at=$(owner "$(slot "$L")")
  to=$((at % 3 + 1))
  migrate_begin "$slot" "$at" "$to"
  migrate_keys "$slot" "$at" "$to"
  pass_ms 3500
  alive "$CMD"
  # Nobody else gets it meanwhile, wherever he asks.
  try "$RLOCK" -k "$K" -n -- touch "$T/ran"
  [[ $status == 69 || $status == 75 ]]
  [[ ! -e $T/ran ]]
  migrate_end "$slot" "$at" "$to"
  let_go
  is "$status" 143
}

@test "free while the slot is on its way: not taken twice, and taken when it is there" {
  local at to slot
  slot=$(slot "$L") at=$(owner "$(slot "$L")")
  to=$((at % 3 + 1))
  migrate_begin "$slot" "$at" "$to"
  bg "$RLOCK" -k "$K" -w 30 -- sh -c "$SH_HOLD" "$T/hold.pid"
  HOLDER=$PID
  pass_ms 500
  migrate_end "$slot" "$at" "$to"
  CMD=$(wait_pidfile "$T/hold.pid")
  is "$(n "$to" exists "$L")" 1
  let_go
}

@test "a slot that moves while it is waited for: the waiters follow, all are served" {
  local at to slot i pids=()
  hold
  slot=$(slot "$L") at=$(owner "$(slot "$L")")
  to=$((at % 3 + 1))
  for i in 1 2 3; do
    NAME=$i bg "$RLOCK" -v -k "$K" -w 60 -- sh -c 'echo $NAME >>"$T/log"' 2>"$T/err$i"
    pids+=("$PID")
    wait_until 10 in_line "$i"
  done
  migrate "$slot" "$at" "$to"
  let_go
  for i in "${pids[@]}"; do
    ended "$i" 60
    is "$status" 0
  done
  is "$(lines "$T/log")" 3
}

@test "keys with braces of their own" {
  local k
  for k in 'a{b}c' '{x}' 'a{' '{{b}}' 'x{y}z}'; do
    "$RLOCK" -k "$k" -n --once 1s --fence -- "$RLOCK" -k "$k" -n -- true
  done
  # These can't have all their keys in one slot.
  for k in '{}' '}{' 'a{}b{c}' 'a}'; do
    try "$RLOCK" -k "$k" -n -- true
    is "$status" 64
    [[ $output == *'hash tag'* ]]
  done
  for i in 1 2 3; do is "$(n "$i" keys 'rlock:queue*' | grep -c .)" 0; done
}

@test "failover while a job runs: it goes on, and who waits waits on" {
  local at rep
  at=$(owner "$(slot "$L")")
  rep=$((at + 3))
  n "$rep" info replication | grep -q role:slave || skip 'the roles have changed'
  hold -t 6 --replicas 1
  bg "$RLOCK" -v -k "$K" -w 60 -- true 2>"$T/err"
  wait_line "$T/err" 'waiting: held by'
  is "$(n "$rep" cluster failover)" OK
  NODE=$rep wait_until 15 _owned_by "$rep"
  pass_ms 3000
  alive "$CMD"
  let_go
  is "$status" 143
  ended "$PID" 40
  is "$status" 0
}

_owned_by() { n "$1" info replication | grep -q role:master; }

@test "a primary is killed while a job runs: it goes on with the replica" {
  local at new
  at=$(owner "$(slot "$L")")
  hold -t 9 --replicas 1
  cluster_down "$at"
  for new in 1 2 3 4 5 6; do [[ $new != "$at" ]] && break; done
  NODE=$new wait_until 20 _other_owner "$at"
  pass_ms 3500
  alive "$CMD"
  let_go
  is "$status" 143
  cluster_up "$at"
  wait_until 20 cluster_ready
}

_other_owner() { local o; o=$(owner "$(slot_by "$L")") && [[ $o != "$1" ]]; }
slot_by() { n "$NODE" cluster keyslot "$1"; }

@test "--list over all nodes" {
  local k
  for k in a b c d e f g h; do "$RLOCK" -k "list.$k" --min-hold 30 -- true; done
  try "$RLOCK" --list 'list.*'
  is "$status" 0
  is "$(grep -c '^list\.' <<<"$output")" 8
}

@test "a database is a usage error; so is what is no seed" {
  try "$RLOCK" -u 'cluster://h/3' -k a -- true
  is "$status" 64
  try "$RLOCK" -u 'cluster://h?db=3' -k a -- true
  is "$status" 64
  try "$RLOCK" -u 'cluster://' -k a -- true
  is "$status" 64
}

@test "a server that is no cluster: 69 that says so" {
  try "$RLOCK" -u "cluster://127.0.0.1:1" --connect-timeout 200ms -n -k a -- true
  is "$status" 69
}

@test "--doctor: the cluster is ok; a node that is away is told" {
  try "$RLOCK" --doctor
  is "$status" 0
  tr -s ' \n' '  ' <<<"$output" | grep -q 'ok cluster ok, all slots served, by 3 primaries'
}
