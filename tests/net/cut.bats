#!/usr/bin/env bats
# Connections that break, and answers that never come.

load ../lib/net

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { net_setup; }
teardown() { net_teardown; }

kill_clients() {
  local type
  for type in normal pubsub; do
    r client kill type "$type" skipme yes >/dev/null
  done
}

_pttl_above() { (($(r pttl "$L") > $1)); }

@test "CLIENT KILL of the holder, twenty times: the lock is kept under the same token" {
  local token
  hold a -t 2
  token=$(token)
  for _ in $(seq 20); do
    kill_clients
    let_pass 120
    is "$token" "$(token)"
  done
  finish a 7
  status "$PID_a"
  is 7 "$GOT"
  is '' "$(cat "$T/a.err")"
  no_trace
}

@test "CLIENT KILL of holder and waiters, ten times: all are served in order, no entry twice" {
  local name n=0
  hold h -t 5
  for name in a b c; do
    begin "$name" rl -t 5 -- sh -c "echo $name >>$T/order"
    queued $((n += 1))
  done
  for _ in $(seq 10); do
    kill_clients
    # Back, each with the place it had.
    listening 3
    queued 3
  done
  finish h 2
  status "$PID_h"
  is 2 "$GOT"
  for name in a b c; do
    n=PID_$name
    status "${!n}"
    is 0 "$GOT"
  done
  is 'a b c ' "$(tr '\n' ' ' <"$T/order")"
  no_trace
}

@test "the connection is reset every 150 ms: neither memory nor descriptors grow" {
  local fds rss
  proxy_start
  hold a -u "$PROXY_URL" -t 2
  fds=$(find "/proc/$PID_a/fd" -type l | wc -l)
  rss=$(awk '/^VmRSS/ { print $2 }' "/proc/$PID_a/status")
  for _ in $(seq 25); do
    proxy reset
    let_pass 150
  done
  within 1 "$(find "/proc/$PID_a/fd" -type l | wc -l)" $((fds + 1))
  within 1 "$(awk '/^VmRSS/ { print $2 }' "/proc/$PID_a/status")" $((rss + 500))
  finish a
  status "$PID_a"
  is 0 "$GOT"
  no_trace
}

@test "reset or closed just before the release: the lock is free at once, the command's status" {
  local how n=0
  proxy_start
  for how in reset cut reset cut; do
    hold "a$((n += 1))" -u "$PROXY_URL" -t 60
    proxy "$how"
    finish "a$n" 5
    status "$PID"
    is 5 "$GOT"
    within 0 "$TOOK" 1500
    is '' "$(cat "$T/a$n.err")"
    no_trace
  done
}

@test "reset together with the release, twenty times: the lock is free, the command's status" {
  local n
  proxy_start --tcp
  for n in $(seq 20); do
    begin "a$n" rl -u "$PROXY_URL" -t 60 -- sh -c "echo x >$T/x$n; exit 5"
    wait_file "$T/x$n"
    proxy reset
    status "$PID"
    is 5 "$GOT"
    is '' "$(cat "$T/a$n.err")"
    no_trace
  done
}

# lost MODE: the answer to the taking is lost, for one with time and one without.
take_lost() {
  proxy_start "${2:-}"
  proxy "$1"
  timed rl -u "$PROXY_URL" -w 20 --connect-timeout 0.4 -t 60 -- sh -c "echo ran >>$T/ran; exit 3"
  is 3 "$GOT"
  within 0 "$TOOK" 2500
  is 1 "$(wc -l <"$T/ran")"
  no_trace
  proxy "$1"
  timed rl -u "$PROXY_URL" -n --connect-timeout 0.4 -t 60 -- touch "$T/ran2"
  is 69 "$GOT"
  [ ! -e "$T/ran2" ]
  # Done before it ended, or on its way then.
  wait_until 2 no_trace
}

@test "the answer to the taking is swallowed: no orphan lock" { take_lost swallow; }
@test "the answer to the taking is lost with the connection: no orphan lock" { take_lost lose; }
@test "the answer to the taking is lost by a reset: no orphan lock" { take_lost lose-reset --tcp; }

@test "the answer to the taking is lost, and TERM comes: no orphan lock" {
  local mode
  proxy_start
  for mode in swallow lose lose-reset; do
    proxy "$mode"
    begin "a$mode" rl -u "$PROXY_URL" -w 20 -t 60 --connect-timeout 5 -- touch "$T/ran"
    proxy wait-lost
    kill -TERM "$PID"
    status "$PID"
    is 143 "$GOT"
    within 0 "$TOOK" 700
    wait_until 2 no_trace
  done
  [ ! -e "$T/ran" ]
}

renew_lost() {
  local token
  proxy_start "${2:-}"
  hold a -u "$PROXY_URL" -t 1500ms
  token=$(token)
  for _ in 1 2; do
    proxy "$1"
    proxy wait-lost
    let_pass 1000
    is "$token" "$(token)"
  done
  finish a 3
  status "$PID_a"
  is 3 "$GOT"
  is '' "$(cat "$T/a.err")"
  no_trace
}

@test "the answer to a renewal is swallowed: kept, no false 76" { renew_lost swallow; }
@test "the answer to a renewal is lost with the connection: kept, no false 76" { renew_lost lose; }
@test "the answer to a renewal is lost by a reset: kept, no false 76" { renew_lost lose-reset --tcp; }

release_lost() {
  proxy_start "${2:-}"
  hold a -u "$PROXY_URL" -t 3
  proxy "$1"
  finish a 3
  status "$PID_a"
  is 3 "$GOT"
  within 0 "$TOOK" 2000
  is '' "$(cat "$T/a.err")"
  no_trace
}

