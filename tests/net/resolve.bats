#!/usr/bin/env bats
# Names: a resolver that hangs, and addresses that change behind a name.  Each
# run has files of its own for /etc/resolv.conf, hosts and nsswitch.conf.

load ../lib/net

setup_file() { redis_start --tcp; }
teardown_file() { redis_stop; }

setup() {
  net_setup
  unshare -m true 2>/dev/null || skip 'no mount namespaces here'
  # A name server of this test, where nobody else is.
  NS=127.$((RANDOM % 200 + 20)).$((RANDOM % 250)).$((RANDOM % 250 + 1))
  printf 'nameserver %s\noptions timeout:30 attempts:5\n' "$NS" >"$T/resolv.conf"
  printf 'hosts: files dns\n' >"$T/nsswitch.conf"
  echo '127.0.0.1 localhost' >"$T/hosts"
  # It takes questions and never answers.
  begin ns python3 -I -S -c 'import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], 53))
open(sys.argv[2], "w").write("up\n")
while True: s.recv(999); open(sys.argv[2], "a").write("asked\n")' "$NS" "$T/ns"
  wait_file "$T/ns" || skip 'no port 53 to be had'
  URL=redis://lock.test:$REDIS_PORT
  ONE=${NS%.*}.251 TWO=${NS%.*}.252
}

teardown() { net_teardown; }

# rlock with those files; a process id stays the same.
# shellcheck disable=SC2016
PRIVATE='for f in resolv.conf hosts nsswitch.conf; do
  mount --bind "$1/$f" "/etc/$f" || exit 99; done; shift; exec "$@"'
timed_privately() { timed unshare -m sh -c "$PRIVATE" - "$T" "$RLOCK" -u "$URL" -k "$K" "$@"; }
begin_privately() {
  local name=$1
  shift
  begin "$name" unshare -m sh -c "$PRIVATE" - "$T" "$RLOCK" -u "$URL" -k "$K" "$@"
}

# hosts ADDRESS...: what lock.test is, from now on (in place: it is mounted).
hosts() {
  printf '%s lock.test\n' "$@" | cat - <(echo '127.0.0.1 localhost') >"$T/hosts.new"
  cat "$T/hosts.new" >"$T/hosts"
}

# Nobody knows the name any more: the resolver hangs.
no_hosts() { echo '127.0.0.1 localhost' >"$T/hosts"; }

asked() { wait_line "$T/ns" asked; }

# A proxy on an address of its own with the server's port: relay NAME ADDRESS.
relay() {
  mkdir "$T/$1.d"
  begin "$1" python3 -I -S "$RLOCK_TESTS/progs/proxy.py" --listen "$2:$REDIS_PORT" \
    --to "$REDIS_SOCK" --dir "$T/$1.d" --owner $$
  wait_file "$T/$1.d/port"
}
order() { # NAME ORDER
  echo "$2" >"$T/$1.d/ctl"
  read -rt 10 REPLY <"$T/$1.d/ack"
}
counted() { # NAME N: so many connections at least
  order "$1" count && ((REPLY >= $2))
}

boot_ms() { perl -MTime::HiRes=clock_gettime -e 'printf "%d\n", clock_gettime(7) * 1000'; }
stamps() { grep -c '' "$T/log"; }
more_stamps() { (($(stamps) > $1)); }
goes_on() { wait_until 5 more_stamps $(($(stamps) + 2)); }

stamp_run() { # OPTIONS: a command that stamps, under a lock by the name
  begin_privately a "$@" -- "$RLOCK_PROGS/stamp" "$T/log" beat 5
  wait_file "$T/log"
}

@test "the name in the hosts file: it runs" {
  hosts 127.0.0.1
  begin_privately a -- sh -c 'exit 3'
  status "$PID"
  is 3 "$GOT"
  no_trace
}

@test "a resolver that hangs: 69 after --connect-timeout, -n and -w as said" {
  timed_privately --connect-timeout 0.6 -- touch "$T/ran"
  is 69 "$GOT"
  within 550 "$TOOK" 1600
  grep -q asked "$T/ns"
  said err 'lock.test'
  timed_privately -n --connect-timeout 0.4 -- touch "$T/ran"
  is 69 "$GOT"
  within 350 "$TOOK" 1400
  timed_privately -w 1 --connect-timeout 0.3 -- touch "$T/ran"
  is 69 "$GOT"
  within 900 "$TOOK" 2000
  [ ! -e "$T/ran" ]
}

