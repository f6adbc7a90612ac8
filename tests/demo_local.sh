# shellcheck shell=bash
# demo_local.sh: rlock at work without a server, with every claim checked.  Read
# by demo.sh.  Environment: RLOCK, RLOCK_URL.
# shellcheck disable=SC2154 # here is set there

unset RLOCK_PREFIX RLOCK_TTL RLOCK_TOKENS
export RLOCK_URL
# shellcheck source=tests/lib/wait.bash
source "$here/lib/wait.bash"
work=$(mktemp -d)
export work
key=rlock-demo:$$
jobs_started=()

end() {
  local pid
  for pid in ${jobs_started[@]+"${jobs_started[@]}"}; do
    _wait_ended "$pid" || kill -TERM "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
  done
  rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say() { printf '%4d ms  %s\n' $(($(now_ms) - started)) "$1"; }

more() { printf '         %s\n' "$1"; }

# check WHAT COMMAND...: the demo ends here when COMMAND fails.
check() {
  local what=$1
  shift
  "$@" && return 0
  echo "demo: this does not hold: $what" >&2
  cat "$work"/*.err 2>/dev/null >&2
  exit 1
}

is() { [[ $1 == "$2" ]] || { echo "demo: got '$1', not '$2'" >&2; return 1; }; }

rlock() { "$RLOCK" -k "$key" -t 1s "$@"; }

started=$(now_ms)
say "No server: the lock of this host, $RLOCK_URL"
"$RLOCK" --status "$key" >/dev/null
check 'the lock is free' is $? 1
echo

say 'A reconcile job of 2 s starts:'
more "rlock -u $RLOCK_URL -k $key -t 1s -- ./reconcile.sh"
# shellcheck disable=SC2016
rlock -- sh -c 'echo >"$work/begun"; sleep 2; date +%s%3N >"$work/end1"' 2>"$work/first.err" &
first=$!
jobs_started+=("$first")
check 'the job starts' wait_file "$work/begun" 5
"$RLOCK" --status "$key" >"$work/status"
check 'the lock is held' is $? 0
say 'rlock --status tells who holds it:'
sed 's/^/         /' "$work/status"
echo

say 'Meanwhile a second one wants the same lock, and waits.'
# shellcheck disable=SC2016
rlock -v -w 20s -- sh -c 'date +%s%3N >"$work/begin2"' 2>"$work/second.err" &
second=$!
jobs_started+=("$second")
check 'the second one waits' wait_line "$work/second.err" 'waiting: held by' 5

say 'A third one does not want to wait (-n):'
rlock -n -- touch "$work/third" 2>"$work/third.err"
check 'status 75 when the lock is busy' is $? 75
check 'the third command did not run' test ! -e "$work/third"
more 'it is turned away at once with status 75, its command did not run.'
echo

wait "$first"
check 'the first job ends with 0' is $? 0
wait "$second"
check 'the second job ends with 0' is $? 0
gap=$(($(cat "$work/begin2") - $(cat "$work/end1")))
check 'they did not overlap' test "$gap" -ge 0
say "The job is done, and the second one had the lock $gap ms later."
echo

rlock -- sh -c 'exit 3' 2>"$work/fourth.err"
check 'the exit status is passed through' is $? 3
say 'A job that exits with 3: rlock exits with 3.'
"$RLOCK" --status "$key" >/dev/null
check 'the lock is free again' is $? 1
say 'The lock is free.'
