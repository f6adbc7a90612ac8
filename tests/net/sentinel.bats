#!/usr/bin/env bats
# Sentinels: three of them, a primary and two replicas.

load ../lib/net

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { net_setup; }
teardown() { net_teardown; }

# node NAME ARGUMENTS...: a server on a port of its own; sets PORT.
node() {
  local name=$1 try
  shift
  for ((try = 0; try < 20; try++)); do
    PORT=$((10000 + (RANDOM << 4 ^ RANDOM) % 20000))
    mkdir -p "$T/$name"
    begin "$name" "$SERVER" --port "$PORT" --dir "$T/$name" --save '' \
      --repl-diskless-sync-delay 0 "$@"
    wait_until 10 _up "$name" "$PID"
    kill -0 "$PID" 2>/dev/null && return 0
  done
  return 1
}

_up() { ! kill -0 "$2" 2>/dev/null || grep -q 'Ready to accept\|Server initialized' "$T/$1.out"; }

# sentinel NAME PRIMARY_PORT [LINES...]: sets PORT.
sentinel() {
  local name=$1 primary=$2 try
  shift 2
  for ((try = 0; try < 20; try++)); do
    PORT=$((10000 + (RANDOM << 4 ^ RANDOM) % 20000))
    printf '%s\n' "port $PORT" "dir $T" "sentinel monitor prim 127.0.0.1 $primary 2" \
      'sentinel down-after-milliseconds prim 400' \
      'sentinel failover-timeout prim 2000' "$@" >"$T/$name.conf"
    begin "$name" "$SERVER" "$T/$name.conf" --sentinel
    wait_until 10 _watches "$name" "$PID"
    kill -0 "$PID" 2>/dev/null && return 0
  done
  return 1
}

_watches() { ! kill -0 "$2" 2>/dev/null || grep -q '+monitor' "$T/$1.out"; }

at() { "$REDIS_CLI" -h 127.0.0.1 -p "$@"; }

# The whole set; sets PRIMARY and REPLICAS (ports), SENTINELS, URL.
deploy() {
  local i
  node primary
  PRIMARY=$PORT PRIMARY_PID=$PID REPLICAS=() SENTINELS=()
  for i in 1 2; do
    node "replica$i" --replicaof 127.0.0.1 "$PRIMARY"
    REPLICAS+=("$PORT")
  done
  wait_until 15 _replicas 2
  for i in 1 2 3; do
    sentinel "sentinel$i" "$PRIMARY"
    SENTINELS+=("$PORT")
  done
  wait_until 15 _know_all
  URL=sentinel://127.0.0.1:${SENTINELS[0]},127.0.0.1:${SENTINELS[1]},127.0.0.1:${SENTINELS[2]}/prim
}

_replicas() { [[ $(at "$PRIMARY" info replication | grep -c 'state=online') == "$1" ]]; }

_know_all() {
  local s
  for s in "${SENTINELS[@]}"; do
    [[ $(at "$s" sentinel replicas prim | grep -c '^runid$') == 2 &&
      $(at "$s" sentinel sentinels prim | grep -c '^runid$') == 2 ]] || return 1
  done
}

@test "the primary is found; a sentinel that is dead or silent costs little" {
  deploy
  timed rl -u "$URL" -- true
  is 0 "$GOT"
  is 1 "$(at "$PRIMARY" info commandstats | grep -c 'cmdstat_eval:')"
  timed rl -u "sentinel://127.0.0.1:1,127.0.0.1:${SENTINELS[1]}/prim" -- true
  is 0 "$GOT"
  within 0 "$TOOK" 1000
  kill -STOP "$PID_sentinel1"
  timed rl -u "$URL" -- true
  kill -CONT "$PID_sentinel1"
  is 0 "$GOT"
  within 200 "$TOOK" 1500
}

@test "an unknown name, and nobody there: 69" {
  sentinel alone 1
  timed rl -u "sentinel://127.0.0.1:$PORT/other" --connect-timeout 0.5 -- touch "$T/ran"
  is 69 "$GOT"
  said err 'knows no primary of this name'
  timed rl -u sentinel://127.0.0.1:1/prim --connect-timeout 0.5 -- touch "$T/ran"
  is 69 "$GOT"
  said err 'sentinel 127.0.0.1:1: Connection refused'
  [ ! -e "$T/ran" ]
}

@test "who is told to be the primary, and is a replica, is not used" {
  deploy
  sentinel liar "${REPLICAS[0]}"
  timed rl -u "sentinel://127.0.0.1:$PORT/prim" --connect-timeout 0.6 -- touch "$T/ran"
  is 69 "$GOT"
  said err 'not the primary'
  [ ! -e "$T/ran" ]
}

