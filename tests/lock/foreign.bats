#!/usr/bin/env bats
# Locks of other programs, users with few rights, data that is no lock.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2153

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { rlock_setup; }
teardown() { rlock_teardown; }

@test "a foreign holder with a lease: busy, then waited for by polling" {
  is "$(r set "$L" foreign nx px 20000)" OK
  try "$RLOCK" -n -k "$K" -- true
  is "$status $output" '75 '
  is "$(r get "$L")" foreign
  between 15000 "$(r pttl "$L")" 20000
  r set "$L" foreign px 600 >/dev/null
  local end
  end=$(r pexpiretime "$L")
  try "$RLOCK" -k "$K" -- "$REDIS_CLI" -s "$REDIS_SOCK" get "$L"
  is "$status" 0
  [[ $output == rlock:1:* ]]
  between 0 $(($(now_ms) - end)) 1300
  no_key
  no_key "$Q"
}

@test "a foreign holder without a lease: busy, its key untouched; in when it goes" {
  r set "$L" foreign >/dev/null
  try "$RLOCK" -w 0.3 -k "$K" -- true
  is "$status $output" '75 '
  is "$(r get "$L") $(r pttl "$L")" 'foreign -1'
  bg "$RLOCK" -k "$K" -- touch "$T/ran"
  local waiter=$PID start
  wait_waiters 1
  pass_ms 300
  is "$(r get "$L") $(r pttl "$L")" 'foreign -1'
  start=$(now_ms)
  r del "$L" >/dev/null
  ended "$waiter" 3
  is "$status" 0
  between 0 $(($(now_ms) - start)) 1400
}

@test "--retry-max is the ceiling of the pauses behind a foreign holder" {
  r set "$L" foreign >/dev/null
  bg "$RLOCK" -k "$K" --retry-delay 20ms --retry-max 50ms -- touch "$T/ran"
  local waiter=$PID start
  wait_waiters 1
  pass_ms 600
  start=$(now_ms)
  r del "$L" >/dev/null
  ended "$waiter" 3
  is "$status" 0
  between 0 $(($(now_ms) - start)) 300
}

@test "an empty value is a holder, too" {
  r set "$L" '' px 20000 >/dev/null
  try "$RLOCK" -n -k "$K" -- true
  is "$status $output" '75 '
  try "$RLOCK" -n -v -k "$K" -- true
  is "$status ${#lines[@]}" '75 1'
  is "$(r exists "$L")" 1
}

@test "a holder's name is shown escaped, on one line" {
  r set "$L" $'evil\n\e[2Jname' >/dev/null
  try "$RLOCK" -n -v -k "$K" -- true
  is "$status ${#lines[@]}" '75 1'
  [[ $output == *evil* && $output != *$'\e'* ]]
  r set "$L" $'\xff\xfe%s%n' >/dev/null
  try "$RLOCK" -n -v -k "$K" -- true
  is "$status ${#lines[@]}" '75 1'
  [[ $output == *%s%n* ]]
}

# The lock of redis-py, by its own scripts.
py_release="local token = redis.call('get', KEYS[1])
  if not token or token ~= ARGV[1] then return 0 end
  redis.call('del', KEYS[1]) return 1"
py_extend="local token = redis.call('get', KEYS[1])
  if not token or token ~= ARGV[1] then return 0 end
  redis.call('pexpire', KEYS[1], ARGV[2]) return 1"

@test "--prefix '' and a lock as redis-py takes it exclude each other" {
  K=py.$K
  is "$(r set "$K" 0123456789abcdef nx px 20000)" OK
  try "$RLOCK" --prefix '' -n -k "$K" -- true
  is "$status" 75
  RLOCK_PREFIX='' try "$RLOCK" -n -k "$K" -- true
  is "$status" 75
  is "$(r eval "$py_extend" 1 "$K" 0123456789abcdef 30000)" 1
  is "$(r eval "$py_release" 1 "$K" 0123456789abcdef)" 1
  hold --prefix ''
  is "$(r set "$K" 0123456789abcdef nx px 20000)" ''
  is "$(r eval "$py_release" 1 "$K" 0123456789abcdef)" 0
  is "$(r eval "$py_extend" 1 "$K" 0123456789abcdef 1)" 0
  let_go
  is "$status" 143
  is "$(r set "$K" 0123456789abcdef nx px 20000)" OK
  r del "$K" >/dev/null
}

