# shellcheck shell=bash
# shellcheck disable=SC2034 # what is set here is used by the tests
# net.bash: what the tests of servers and connections share.
#
#   load ../lib/net         (loads redis.bash too)
#
# Each test has its folder $T and its key $K (on the server: lock:$K, $Q for
# its queue).  What begin, hold and proxy_start have started ends with the test
# (net_setup and net_teardown: call them from setup and teardown).

# shellcheck source=tests/lib/redis.bash
source "${BASH_SOURCE[0]%/*}/redis.bash"

net_setup() {
  T=$BATS_TEST_TMPDIR
  # Unique also when a failed test leaves something behind.
  K=net.$BATS_TEST_NUMBER.$RANDOM
  # shellcheck disable=SC2034
  L=lock:$K Q="rlock:queue:{lock:$K}"
  STARTED=()
}

net_teardown() {
  local pid ours
  ours=$(jobs -p)
  for pid in ${STARTED[@]+"${STARTED[@]}"}; do
    grep -qx "$pid" <<<"$ours" && kill -KILL "$pid" 2>/dev/null &&
      wait "$pid" 2>/dev/null
  done
  return 0
}

# begin NAME COMMAND...: in the background; its pid is in $PID (and
# $PID_NAME), what it prints in $T/NAME.out and $T/NAME.err.
begin() {
  local name=$1
  shift
  [[ $1 == rl ]] && set -- "$RLOCK" -k "$K" "${@:2}" # a function would fork
  "$@" >"$T/$name.out" 2>"$T/$name.err" </dev/null 3>&- 4>&- &
  PID=$!
  STARTED+=("$PID")
  printf -v "PID_${name//-/_}" %s "$PID"
}

# status PID [SECONDS]: wait for what begin has started; its exit status is in
# $GOT, the milliseconds that it took in $TOOK.
status() {
  local from
  from=$(now_ms)
  wait_gone "$1" "${2:-15}" || return 1
  GOT=0
  wait "$1" || GOT=$?
  TOOK=$(($(now_ms) - from))
}

# timed COMMAND...: run it; exit status in $GOT, milliseconds in $TOOK, what
# it prints in $T/out and $T/err.
timed() {
  local from
  [[ $1 == rl ]] && set -- "$RLOCK" -k "$K" "${@:2}"
  from=$(now_ms)
  GOT=0
  timeout -k 1 50 "$@" >"$T/out" 2>"$T/err" </dev/null 3>&- || GOT=$?
  TOOK=$(($(now_ms) - from))
}

# let_pass MS: that long nothing may happen, or the server stays as it is.
let_pass() { wait_until 60 _passed "$(now_ms)" "$1"; }

_passed() { (($(now_ms) - $1 >= $2)); }

# rl OPTIONS...: rlock on this test's key.  `begin NAME rl` and `timed rl` are
# the same without a shell between.
rl() { "$RLOCK" -k "$K" "$@"; }

# hold NAME [OPTIONS...]: rlock in the background, with a command that writes
# its pid to $T/NAME.pid and lives until `finish NAME [STATUS]`, or 60 s.
# Returns when the command runs.
hold() {
  local name=$1
  holding "$@"
  wait_pidfile "$T/$name.pid" >/dev/null
}

# The same, and does not wait for the command.
# shellcheck disable=SC2016
holding() {
  local name=$1
  shift
  begin "$name" "$RLOCK" -k "$K" "$@" -- sh -c 'echo $$ >"$1.pid"; n=0
    while [ ! -s "$1.go" ] && [ $((n += 1)) -lt 3000 ]; do sleep 0.02; done
    read -r status <"$1.go" && exit "$status"' hold "$T/$name"
}

finish() {
  echo "${2:-0}" >"$T/$1.go.new"
  mv "$T/$1.go.new" "$T/$1.go"
}

# traced FILE CALLS COMMAND...: the calls of COMMAND, its children's too, to
# FILE.  A sanitizer looks for leaks as strace does, and both at once can't.
traced() {
  ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 \
    strace -f -qq -o "$1" -e "trace=$2" "${@:3}"
}

# is WANT WHAT...: prints what differs.
is() {
  local want=$1
  shift
  [[ "$*" == "$want" ]] || { echo "got '$*', not '$want'"; tail -n 20 "$T"/*err; return 1; }
}

# within LOW VALUE HIGH
within() {
  (($1 <= $2 && $2 <= $3)) || { echo "got $2, not $1 to $3"; tail -n 20 "$T"/*err; return 1; }
}

# said FILE PATTERN: a line of $T/FILE matches.
said() {
  grep -qE -e "$2" "$T/$1" || { echo "$1 does not say '$2':"; cat "$T/$1"; return 1; }
}

# unsaid PATTERN FILE...: no line of the files matches.  (`! grep` would not
# fail a test.)
unsaid() {
  local found
  found=$(grep -E -e "$@") || return 0
  echo "this must not be said: $found"
  return 1
}

# queued N [SECONDS]: until so many wait in the queue.
queued() { wait_until "${2:-$WAIT_BOUND}" _queued "$1"; }

_queued() { [[ $(r zcard "$Q") == "$1" ]]; }

# no_trace [DB]: the database has no key of this test.
no_trace() {
  local keys
  keys=$(r -n "${1:-0}" --scan --pattern "*$K*")
  [[ -z $keys ]] || { echo "left behind in db ${1:-0}: $keys"; return 1; }
}

# listening N [SECONDS]: until so many waiters listen to their channels.
listening() { wait_until "${2:-$WAIT_BOUND}" _listening "$1"; }

_listening() { [[ $(r pubsub channels 'rlock:*' | grep -c .) == "$1" ]]; }

# token: prints the value of this test's lock.
token() { r get "$L"; }

# proxy_start [--tcp]: a proxy before the server: PROXY_URL.  `proxy MODE...`
# switches it (tests/progs/proxy.py tells the modes) and fails unless it
# says "ok"; proxy_count prints how many connections there have been.
proxy_start() {
  local listen=$T/psock
  [[ ${1:-} == --tcp ]] && listen=127.0.0.1:0
  PROXY_DIR=$T/proxy
  mkdir "$PROXY_DIR"
  begin proxy python3 -I -S "$RLOCK_TESTS/progs/proxy.py" --listen "$listen" \
    --to "$REDIS_SOCK" --dir "$PROXY_DIR" --owner $$
  wait_file "$PROXY_DIR/port" || { cat "$T/proxy.err"; return 1; }
  PROXY_URL=unix://$T/psock
  [[ ${1:-} == --tcp ]] && PROXY_URL=redis://127.0.0.1:$(<"$PROXY_DIR/port")
  return 0
}

_proxy() {
  echo "$*" >"$PROXY_DIR/ctl"
  read -rt 10 REPLY <"$PROXY_DIR/ack"
}

proxy() {
  _proxy "$@" || REPLY='no answer from the proxy'
  [[ $REPLY == ok ]] || { echo "$REPLY"; return 1; }
}

proxy_count() { _proxy count && echo "$REPLY"; }
