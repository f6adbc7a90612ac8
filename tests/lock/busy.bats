#!/usr/bin/env bats
# Busy: when to give up, how, and what is said.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2153

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { rlock_setup; }
teardown() { rlock_teardown; }

# busy LOW HIGH OPTIONS...: it gives up within so many ms: 75, nothing said, the
# command not run, no place kept in the queue.
busy() {
  local low=$1 high=$2 start
  shift 2
  start=$(now_ms)
  try "$RLOCK" -k "$K" "$@" -- touch "$T/ran"
  is "$* $status $output" "$* 75 "
  between "$low" $(($(now_ms) - start)) "$high"
  [ ! -e "$T/ran" ]
  no_key "$Q"
}

@test "-n and its spellings give up at once, silently" {
  hold
  local n
  for n in -n --nb --nonblock --nonblocking '-w 0' '-w 0s' '--wait 0' '--timeout 0ms' '-r 0' '--retries 0'; do
    # shellcheck disable=SC2086
    busy 0 500 $n
  done
  alive "$CMD"
}

@test "-w gives up at its end, not before, not later" {
  hold
  busy 300 600 -w 0.3
  busy 300 600 -w 300ms
  busy 1000 1400 --wait 1s
  busy 300 600 --timeout 0.3 --retry-delay 1m --retry-max 1m
}

@test "-w 0.3 against a foreign holder: no oversleep either" {
  r set "$L" foreign >/dev/null
  busy 300 600 -w 0.3
  busy 300 600 -w 0.3 --retry-delay 1m --retry-max 1m
}

@test "-w: it is not the last try that is too late" {
  hold
  "$RLOCK" -k "$K" -w 5 -- touch "$T/ran" 3>&- &
  local waiter=$!
  STARTED+=("$waiter")
  wait_waiters 1
  let_go
  ended "$waiter" 2
  is "$status" 0
  [ -e "$T/ran" ]
}

@test "-r: so many pauses; the shorter of -r and -w wins" {
  hold
  busy 50 900 -r 2 --retry-delay 100ms     # 100 + 200, jittered by half
  busy 200 500 -w 0.2 -r 1000
  busy 20 500 -w 20 -r 1 --retry-delay 50ms
  r set "$L" foreign >/dev/null
  busy 100 900 -r 2 --retry-delay 100ms
}

@test "-E changes the status of busy" {
  hold
  local n
  for n in 0 7 255 75; do
    try "$RLOCK" -n -E "$n" -k "$K" -- touch "$T/ran"
    is "$status $output" "$n "
    try "$RLOCK" -w 50ms --conflict-exit-code "$n" -k "$K" -- touch "$T/ran"
    is "$status $output" "$n "
  done
  [ ! -e "$T/ran" ]
}

@test "-E: what is no status is a usage error, before the server is asked" {
  local n
  for n in 256 600 -1 7x '' 1.5 ' 7' 0x7 99999999999999999999; do
    try "$RLOCK" -u unix:///nonexistent -n -E "$n" -k "$K" -- true
    is "$n $status" "$n 64"
    is "${#lines[@]}" 1
  done
}

@test "-E does not touch 69, the command's status, 127" {
  try "$RLOCK" -u unix:///nonexistent -n -E 0 -k "$K" -- true
  is "$status" 69
  try "$RLOCK" -u unix:///nonexistent --connect-timeout 0.1 -E 0 -k "$K" -- true
  is "$status" 69
  try "$RLOCK" -E 0 -k "$K" -- sh -c 'exit 75'
  is "$status" 75
  try "$RLOCK" -E 0 -k "$K" -- /nonexistent
  is "$status" 127
}

@test "a server that is away: -n at once, the default after --connect-timeout, -w at its end" {
  local start
  start=$(now_ms)
  try "$RLOCK" -u unix:///nonexistent -n -k "$K" -- true
  is "$status ${#lines[@]}" '69 1'
  between 0 $(($(now_ms) - start)) 500
  start=$(now_ms)
  try "$RLOCK" -u unix:///nonexistent --connect-timeout 0.5 -k "$K" -- true
  is "$status ${#lines[@]}" '69 1'
  between 500 $(($(now_ms) - start)) 900
  start=$(now_ms)
  try "$RLOCK" -u unix:///nonexistent -w 0.4 -k "$K" -- true
  is "$status ${#lines[@]}" '69 1'
  between 400 $(($(now_ms) - start)) 800
}

@test "-v says who holds it, without -v nothing is said" {
  hold --note 'a note'
  try "$RLOCK" -n -v -k "$K" -- true
  is "$status" 75
  is "${#lines[@]}" 1
  [[ $output == "rlock: $K: "*"$HOLDER"* ]]
  [[ $output == *'a note'* ]]
  try "$RLOCK" -n -v -q -k "$K" -- true
  is "$status $output" '75 '
}

@test "on a terminal one line says who holds it" {
  command -v script >/dev/null || skip "no script(1)"
  hold
  script -qec "$RLOCK -n -k $K -- true" /dev/null </dev/null >"$T/out" || status=$?
  is "$status" 75
  is "$(lines "$T/out")" 1
  grep -q "^rlock: $K: .*$HOLDER" "$T/out"
}

@test "the holder's note and key are printed with control bytes escaped" {
  hold --note $'x\e[31my\nz'
  try "$RLOCK" -n -v -k "$K" -- true
  is "${#lines[@]}" 1
  [[ $output != *$'\e'* ]]
}

@test "free: no option waits" {
  local start n
  for n in -n '-w 5' '-r 3' ''; do
    start=$(now_ms)
    # shellcheck disable=SC2086
    try "$RLOCK" $n -k "$K" -- sh -c 'exit 3'
    is "$n $status $output" "$n 3 "
    between 0 $(($(now_ms) - start)) 800
  done
}

@test "-n and -w: the last one wins" {
  hold
  busy 300 600 -n -w 0.3
  busy 0 200 -w 5 -n
}

@test "60 starts with -n against one job: never two commands" {
  local i
  for i in $(seq 60); do
    "$RLOCK" -n -k "$K" -- sh -c 'echo start >>"$0"; sleep 0.05; echo end >>"$0"' "$T/log" 3>&- &
    STARTED+=("$!")
  done
  for i in "${STARTED[@]}"; do
    ended "$i"
    [[ $status == 0 || $status == 75 ]]
  done
  [ -s "$T/log" ]
  awk 'NR % 2 == 1 && $1 != "start" || NR % 2 == 0 && $1 != "end" { exit 1 }' "$T/log"
  no_key
}

@test "flock's options are known: -x -e -o --exclusive --close" {
  try "$RLOCK" -x -e -o --exclusive --close -k "$K" -- sh -c 'exit 3'
  is "$status $output" '3 '
}

@test "durations: what is none is a usage error that names option and value" {
  local d o
  for o in -t -w --kill-after --max-run --retry-delay --retry-max --connect-timeout --command-timeout; do
    for d in '' x 1x -1 +1 1e3 0x10 ' 1' '1 ' 1s2 . .s 1,5 99999999999999999999 9999999999999d inf nan; do
      try "$RLOCK" -u unix:///nonexistent -k "$K" "$o" "$d" -- true
      is "$o $d $status" "$o $d 64"
      is "${#lines[@]}" 1
    done
  done
  for d in 0 0s 50ms 99ms 367d; do
    try "$RLOCK" -u unix:///nonexistent -k "$K" -t "$d" -- true
    is "$d $status" "$d 64"
    [[ $output == *"$d"* ]]
  done
  LC_ALL=de_DE.UTF-8 try "$RLOCK" -k "$K" -t 0.5 -- true
  is "$status" 0
}