@test "a resolver that hangs: TERM ends it within half a second" {
  begin_privately a -w 60 --connect-timeout 50 -- touch "$T/ran"
  asked
  kill -TERM "$PID"
  status "$PID"
  is 143 "$GOT"
  within 0 "$TOOK" 800 # half a second, and what it takes to see it
  [ ! -e "$T/ran" ]
}

@test "a waiter whose server has gone, the resolver hangs: TERM ends it within half a second" {
  relay one "$ONE"
  hosts "$ONE"
  hold h
  begin_privately a -w 60 -- touch "$T/ran"
  queued 1
  no_hosts
  order one refuse
  asked
  let_pass 400 # the address that was known is being tried by now
  kill -TERM "$PID"
  status "$PID"
  is 143 "$GOT"
  within 0 "$TOOK" 800 # half a second, and what it takes to see it
  finish h
  status "$PID_h"
  [ ! -e "$T/ran" ]
}

@test "the connection is cut, the resolver hangs: the last good address serves, the lock is kept" {
  local ttl token
  for ttl in 3 1.2; do
    rm -rf "$T/log" "$T/one.d"
    relay one "$ONE"
    hosts "$ONE"
    stamp_run -t "$ttl"
    token=$(token)
    no_hosts
    order one cut
    asked
    let_pass "$(awk "BEGIN { print $ttl * 1300 }")" # beyond the lease at the cut
    goes_on
    is "$token" "$(token)"
    unsaid . "$T/a.err"
    kill -TERM "$PID_a"
    status "$PID_a"
    is 143 "$GOT"
    no_trace
    kill "$PID_one"
    status "$PID_one"
  done
}

@test "the connection is cut, the resolver hangs, a short lease: the lock is kept" {
  # An attempt at a renewal, TTL/6, is shorter than the time that a resolver
  # usually has.
  relay one "$ONE"
  hosts "$ONE"
  stamp_run -t 0.6
  no_hosts
  order one cut
  asked
  let_pass 900
  goes_on
  kill -TERM "$PID_a"
  status "$PID_a"
  is 143 "$GOT"
  no_trace
}

@test "the server is gone, the resolver hangs: the command is ended before the lease ends" {
  local from left mode
  for mode in refuse freeze; do
    rm -rf "$T/log" "$T/one.d"
    relay one "$ONE"
    hosts "$ONE"
    stamp_run -t 2.5
    no_hosts
    left=$(r pttl "$L")
    from=$(boot_ms) # the lease ends at from + left, or before
    order one "$mode"
    status "$PID_a" 5
    is 76 "$GOT"
    grep -q asked "$T/ns"
    (($(tail -n 1 "$T/log" | cut -d' ' -f2) / 1000 < from + left))
    kill "$PID_one"
    status "$PID_one"
    wait_no_key "$L"
  done
}

@test "the server is gone, the resolver hangs: TERM ends command and run" {
  relay one "$ONE"
  hosts "$ONE"
  stamp_run -t 30 --command-timeout 1
  no_hosts
  order one refuse
  kill -TERM "$PID_a"
  status "$PID_a" 5
  is 143 "$GOT"
  within 0 "$TOOK" 2000
  said a.err 'not released'
}

@test "the address behind the name changes: the new one is used, the lock kept" {
  local mode token
  for mode in refuse reset freeze; do
    rm -rf "$T/log" "$T"/{one,two}.d
    relay one "$ONE"
    relay two "$TWO"
    hosts "$ONE"
    stamp_run -t 2
    token=$(token)
    hosts "$TWO"
    order one "$mode"
    wait_until 5 counted two 1
    let_pass 2000
    goes_on
    is "$token" "$(token)"
    unsaid . "$T/a.err"
    kill -TERM "$PID_a"
    status "$PID_a"
    is 143 "$GOT"
    no_trace
    kill "$PID_one" "$PID_two"
    status "$PID_one"
    status "$PID_two"
  done
}

@test "the address behind the name changes while waiting: its turn comes by the new one" {
  relay one "$ONE"
  relay two "$TWO"
  hosts "$ONE"
  hold h
  begin_privately a -w 60 -- sh -c 'exit 5'
  queued 1
  hosts "$TWO"
  order one refuse
  wait_until 10 counted two 1
  finish h
  status "$PID_h"
  status "$PID_a"
  is 5 "$GOT"
  no_trace
}

@test "of two addresses the one that is up is used, whichever comes first" {
  relay one "$ONE"
  hosts "$TWO" "$ONE"
  begin_privately a -- sh -c 'exit 4'
  status "$PID"
  is 4 "$GOT"
  hosts "$ONE" "$TWO"
  begin_privately a -- sh -c 'exit 4'
  status "$PID"
  is 4 "$GOT"
  no_trace
}
