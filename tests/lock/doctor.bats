#!/usr/bin/env bats
# --doctor: each check on a good server and on one set up badly for it.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2153

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { rlock_setup; }
teardown() {
  rlock_teardown
  redis_thaw
  r config set appendonly no >/dev/null
  r config set maxmemory 0 maxmemory-policy noeviction >/dev/null
  r config set lua-time-limit 5000 slowlog-log-slower-than 10000 >/dev/null
  r slowlog reset >/dev/null
  r replicaof no one >/dev/null
  r acl deluser some >/dev/null
}

# doctor [OPTIONS...]: sets status and FOUND, a line "LEVEL CHECK TEXT" each.
doctor() {
  status=0
  "$RLOCK" --doctor --json "$@" >"$T/json" 2>"$T/err" || status=$?
  FOUND=$(perl -MJSON::PP -e 'local $/; my $d = decode_json(<STDIN>);
    for my $f ((map { @{$_->{findings}} } @{$d->{servers}}), @{$d->{quorum}{findings} // []}) {
      print "$f->{level} $f->{check} $f->{text}\n" }' <"$T/json")
}

# finds LEVEL CHECK [TEXT]
finds() {
  grep -q "^$1 $2 .*${3:-}" <<<"$FOUND" || { echo "no '$1 $2 ... ${3:-}' in:"; echo "$FOUND"; return 1; }
}

# as_user RULES...: a user some with the password p.
as_user() {
  r acl setuser some on '>p' "$@" >/dev/null
  AS=(-u "unix://some:p@$REDIS_SOCK")
}

@test "a good server: nothing but ok, status 0" {
  r config set appendonly yes >/dev/null
  r config set appendfsync everysec >/dev/null
  doctor
  is "$status" 0
  is "$(grep -cv '^ok ' <<<"$FOUND")" 0
  for check in reached version role rights memory persistence replicas min-replicas clock slowlog busy; do
    finds ok "$check"
  done
  is "$(r dbsize)" 0
}

@test "nothing on the server is changed, whatever its keys are called" {
  local key
  for key in lock:doctor 'rlock:queue:{lock:doctor}' doctor; do
    r set "$key" theirs px 600000 >/dev/null
  done
  doctor
  doctor --prefix ''
  for key in lock:doctor 'rlock:queue:{lock:doctor}' doctor; do
    is "$(r get "$key")" theirs
    between 500000 "$(r pttl "$key")" 600000
    r del "$key" >/dev/null
  done
  is "$(r dbsize)" 0
}

@test "for people: a line each, 80 columns, the ACL line" {
  local line
  try "$RLOCK" --doctor
  is "$status" 0
  for line in "${lines[@]}"; do
    [[ ${#line} -le 80 || $line == *'ACL SETUSER'* ]]
  done
  [[ $output == *'ok    role         a primary'* ]]
  [[ $output == *'redis-cli ACL SETUSER rlock on '* ]]
}

@test "persistence: none, appendfsync no, saved now and then" {
  doctor
  finds warn persistence 'none: a restart forgets'
  r config set save '3600 1' >/dev/null
  doctor
  finds warn persistence 'saved now and then (save 3600 1)'
  r config set save '' >/dev/null
  r config set appendonly yes >/dev/null
  r config set appendfsync no >/dev/null
  doctor
  finds warn persistence 'appendfsync no'
  r config set appendfsync always >/dev/null
  doctor
  finds ok persistence 'forgets nothing'
  is "$status" 0
}

@test "memory: a policy that evicts, and a server that is nearly full" {
  r config set maxmemory 100mb maxmemory-policy allkeys-lru >/dev/null
  doctor
  finds warn memory 'maxmemory-policy allkeys-lru may evict'
  r config set maxmemory-policy volatile-ttl >/dev/null
  doctor
  finds warn memory volatile-ttl
  r config set maxmemory-policy noeviction >/dev/null
  doctor
  finds ok memory noeviction
  r config set maxmemory 1 >/dev/null
  doctor
  finds warn memory 'when it is full'
  is "$status" 0
}

@test "a replica fails" {
  r replicaof 127.0.0.1 1 >/dev/null
  doctor
  is "$status" 1
  finds fail role 'a replica, of 127.0.0.1:1'
}

@test "--replicas that can't be satisfied fails" {
  doctor --replicas 1
  is "$status" 1
  finds fail replicas '0 online: --replicas 1'
}

@test "scripts that are often busy, and slow ones of ours" {
  r config set lua-time-limit 5 >/dev/null
  doctor
  finds warn busy 'busy-reply-threshold 5 ms'
  r config set slowlog-log-slower-than 0 >/dev/null
  "$RLOCK" -k "$K" --once 1 -- true
  r config set slowlog-log-slower-than 10000 >/dev/null
  doctor
  finds warn slowlog 'of our scripts are in it'
  is "$status" 0
}

@test "rights: what is missing is named, with what it is for" {
  as_user '~*' '&*' +@all -zadd -publish -scan -wait
  doctor "${AS[@]}"
  is "$status" 1
  finds fail rights ': +zadd +publish$'
  finds warn rights '+scan for --list, +wait for --replicas'
  as_user resetkeys '~other:*'
  doctor "${AS[@]}"
  finds fail rights '+get'
  as_user resetkeys '~*' resetchannels
  doctor "${AS[@]}"
  finds fail rights '+publish'
  finds fail rights '+subscribe'
}

@test "rights: without multi nothing is subscribed to" {
  as_user '~*' '&*' +@all -multi
  doctor "${AS[@]}"
  is "$status" 1
  finds fail rights '+multi$'
}

@test "INFO, CONFIG, SLOWLOG and TIME refused: can't tell, no failure" {
  as_user '~*' '&*' +@all -info -config -slowlog
  doctor "${AS[@]}"
  is "$status" 0
  finds warn info "can't tell version, role"
  finds warn slowlog "can't tell"
  finds warn busy "can't tell"
  as_user +info
  doctor "${AS[@]}"
  is "$status" 0
  finds warn min-replicas "can't tell"
  r config set appendonly yes >/dev/null
  doctor "${AS[@]}"
  finds warn persistence "can't tell how often"
}

@test "a wrong password is a failure, 1; no server is 69; both say so" {
  as_user '~*' '&*' +@all
  doctor -u "unix://some:wrong@$REDIS_SOCK"
  is "$status" 1
  finds fail reached WRONGPASS
  not grep -q wrong@ "$T/json"
  doctor -u "unix://$T/nobody" --connect-timeout 100ms
  is "$status" 69
  finds fail reached 'No such file'
  redis_freeze
  doctor --connect-timeout 200ms
  is "$status" 69
}

@test "the ACL line is enough for everything, and no more" {
  local line as token
  line=$("$RLOCK" --doctor | sed -n 's/^ *redis-cli ACL SETUSER rlock //p')
  eval "r acl setuser some $line '>p'" >/dev/null
  as="unix://some:p@$REDIS_SOCK"
  doctor -u "$as"
  is "$status" 0
  is "$(grep -c '^fail' <<<"$FOUND")" 0
  finds warn busy "can't tell"
  export RLOCK_URL=$as
  "$RLOCK" -k "$K" -t 300ms -- sh -c 'exec sleep 0.5'
  "$RLOCK" -k "$K" --fence --once 1 --min-hold 10ms -- "$RLOCK" -k "$K" -- true
  "$RLOCK" -k s -s -t 300ms -- sh -c 'exec sleep 0.5'
  "$RLOCK" -k j -j 2 -t 300ms -- sh -c 'exec sleep 0.5'
  hold
  bg "$RLOCK" -v -k "$K" -w 20 -- true 2>"$T/err"
  wait_line "$T/err" 'waiting: held by'
  "$RLOCK" --status "$K"
  "$RLOCK" --list | grep -q "^$K "
  let_go
  ended "$PID"
  is "$status" 0
  not grep -q polling "$T/err"
  token=$("$RLOCK" --acquire "$K" -t 20)
  "$RLOCK" --renew "$K" --token "$token" -t 20
  "$RLOCK" --release "$K" --token "$token"
  hold
  try "$RLOCK" --break "$K"
  [[ $output == *'who has been told'* ]]
  ended "$HOLDER"
  try "$RLOCK" -k "$K" -t 3 --replicas 1 -- true
  echo "$output"
  is "$status" 69
  [[ $output == *'0 of 1 replicas'* ]]
  is "$(r --user some --pass p get other 2>&1 | grep -c NOPERM)" 1
  is "$(r --user some --pass p flushall 2>&1 | grep -c NOPERM)" 1
}

@test "another prefix is in the ACL line, as it is" {
  [[ $("$RLOCK" --doctor --prefix "a'b*c:") == *"'~a'\\''b\\*c:*'"* ]]
}

@test "what belongs to a lock or a run has no meaning" {
  local options
  for options in '-k a' 'a' '-t 5' '-n' '-- true' '--report x'; do
    # shellcheck disable=SC2086
    try "$RLOCK" --doctor $options
    is "$status" 64
  done
  try "$RLOCK" --doctor -u local:
  is "$status" 64
}

@test "a closed stdout is an error" {
  try sh -c '"$RLOCK" --doctor >&-'
  is "$status" 71
}

@test "several servers: independent, an even number, one away, the same twice" {
  ln -s "$REDIS_SOCK" "$T/twin"
  doctor -u "unix://$REDIS_SOCK" -u "$T/twin" -u "$T/nobody" --connect-timeout 100ms
  is "$status" 1
  finds fail quorum 'the same server as'
  finds fail reached
  finds ok role
  doctor -u "unix://$REDIS_SOCK" -u "$T/nobody" --connect-timeout 100ms
  finds warn quorum '2 servers'
  finds fail quorum "1 of 2 can't be reached"
  try "$RLOCK" --doctor -u "unix://$REDIS_SOCK" -u "$T/twin"
  [[ $output == *'the quorum'* ]]
}
