#!/usr/bin/env bats
# The scripts on a server that is a replica, out of memory, or refusing writes.

load ../lib/script

setup_file() {
  redis_start --tcp --repl-diskless-sync-delay 0 && scripts_get || return 1
  export PRIMARY=$REDIS_DIR PRIMARY_SOCK=$REDIS_SOCK
  redis_start --tcp --replicaof 127.0.0.1 "$REDIS_PORT" || return 1
  export REPLICA=$REDIS_DIR REPLICA_SOCK=$REDIS_SOCK
  on_primary
  wait_until 10 _linked
}

teardown_file() {
  REDIS_DIR=$PRIMARY redis_stop
  REDIS_DIR=$REPLICA redis_stop
}

setup() { on_primary && fresh; }

teardown() {
  ears_off
  on_primary
  r config set maxmemory 0
  r config set save ''
  rm -rf "$REDIS_DIR/dump.rdb"
}

on_primary() { REDIS_DIR=$PRIMARY REDIS_SOCK=$PRIMARY_SOCK; }
on_replica() { REDIS_DIR=$REPLICA REDIS_SOCK=$REPLICA_SOCK; }

_linked() {
  "$REDIS_CLI" -s "$REPLICA_SOCK" info replication | grep -q master_link_status:up
}

# Until the replica has all that the primary has.
synced() { is "$(r wait 1 5000)" 1; }

readonly_all() { # SCRIPTS...: each answers READONLY, to holder and stranger
  local name tok got ticket KIND
  on_replica
  for name; do
    for tok in "$A" "$B"; do
      case $name in
      ask | join | release) kinds='x0 s0 j2' ;;
      *) kinds=x0 ;;
      esac
      for KIND in $kinds; do
        for ticket in 0 1700000000000000; do
          got=$("$name" "$tok" 10000 "$ticket")
          like "$got" '*READONLY*' || {
            echo "$name by ${tok:38:2} as $KIND"
            return 1
          }
        done
      done
    done
  done
}

@test "replica: no lock there: READONLY, not gone" {
  readonly_all take free renew extend ask join release
}

@test "replica: a lock of ours or another's: READONLY, not yes or no" {
  take "$A"
  synced
  readonly_all take free renew extend ask join release
}

@test "replica: a lock without a lease: READONLY" {
  r set "$L" forever
  synced
  readonly_all take free renew extend ask join release
}

@test "replica: somebody waits: READONLY, or ask the full script" {
  take "$A"
  hear "$B"
  join "$B"
  hear "$C"
  join "$C"
  synced
  readonly_all renew extend ask join release
  is "$(s take "$B" 10000)" 9
  is "$(s free "$A")" 9
}

@test "replica: a free lock and a queue: READONLY" {
  hear "$C"
  r zadd "$Q" 9000000000000000 "$(entry "$C")"
  synced
  readonly_all renew extend ask join release
}

@test "replica: a lock of another type: READONLY, never a no" {
  r rpush "$L" x
  synced
  readonly_all take free renew release
  like "$(join "$A")" '*READONLY*'
}

@test "replica: a queue of another type: READONLY, never a no" {
  r set "$Q" x
  take "$A"
  r set "$L" "$A" PX 10000
  synced
  readonly_all renew release
  like "$(join "$A")" '*READONLY*'
}

@test "replica: shared locks and slots of ours and of others: READONLY" {
  local KIND n=0
  for KIND in s0 j1 j2; do
    on_primary
    again $((n += 1))
    ask "$A"
    synced
    readonly_all ask join release extend
    # It says no more than that the full script shall be asked.
    is "$(s leave "s0:$B" '')" 9
    [[ $KIND != s0 ]] || like "$(s leave "s0:$A" '')" '*READONLY*'
    [[ $KIND == s0 ]] || like "$(s leave "$KIND:0:$A" "$KIND:0:")" '*READONLY*'
  done
}

@test "replica: nested runs: READONLY, or ask the full script" {
  ask "$A"
  ABOVE=$A ask "$B"
  synced
  readonly_all ask join release extend
  on_replica
  is "$(renew "$A")" 9
  is "$(s free "$A")" 9
  like "$(ABOVE=$A ask "$C")" '*READONLY*'
  on_primary
  KIND=s0
  again 1
  ask "$A"
  synced
  on_replica
  like "$(ABOVE=$A ask "$B")" '*READONLY*'
  like "$(KIND=x0 ABOVE=$A ask "$B")" '*READONLY*' # would be 64
}

