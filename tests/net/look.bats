#!/usr/bin/env bats
# --status, --list and --break over connections that break, or are slow.

load ../lib/net

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { net_setup; }
teardown() { net_teardown; }

@test "break: when the answer is lost, the next holder is not broken as well" {
  local mode
  proxy_start
  for mode in swallow lose lose-reset; do
    hold a -t 60
    begin b rl -t 60 -w 20 -- sh -c "echo \$\$ >$T/b.pid; exec sleep 30"
    queued 1
    proxy "$mode"
    timed "$RLOCK" --break "$K" -u "$PROXY_URL" --command-timeout 0.4
    is 69 "$GOT"
    said err 'it is not known whether the lock is broken'
    # The first one was broken, and the next one has it.
    wait_pidfile "$T/b.pid" >/dev/null
    r get "$L" | grep -q ":$PID_b:"
    alive_pid "$PID_b"
    kill -TERM "$PID_a" "$PID_b"
    status "$PID_b"
    is 143 "$GOT"
    status "$PID_a"
    rm -f "$T"/*.pid "$T"/*.go
  done
}

alive_pid() { ! _wait_ended "$1"; }

@test "status: an answer that is lost is asked for again" {
  local mode
  proxy_start
  hold a -t 60
  for mode in lose lose-reset; do
    proxy "$mode"
    timed "$RLOCK" --status "$K" -u "$PROXY_URL"
    is 0 "$GOT"
    said out "pid $PID_a,"
  done
  finish a
  status "$PID_a"
}

@test "list: the connection breaks in the middle: each lock once, in order" {
  r eval 'for i = 1, 3000 do redis.call("SET", "lock:n:" .. i,
    string.format("rlock:1:%032x:h:u:%d:0:", i, i), "PX", 600000) end' 0 >/dev/null
  proxy_start
  proxy delay 5
  begin a "$RLOCK" --list 'n:*' -u "$PROXY_URL"
  for _ in 1 2 3 4 5; do
    wait_until 5 connected
    let_pass 30
    proxy reset
  done
  status "$PID_a"
  is 0 "$GOT"
  within 6 "$(proxy_count)" 6
  tail -n +2 "$T/a.out" | cut -d ' ' -f 1 >"$T/names"
  is 3000 "$(wc -l <"$T/names")"
  LC_ALL=C sort -c -u "$T/names"
}

connected() { _proxy open && [[ $REPLY == 1 ]]; }

@test "list: far away it costs a round trip for many locks, not one for each" {
  r eval 'for i = 1, 1000 do redis.call("SET", "lock:f:" .. i, "x", "PX", 600000) end' 0 >/dev/null
  proxy_start
  proxy delay 50
  timed "$RLOCK" --list 'f:*' -u "$PROXY_URL"
  is 0 "$GOT"
  is 1001 "$(wc -l <"$T/out")"
  within 0 "$TOOK" 20000 # one after the other: above 50 s
}
