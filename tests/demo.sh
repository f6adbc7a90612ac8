#!/bin/bash
# demo.sh: rlock at work on a throw-away server, with every claim checked.
# Environment: RLOCK (the binary), SERVER (default: redis-server, valkey-server).
# With RLOCK_URL=local: or local:DIR no server is needed (demo_local.sh).
set -u
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
RLOCK=${RLOCK:-$here/../build/rlock}
# shellcheck source=tests/demo_local.sh
case ${RLOCK_URL-} in local:*) source "$here/demo_local.sh"; exit ;; esac
unset RLOCK_URL RLOCK_PREFIX RLOCK_TTL RLOCK_TOKENS REDISCLI_AUTH
# shellcheck source=tests/lib/redis.bash
source "$here/lib/redis.bash"

lock=lock:job:recon
ttl_ms=1000
jobs_started=()

end() {
  local pid
  for pid in ${jobs_started[@]+"${jobs_started[@]}"}; do
    _wait_ended "$pid" || kill -TERM "$pid" 2>/dev/null
  done
  redis_stop
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# say TEXT: with the seconds since the start.
say() {
  local ms=$(($(now_ms) - started))
  printf '%4d.%d  %s\n' $((ms / 1000)) $((ms % 1000 / 100)) "$1"
}

more() { printf '        %s\n' "$1"; }

# check WHAT COMMAND...: the demo ends here when COMMAND fails.
check() {
  local what=$1
  shift
  "$@" && return 0
  echo "demo: this does not hold: $what" >&2
  tail -5 "$REDIS_DIR"/*.err 2>/dev/null >&2
  exit 1
}

is() { [[ $1 == "$2" ]] || { echo "demo: got '$1', not '$2'" >&2; return 1; }; }

between() { # LOW VALUE HIGH
  (($1 <= $2 && $2 <= $3)) ||
    { echo "demo: got $2, not $1 to $3" >&2; return 1; }
}

rlock() { "$RLOCK" -u "$RLOCK_URL" -k job:recon -t 1s "$@"; }

# at MS: wait for that point, counted from the start of the job.
at() {
  local left=$((job_at + $1 - $(now_ms)))
  ((left <= 0)) || sleep "$(printf '%d.%03d' $((left / 1000)) $((left % 1000)))"
}

keys() { r keys '*' | sort | tr '\n' ' ' | sed 's/ $//'; }

# shellcheck disable=SC2119
redis_start || exit 69
export REDIS_DIR
started=$(now_ms)

say "A throw-away server: ${SERVER##*/} on $REDIS_SOCK"
check 'no keys before' is "$(keys)" ''
say 'Keys on the server: none.'
echo

say 'A reconcile job of 3 s starts. Its lease is 1 s only:'
more "rlock -u unix://... -k job:recon -t 1s -- ./reconcile.sh"
job_at=$(now_ms)
# The job tells when it has ended, for the gap below.
# shellcheck disable=SC2016
rlock -- sh -c 'echo > "$REDIS_DIR/begun"; sleep 3; date +%s%3N > "$REDIS_DIR/end1"' \
  2>"$REDIS_DIR/first.err" &
first=$!
jobs_started+=("$first")
check 'the job starts' wait_file "$REDIS_DIR/begun" 5
check 'the lock is one key' is "$(keys)" "$lock"
holder=$(r get "$lock")
check 'the key holds a token' test -n "$holder"
say "The lock is the key $lock; its value is the owner:"
more "${holder:0:72}"
echo

say 'Meanwhile a second one wants the same lock, and waits.'
second_at=$(now_ms)
# shellcheck disable=SC2016
rlock -w 10s -- sh -c 'date +%s%3N > "$REDIS_DIR/begin2"; sleep 0.5' \
  2>"$REDIS_DIR/second.err" &
second=$!
jobs_started+=("$second")

say 'A third one does not want to wait (-n):'
rlock -n -- touch "$REDIS_DIR/third" 2>"$REDIS_DIR/third.err"
status=$?
check 'status 75 when the lock is busy' is "$status" 75
check 'the third command did not run' test ! -e "$REDIS_DIR/third"
more 'it is turned away at once with status 75, its command did not run.'
echo

say 'The lease would have ended after 1 s, but it is renewed while the job runs:'
for ms in 600 1200 1800 2400 2800; do
  at "$ms"
  left=$(r pttl "$lock")
  age=$(($(now_ms) - job_at))
  check 'the lease is renewed' between 1 "$left" "$ttl_ms"
  check 'the holder is the same' is "$(r get "$lock")" "$holder"
  check 'the second one still waits' test ! -e "$REDIS_DIR/begin2"
  say "$(printf 'job runs for %4d ms, its lease lasts %4d ms more' "$age" "$left")"
done
check 'a sample beyond the first lease' between $((ttl_ms + 1)) "$age" 3000
echo

wait "$first"
status=$?
check 'the first job ends with 0' is "$status" 0
check 'the second one gets the lock' wait_file "$REDIS_DIR/begin2" 5
end1=$(cat "$REDIS_DIR/end1") begin2=$(cat "$REDIS_DIR/begin2")
gap=$((begin2 - end1)) waited=$((begin2 - second_at))
check 'they did not overlap, and the lock was passed on promptly' \
  between 0 "$gap" 800
say "The job is done, and the second one has the lock at once:"
more "it waited $waited ms; $gap ms lie between the end of one and the start"
more 'of the other (exit, release, wake-up, start of a shell).'
wait "$second"
status=$?
check 'the second job ends with 0' is "$status" 0
echo

rlock -- sh -c 'exit 3' 2>"$REDIS_DIR/fourth.err"
status=$?
check 'the exit status is passed through' is "$status" 3
say "A job that exits with 3: rlock exits with $status."
check 'no keys after' is "$(keys)" ''
say 'Keys on the server: none.'
