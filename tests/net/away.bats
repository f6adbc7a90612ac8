#!/usr/bin/env bats
# The server is not there: never was, restarts with or without its data, is a
# black hole, or slow.

load ../lib/net

setup_file() { redis_start --tcp; }
teardown_file() { redis_stop; }
setup() { net_setup; }
teardown() {
  net_teardown
  _redis_up || redis_up
}

# A port of this host that nobody listens to, in $DEAD.
dead_port() {
  DEAD=$(python3 -I -S -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
}

@test "refused: without -w it is tried for about the connect timeout, then 69" {
  dead_port
  timed rl -u "redis://127.0.0.1:$DEAD" --connect-timeout 0.7 -- touch "$T/ran"
  is 69 "$GOT"
  within 600 "$TOOK" 1700
  is 1 "$(wc -l <"$T/err")"
  said err "^rlock: $K: redis://127.0.0.1:$DEAD: Connection refused"
  timed rl -u "unix://$T/none" --connect-timeout 0.7 -- touch "$T/ran"
  is 69 "$GOT"
  within 600 "$TOOK" 1700
  said err "^rlock: $K: unix://$T/none: No such file"
  [ ! -e "$T/ran" ]
}

@test "refused: the default is two seconds" {
  dead_port
  timed rl -u "redis://127.0.0.1:$DEAD" -- true
  is 69 "$GOT"
  within 1800 "$TOOK" 3500
}

@test "refused: -n and -w 0 at once, -w 1 after one second" {
  dead_port
  for option in -n '-w 0' '-r 0'; do
    # shellcheck disable=SC2086
    timed rl -u "redis://127.0.0.1:$DEAD" $option -- true
    is 69 "$GOT"
    within 0 "$TOOK" 600
  done
  timed rl -u "redis://127.0.0.1:$DEAD" -w 1 -- true
  is 69 "$GOT"
  within 900 "$TOOK" 1800
}

@test "refused: it is not asked in a busy loop" {
  dead_port
  traced "$T/strace" connect "$RLOCK" -k "$K" -u "redis://127.0.0.1:$DEAD" -w 2 -- true || [ $? -eq 69 ]
  within 3 "$(grep -c connect "$T/strace")" 20
}

@test "closed right after it was taken: 69, and not in a busy loop" {
  proxy_start
  redis_down
  timed rl -u "$PROXY_URL" -w 1.5 -- true
  is 69 "$GOT"
  within 1400 "$TOOK" 2500
  within 3 "$(proxy_count)" 15
}

@test "it comes up while it is tried: the command runs" {
  redis_down
  begin a rl -w 20 -- touch "$T/ran"
  let_pass 400
  [ ! -e "$T/ran" ]
  redis_up
  status "$PID"
  is 0 "$GOT"
  [ -e "$T/ran" ]
  no_trace
}

@test "black hole: --connect-timeout, -w and -n bound it" {
  # One that a connect hangs on: its queue is full once a connect stays open.
  begin hole python3 -I -S -c 'import select, socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(0)
full = []
while True:
    c = socket.socket(); c.setblocking(False); c.connect_ex(s.getsockname())
    full.append(c)
    if not select.select([], [c], [], 0.5)[1]: break
print(s.getsockname()[1], flush=True); time.sleep(60)'
  wait_file "$T/hole.out"
  HOLE=redis://127.0.0.1:$(cat "$T/hole.out")
  timed rl -u "$HOLE" --connect-timeout 0.5 -- true
  is 69 "$GOT"
  within 400 "$TOOK" 1500
  said err 'not connected in time'
  timed rl -u "$HOLE" --connect-timeout 0.3 -w 1.2 -- true
  is 69 "$GOT"
  within 1100 "$TOOK" 2200
  timed rl -u "$HOLE" --connect-timeout 30 -w 0.5 -- true
  is 69 "$GOT"
  within 400 "$TOOK" 1500
  timed rl -u "$HOLE" --connect-timeout 0.4 -n -- true
  is 69 "$GOT"
  within 300 "$TOOK" 1400
  begin a rl -u "$HOLE" -w 30 -- true
  let_pass 200
  kill -TERM "$PID_a"
  status "$PID_a"
  is 143 "$GOT"
  within 0 "$TOOK" 700
}

@test "killed and restarted with its data while the lock is held: kept, under the same token" {
  local token
  hold a -t 6
  token=$(token)
  redis_restart --keep
  let_pass 2500
  is "$token" "$(token)"
  finish a 4
  status "$PID"
  is 4 "$GOT"
  is '' "$(cat "$T/a.err")"
  no_trace
}

@test "killed and restarted empty while the lock is held: the command is stopped, 76" {
  hold a -t 3
  redis_restart
  status "$PID"
  is 76 "$GOT"
  said a.err 'lock lost'
  wait_gone "$(cat "$T/a.pid")"
  no_trace
}

@test "killed for good while the lock is held: stopped in time, 76" {
  begin a rl -t 1500ms -- "$RLOCK_PROGS/stamp" "$T/log" beat 2
  wait_file "$T/log"
  redis_down
  status "$PID"
  is 76 "$GOT"
  # first beat to last: at most the lease, that ends before the server's
  within 1000 "$(awk 'NR == 1 { first = $2 } END { printf "%d", ($2 - first) / 1000 }' "$T/log")" 1480
}

@test "away at the release: the command's status and one line" {
  hold a -t 30 --command-timeout 0.6
  redis_down
  finish a 9
  status "$PID"
  is 9 "$GOT"
  within 0 "$TOOK" 2000
  is 1 "$(wc -l <"$T/a.err")"
  said a.err 'not released'
}

@test "back within the release's time: it is released" {
  hold a -t 30 --command-timeout 10
  is 1 "$(r exists "$L")" # and saved, so it will be back
  r save >/dev/null
  redis_down
  finish a 9
  wait_gone "$(cat "$T/a.pid")"
  redis_up
  status "$PID"
  is 9 "$GOT"
  is '' "$(cat "$T/a.err")"
  no_trace
}

# In line behind a holder that is not ours: a, b, c, through the proxy.
line_up() {
  local name n=0
  for name in a b c; do
    begin "$name" rl -u "$PROXY_URL" -t 20 -w 40 -- sh -c "echo $name >>$T/order"
    queued $((n += 1))
  done
}

served_in_order() {
  local name
  for name in a b c; do
    local pid=PID_$name
    status "${!pid}"
    is 0 "$GOT"
  done
  is 'a b c ' "$(tr '\n' ' ' <"$T/order")"
  no_trace
}

@test "restarted with its data while waited for: the order is kept, all are served" {
  proxy_start
  hold h -t 20
  line_up
  redis_restart --keep
  listening 3
  queued 3
  finish h
  status "$PID_h"
  is 0 "$GOT"
  served_in_order
  said a.err 'the place in line is kept'
  is 1 "$(wc -l <"$T/a.err")"
}

@test "restarted empty while waited for: the order is kept by the tickets, all are served" {
  proxy_start
  hold h -t 20
  line_up
  proxy refuse
  kill -KILL "$PID_h"
  redis_restart
  # Somebody has the lock before the waiters are back.
  r set "$L" "rlock:1:00000000000000000000000000000000:h:u:1:1:" px 20000 >/dev/null
  proxy pass
  listening 3
  queued 3
  r del "$L" >/dev/null
  served_in_order
}

@test "restarted empty, holder and waiters all on their own: 76 for the holder, all are served" {
  hold h -t 20
  PROXY_URL=unix://$REDIS_SOCK
  line_up
  redis_restart
  for name in a b c; do
    pid=PID_$name
    status "${!pid}" 20
    is 0 "$GOT"
  done
  is 3 "$(wc -l <"$T/order")"
  status "$PID_h" 20
  is 76 "$GOT"
  no_trace
}

@test "the server stays away: a waiter waits on, at a calm pace, until -w; 75, since a holder was seen" {
  local before
  proxy_start
  hold h -t 20
  begin a rl -u "$PROXY_URL" -w 3 -- true
  queued 1
  before=$(proxy_count)
  redis_down
  status "$PID_a"
  is 75 "$GOT"
  within 2000 "$TOOK" 4000
  within 2 $(($(proxy_count) - before)) 15
  is 1 "$(grep -c 'kept' "$T/a.err")"
}

@test "slow, every answer late by a quarter of the TTL: the lock is taken, kept and released" {
  proxy_start
  proxy delay 500
  hold a -u "$PROXY_URL" -t 2
  let_pass 4500
  finish a 3
  status "$PID"
  is 3 "$GOT"
  no_trace
}

@test "slow: waiters are served, and nothing is left" {
  proxy_start
  proxy delay 120
  hold h -u "$PROXY_URL"
  line_up
  finish h
  status "$PID_h"
  is 0 "$GOT"
  served_in_order
}
