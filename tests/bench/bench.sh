#!/bin/bash
# bench.sh [--write]: measure rlock beside flock(1) and others, print a table;
# --write: put it into README.md, too.
#
# Environment: RLOCK, RLOCK_BUILD (make bench sets them), ROUNDS (200).
# Timings are ratios within one run of it; the bars are those of README.md.
set -u
# No locale but where one is measured: flock(1) loads it at its start.
unset LANG LANGUAGE "${!LC_@}"
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=tests/lib/redis.bash
source "$here/../lib/redis.bash"
# shellcheck source=tests/lib/quorum.bash
source "$here/../lib/quorum.bash"

rounds=${ROUNDS:-200}
few=$((rounds / 20 > 3 ? rounds / 20 : 3))
programs=$RLOCK_BUILD/bench
unset RLOCK_TTL RLOCK_PREFIX RLOCK_TOKENS REDISCLI_AUTH
redis_start --tcp || exit 69
trap redis_stop EXIT
export BENCH_SERVER=unix:$REDIS_SOCK BENCH_MARK=$programs/mark
export BENCH_DIR=$REDIS_DIR/bench
mkdir "$BENCH_DIR"
tcp=127.0.0.1:$REDIS_PORT
results=$BENCH_DIR/results
true=$(type -P true)

fail() {
  echo "bench: $*" >&2
  exit 1
}

# --- measuring ----------------------------------------------------------------

# The heavy ones have rounds of their own: half of the rest would run after one.
uncontended() {
  local rlock=("$RLOCK" -k u) bare=("$programs/rlock-noguard" -k u)
  "$programs/paired" "$rounds" \
    tcp "${rlock[@]}" -u "redis://$tcp" -- "$true" + \
    unix "${rlock[@]}" -u "unix://$REDIS_SOCK" -- "$true" + \
    shared "$RLOCK" -k us -s -u "unix://$REDIS_SOCK" -- "$true" + \
    slots "$RLOCK" -k uj -j 4 -u "unix://$REDIS_SOCK" -- "$true" + \
    noguard "${bare[@]}" -u "unix://$REDIS_SOCK" -- "$true" + \
    flock flock "$BENCH_DIR/flock" "$true" + \
    flock-utf8 LANG=C.UTF-8 flock "$BENCH_DIR/flock" "$true" + \
    floor-tcp "$programs/floor" "$tcp" f "$true" + \
    floor-unix "$programs/floor" "unix:$REDIS_SOCK" f "$true" + \
    true "$true" || return 1
  "$programs/paired" "$rounds" \
    tcp/b "${rlock[@]}" -u "redis://$tcp" -- "$true" + \
    unix/b "${rlock[@]}" -u "unix://$REDIS_SOCK" -- "$true" + \
    bash-tcp bash "$here/bash-lock.sh" "$tcp" b "$true" + \
    bash-unix bash "$here/bash-lock.sh" "unix:$REDIS_SOCK" b "$true"
}

# Five servers, all well, and with two of them frozen; each beside one server.
several() {
  local REDIS_DIR REDIS_SOCK SERVER=$SERVER REDIS_CLI=$REDIS_CLI RLOCK_URL status i
  local one=("$RLOCK" -k q) five=("$RLOCK" -k q5)
  quorum_start 5 || return 1
  one+=(-u "$(url 1)")
  for i in 1 2 3 4 5; do five+=(-u "$(url "$i")"); done
  "$programs/paired" "$rounds" one "${one[@]}" -- "$true" + five "${five[@]}" -- "$true"
  status=$?
  on 4 redis_freeze
  on 5 redis_freeze
  ((status)) || "$programs/paired" "$rounds" one/f "${one[@]}" -- "$true" + \
    five/f "${five[@]}" -- "$true"
  status=$((status + $?))
  quorum_stop
  return "$status"
}

# private_kb PID...: what belongs to them alone, together.
private_kb() {
  local pid
  for pid; do cat "/proc/$pid/smaps_rollup"; done |
    awk '/^Private_/ { n += $2 } END { print n }'
}

memory() {
  local holder waiter guard
  "$RLOCK" -k m -- sleep 60 &
  holder=$!
  wait_key lock:m || return 1
  wait_until 5 pgrep -P "$holder" -x sleep || return 1
  guard=$(pgrep -P "$holder" -x rlock-guard)
  echo "memory holding $(private_kb "$holder") $(private_kb "$guard") $(private_kb "$holder" "$guard")"
  "$RLOCK" -k m -- true &
  waiter=$!
  wait_key 'rlock:queue:{lock:m}' || return 1
  guard=$(pgrep -P "$waiter" -x rlock-guard)
  echo "memory waiting $(private_kb "$waiter") $(private_kb "$guard") $(private_kb "$waiter" "$guard")"
  kill "$waiter" "$holder"
  wait "$waiter" "$holder"
  return 0
} 2>/dev/null