@test "replica: done before, cooling, a fence: READONLY" {
  ask "$A"
  COOL=60000 DONE=60000 release "$A"
  synced
  ONCE=1 FENCE=1 readonly_all ask join release extend renew
  on_primary
  r del "$L"
  synced
  ONCE=1 FENCE=1 readonly_all ask join release extend renew
  on_replica
  like "$(s break)" '*READONLY*'
}

@test "replica: what is no lock: READONLY" {
  r zadd "$L" 5 anna
  r rpush "$D" x
  synced
  readonly_all ask join release extend renew
}

@test "out of memory: no new reader or slot, and not for a place in line" {
  local KIND n=0
  for KIND in s0 j2; do
    again $((n += 1))
    r config set maxmemory 1
    like "$(ask "$A")" '*OOM *'
    like "$(FENCE=1 join "$A")" '*OOM *'
    is "$(r exists "$L" "$Q" "$F")" 0
    r config set maxmemory 0
    ask "$A"
    r config set maxmemory 1
    like "$(ask "$B")" '*OOM *'
    is "$(ask "$A" | cut -d ' ' -f 1)" 0
    is "$(DONE=1000 COOL=500 release "$A")" '0 0'
    is "$(r exists "$D")" 1
    r config set maxmemory 0
  done
}

@test "out of memory: a new lock or place is refused, by take and acquire" {
  r set "$L-held" "$A" PX 10000
  r config set maxmemory 1
  like "$(take "$A")" '*OOM *'
  like "$(ask "$A")" '*OOM *'
  like "$(join "$A")" '*OOM *'
  is "$(r exists "$L" "$Q" "$H")" 0
  L=$L-held
  like "$(take "$B")" '*OOM *'
  like "$(join "$B")" '*OOM *'
  like "$(ask "$B")" '*OOM *'
  is "$(r exists "$Q")" 0
}

@test "out of memory: the holder proves, renews and releases" {
  take "$A" 5000
  r config set maxmemory 1
  is "$(ask "$A")" '0 0 -1 '
  between 9000 "$(r pttl "$L")" 10000
  is "$(renew "$A" 20000)" 0
  between 19000 "$(r pttl "$L")" 20000
  is "$(free "$A")" 0
  is "$(r exists "$L")" 0
}

@test "out of memory: a release serves who waits, who proves and releases" {
  take "$A"
  hear "$B"
  join "$B"
  hear "$C"
  join "$C"
  r config set maxmemory 1
  is "$(release "$A")" '0 0'
  is "$(r get "$L")" "$B"
  hears "$B" grant
  is "$(ask "$B")" '0 1 -1 '
  is "$(release "$B")" '0 0'
  is "$(r get "$L")" "$C"
  is "$(release "$C")" '0 0'
  is "$(r exists "$L" "$Q")" 0
}

@test "out of memory: leaving the queue" {
  take "$A"
  hear "$B"
  join "$B"
  r config set maxmemory 1
  is "$(release "$B")" "1 $A 0"
  is "$(r exists "$Q")" 0
}

@test "out of memory: no is no" {
  take "$A"
  r config set maxmemory 1
  is "$(renew "$B")" "1 $A"
  is "$(free "$B")" "1 $A"
  is "$(release "$B")" "1 $A 0"
  r del "$L"
  is "$(renew "$B")" '2 '
  is "$(free "$B")" '2 '
  is "$(release "$B")" '2  0'
}

@test "can't save: MISCONF from each script, and nothing has changed" {
  take "$A" 100000
  hear "$B"
  join "$B"
  mkdir -p "$REDIS_DIR/dump.rdb/full" # what can't be replaced by a file
  r config set stop-writes-on-bgsave-error yes
  r config set save '3600 1000000'
  r bgsave
  wait_until 10 _save_failed
  for tok in "$A" "$B" "$C"; do
    for name in renew extend ask join release; do
      like "$("$name" "$tok" 100000)" '*MISCONF*'
    done
  done
  is "$(r get "$L")" "$A"
  between 90000 "$(r pttl "$L")" 100000
  is "$(queue)" 2
  names "${BATS_TEST_NUMBER}b"
  for name in take free renew extend ask join release; do
    like "$("$name" "$A" 100000)" '*MISCONF*'
  done
}

_save_failed() { r info persistence | grep -q rdb_last_bgsave_status:err; }
