#!/usr/bin/env bats
# A lock of another language's library and one of rlock on the same key: with
# --prefix '' they keep each other out, and neither touches the other's.  The
# library is redis-py, with its own Lock.
# shellcheck disable=SC2153

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }

setup() {
  rlock_setup
  for PYTHON in python3 /usr/bin/python3 ''; do # the first may not be the system's
    ! "${PYTHON:-true}" -c 'import redis' 2>/dev/null || break
  done
  [[ $PYTHON ]] || skip 'no redis-py (make deps)'
  K=py:$K
  export GO=$T/go
  # py OPERATION: one step of the library.  get: take it for 20 s, or don't
  # wait; hold: take it, keep it until a line comes by the FIFO GO, release it;
  # free and extend: with a token that is not that of the holder.
  cat >"$T/py" <<'PY'
import os, sys
import redis

server = redis.Redis(unix_socket_path=os.environ["REDIS_SOCK"])
lock = server.lock(sys.argv[2], timeout=20, thread_local=False)
what = sys.argv[1]
if what in ("get", "hold"):
    got = lock.acquire(blocking=what == "hold", blocking_timeout=10)
    print("got" if got else "busy", flush=True)
    if got and what == "hold":
        open(os.environ["GO"]).readline()
        lock.release()
        print("released", flush=True)
else:
    lock.local.token = b"0123456789abcdef"
    try:
        lock.release() if what == "free" else lock.extend(1)
        print("done")
    except redis.exceptions.LockError:
        print("not owned")
PY
}

teardown() { rlock_teardown; }

py() { "$PYTHON" "$T/py" "$1" "$K"; }

# py_hold: the library holds it, until py_release.
py_hold() {
  rm -f "$T/go" "$T/said"
  mkfifo "$T/go"
  bg "$PYTHON" "$T/py" hold "$K" >"$T/said"
  PY=$PID
  wait_line "$T/said" got
}

py_release() {
  echo >"$T/go"
  ended "$PY"
  is "$status $(tail -1 "$T/said")" '0 released'
}

# Each kind of lock: -s and -j are sorted sets, and the library's a string.
KINDS=(-x -s '-j 3')

@test "redis-py holds it: every kind of rlock is kept out, and releases nothing" {
  local kind value
  py_hold
  value=$(r get "$K")
  for kind in -x -s; do
    try "$RLOCK" --prefix '' -n "$kind" -k "$K" -- touch "$T/ran"
    is "$kind $status $output" "$kind 75 "
  done
  # A string is no slot: told, not waited for.
  try "$RLOCK" --prefix '' -n -j 3 -k "$K" -- touch "$T/ran"
  is "$status ${#lines[@]}" '78 1'
  try "$RLOCK" --prefix '' --release -k "$K" --token "rlock:1:$(printf %032d 7):h:u:1:1:"
  is "$status ${#lines[@]}" '76 1'
  try "$RLOCK" --prefix '' --renew -t 60 -k "$K" --token "rlock:1:$(printf %032d 7):h:u:1:1:"
  is "$status ${#lines[@]}" '76 1'
  [ ! -e "$T/ran" ]
  is "$(r get "$K")" "$value"
  between 1 "$(r pttl "$K")" 20000
  py_release
  for kind in "${KINDS[@]}"; do
    # shellcheck disable=SC2086
    try "$RLOCK" --prefix '' -n $kind -k "$K" -- sh -c 'exit 3'
    is "$kind $status $output" "$kind 3 "
  done
}

@test "every kind of rlock holds it: redis-py is kept out, and releases nothing" {
  local kind type
  for kind in "${KINDS[@]}"; do
    echo "kind: $kind"
    # shellcheck disable=SC2086
    hold --prefix '' $kind
    type=$(r type "$K")
    is "$(py get)" busy
    if [[ $kind == -x ]]; then
      is "$(py free)" 'not owned'
      is "$(py extend)" 'not owned'
    else # its scripts can't even read it
      try py free
      [[ $output == *WRONGTYPE* ]]
      try py extend
      [[ $output == *WRONGTYPE* ]]
    fi
    is "$(r type "$K")" "$type"
    between 20001 "$(r pttl "$K")" 30000
    alive "$CMD"
    let_go
    is "$status" 143
    no_key "$K"
  done
  is "$(py get)" got
}

@test "rlock waits for redis-py, with every kind that can" {
  local kind
  for kind in -x -s; do
    py_hold
    bg "$RLOCK" --prefix '' "$kind" --retry-max 50ms -k "$K" -- sh -c 'exit 3'
    local waiter=$PID
    Q="rlock:queue:{$K}" wait_waiters 1
    py_release
    ended "$waiter" 5
    is "$kind $status" "$kind 3"
    no_key "$K"
  done
}

@test "redis-py waits for rlock, of every kind" {
  local kind waiter ASKED
  for kind in "${KINDS[@]}"; do
    # shellcheck disable=SC2086
    hold --prefix '' $kind
    rm -f "$T/said"
    ASKED=
    GO=/dev/null bg "$PYTHON" "$T/py" hold "$K" >"$T/said"
    waiter=$PID
    wait_until 10 _asked_twice
    is "$(cat "$T/said")" ''
    let_go
    ended "$waiter"
    is "$kind $status $(tr '\n' ' ' <"$T/said")" "$kind 0 got released "
    no_key "$K"
  done
}

# Somebody has asked for the key by SET since this was called first, twice.
_asked_twice() {
  local now
  now=$(r info commandstats | sed -n 's/^cmdstat_set:calls=\([0-9]*\),.*/\1/p')
  : "${ASKED:=${now:-0}}"
  ((now >= ASKED + 2))
}
