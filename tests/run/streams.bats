#!/usr/bin/env bats
# stdin, stdout, stderr and every other descriptor are the command's.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2153

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { rlock_setup; }
teardown() { rlock_teardown; }

@test "a while-read loop goes through all its lines" {
  printf 'a\nb\nc\n' | while read -r x; do
    "$RLOCK" -v -k "$K" -- echo "$x" 2>/dev/null
  done >"$T/got"
  is "$(cat "$T/got")" $'a\nb\nc'
}

@test "50 MB on stdin come through whole, from a file and a pipe, after a wait" {
  head -c 50000000 /dev/urandom >"$T/in"
  cksum <"$T/in" >"$T/want"
  hold
  "$RLOCK" -k "$K" -- cksum <"$T/in" >"$T/file" 3>&- &
  local file=$!
  STARTED+=("$file")
  wait_waiters 1
  # shellcheck disable=SC2002
  cat "$T/in" | "$RLOCK" -k "$K" -- cksum >"$T/pipe" 3>&- &
  local pipe=$!
  STARTED+=("$pipe")
  wait_waiters 2
  grep -qx $'pos:\t0' "/proc/$file/fdinfo/0"
  let_go
  ended "$file"
  ended "$pipe"
  cmp "$T/want" "$T/file"
  cmp "$T/want" "$T/pipe"
}

@test "stdin is not read when the lock is not obtained" {
  hold
  printf 'left\n' | {
    "$RLOCK" -n -k "$K" -- cat || true
    cat
  } >"$T/got"
  is "$(cat "$T/got")" left
}

@test "stdout holds the command's bytes alone, at any verbosity" {
  head -c 100000 /dev/urandom >"$T/in"
  local v
  for v in -v -q '-v -v' ''; do
    # shellcheck disable=SC2086
    "$RLOCK" $v -k "$K" --report "$T/report" -- cat "$T/in" >"$T/got" 2>/dev/null
    cmp "$T/in" "$T/got"
  done
  hold
  for v in -v -q ''; do
    # shellcheck disable=SC2086
    "$RLOCK" $v -n -k "$K" -- cat "$T/in" >"$T/got" 2>/dev/null || true
    [ ! -s "$T/got" ]
  done
  "$RLOCK" -u unix:///nonexistent --connect-timeout 10ms -k "$K" -- true >"$T/got" 2>/dev/null || true
  "$RLOCK" --nonsense >"$T/got2" 2>/dev/null || true
  [ ! -s "$T/got" ]
  [ ! -s "$T/got2" ]
}

@test "the caller's descriptors pass" {
  echo in >"$T/in"
  "$RLOCK" -k "$K" -- sh -c 'cat <&8; echo x >&9' 8<"$T/in" 9>"$T/out" >"$T/got"
  is "$(cat "$T/out" "$T/got")" $'x\nin'
}

@test "the command has the caller's descriptors and none of ours" {
  look() { # COMMAND...
    "$@" sh -c 'ls -l /proc/self/fd/' 5</dev/null 9>"$T/nine" 77<"$T" </dev/null 2>"$T/err" |
      awk 'NR > 1 { print $9, $11 }' | sed 's#/proc/[0-9]*/#/proc/N/#; s#pipe:.*#pipe#' >"$T/list"
  }
  look env
  mv "$T/list" "$T/want"
  look "$RLOCK" -k "$K" --
  diff "$T/want" "$T/list"
  hold
  look "$RLOCK" -k "$K" -w 5 -- & # after a wait as well
  local waiter=$!
  wait_waiters 1
  let_go
  ended "$waiter"
  diff "$T/want" "$T/list"
}

@test "of 0 1 2, what is closed stays closed and gets no message" {
  local look='o=; for f in 0 1 2; do [ -e "/proc/$$/fd/$f" ] && o+=$f; done
    echo "[$o]" >"$0"' closed open f n
  for n in 0 1 2 3 4 5 6 7; do
    closed='' open=''
    for f in 0 1 2; do
      ((n >> f & 1)) && closed+=" $f>&-" || open+=$f
    done
    rm -f "$T/seen"
    (eval "exec 3>&- $closed"
      exec "$RLOCK" -v -k "$K" -- bash -c "$look" "$T/seen")
    is "$closed $(cat "$T/seen")" "$closed [$open]"
    no_key
  done
}

@test "of 0 1 2, what is closed never becomes our connection" {
  local closed
  for closed in '0>&-' '0>&- 1>&-' '0>&- 1>&- 2>&-' '2>&-' '1>&- 2>&-'; do
    rm -f "$T/hold.pid"
    (eval "exec 3>&- $closed"
      exec "$RLOCK" -v -v -k "$K" -- sh -c "$SH_HOLD" "$T/hold.pid") &
    PID=$!
    STARTED+=("$PID")
    wait_pidfile "$T/hold.pid"
    # No message has spoilt the connection, and none of 0 to 2 is a socket.
    is "$(fds "$PID" | grep '^[012] .*\(socket\|anon_inode\)' || true)" ''
    kill -TERM "$PID"
    ended "$PID"
    is "$status" 143
    no_key
  done
}

@test "what the command leaves in the background has no descriptor of ours" {
  "$RLOCK" -k "$K" -- sh -c 'setsid sleep 20 >/dev/null 2>&1 3>&- </dev/null &
    echo $! >"$0"' "$T/pid"
  local daemon
  daemon=$(wait_pidfile "$T/pid")
  no_key
  alive "$daemon"
  is "$(fds "$daemon" | grep 'socket\|anon_inode' || true)" ''
  is "$(r client list | grep -c 'name=rlock')" 0
  kill "$daemon"
}

@test "a command that ends while another keeps stdout: rlock returns at once" {
  local start
  start=$(now_ms)
  "$RLOCK" -k "$K" -- sh -c 'sleep 20 & echo $! >"$0"; exit 3' "$T/pid" >"$T/out" 3>&- || status=$?
  is "$status" 3
  between 0 $(($(now_ms) - start)) 2000
  no_key
  alive "$(cat "$T/pid")"
  kill "$(cat "$T/pid")"
}

@test "O_NONBLOCK is not set on the caller's descriptors" {
  "$RLOCK" -v -k "$K" -- sh -c 'for f in 0 1 2; do
    grep flags "/proc/$$/fdinfo/$f"; done' </dev/null 2>"$T/err" | cat >"$T/got"
  is "$(grep -c '4...$' "$T/got" || true)" 0
  is "$(lines "$T/got")" 3
}
