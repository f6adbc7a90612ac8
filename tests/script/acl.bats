#!/usr/bin/env bats
# A user with no more rights than the manual lists can do everything; with one
# of them less, the error names it, and no key is left that lasts for ever.

load ../lib/script

setup_file() {
  redis_start && scripts_get && rights >"$REDIS_DIR/rights"
}

teardown_file() { redis_stop; }

setup() {
  fresh
  mapfile -t RIGHTS <"$REDIS_DIR/rights"
  user
  # shellcheck disable=SC2034 # rc in tests/lib/script.bash asks by it
  CLI=("$REDIS_CLI" -s "$REDIS_SOCK" --user jobs --pass secret --no-auth-warning)
  URL=unix://jobs:secret@$REDIS_SOCK
}

teardown() { ears_off; }

# The rights of man/rlock.1, one a line.
rights() {
  awk '/^redis-cli ACL SETUSER/ { on = 1 }
    on && /^\.Ed/ { exit }
    on' "$BATS_TEST_DIRNAME/../../man/rlock.1" |
    sed 's/^redis-cli ACL SETUSER jobs on//; s/\\e$//' | tr -d "'" |
    tr -s ' ' '\n' | grep -v '^$\|^>'
}

# user [WITHOUT...]: make it, with the rights but these.
user() {
  local right without set=()
  without=$(IFS='|'; echo "|$*|")
  for right in "${RIGHTS[@]}"; do
    [[ $without == *"|$right|"* ]] || set+=("$right")
  done
  r acl setuser jobs reset on '>secret' "${set[@]}" | grep -qx OK
}

