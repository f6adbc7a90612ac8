# shellcheck shell=bash
# wait.bash: waiting for facts, with a bound.  The only place where tests sleep.
#
#   load ../lib/wait        (redis.bash loads it too)
#
# Each wait polls every 10 ms; past its bound it says what it waited for, and
# fails.  SECONDS may have a fraction; the default bound is WAIT_BOUND.

: "${WAIT_BOUND:=10}"

# now_ms: prints the wall clock in milliseconds.
now_ms() {
  local now=${EPOCHREALTIME/[.,]/}
  printf '%s\n' "${now%???}"
}

# wait_until SECONDS COMMAND...: until COMMAND succeeds.
wait_until() {
  local bound=$1 now end
  shift
  now=${EPOCHREALTIME/[.,]/}
  end=$((now + $(_wait_us "$bound")))
  until "$@" >/dev/null 2>&1; do
    now=${EPOCHREALTIME/[.,]/}
    if ((now >= end)); then
      echo "waited $bound s in vain for: $*" >&2
      return 1
    fi
    sleep 0.01
  done
}

# A number of seconds in microseconds.
_wait_us() {
  local whole=${1%%.*} part=000000
  [[ $1 == *.* ]] && part=${1#*.}000000
  echo $((10#0$whole * 1000000 + 10#${part:0:6}))
}

# wait_key KEY [SECONDS]: until the key exists (as the server spells it, with
# the prefix).
wait_key() { wait_until "${2:-$WAIT_BOUND}" _wait_exists "$1" 1; }

# wait_no_key KEY [SECONDS]: until it does not.
wait_no_key() { wait_until "${2:-$WAIT_BOUND}" _wait_exists "$1" 0; }

_wait_exists() { [[ $(r exists "$1") == "$2" ]]; }

# wait_line FILE PATTERN [SECONDS]: until a line of FILE matches (grep -E).
wait_line() { wait_until "${3:-$WAIT_BOUND}" grep -qE -e "$2" "$1"; }

# wait_file FILE [SECONDS]: until FILE is there and not empty.
wait_file() { wait_until "${2:-$WAIT_BOUND}" test -s "$1"; }

# wait_gone PID [SECONDS]: until the process has ended (a zombie has).
wait_gone() { wait_until "${2:-$WAIT_BOUND}" _wait_ended "$1"; }

_wait_ended() { # STATE is what follows the name, which may hold anything
  local stat
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
  stat=${stat##*) }
  [[ ${stat%% *} == [ZX] ]]
}

# wait_stopped PID [SECONDS]: until the process is stopped (SIGSTOP).
wait_stopped() { wait_until "${2:-$WAIT_BOUND}" _wait_state "$1" T; }

_wait_state() {
  local stat
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  stat=${stat##*) }
  [[ ${stat%% *} == "$2" ]]
}

# wait_pidfile FILE [SECONDS]: until FILE holds a whole line with a process id;
# prints it.
wait_pidfile() {
  wait_until "${2:-$WAIT_BOUND}" grep -qxE '[0-9]+' "$1" || return 1
  grep -m1 -xE '[0-9]+' "$1"
}

# unshare(1), with mounts that nobody else sees.  In a chroot that is no mount
# point their propagation can't be changed; there it stays what it is.
UNSHARE=(unshare)
unshare -m true 2>/dev/null || UNSHARE+=(--propagation unchanged)

needs_root() { [[ $(id -u) -eq 0 ]] || skip "becoming another user takes root"; }
