# shellcheck shell=bash
# redis.bash: a throw-away server for a bats file.
#
#   load ../lib/redis
#   setup_file()    { redis_start; }            # --tcp: a TCP port as well
#   teardown_file() { redis_stop; }
#   @test "..." { r set k v; ...; }
#
# SERVER chooses the program (default: redis-server, else valkey-server).
# redis_start exports REDIS_DIR (a temporary folder, for the tests' files too),
# REDIS_SOCK, REDIS_PORT (empty without --tcp), and RLOCK_URL for the socket.
# The server runs under a watcher that ends it when the shell that called
# redis_start, or bats itself, is gone, whatever ended them.

# shellcheck source=tests/lib/wait.bash
source "${BASH_SOURCE[0]%/*}/wait.bash"

_redis_tool() { # NAME...: the first that is there
  local name
  for name; do
    command -v "$name" && return 0
  done
  echo "none of these is there: $* (make deps)" >&2
  return 1
}

# redis_start [--tcp] [SERVER ARGUMENTS...]: start it and wait until it answers.
redis_start() {
  local tcp='' try
  [[ ${1:-} == --tcp ]] && { tcp=1; shift; }
  SERVER=$(_redis_tool ${SERVER:+"$SERVER"} redis-server valkey-server) || return 1
  REDIS_CLI=$(_redis_tool redis-cli valkey-cli) || return 1
  # Short, since a socket's path may have 107 bytes at most.
  REDIS_DIR=$(mktemp -d /tmp/rlock.XXXXXX) || return 1
  REDIS_SOCK=$REDIS_DIR/sock
  REDIS_OWNERS="$$ ${BATS_ROOT_PID:-}"
  RLOCK_URL=unix://$REDIS_SOCK
  export SERVER REDIS_CLI REDIS_DIR REDIS_SOCK REDIS_PORT REDIS_OWNERS RLOCK_URL
  for ((try = 0; try < 50; try++)); do
    REDIS_PORT=
    # Below the kernel's own choice of ports; who binds it first has it.
    [[ $tcp ]] && REDIS_PORT=$((10000 + (RANDOM << 4 ^ RANDOM) % 20000))
    printf '%s\0' "$@" >"$REDIS_DIR/args"
    _redis_run && return 0
    grep -q 'Failed listening\|Address already in use' "$REDIS_DIR/log" || break
  done
  echo "$SERVER does not start:" >&2
  tail -5 "$REDIS_DIR/log" >&2
  redis_stop
  return 1
}

# Start the server of $REDIS_DIR under its watcher; wait until it answers.
_redis_run() {
  local args=() pid
  mapfile -d '' -t args <"$REDIS_DIR/args"
  [[ ${#args[@]} -eq 1 && -z ${args[0]} ]] && args=()
  rm -f "$REDIS_DIR"/{pid,watcher,sock,log}
  # No descriptor of ours goes along: bats would wait for the one it reads.
  # shellcheck disable=SC2016
  setsid bash -c '
    owners=$1 dir=$2
    shift 2
    owned() {
      for pid in $owners; do
        kill -0 "$pid" 2>/dev/null || return 1
      done
    }
    for fd in /proc/self/fd/*; do
      fd=${fd##*/}
      ((fd > 2 && fd != 255)) && eval "exec $fd>&-"
    done
    cd "$dir" || exit 71
    setpriv --pdeathsig KILL "$@" >log.out 2>&1 &
    server=$!
    echo $$ >watcher
    echo $server >pid.new
    mv pid.new pid
    [ -p tick ] || mkfifo tick
    exec 9<>tick
    while [ -n "$(jobs -rp)" ] && owned; do
      read -rt 0.5 -u 9
    done
    if ! owned; then
      kill -KILL $server 2>/dev/null
      rm -rf "$dir"
    fi
  ' redis-watcher "$REDIS_OWNERS" "$REDIS_DIR" \
    "$SERVER" --port "${REDIS_PORT:-0}" --bind 127.0.0.1 \
    --unixsocket "$REDIS_SOCK" --dir "$REDIS_DIR" --logfile "$REDIS_DIR/log" \
    --save '' --appendonly no --daemonize no --databases 16 "${args[@]}" \
    </dev/null >/dev/null 2>&1 &
  disown $! 2>/dev/null || true
  pid=$(wait_pidfile "$REDIS_DIR/pid") || return 1
  wait_until 10 _redis_up_or_gone "$pid"
  _redis_up
}

_redis_up() { # NOAUTH and the like are answers too
  "$REDIS_CLI" -s "$REDIS_SOCK" ping 2>&1 | grep -qE 'PONG|NOAUTH|NOPERM|DENIED|MASTERDOWN'
}

_redis_up_or_gone() { _redis_up || _wait_ended "$1"; }

# redis_pid: prints the server's process id.
redis_pid() { cat "$REDIS_DIR/pid" 2>/dev/null; }

# redis_stop: end server and watcher, remove the folder.
redis_stop() {
  [[ -n ${REDIS_DIR:-} && -d $REDIS_DIR ]] || return 0
  _redis_end
  rm -rf "$REDIS_DIR"
}

# End server and watcher.  With TERM in vain (frozen, say) it is KILL.
_redis_end() {
  local pid watcher
  pid=$(redis_pid) || pid=
  watcher=$(cat "$REDIS_DIR/watcher" 2>/dev/null) || watcher=
  # The ids come from the watcher, the parent of the server: only while the
  # watcher lives are they sure to be theirs.
  if [[ $watcher ]] && _redis_is_watcher "$watcher"; then
    if [[ $pid ]] && ! _wait_ended "$pid"; then
      kill -KILL "$pid" 2>/dev/null || true
      wait_gone "$pid" || true
    fi
    kill -KILL "$watcher" 2>/dev/null || true
    wait_gone "$watcher" || true
  fi
  rm -f "$REDIS_DIR"/{pid,watcher}
}

_redis_is_watcher() { grep -qaz "^$REDIS_DIR\$" "/proc/$1/cmdline" 2>/dev/null; }

# r ARGUMENTS...: redis-cli on the server.
r() { "$REDIS_CLI" -s "$REDIS_SOCK" "$@"; }

# redis_freeze: stop the process; connections stay, nothing is answered.
redis_freeze() {
  kill -STOP "$(redis_pid)" && wait_stopped "$(redis_pid)"
}

# redis_thaw: let it go on.
redis_thaw() { kill -CONT "$(redis_pid)"; }

# redis_down: end the server at once (KILL); the folder stays.
redis_down() { _redis_end; }

# redis_up: start it again, on the same socket and port, with the data that
# redis_restart --keep saved, else empty.
redis_up() { _redis_run; }

# redis_restart [--keep]: end it and start it again, on the same socket and
# port; empty, or with --keep with the data it had.
redis_restart() {
  if [[ ${1:-} == --keep ]]; then
    r save >/dev/null || return 1
  else
    rm -f "$REDIS_DIR/dump.rdb"
  fi
  redis_down
  redis_up
}