measure() {
  echo "bench: $rounds rounds of short runs" >&2
  uncontended >>"$results" || fail "short runs"
  (several) >>"$results" || fail "several servers"
  echo "bench: $few rounds of hand-overs" >&2
  "$programs/contend" handover "$few" 10 2 100 300 >>"$results" || fail "hand-overs"
  "$programs/contend" kinds "$few" 10 100 >>"$results" || fail "hand-overs of all kinds"
  "$programs/contend" idle 100 5 >>"$results" || fail "waiting"
  echo "bench: $few rounds of recoveries" >&2
  # The holder of a key that was deleted complains, as it should.
  "$programs/contend" recover "$few" >>"$results" 2>"$BENCH_DIR/err" ||
    { cat "$BENCH_DIR/err" >&2; fail "recoveries"; }
  memory >>"$results" || fail "memory"
}

# --- telling ------------------------------------------------------------------

# get FIELD WORDS...: of the line that begins with these words.
get() {
  local field=$1
  shift
  awk -v field="$field" -v words="$*" 'index($0, words " ") == 1 { print $field; exit }' "$results"
}

ratio() { get 4 ratio "$1" "$2"; }

# row TEXT VALUE [UNIT [BAR [ASIDE]]]: BAR is what VALUE may be at most.
row() {
  local verdict=
  [[ ${4:-} ]] && verdict=$(awk -v v="$2" -v bar="$4" 'BEGIN { print v <= bar ? "yes" : "**no**" }')
  printf '| %s | %s%s%s | %s | %s |\n' "$1" "$2" "${3:+ $3}" "${5:+ ($5)}" \
    "${4:+at most $4${3:+ $3}}" "$verdict"
}

header() { printf '| %s | measured | bar | met |\n|---|---|---|---|\n' "$1"; }

# interval A B: the 95 % confidence interval of a ratio.
interval() { echo "$(get 5 ratio "$1" "$2") to $(get 6 ratio "$1" "$2")"; }

times() { row "$2" "$(get 3 time "$1")" µs '' "10 to 90 %: $(get 4 time "$1") to $(get 5 time "$1"); CPU $(get 3 cpu "$1")"; }

tell_uncontended() {
  header "uncontended run of \`true\`, $rounds rounds"
  row 'rlock, TCP / flock, no locale' "$(ratio tcp flock)" '' 1.10 "$(interval tcp flock)"
  row 'rlock, TCP / flock, LANG=C.UTF-8' "$(ratio tcp flock-utf8)" '' 1.10 "$(interval tcp flock-utf8)"
  row 'rlock, Unix socket / flock, no locale' "$(ratio unix flock)" '' '' "$(interval unix flock)"
  row 'rlock, Unix socket / flock, LANG=C.UTF-8' "$(ratio unix flock-utf8)" '' '' "$(interval unix flock-utf8)"
  row 'rlock / bash + redis-cli, both TCP' "$(ratio tcp/b bash-tcp)" '' 0.1429 "$(interval tcp/b bash-tcp)"
  row 'rlock / bash + redis-cli, both Unix' "$(ratio unix/b bash-unix)" '' '' "$(interval unix/b bash-unix)"
  row 'rlock / floor, both TCP' "$(ratio tcp floor-tcp)" '' '' "$(interval tcp floor-tcp)"
  row 'rlock / floor, both Unix' "$(ratio unix floor-unix)" '' '' "$(interval unix floor-unix)"
  row 'shared / exclusive, Unix' "$(ratio shared unix)" '' 1.10 "$(interval shared unix)"
  row 'one of 4 slots / exclusive, Unix' "$(ratio slots unix)" '' 1.10 "$(interval slots unix)"
  row 'the guard: rlock / rlock without, Unix' "$(ratio unix noguard)" '' '' "$(interval unix noguard)"
  times tcp 'rlock, TCP'
  times unix 'rlock, Unix socket'
  times noguard 'the same without guard'
  times flock 'flock, no locale'
  times flock-utf8 'flock, LANG=C.UTF-8'
  times floor-tcp 'floor, TCP'
  times floor-unix 'floor, Unix socket'
  times true 'true(1) alone'
  times bash-tcp 'bash + redis-cli, TCP'
  times bash-unix 'bash + redis-cli, Unix socket'
}

tell_several() {
  header "several servers, Unix sockets, uncontended run of \`true\`, $rounds rounds"
  row 'five servers / one' "$(ratio five one)" '' 1.60 "$(interval five one)"
  row 'two of five frozen / none (each beside one server)' \
    "$(awk -v a="$(ratio five/f one/f)" -v b="$(ratio five one)" 'BEGIN { printf "%.3f", a / b }')" '' 1.20
  times one 'one server'
  times five 'five servers'
  times five/f 'five servers, two of them frozen'
}