@test "failover while a job runs: it goes on under its lock, and the waiter keeps its place" {
  deploy
  hold h -u "$URL" -t 6 --replicas 2
  begin w rl -u "$URL" -t 6 -w 60 -- touch "$T/served"
  wait_until 10 _waits "$PRIMARY"
  TOKEN=$(at "$PRIMARY" get "$L")
  kill -KILL "$PRIMARY_PID"
  wait_until 20 _moved
  kill -0 "$PID_h"
  wait_until 20 _waits "$NEW"
  is "$TOKEN" "$(at "$NEW" get "$L")"
  [ ! -e "$T/served" ]
  finish h 5
  status "$PID_h"
  is 5 "$GOT"
  status "$PID_w" 20
  is 0 "$GOT"
  [ -e "$T/served" ]
}

_waits() { [[ $(at "$1" zcard "$Q") == 1 ]]; }

_moved() { # a replica has become the primary
  for NEW in "${REPLICAS[@]}"; do
    [[ $(at "$NEW" role | head -1) == master ]] && return 0
  done
  return 1
}

@test "failover to a replica that has not got the lock: it is lost, once" {
  deploy
  hold h -u "$URL" -t 6
  for port in "${REPLICAS[@]}"; do
    at "$port" replicaof no one >/dev/null
    at "$port" del "$L" >/dev/null
    at "$port" replicaof 127.0.0.1 1 >/dev/null
  done
  kill -KILL "$PRIMARY_PID"
  status "$PID_h" 20
  is 76 "$GOT"
}

@test "replicas: acknowledged, or given back" {
  deploy
  timed rl -u "$URL" --replicas 2 -- true
  is 0 "$GOT"
  timed rl -u "$URL" --replicas 3 -- touch "$T/ran"
  is 69 "$GOT"
  said err '2 of 3 replicas have acknowledged'
  [ ! -e "$T/ran" ]
  is 0 "$(at "$PRIMARY" exists "$L" "$Q")"
  # One that hangs acknowledges nothing.
  kill -STOP "$PID_replica1"
  timed rl -u "$URL" --replicas 2 -t 2 -- touch "$T/ran"
  kill -CONT "$PID_replica1"
  is 69 "$GOT"
  within 0 "$TOOK" 2000
  is 0 "$(at "$PRIMARY" exists "$L" "$Q")"
}

@test "replicas: handed over in line, and the next one is served when it fails" {
  node primary
  PRIMARY=$PORT
  hold h -u "redis://127.0.0.1:$PRIMARY"
  begin a rl -u "redis://127.0.0.1:$PRIMARY" --replicas 1 -w 20 -- touch "$T/ran"
  wait_until 10 _waits "$PRIMARY"
  begin b rl -u "redis://127.0.0.1:$PRIMARY" -w 20 -- true
  finish h 0
  status "$PID_a"
  is 69 "$GOT"
  status "$PID_b"
  is 0 "$GOT"
  [ ! -e "$T/ran" ]
}

@test "passwords of the sentinels and of the servers" {
  local i
  node primary --requirepass datapw
  PRIMARY=$PORT
  sentinel guarded "$PRIMARY" 'sentinel auth-pass prim datapw' 'requirepass sentpw'
  timed rl -u "sentinel://:datapw@127.0.0.1:$PORT/prim?sentinel-password=sentpw" -- true
  is 0 "$GOT"
  timed rl -u "sentinel://:datapw@127.0.0.1:$PORT/prim" --connect-timeout 0.5 -- true
  is 69 "$GOT"
  said err 'NOAUTH'
  timed rl -u "sentinel://:wrong@127.0.0.1:$PORT/prim?sentinel-password=sentpw" -- true
  is 77 "$GOT"
  unsaid 'datapw|sentpw|wrong' "$T/err"
}

@test "a user of the sentinels who has no password; REDISCLI_AUTH is for the servers" {
  node primary --requirepass datapw
  sentinel named "$PORT" 'sentinel auth-pass prim datapw' 'user default off' \
    'user look on nopass allkeys allchannels +@all'
  REDISCLI_AUTH=datapw timed rl -u "sentinel://127.0.0.1:$PORT/prim?sentinel-user=look" -- true
  is 0 "$GOT"
  REDISCLI_AUTH=datapw timed rl -u "sentinel://127.0.0.1:$PORT/prim" --connect-timeout 0.5 -- true
  is 69 "$GOT"
  said err 'NOAUTH'
}

# found LEVEL CHECK TEXT: of the doctor's lines in "$T/doctor".
found() { tr '\n' ' ' <"$T/doctor" | tr -s ' ' | grep -q "$1 $2 [^\n]*$3"; }

doctor() {
  GOT=0
  "$RLOCK" --doctor "$@" >"$T/doctor" 2>&1 || GOT=$?
}

@test "the doctor: a good set, a sentinel away, replicas away" {
  deploy
  doctor -u "$URL" --replicas 2
  is 0 "$GOT"
  found ok sentinels '3 of 3 agree, quorum 2 of 3, 2 replicas ready'
  found ok replicas '2 online'
  found warn min-replicas 'min-replicas-to-write 0'
  kill "$PID_sentinel3"
  wait_gone "$PID_sentinel3"
  doctor -u "$URL" --connect-timeout 300ms --replicas 3
  is 1 "$GOT"
  found warn sentinels '2 of the 3 in the URL answer'
  found fail replicas '2 online: --replicas 3'
}
