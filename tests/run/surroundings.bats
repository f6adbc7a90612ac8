#!/usr/bin/env bats
# rlock in odd surroundings: namespaces, parents of all kinds, clocks that jump.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2034,SC2153

load ../lib/rlock
load ../lib/pty

setup_file() { redis_start; }
teardown_file() { redis_stop; }

setup() {
  rlock_setup
  PTY_DRIVERS=()
}

teardown() {
  local file
  pty_stop
  rlock_teardown
  for file in "$T"/*.pid; do
    [[ ! -s $file ]] || kill -KILL "$(cat "$file")" 2>/dev/null || true
  done
}

no_pids() { ! unshare -pf --mount-proc --kill-child true 2>/dev/null; }

# --- PID namespaces -----------------------------------------------------------------

@test "as PID 1: orphans and strays end with TERM, the lock after them" {
  no_pids && skip 'no PID namespaces here'
  bg unshare -pf --mount-proc --kill-child "$RLOCK" -k "$K" --kill-after 0.3 -- sh -c '
    (sleep 41 &)
    bash -c "set -m; (sleep 42 &); exit"
    timeout 43 sleep 43 &
    echo >"$T/there"; wait; sleep 44'
  local init
  wait_until 5 test -e "$T/there"
  init=$(pgrep -P "$PID")
  wait_until 5 eval '[[ $(pgrep -P '"$init"' | wc -l) -ge 4 ]]' # guard, command, orphans
  kill -TERM "$init"
  ended "$PID" 3
  is "$status" 143
  no_key
}

@test "as PID 1: orphans in other sessions delay nothing" {
  no_pids && skip 'no PID namespaces here'
  try timeout 8 unshare -pf --mount-proc --kill-child "$RLOCK" -k "$K" -- sh -c '
    setsid sleep 30 & (setsid sleep 31 &); exit 6'
  is "$status" 6
  no_key
}

@test "as PID 1: a command that is killed, and --max-run" {
  no_pids && skip 'no PID namespaces here'
  try unshare -pf --mount-proc --kill-child "$RLOCK" -k "$K" -- sh -c 'kill -KILL $$'
  is "$status" 137
  try unshare -pf --mount-proc --kill-child "$RLOCK" -k "$K" --max-run 0.2 -- sleep 30
  is "$status" 124
  no_key
}

@test "the parent is in another PID namespace (getppid is 0), and rlock is not PID 1" {
  no_pids && skip 'no PID namespaces here'
  command -v nsenter >/dev/null || skip 'no nsenter here'
  bg unshare -pf --mount-proc --kill-child sh -c 'echo >"$T/up"; exec sleep 40'
  local init
  wait_until 5 test -e "$T/up"
  init=$(pgrep -P "$PID")
  try nsenter -t "$init" -p -m "$RLOCK" -k "$K" -t 0.3 -- sh -c \
    'grep PPid "/proc/$PPID/status"; [ $PPID != 1 ]; echo $?; sleep 0.8; exit 5'
  is "$status" 5
  is "${lines[*]}" $'PPid:\t0 0'
  # Its death is noticed there as well.
  bg nsenter -t "$init" -p -m "$RLOCK" -k "$K" -t 2 -- sh -c 'echo >"$T/runs"; exec sleep 45'
  wait_until 5 test -e "$T/runs"
  local rlock command
  rlock=$(pgrep -x -P "$PID" rlock) || rlock=$PID
  command=$(pgrep -x -P "$rlock" sleep)
  kill -KILL "$rlock"
  wait_gone "$command" 1
}

# --- parents ------------------------------------------------------------------------

@test "nohup: the terminal goes, the lock stays renewed" {
  pty_start
  types 'nohup $RLOCK -k $K -t 0.6 -- sh -c "$SH_HOLD" $T/cmd.pid >$T/nohup.out 2>&1 &'
  prompts 0
  local command
  command=$(wait_pidfile "$T/cmd.pid")
  hangs_up
  ends 129
  pass_ms 900
  alive "$command"
  is_key
  kill -TERM "$(ps -o ppid= -p "$command" | tr -d ' ')"
  wait_gone "$command"
  wait_no_key "$L"
}

@test "setsid in the background, the caller gone: the lock stays renewed" {
  sh -c 'setsid "$RLOCK" -k "$K" -t 0.6 -- sh -c "$SH_HOLD" "$T/cmd.pid" >/dev/null 2>&1 3>&- &'
  local command rlock
  command=$(wait_pidfile "$T/cmd.pid")
  rlock=$(ps -o ppid= -p "$command" | tr -d ' ')
  pass_ms 900
  is_key
  kill -TERM "$rlock"
  wait_gone "$rlock"
  not alive "$command"
  no_key
}

@test "the parent dies while the command runs: it goes on, to its end" {
  sh -c '"$RLOCK" -k "$K" -t 0.6 --report "$T/report" -- sh -c "
    echo \$\$ >$T/cmd.pid; until [ -e $T/end ]; do sleep 0.01; done; exit 7" >/dev/null 2>&1 3>&- &
    until [ -s "$T/cmd.pid" ]; do sleep 0.01; done; kill -KILL $$' || true
  wait_file "$T/cmd.pid"
  pass_ms 700
  is_key
  touch "$T/end"
  wait_file "$T/report"
  is "$(fact "$T/report" exit_status)" 7
  no_key
}

@test "below a sub-reaper, which becomes its parent: no false death" {
  try perl -e '
    syscall(157, 36, 1, 0, 0, 0) == 0 or exit 99; # PR_SET_CHILD_SUBREAPER
    unless (fork) {
      unless (fork) { exec @ARGV }
      exit;
    }
    wait; wait; print $? >> 8, "\n"' \
    "$RLOCK" -k "$K" -t 0.3 -- sh -c 'sleep 0.8; exit 8'
  is "$status $output" '0 8'
  no_key
}

@test "timeout around it: TERM ends all, KILL ends all within a second" {
  try timeout 0.5 "$RLOCK" -k "$K" -- sh -c 'echo $$ >"$T/cmd.pid"; exec sleep 30'
  is "$status" 124
  wait_gone "$(cat "$T/cmd.pid")" 1
  wait_no_key "$L" 1
  rm "$T/cmd.pid"
  try timeout -s KILL 0.5 "$RLOCK" -k "$K" -t 1 -- sh -c 'echo $$ >"$T/cmd.pid"; exec sleep 30'
  is "$status" 137
  wait_gone "$(cat "$T/cmd.pid")" 1
  wait_no_key "$L" 2
}

@test "SIGCHLD ignored by the caller: TERM, orphans, a waiter" {
  bg env --ignore-signal=CHLD "$RLOCK" -k "$K" -- sh -c '(sleep 0.1 &); '"$SH_HOLD" "$T/hold.pid"
  HOLDER=$PID
  CMD=$(wait_pidfile "$T/hold.pid")
  bg env --ignore-signal=CHLD "$RLOCK" -k "$K" -- sh -c '(exit 4); exit 5'
  local waiter=$PID
  wait_waiters 1
  let_go
  is "$status" 143
  ended "$waiter"
  is "$status" 5
}

@test "exec from a shell with children: their ends are not the command's" {
  try bash -c 'sh -c "exit 9" & sleep 0.3 & sh -c "sleep 0.1; kill -KILL \$\$" & exec "$@"' - \
    "$RLOCK" -k "$K" -t 0.3 -- sh -c 'sleep 0.7; exit 5'
  is "$status" 5
  no_key
}

@test "exec from a shell with a child: the command's end is not held up by it" {
  local start
  start=$(now_ms)
  try bash -c 'sleep 15 >/dev/null 2>&1 3>&- & echo $! >"$T/elder.pid"; exec "$@"' - \
    "$RLOCK" -k "$K" -- sh -c 'exit 5'
  is "$status" 5
  between 0 $(($(now_ms) - start)) 3000
  alive "$(cat "$T/elder.pid")"
  # Neither by TERM.
  bg bash -c 'sleep 15 >/dev/null 2>&1 3>&- & exec "$@"' - \
    "$RLOCK" -k "$K" --kill-after 20 -- sh -c "$SH_HOLD" "$T/hold.pid"
  wait_pidfile "$T/hold.pid"
  kill -TERM "$PID"
  ended "$PID" 3
  is "$status" 143
  no_key
}

@test "no /dev, no /etc, no /proc" {
  [[ ${RLOCK_SANITIZE:-} ]] && skip 'the sanitizers need /proc'
  unshare -m true 2>/dev/null || skip 'no mount namespaces here'
  try unshare -m sh -c 'for d in /dev /etc /proc; do mount -t tmpfs none $d || exit 99; done; exec "$@"' - \
    "$RLOCK" -k "$K" -t 0.3 -- sh -c 'sleep 0.5; exit 5'
  is "$status $output" '5 '
  no_key
}

# --- clocks -------------------------------------------------------------------------

@test "a time namespace whose boot time is another" {
  local offset
  unshare -T -f --boottime 1000 true 2>/dev/null || skip 'no time namespaces here'
  for offset in 100000000 -$(($(cut -d. -f1 /proc/uptime) - 1)); do
    try unshare -T -f --boottime "$offset" --monotonic 77 "$RLOCK" -k "$K" -t 0.3 \
      --report "$T/report" -- sh -c 'sleep 0.8; exit 5'
    is "$offset $status $output" "$offset 5 "
    (($(fact "$T/report" renewals) >= 4))
    between 700 "$(fact "$T/report" hold_ms)" 3000
    bg unshare -T -f --boottime "$offset" "$RLOCK" -k "$K" -t 1 -- \
      sh -c "$SH_HOLD" "$T/hold.pid"
    CMD=$(wait_pidfile "$T/hold.pid")
    HOLDER=$(ps -o ppid= -p "$CMD" | tr -d ' ')
    # The guard counts by the same clock.
    kill -STOP "$HOLDER"
    wait_stopped "$HOLDER"
    pass_ms 100
    alive "$CMD"
    wait_gone "$CMD" 3
    kill -KILL "$HOLDER"
    ended "$PID"
    rm "$T/hold.pid"
    r del "$L" >/dev/null
  done
}

# shim: a library that adds the seconds in $T/offset to the wall clock.
shim() {
  [[ ${RLOCK_SANITIZE:-} ]] && skip 'the sanitizers want to be first'
  cat >"$T/shim.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long
offset(void)
{
	FILE *f = fopen(getenv("CLOCK_OFFSET"), "re");
	long n = 0;

	if (f == NULL)
		return 0;
	if (fscanf(f, "%ld", &n) != 1)
		n = 0;
	fclose(f);
	return n;
}

int
clock_gettime(clockid_t id, struct timespec *ts)
{
	int (*real)(clockid_t, struct timespec *) =
	    (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	int result = real(id, ts);

	if (result == 0 && id == CLOCK_REALTIME)
		ts->tv_sec += offset();
	return result;
}

time_t
time(time_t *t)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	if (t != NULL)
		*t = ts.tv_sec;
	return ts.tv_sec;
}

int
gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &ts);
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}
END
  ${CC:-cc} -shared -fPIC -o "$T/shim.so" "$T/shim.c" -ldl 2>"$T/cc.err" || skip 'no compiler here'
  jump 0
}

# jump SECONDS: the wall clock is that far off, from now on.
jump() {
  echo "$1" >"$T/offset.new"
  mv "$T/offset.new" "$T/offset"
}

@test "the wall clock jumps by hours: lock, command and status are as ever" {
  shim
  rm -f "$T/hold.pid"
  bg env LD_PRELOAD="$T/shim.so" CLOCK_OFFSET="$T/offset" "$RLOCK" -k "$K" -t 0.6 \
    --report "$T/report" -- sh -c "$SH_HOLD" "$T/hold.pid" 2>"$T/err"
  HOLDER=$PID
  CMD=$(wait_pidfile "$T/hold.pid")
  local offset
  for offset in 3600 -7200 86400 0 -86400; do
    jump "$offset"
    pass_ms 250
    alive "$CMD"
    between 150 "$(r pttl "$L")" 600
  done
  let_go
  is "$status" 143
  is "$(cat "$T/err")" ''
  between 1000 "$(fact "$T/report" hold_ms)" 6000
  no_key
}

@test "the wall clock jumps while waiting: -w and --max-run are as long as ever" {
  shim
  hold
  local start offset
  start=$(now_ms)
  bg env LD_PRELOAD="$T/shim.so" CLOCK_OFFSET="$T/offset" "$RLOCK" -k "$K" -w 1 -- true
  local waiter=$PID
  for offset in 3600 -7200 86400; do
    pass_ms 150
    jump "$offset"
  done
  ended "$waiter" 5
  is "$status" 75
  between 900 $(($(now_ms) - start)) 2500
  let_go
  start=$(now_ms)
  bg env LD_PRELOAD="$T/shim.so" CLOCK_OFFSET="$T/offset" "$RLOCK" -k "$K" --max-run 0.8 -- sleep 30
  for offset in -7200 86400; do
    pass_ms 150
    jump "$offset"
  done
  ended "$PID" 5
  is "$status" 124
  between 700 $(($(now_ms) - start)) 2500
}

@test "hosts whose clocks differ by minutes: they exclude each other all the same" {
  shim
  jump 600
  bg env LD_PRELOAD="$T/shim.so" CLOCK_OFFSET="$T/offset" "$RLOCK" -k "$K" -t 1 -- \
    sh -c "$SH_HOLD" "$T/hold.pid"
  HOLDER=$PID
  CMD=$(wait_pidfile "$T/hold.pid")
  echo -600 >"$T/behind"
  try env LD_PRELOAD="$T/shim.so" CLOCK_OFFSET="$T/behind" "$RLOCK" -v -n -k "$K" -- true
  is "$status" 75
  [[ $output == *'held by'* ]]
  bg env LD_PRELOAD="$T/shim.so" CLOCK_OFFSET="$T/behind" "$RLOCK" -k "$K" -- sh -c 'exit 5'
  local waiter=$PID
  wait_waiters 1
  pass_ms 300
  alive "$waiter"
  let_go
  ended "$waiter"
  is "$status" 5
  no_key
}