@test "data of another type at the key: 78, not touched" {
  r rpush "$L" a b >/dev/null
  try "$RLOCK" -k "$K" -- true
  is "$status ${#lines[@]}" '78 1'
  [[ $output == *"$L"* ]]
  is "$(r lrange "$L" 0 -1)" $'a\nb'
  r del "$L" >/dev/null
  r zadd "$L" 1 somebody >/dev/null
  try "$RLOCK" -n -k "$K" -- true
  is "$status" 78
  is "$(r zrange "$L" 0 -1)" somebody
  is "$(r pttl "$L")" -1
}

@test "data of another type at the queue: 78 and its name, not touched" {
  r set "$Q" text >/dev/null
  try "$RLOCK" -k "$K" -- true
  is "$status ${#lines[@]}" '78 1'
  [[ $output == *"rlock:queue:"* ]]
  is "$(r get "$Q")" text
  no_key
}

# as_user NAME RULES...: RLOCK_URL for a user with these rights.
as_user() {
  local name=$1
  shift
  r acl setuser "$name" reset on '>pw' "$@" >/dev/null
  export RLOCK_URL=unix://$name:pw@$REDIS_SOCK
}

@test "without the right to channels: waits by polling, and says so once" {
  hold
  as_user deaf '~*' '+@all' resetchannels
  bg "$RLOCK" -k "$K" --retry-max 100ms -- touch "$T/ran" 2>"$T/err"
  local waiter=$PID
  wait_waiters 1
  pass_ms 300
  kill -TERM "$HOLDER"
  ended "$HOLDER"
  ended "$waiter" 5
  is "$status" 0
  is "$(lines "$T/err")" 1
  grep -q 'polling' "$T/err"
  no_key
  no_key "$Q"
}

@test "without the right to subscribe: waits by polling" {
  hold
  as_user dumb '~*' '+@all' -subscribe '&*'
  bg "$RLOCK" -k "$K" --retry-max 100ms -- touch "$T/ran" 2>"$T/err"
  local waiter=$PID
  wait_waiters 1
  let_go
  ended "$waiter" 5
  is "$status" 0
  no_key "$Q"
}

@test "without the right to publish: released, and it says who is not told" {
  as_user mute '~*' '+@all' -publish '&*'
  bg "$RLOCK" -k "$K" -- sh -c "$SH_HOLD" "$T/hold.pid" 2>"$T/err"
  HOLDER=$PID
  wait_pidfile "$T/hold.pid"
  export RLOCK_URL=unix://$REDIS_SOCK
  bg "$RLOCK" -k "$K" -- touch "$T/ran"
  local waiter=$PID
  wait_waiters 1
  let_go
  is "$status" 143
  ended "$waiter" 3 # by its look, within a second
  is "$status" 0
}

@test "the rights of the manual are enough, and none is asked for in vain" {
  as_user exact resetchannels -@all +eval +multi +exec +subscribe +unsubscribe \
    +publish '+pubsub|numsub' +get +set +del +exists +time +pttl +pexpire \
    +pexpireat +persist +zadd +zcard +zrange +zrank +zrangebyscore \
    +zremrangebyscore +zrem +zscore +zcount '~lock:*' '~rlock:*' '&rlock:*' \
    +auth +select '+client|setname'
  r acl log reset >/dev/null
  hold -t 0.3
  bg "$RLOCK" -k "$K" -- touch "$T/ran"
  local waiter=$PID
  wait_waiters 1
  try "$RLOCK" -n -k "$K" -- true
  is "$status" 75
  pass_ms 300
  let_go
  ended "$waiter"
  is "$status" 0
  is "$(r acl log | grep -c "$L\|exact" || true)" 0
}

@test "no right to the key, a wrong password, an unknown user: 77" {
  as_user stranger '~other*' '+@all' '&*'
  try "$RLOCK" -k "$K" -- touch "$T/ran"
  is "$status ${#lines[@]}" '77 1'
  RLOCK_URL=unix://stranger:wrong@$REDIS_SOCK try "$RLOCK" -k "$K" -- touch "$T/ran"
  is "$status ${#lines[@]}" '77 1'
  [[ $output != *wrong@* && $output != *:wrong* ]]
  RLOCK_URL=unix://nobody:pw@$REDIS_SOCK try "$RLOCK" -n -k "$K" -- touch "$T/ran"
  is "$status ${#lines[@]}" '77 1'
  [ ! -e "$T/ran" ]
}

@test "-E 0 does not hide a refusal" {
  as_user closed '~other*' '+@all' '&*'
  try "$RLOCK" -n -E 0 -k "$K" -- true
  is "$status" 77
}

@test "another database is another lock" {
  hold
  try "$RLOCK" -n -u "unix://$REDIS_SOCK?db=5" -k "$K" -- sh -c 'exit 3'
  is "$status" 3
  let_go
}