@test "the answer to the release is swallowed: no false 76, nothing is left" { release_lost swallow; }
@test "the answer to the release is lost with the connection: no false 76" { release_lost lose; }
@test "the answer to the release is lost by a reset: no false 76" { release_lost lose-reset --tcp; }

@test "the answer to the release is lost and somebody else has the lock since: no false 76, theirs stays" {
  proxy_start
  hold a -u "$PROXY_URL" -t 3
  begin b rl -t 30 -- sh -c "echo b >$T/b.ran; exec sleep 20"
  queued 1
  proxy lose
  finish a 3
  status "$PID_a"
  is 3 "$GOT"
  wait_file "$T/b.ran"
  is 1 "$(r exists "$L")"
  kill -TERM "$PID_b"
  status "$PID_b"
  no_trace
}

# Its answer, and the second question it calls for when somebody has come into
# line, are late by 300 ms: TERM comes between.
term_at_release() {
  proxy_start
  hold a -u "$PROXY_URL" -t 20
  if [[ ${1:-} ]]; then
    begin b rl -t 20 -- touch "$T/b.ran"
    queued 1
  fi
  proxy delay 300
  finish a 3
  wait_gone "$(cat "$T/a.pid")"
  let_pass 100
  kill -TERM "$PID_a"
  status "$PID_a"
  is 3 "$GOT"
  within 0 "$TOOK" 700
}

@test "TERM while the answer to the release is under way: the lock is free" {
  term_at_release
  wait_no_key "$L" 2
}

@test "TERM while the answer to the release is under way: who waits gets the lock" {
  term_at_release somebody
  wait_until 3 test -e "$T/b.ran"
  status "$PID_b"
  is 0 "$GOT"
  no_trace
}

@test "a waiter's answers are lost while it stands in line: it is served, nothing is left" {
  local mode
  proxy_start
  for mode in swallow lose lose-reset; do
    rm -f "$T"/h.*
    hold h
    begin "a$mode" rl -u "$PROXY_URL" -t 20 --command-timeout 0.3 -- touch "$T/$mode"
    queued 1
    proxy "$mode"
    # It looks after a second.
    proxy wait-lost
    listening 1
    queued 1
    finish h
    status "$PID_h"
    is 0 "$GOT"
    n=PID_a${mode/-/_}
    status "${!n}"
    is 0 "$GOT"
    [ -e "$T/$mode" ]
    no_trace
  done
}

@test "the message of the grant is lost: the waiter looks, and is served" {
  proxy_start
  hold h
  begin a rl -u "$PROXY_URL" -t 20 --command-timeout 0.3 -- touch "$T/ran"
  queued 1
  proxy swallow
  finish h
  status "$PID_h"
  status "$PID_a"
  is 0 "$GOT"
  within 0 "$TOOK" 5000
  [ -e "$T/ran" ]
  no_trace
}

@test "SCRIPT FLUSH all the time: taken, kept, handed over, released" {
  hold a -t 600ms
  begin b rl -t 600ms -- touch "$T/ran"
  queued 1
  for _ in $(seq 60); do
    r script flush >/dev/null
    let_pass 20
  done
  finish a 5
  r script flush >/dev/null
  status "$PID_a"
  is 5 "$GOT"
  status "$PID_b"
  is 0 "$GOT"
  [ -e "$T/ran" ]
  no_trace
}

@test "everything the others send is cut for 1 s, twice: the lock is kept, the TTL never exceeded" {
  local n
  proxy_start
  hold a -u "$PROXY_URL" -t 4
  for _ in 1 2; do
    proxy refuse
    let_pass 1000
    proxy pass
    wait_until 3 _pttl_above 3700
    within 3700 "$(r pttl "$L")" 4000
  done
  finish a
  status "$PID_a"
  is 0 "$GOT"
  no_trace
}

@test "cut off and taken over: the old holder is stopped, and never writes to the lock again" {
  proxy_start
  begin a rl -u "$PROXY_URL" -t 1500ms -- "$RLOCK_PROGS/stamp" "$T/log" beat 2
  wait_file "$T/log"
  proxy refuse
  begin b rl -t 30 -- "$RLOCK_PROGS/stamp" "$T/log2" beat 2
  wait_file "$T/log2"
  token=$(token)
  proxy pass
  status "$PID_a"
  is 76 "$GOT"
  is "$token" "$(token)"
  # no overlap
  within 1 "$(awk 'NR == FNR { end = $2; next } { printf "%d", $2 - end; exit }' \
    "$T/log" "$T/log2")" 2000000
  kill -TERM "$PID_b"
  status "$PID_b"
  no_trace
}

@test "the server closes idle connections: kept, and waited on, with no line about it" {
  local token
  r config set timeout 1 >/dev/null
  hold a -t 9
  token=$(r get "$L")
  begin b rl -w 60 -- true
  wait_until 10 _waits
  # Nothing is said for three seconds between two renewals.
  wait_until 20 _closed_twice
  is "$token" "$(r get "$L")"
  finish a 4
  status "$PID_a"
  is 4 "$GOT"
  status "$PID_b"
  is 0 "$GOT"
  is '' "$(cat "$T/a.err")$(cat "$T/b.err")"
  r config set timeout 0 >/dev/null
}

_waits() { [[ $(r zcard "$Q") == 1 ]]; }
_closed_twice() {
  [[ ${FIRST_ID:=$(_holder_id)} ]]
  local id
  id=$(_holder_id)
  [[ $id && $id != "$FIRST_ID" ]] && ((SEEN = ${SEEN:-0} + 1)) && FIRST_ID=$id
  ((${SEEN:-0} >= 2))
}
_holder_id() { r client list | sed -n "s/^id=\([0-9]*\) .* name=rlock:[^ ]*:$PID_a .*/\1/p" | head -1; }