tell_handover() {
  local n
  header "hand-over, $few rounds"
  row 'rlock / flock, 10 wait' "$(ratio rlock.10 flock.10)" '' 1.20
  row 'rlock, 300 wait / 10 wait' "$(ratio rlock.300 rlock.10)" '' 1.25
  row 'flock, 300 wait / 10 wait' "$(ratio flock.300 flock.10)"
  for n in 2 10 100 300; do
    row "rlock, $n wait" "$(get 3 handover "rlock.$n")" µs '' \
      "$(get 4 handover "rlock.$n") to $(get 5 handover "rlock.$n"); flock $(get 3 handover "flock.$n"), ratio $(ratio "rlock.$n" "flock.$n")"
  done
  for n in 2 10 100 300; do
    row "commands per hand-over, $n wait" "$(get 3 commands "rlock.$n")"
  done
  row 'commands per waiter and second, 100 wait' "$(get 3 idle 100)"
}

# Commands per hand-over, 100 wait / 10 wait.
growth() {
  awk -v a="$(get 3 commands "$1.100")" -v b="$(get 3 commands "$1.10")" 'BEGIN { printf "%.3f", a / b }'
}

tell_kinds() {
  local n
  header "hand-over of other kinds, $few rounds"
  for n in 10 100; do
    row "one of 2 slots, $n wait" "$(get 3 handover "slots.$n")" µs '' \
      "$(get 4 handover "slots.$n") to $(get 5 handover "slots.$n"), two at a time; / one lock $(ratio "slots.$n" "rlock.$n")"
  done
  for n in 10 100; do
    row "from reader to reader, $n wait for a writer" "$(get 3 handover "readers.$n")" µs '' \
      "$(get 4 handover "readers.$n") to $(get 5 handover "readers.$n")"
  done
  row 'one of 2 slots, 100 wait / 10 wait' "$(ratio slots.100 slots.10)" '' 1.25
  for n in 10 100; do
    row "commands per hand-over, 2 slots, $n wait" "$(get 3 commands "slots.$n")"
  done
  row 'the same, 100 wait / 10 wait' "$(growth slots)" '' 1.00
  for n in 10 100; do
    row "commands per reader behind a writer, $n wait" "$(get 3 commands "readers.$n")"
  done
  row 'the same, 100 wait / 10 wait' "$(growth readers)" '' 1.00
}

recovery() { row "$2" "$(get 3 recover "$1")" ms "$3" "$(get 4 recover "$1") to $(get 5 recover "$1")"; }

tell_recovery() {
  header "until the next command starts, $few rounds"
  recovery killed-holder 'holder killed, TTL 2 s, 100 wait: from the end of the lease' 50
  recovery killed-waiters 'five killed waiters ahead: from the release' 20
  recovery frozen-waiter 'a frozen waiter ahead: from the release' 2500
  recovery deleted-key 'key deleted by hand, 10 wait: from there' 1500
}

tell_memory() {
  local state
  header 'private memory, rlock and guard'
  for state in holding waiting; do
    row "$state" "$(get 5 memory "$state")" KB 500 \
      "rlock $(get 3 memory "$state"), guard $(get 4 memory "$state")"
  done
}

machine() {
  echo "$(date -u +%Y-%m-%d); $(nproc) cores$(sed -n 's/^model name[^:]*: */, /p' /proc/cpuinfo | head -1);" \
    "Linux $(uname -r), $(uname -m); $("$RLOCK" --version);" \
    "$("$SERVER" --version | sed -E 's/.*(Redis|[Vv]alkey) server v=([^ ]*).*/\1 \2/');" \
    "$(flock --version | sed 's/^flock from //');" \
    "bash ${BASH_VERSION%%(*}; load at the start $load."
}

tell() {
  machine
  echo
  tell_uncontended
  echo
  tell_several
  echo
  tell_handover
  echo
  tell_kinds
  echo
  tell_recovery
  echo
  tell_memory
}

write_readme() {
  awk -v results="$BENCH_DIR/table" '
    /^<!-- results -->$/ { print; print ""; while ((getline line <results) > 0) print line
      print ""; skip = 1 }
    /^<!-- end of results -->$/ { skip = 0 }
    !skip || /^<!-- end/ { if (!/^<!-- results/) print }' "$here/README.md" \
    >"$BENCH_DIR/README.md" && cp "$BENCH_DIR/README.md" "$here/README.md"
}

load=$(cut -d' ' -f1 /proc/loadavg)
measure
tell >"$BENCH_DIR/table"
cat "$BENCH_DIR/table"
if [[ ${1:-} == --write ]]; then write_readme; fi