_rights_cover() { # the list was found, and is of the expected form
  ((${#RIGHTS[@]} >= 25))
}

# everything: each path of each script that asks the server for something.
# Prints the replies.  What another has to do is done by the default user.
everything() {
  take "$A"
  take "$B"
  renew "$A"
  renew "$B"
  free "$B"
  free "$A"
  r set "$L" forever >/dev/null
  renew "$B"
  r del "$L" >/dev/null
  ask "$A"
  ask "$A"
  ask "$B"
  ttls
  join "$(token 4)" # dead at once
  ttls
  join "$B"
  ttls
  join "$B" 10000 1700000000000000
  ttls
  r del "$L" "$Q" >/dev/null
  r set "$L" "$A" PX 10000 >/dev/null
  r zadd "$Q" 1700000000000000 "$(entry "$B")" >/dev/null
  r pexpire "$Q" 60000 >/dev/null
  release "$A"
  ask "$B"
  release "$B"
  ttls
  everything_else
}

# Shared locks, slots, nested runs, the guards, a look at it all.
everything_else() {
  local kind
  r del "$L" "$Q" >/dev/null
  for kind in s0 j2; do
    KIND=$kind ask "$A"
    ttls
    extend "$A"
    KIND=$kind ask "$B"
    KIND=$kind COOL=1000 release "$A"
    ttls
    s status
    r del "$L" >/dev/null
  done
  the_last
  take "$A"
  ABOVE=$A ask "$B"
  ttls
  extend "$B"
  release "$A"
  ttls
  COOL=1000 DONE=1000 FENCE=1 release "$B"
  ttls
  ONCE=1 ask "$C"
  s break
  FENCE=1 ask "$A"
  ttls
  release "$A"
}

# by_default COMMAND...: a slot's, by the default user, who may do anything.
by_default() {
  # shellcheck disable=SC2034 # read by what it runs
  local CLI=() KIND=j1
  "$@"
}

# The last one that leaves a set, by each of the scripts for it, also if it has
# lost a right since it came; and who is not let in.
the_last() {
  by_default ask "$A"
  KIND=j2 ask "$B"
  KIND=j1 release "$A"
  ttls
  r del "$L" >/dev/null
  by_default ask "$A"
  s leave "j1:0:$A" j1:0:
  ttls
  r del "$L" >/dev/null
  KIND=s0 ask "$A"
  ABOVE=$A ask "$B"
  KIND=s0 ABOVE=$A ask "$B"
  s leave "s0:$A" ''
  KIND=s0 release "$B"
  ttls
  r del "$L" >/dev/null
  r zadd "$L" 5 anna >/dev/null
  ask "$A"
  r del "$L" >/dev/null
}

@test "the manual's list is found" {
  _rights_cover
  printf '%s\n' "${RIGHTS[@]}" | grep -qx '+eval'
  printf '%s\n' "${RIGHTS[@]}" | grep -qx '&rlock:\*'
  printf '%s\n' "${RIGHTS[@]}" | grep -qx -- '-@all'
}

@test "with these rights all scripts can do everything" {
  hear "$B"
  got=$(everything)
  is "$(grep -E 'NOPERM|ACL|ERR|PTTL|permission' <<<"$got")" ''
  is "$(tail -1 <<<"$got")" '0 0'
  hears_like "$B" '*grant'
}

# lacks RIGHT: everything without it; the error names it and no key lasts.
lacks() {
  local got word=${1#+}
  user "$1"
  hear "$B"
  got=$(everything)
  if grep -q 'PTTL -1' <<<"$got"; then
    echo "without $1 a key lasts for ever: $(grep 'PTTL -1' <<<"$got")"
    return 1
  fi
  grep -qiE "(NOPERM|can't run this command|ACL failure in script).*" <<<"$got" ||
    { echo "without $1: no error"; return 1; }
  # Redis 7.0 names no command inside scripts: "The user executing the script
  # can't run this command or subcommand script: ID, on @user_script:LINE".
  grep -qiE "NOPERM|${word%%|*}|can't run this command" <<<"$got" ||
    { echo "without $1: not named: $got"; return 1; }
}

# One test a right: the scripts'.
@test "without +get" { lacks +get; }
@test "without +set" { lacks +set; }
@test "without +del" { lacks +del; }
@test "without +exists" { lacks +exists; }
@test "without +type" { lacks +type; }
@test "without +time" { lacks +time; }
@test "without +pttl" { lacks +pttl; }
@test "without +pexpire" { lacks +pexpire; }
@test "without +pexpireat" { lacks +pexpireat; }
@test "without +persist" { lacks +persist; }
@test "without +zadd" { lacks +zadd; }
@test "without +zcard" { lacks +zcard; }
@test "without +zrange" { lacks +zrange; }
@test "without +zrank" { lacks +zrank; }
@test "without +zrangebyscore" { lacks +zrangebyscore; }
@test "without +zremrangebyscore" { lacks +zremrangebyscore; }
@test "without +zrem" { lacks +zrem; }
@test "without +zscore" { lacks +zscore; }
@test "without +zcount" { lacks +zcount; }
@test "without +pubsub|numsub" { lacks '+pubsub|numsub'; }
@test "without +eval" { lacks +eval; }
@test "without the lock's keys" { lacks '~lock:*'; }
@test "without the side keys" { lacks '~rlock:*'; }

@test "the list names no right that these tests don't take away" {
  for right in "${RIGHTS[@]}"; do
    case $right in
    resetchannels | -@all | '+client|setname' | +select | +multi | +exec | \
      +subscribe | +unsubscribe | +publish | '&rlock:*')
      continue ;; # below
    esac
    grep -qF "lacks $right;" "$BATS_TEST_FILENAME" ||
      grep -qF "lacks '$right';" "$BATS_TEST_FILENAME" ||
      { echo "$right"; return 1; }
  done
}

# unheard: a release that may not publish says so, and leaves the queue.
unheard() {
  hear "$B"
  hear "$C"
  r set "$L" "$A" PX 10000
  r zadd "$Q" 1700000000000000 "$(entry "$B")" 1700000000000001 "$(entry "$C")"
  r pexpire "$Q" 60000
  is "$(release "$A")" '0 1'
  is "$(r exists "$L")" 0
  is "$(queue)" '2 3'
  is "$(heard "$B")$(heard "$C")" ''
  # Also when it only leaves:
  is "$(release "$C")" '2  1'
  is "$(queue)" 2
  # The head's own look takes it, by a user with these rights too.
  is "$(join "$B" 10000 1700000000000000)" '0 0 -1 '
  is "$(r exists "$Q")" 0
}

@test "without +publish: said in the reply, the queue is left, the lock is free" {
  user +publish
  unheard
}

@test "without &rlock:*: said in the reply, the queue is left, the lock is free" {
  user '&rlock:*'
  unheard
}

@test "without channels dead ones are dropped all the same" {
  user '&rlock:*'
  hear "$C"
  r set "$L" "$A" PX 10000
  r zadd "$Q" 1700000000000000 "$(entry "$B")" 1700000000000001 "$(entry "$C")"
  is "$(release "$A")" '0 1'
  is "$(queue)" 3
}

# wait_as WITHOUT: a waiter without that right, behind a holder; its status to
# $STATUS, what it said to $SAID.
wait_as() {
  user "$1"
  names "w$BATS_TEST_NUMBER"
  r set "$L" "$A" PX 400 >/dev/null
  STATUS=0
  "$RLOCK" -u "$URL" -k "w$BATS_TEST_NUMBER" -w 2s -v -- echo ran \
    >"$REDIS_DIR/ran" 2>"$REDIS_DIR/said" 3>&- || STATUS=$?
  SAID=$(cat "$REDIS_DIR/said")
}

denied() { # COMMAND: refused with 77, the command is named, and nothing left
  is "$STATUS" 77 || { echo "$SAID"; return 1; }
  is "$(cat "$REDIS_DIR/ran")" ''
  like "${SAID,,}" "*$1*" || return 1
  is "$(r exists "$Q")" 0
}

@test "rlock with these rights waits, is granted, and runs" {
  wait_as none
  is "$STATUS" 0
  is "$(cat "$REDIS_DIR/ran")" ran
  is "$(r exists "$L" "$Q")" 0
}

@test "rlock without +eval: 77" { wait_as +eval && denied eval; }
@test "rlock without +multi: 77" { wait_as +multi && denied multi; }
@test "rlock without +exec: 77" { wait_as +exec && denied exec; }
@test "rlock without +unsubscribe: 77" {
  wait_as +unsubscribe && denied unsubscribe
}

@test "rlock without +subscribe waits by polling, and says so" {
  wait_as +subscribe
  is "$STATUS" 0 || { echo "$SAID"; return 1; }
  like "$SAID" '*subscribe*'
}

@test "rlock without &rlock:* waits by polling" {
  wait_as '&rlock:*'
  is "$STATUS" 0 || { echo "$SAID"; return 1; }
}

@test "rlock without +client|setname: nobody notices" {
  wait_as '+client|setname'
  is "$STATUS" 0
  is "$(grep -ci setname "$REDIS_DIR/said")" 0
}

@test "rlock without +select in another database: 77, and no lock there" {
  URL="$URL?db=3"
  user +select
  STATUS=0
  "$RLOCK" -u "$URL" -k sel -n -- true 2>"$REDIS_DIR/said" || STATUS=$?
  is "$STATUS" 77
  like "$(cat "$REDIS_DIR/said")" '*select*'
  is "$(r exists lock:sel)" 0
  is "$(r -n 3 exists lock:sel)" 0
}

@test "rlock with a wrong password: 77, and no lock is left" {
  URL=unix://jobs:wrong@$REDIS_SOCK
  STATUS=0
  "$RLOCK" -u "$URL" -k pw -n -- true 2>"$REDIS_DIR/said" || STATUS=$?
  is "$STATUS" 77
  like "$(cat "$REDIS_DIR/said")" '*WRONGPASS*'
  is "$(r exists lock:pw)" 0
}

@test "rlock without the lock's keys: 77" {
  user '~lock:*'
  STATUS=0
  "$RLOCK" -u "$URL" -k nokey -n -- true 2>"$REDIS_DIR/said" || STATUS=$?
  is "$STATUS" 77
}
