#!/usr/bin/env bats
# The server answers with an error: BUSY, LOADING, MISCONF, OOM, READONLY.  To
# acquire it is a status; while a lock is held every one of them means "the
# server is away".

load ../lib/net

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { net_setup; }
teardown() {
  net_teardown
  r script kill >/dev/null 2>&1
  r client unpause >/dev/null 2>&1
  r replicaof no one >/dev/null
  r config set maxmemory 0 >/dev/null
  r config set stop-writes-on-bgsave-error no >/dev/null
}

# The server blocked by a script that does not write.
busy_begin() {
  r config set busy-reply-threshold 50 >/dev/null
  begin loop "$REDIS_CLI" -s "$REDIS_SOCK" eval 'while true do end' 0
  wait_until 5 _is_busy
}
_is_busy() { r ping | grep -q BUSY; }
busy_end() {
  r script kill >/dev/null
  wait_until 5 _redis_up
}

# The server can't save, and refuses writes.
misconf_begin() {
  if [[ ! -e $REDIS_DIR/misconf ]]; then
    mkdir -p "$REDIS_DIR/data"
    printf '%s\0' --dir "$REDIS_DIR/data" --save '3600 100000' >"$REDIS_DIR/args"
    redis_down
    redis_up
    r config set stop-writes-on-bgsave-error no >/dev/null
    r set some thing >/dev/null
    rm -rf "$REDIS_DIR/data"
    r bgsave >/dev/null
    wait_until 10 _save_failed
    touch "$REDIS_DIR/misconf"
  fi
}
misconf() { r config set stop-writes-on-bgsave-error "$1" >/dev/null; }
_save_failed() { r info persistence | grep -q 'rdb_last_bgsave_status:err'; }

replica() { r replicaof 127.0.0.1 1 >/dev/null; }
primary() { r replicaof no one >/dev/null; }

_pttl_above() { (($(r pttl "$L") > $1)); }

# The command was stopped before the lease was over on the server.
# in_time TTL: of $T/log, from the first beat on; the lease may have been
# renewed once after it.
in_time() {
  within 1 "$(awk 'NR == 1 { first = $2 } END { printf "%d", ($2 - first) / 1000 }' "$T/log")" "$1"
}

@test "BUSY: tried for the connect timeout, then 69 with the server's words; -n at once" {
  busy_begin
  timed rl --connect-timeout 0.6 -- touch "$T/ran"
  is 69 "$GOT"
  within 500 "$TOOK" 1700
  said err 'BUSY .*SCRIPT KILL'
  timed rl -n -- touch "$T/ran"
  is 69 "$GOT"
  within 0 "$TOOK" 600
  timed rl -w 0.5 -- touch "$T/ran"
  is 69 "$GOT"
  within 400 "$TOOK" 1500
  busy_end
  no_trace
  [ ! -e "$T/ran" ]
}

@test "BUSY for a while: who is willing to wait gets the lock" {
  busy_begin
  begin a rl -w 20 -- touch "$T/ran"
  let_pass 600
  busy_end
  status "$PID_a"
  is 0 "$GOT"
  [ -e "$T/ran" ]
  no_trace
}

@test "BUSY while held, for less than TTL/2: kept" {
  hold a -t 4
  busy_begin
  let_pass 1800
  busy_end
  wait_until 3 _pttl_above 3500
  finish a 5
  status "$PID_a"
  is 5 "$GOT"
  no_trace
}

@test "BUSY while held, for longer: the command is stopped in time, 76" {
  begin a rl -t 1500ms -- "$RLOCK_PROGS/stamp" "$T/log" beat 2
  wait_file "$T/log"
  busy_begin
  status "$PID_a"
  is 76 "$GOT"
  in_time 2000
  busy_end
  no_trace
}

@test "BUSY at the release: the command's status, within the command timeout" {
  hold a -t 30 --command-timeout 0.6
  busy_begin
  finish a 6
  status "$PID_a"
  is 6 "$GOT"
  within 0 "$TOOK" 1800
  said a.err 'not released: .*BUSY'
  busy_end
}

@test "BUSY at the release, for less than the command timeout: released" {
  hold a -t 30 --command-timeout 20
  busy_begin
  finish a 6
  wait_gone "$(cat "$T/a.pid")"
  let_pass 200
  busy_end
  status "$PID_a"
  is 6 "$GOT"
  is '' "$(cat "$T/a.err")"
  no_trace
}

@test "BUSY while waiting: the place is kept, the lock comes" {
  hold h
  begin a rl -- true
  queued 1
  busy_begin
  wait_line "$T/a.err" 'the place in line is kept'
  busy_end
  listening 1
  finish h
  status "$PID_a"
  is 0 "$GOT"
  no_trace
}

# Loading takes three seconds from now on: 2000 keys at 1.5 ms each.
loading_begin() {
  r eval 'for i=1,2000 do redis.call("SET","fill:"..i,i) end' 0 >/dev/null
  r save >/dev/null
  cp "$REDIS_DIR/args" "$T/args"
  printf '%s\0' --key-load-delay 1500 --loading-process-events-interval-bytes 1024 \
    >"$REDIS_DIR/args"
  redis_down
  redis_up 2>"$T/up.err" & # waits until it is loaded
  STARTED+=("$!")
  wait_until 10 _is_loading
}

loading_end() {
  wait_until 20 _redis_up
  cp "$T/args" "$REDIS_DIR/args"
}

@test "LOADING while held, for less than the lease: kept, under the same token" {
  local token
  hold a -t 12
  token=$(r get "$L")
  loading_begin
  loading_end
  wait_until 10 _pttl_above 8500
  is "$token" "$(r get "$L")"
  finish a 4
  status "$PID"
  is 4 "$GOT"
  redis_restart
}

@test "LOADING while held, for longer: the command is stopped in time, 76" {
  begin a rl -t 1 -- "$RLOCK_PROGS/stamp" "$T/log" beat 2
  wait_file "$T/log"
  loading_begin
  status "$PID_a"
  is 76 "$GOT"
  in_time 1000
  loading_end
  redis_restart
}

@test "LOADING: waited for, or 69 with the server's words" {
  loading_begin
  timed rl --connect-timeout 0.4 -- touch "$T/ran"
  is 69 "$GOT"
  within 300 "$TOOK" 1400
  said err LOADING
  timed rl -n -- touch "$T/ran"
  is 69 "$GOT"
  said err LOADING
  [ ! -e "$T/ran" ]
  timed rl -w 30 -- touch "$T/ran"
  is 0 "$GOT"
  [ -e "$T/ran" ]
  loading_end
  no_trace
  redis_restart
}
_is_loading() { r ping 2>&1 | grep -q LOADING; }

@test "MISCONF: acquiring is 78" {
  misconf_begin
  misconf yes
  timed rl -w 5 -- touch "$T/ran"
  is 78 "$GOT"
  within 0 "$TOOK" 1000
  said err MISCONF
  [ ! -e "$T/ran" ]
  no_trace
}

@test "MISCONF while held: tried again, kept when it is mended in time" {
  misconf_begin
  hold a -t 3
  misconf yes
  let_pass 1300
  misconf no
  wait_until 3 _pttl_above 2500
  finish a
  status "$PID_a"
  is 0 "$GOT"
  no_trace
}

@test "MISCONF while held, for good: the command is stopped in time, 76" {
  misconf_begin
  begin a rl -t 1500ms -- "$RLOCK_PROGS/stamp" "$T/log" beat 2
  wait_file "$T/log"
  misconf yes
  status "$PID_a"
  is 76 "$GOT"
  in_time 2000
  misconf no
}

@test "MISCONF at the release: the command's status, and a line that the lock stays" {
  misconf_begin
  hold a -t 30
  misconf yes
  finish a 6
  status "$PID_a"
  is 6 "$GOT"
  within 0 "$TOOK" 3000
  said a.err 'not released: .*MISCONF'
  misconf no
}

@test "OOM: acquiring is 78" {
  r config set maxmemory 1 >/dev/null
  timed rl -w 5 -- touch "$T/ran"
  is 78 "$GOT"
  within 0 "$TOOK" 1000
  said err 'OOM .*maxmemory'
  [ ! -e "$T/ran" ]
  r config set maxmemory 0 >/dev/null
  no_trace
}

@test "OOM: so is joining the queue" {
  hold h
  r config set maxmemory 1 >/dev/null
  timed rl -w 5 -- touch "$T/ran"
  is 78 "$GOT"
  finish h
  status "$PID_h"
  is 0 "$GOT"
  no_trace
}

@test "OOM: holding and releasing go on" {
  hold a -t 1
  r config set maxmemory 1 >/dev/null
  let_pass 2500
  is 1 "$(r exists "$L")"
  finish a 5
  status "$PID_a"
  is 5 "$GOT"
  is '' "$(cat "$T/a.err")"
  no_trace
}

@test "OOM: who waits is served, and who leaves leaves nothing" {
  hold h
  begin a rl -- touch "$T/ran"
  queued 1
  begin b rl -- true
  queued 2
  begin c rl -w 1 -- true
  queued 3
  r config set maxmemory 1 >/dev/null
  kill -TERM "$PID_b"
  status "$PID_b"
  is 143 "$GOT"
  status "$PID_c"
  is 75 "$GOT"
  queued 1
  finish h
  status "$PID_h"
  is 0 "$GOT"
  status "$PID_a"
  is 0 "$GOT"
  [ -e "$T/ran" ]
  no_trace
}

@test "READONLY: 78 and the hint" {
  replica
  timed rl -w 5 -- touch "$T/ran"
  is 78 "$GOT"
  within 0 "$TOOK" 1000
  said err 'READONLY .*name the primary'
  [ ! -e "$T/ran" ]
}

@test "READONLY for a lock that is held there: 78, never busy" {
  r set "$L" another px 20000 >/dev/null
  replica
  for option in -n '-w 2'; do
    # shellcheck disable=SC2086
    timed rl $option -- touch "$T/ran"
    is 78 "$GOT"
  done
  primary
  [ ! -e "$T/ran" ]
}

@test "READONLY while held: tried again, kept when it is a primary again in time" {
  hold a -t 3
  replica
  let_pass 1300
  primary
  wait_until 3 _pttl_above 2500
  finish a
  status "$PID_a"
  is 0 "$GOT"
  no_trace
}

@test "READONLY while held, for good: the command is stopped in time, 76" {
  begin a rl -t 1500ms -- "$RLOCK_PROGS/stamp" "$T/log" beat 2
  wait_file "$T/log"
  replica
  status "$PID_a"
  is 76 "$GOT"
  in_time 2000
}

@test "READONLY while waiting: the place is kept, at a calm pace, the lock comes" {
  local before
  hold h -t 20
  begin a rl -w 30 -- touch "$T/ran"
  queued 1
  replica
  before=$(evals)
  let_pass 3000
  within 1 $(($(evals) - before)) 20
  primary
  listening 1
  finish h
  status "$PID_a"
  is 0 "$GOT"
  [ -e "$T/ran" ]
  no_trace
}
evals() { r info commandstats | sed -n 's/^cmdstat_eval:calls=\([0-9]*\).*/\1/p'; }
