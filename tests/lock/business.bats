#!/usr/bin/env bats
# shellcheck disable=SC2016 # for the shells within
# What people take locks for, with many at once on a real server.  Each job
# finds out by itself when another one is inside: by a folder that it makes.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2153

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }

setup() {
  rlock_setup
  cd "$T" || return
}

teardown() { rlock_teardown; }

# job FILE TEXT: a script that runs alone, or says so in the file wrong.
job() {
  printf '#!/bin/sh\nmkdir inside || { echo "$*" >>wrong; exit 99; }\n%s\nrmdir inside\nexit $end\n' \
    "end=0; $2" >"$1"
  chmod 755 "$1"
}

# gate KEYS...: hold these locks, so that all who come have to wait.
gate() {
  local key
  GATE=()
  for key; do
    rm -f gate.pid
    bg "$RLOCK" -k "$key" -- sh -c "$SH_HOLD" "$T/gate.pid"
    GATE+=("$PID")
    wait_pidfile gate.pid
  done
}

# open_gate N KEYS...: once N wait in all, let them go.
open_gate() {
  wait_until 20 _all_wait "$@"
  kill -TERM "${GATE[@]}"
}

_all_wait() {
  local key sum=0 want=$1
  shift
  for key; do
    sum=$((sum + $(r zcard "rlock:queue:{lock:$key}")))
  done
  ((sum == want))
}

# all_end STATUSES PIDS...: so they ended: "N times STATUS, ...", least status
# first.
all_end() {
  local pid want=$1
  shift
  for pid; do
    ended "$pid" 20
    echo "$status"
  done >statuses
  is "$(sort -n statuses | uniq -c |
    awk '{ printf "%s%s times %s", n++ ? ", " : "", $1, $2 }')" "$want"
}

# One item of the stock in $1 for the order $2, as somebody writes it who
# trusts the lock: look, think, write.
TAKE='n=$(cat "$1")
  if [ "$n" -gt 0 ]; then
    echo $((n - 1)) >"$1.new" && mv "$1.new" "$1"
    echo "$2" >>orders
  else
    end=3
  fi'

@test "stock: 100 shells want one of 60 items: 60 orders, none left, never below" {
  local i pids=()
  job take.sh "$TAKE"
  echo 60 >stock
  gate stock
  for i in {1..100}; do
    bg "$RLOCK" -k stock -- ./take.sh stock "order$i"
    pids+=("$PID")
  done
  open_gate 100 stock
  all_end '60 times 0, 40 times 3' "${pids[@]}"
  is "$(cat stock) $(lines orders) $(sort -u orders | wc -l)" '0 60 60'
  [ ! -e wrong ]
  no_key lock:stock
}

@test "stock: the same over ten shards of 6 items, by the CRC-32 of the order" {
  local i want pids=() keys=(stock:{0..9})
  # Each shelf alone: the folder is the shelf's.
  job take.sh "$TAKE"
  sed -i 's/inside/"inside.$RLOCK_SHARD"/; s/"\$1/"$1.$RLOCK_SHARD/g' take.sh
  sed -i 's/echo "\$2"/echo "$2 $RLOCK_SHARD $RLOCK_KEY"/' take.sh
  for i in {0..9}; do
    echo 6 >"stock.$i"
  done
  gate "${keys[@]}"
  for i in {1..100}; do
    bg "$RLOCK" -k stock --shard "o$i/10" -- ./take.sh stock "o$i"
    pids+=("$PID")
  done
  open_gate 100 "${keys[@]}"
  all_end '60 times 0, 40 times 3' "${pids[@]}"
  is "$(cat stock.? | line)" '0 0 0 0 0 0 0 0 0 0'
  is "$(lines orders)" 60
  [ ! -e wrong ]
  # What another program makes of it.
  want=$(python3 -c 'import sys, zlib
for line in sys.stdin:
    order = line.split()[0]
    print(order, zlib.crc32(order.encode()) % 10, "stock")' <orders)
  is "$(cat orders)" "$want"
}

line() { tr '\n' ' ' | sed 's/ $//'; }

@test "reconcile: a job of several TTLs on three hosts, one at a time" {
  local i pids=()
  # It lasts longer than two TTLs, and the lock is its own at the end.
  job reconcile.sh 'sleep 2.2
    [ "$("$REDIS_CLI" -s "$REDIS_SOCK" get lock:job:recon)" = "$RLOCK_TOKEN" ] ||
      echo "not ours" >>wrong
    echo ran >>runs'
  gate job:recon
  for i in 1 2 3; do
    bg "$RLOCK" -k job:recon -t 1 -- ./reconcile.sh "$i"
    pids+=("$PID")
  done
  open_gate 3 job:recon
  all_end '3 times 0' "${pids[@]}"
  [ ! -e wrong ]
  is "$(lines runs)" 3
  no_key lock:job:recon
}

@test "nightly: one host dies, the next one takes over, the third has nothing to do" {
  local first pids=()
  job job.sh 'echo "$1" >>runs; [ "$1" != one ] || { rmdir inside; echo $$ >pid; exec sleep 20; }'
  bg "$RLOCK" -k nightly -t 1 --once 1h -- ./job.sh one
  first=$PID
  wait_pidfile pid
  bg "$RLOCK" -k nightly -t 1 --once 1h -- ./job.sh two
  pids+=("$PID")
  wait_until 10 _all_wait 1 nightly
  bg "$RLOCK" -k nightly -t 1 --once 1h -- ./job.sh three
  pids+=("$PID")
  wait_until 10 _all_wait 2 nightly
  kill -KILL "$first" # the guard ends the job, the lease the lock
  all_end '2 times 0' "${pids[@]}"
  is "$(line <runs)" 'one two'
  [ ! -e wrong ]
  wait_gone "$(cat pid)"
}

@test "form: ten clicks at once are one submission, and again when the time is over" {
  local i pids=()
  job submit.sh 'echo ran >>runs'
  gate submit:u42
  for i in {1..10}; do
    bg "$RLOCK" -k submit:u42 --once 4 --once-exit-code 9 -- ./submit.sh "$i" 2>>said
    pids+=("$PID")
  done
  open_gate 10 submit:u42
  all_end '1 times 0, 9 times 9' "${pids[@]}"
  is "$(lines runs) $(lines said)" '1 0'
  [ ! -e wrong ]
  try "$RLOCK" -v -k submit:u42 --once 4 --once-exit-code 9 --report report -- ./submit.sh
  is "$status ${#lines[@]} $(fact report outcome)" '9 1 skipped'
  [[ $output == *': skipped: done at '* ]]
  wait_no_key 'rlock:done:{lock:submit:u42}'
  try "$RLOCK" -k submit:u42 --once 4 --once-exit-code 9 -- ./submit.sh
  is "$status $output $(lines runs)" '0  2'
  [ ! -e wrong ]
}

@test "form: a submission that fails can be tried again, by those who wait" {
  local i pids=()
  job submit.sh 'echo ran >>runs; [ "$(grep -c . runs)" -ge 3 ] || end=5'
  gate submit:u7
  for i in {1..6}; do
    bg "$RLOCK" -k submit:u7 --once 1h --once-exit-code 9 -- ./submit.sh "$i"
    pids+=("$PID")
  done
  open_gate 6 submit:u7
  all_end '1 times 0, 2 times 5, 3 times 9' "${pids[@]}"
  is "$(lines runs)" 3
  [ ! -e wrong ]
}

# fire OPTIONS...: five hosts, whose clocks differ, each 100 ms after the one
# before.
fire() {
  local i
  for i in {1..5}; do
    try "$RLOCK" -n -E 0 -k tick "$@" -- ./tick.sh
    is "$i: $status $output" "$i: 0 "
    pass_ms 100
  done
}

@test "scheduler: five hosts fire the same line 100 ms apart: once, by --min-hold" {
  job tick.sh 'echo ran >>runs'
  fire # each finds the lock free, since the job is so short
  is "$(lines runs)" 5
  rm runs
  fire --min-hold 4
  is "$(lines runs)" 1
  is_key lock:tick # they have all come in time
  wait_no_key lock:tick
  try "$RLOCK" -n -E 0 -k tick -- ./tick.sh
  is "$status $output $(lines runs)" '0  2'
  [ ! -e wrong ]
}

# The file holds the same number twice.
WRITE='echo "$1" >file; sleep 0.02; echo "$1" >>file'
READ='[ "$(uniq -c file | tr -s " " | cut -d" " -f2 | head -1)" = 2 ] || echo half >>wrong'

@test "readers and writers: no reader ever sees half a write" {
  local i pids=()
  job write.sh "$WRITE"
  printf '#!/bin/sh\n[ ! -e inside ] || echo beside >>wrong\n%s\necho read >>reads\n' "$READ" >read.sh
  chmod 755 read.sh
  printf '0\n0\n' >file
  gate file
  for i in {1..50}; do
    if ((i % 5)); then
      bg "$RLOCK" -s -k file -- ./read.sh
    else
      bg "$RLOCK" -x -k file -- ./write.sh "$i"
    fi
    pids+=("$PID")
  done
  open_gate 50 file
  all_end '50 times 0' "${pids[@]}"
  [ ! -e wrong ]
  is "$(lines reads)" 40
  is "$(sort -u file | wc -l) $(lines file)" '1 2'
}

@test "a reader that comes halfway through a write is kept out; readers meet" {
  local writer pids=()
  mkfifo go
  bg "$RLOCK" -x -k file -- sh -c 'echo 1 >file; read line <go; echo 1 >>file'
  writer=$PID
  wait_file file
  try "$RLOCK" -n -s -k file -- cat file
  is "$status $output" '75 '
  bg "$RLOCK" -s -k file -- sh -c 'cat file >seen; echo >a; read line <both.a'
  pids+=("$PID")
  bg "$RLOCK" -s -k file -- sh -c 'cat file >seen; echo >b; read line <both.b'
  pids+=("$PID")
  mkfifo both.a both.b
  wait_until 10 _all_wait 2 file
  is "$(lines file)" 1
  echo >go
  ended "$writer"
  wait_file a # neither of them is done, and both are in
  wait_file b
  is "$(lines seen)" 2
  try "$RLOCK" -n -x -k file -- true
  is "$status" 75
  echo >both.a
  echo >both.b
  all_end '2 times 0' "${pids[@]}"
}

@test "dumps: twelve want one of four places: four at a time, a slot each" {
  local i pids=()
  # It waits, until four have been in at once.
  printf '%s\n' '#!/bin/sh' 'mkdir "slot.$RLOCK_SLOT" || echo "$RLOCK_SLOT" >>wrong' \
    'set -- slot.*' \
    '[ $# -lt 4 ] || echo $# >>four' \
    'i=0; while [ ! -e four ] && [ $i -lt 1000 ]; do i=$((i + 1)); sleep 0.01; done' \
    'echo "$RLOCK_SLOT" >>slots' 'rmdir "slot.$RLOCK_SLOT"' >dump.sh
  chmod 755 dump.sh
  for i in {1..12}; do
    bg "$RLOCK" -k dumps -j 4 -- ./dump.sh "$i"
    pids+=("$PID")
  done
  all_end '12 times 0' "${pids[@]}"
  [ ! -e wrong ]
  is "$(sort -u four)" 4
  is "$(sort -u slots | line) $(lines slots)" '0 1 2 3 12'
}

@test "CI: taken in one step, used and renewed in others, released in the last" {
  local token waiter
  token=$("$RLOCK" --acquire -k release -t 20 -w 5)
  bg "$RLOCK" -k release -- sh -c 'echo other >>runs'
  waiter=$PID
  wait_until 10 _all_wait 1 release
  # A step of more than its TTL, which it renews as a nested run.
  RLOCK_TOKENS=$token try "$RLOCK" -n -t 0.6 -k release -- sh -c 'sleep 1; echo step >>runs; exit 4'
  is "$status $output" '4 '
  between 1 "$(r pttl lock:release)" 19500
  try "$RLOCK" --renew -k release -t 30 --token "$token"
  is "$status $output" '0 '
  between 25000 "$(r pttl lock:release)" 30000
  RLOCK_TOKENS=$token try "$RLOCK" -n -k release -- sh -c 'echo step >>runs'
  is "$status $output" '0 '
  alive "$waiter"
  try "$RLOCK" --release -k release --token "$token"
  is "$status $output" '0 '
  ended "$waiter"
  is "$(line <runs)" 'step step other'
}

@test "CI: a step that comes when the lock is lost, or stays when its lease is over" {
  local token
  token=$("$RLOCK" --acquire -k release -t 0.5)
  # The lease of the step outlives that of --acquire, and is the last.
  RLOCK_TOKENS=$token try "$RLOCK" -n -t 5 -k release -- sh -c 'sleep 0.8; exec "$@"' x \
    "$RLOCK" --renew -k release -t 5 --token "$token"
  is "$status" 76
  no_key lock:release
  token=$("$RLOCK" --acquire -k release -t 20)
  r del lock:release >/dev/null
  K=release hold
  RLOCK_TOKENS=$token try "$RLOCK" -n -k release -- touch ran
  is "$status $output" '75 '
  [ ! -e ran ]
  try "$RLOCK" --release release --token "$token"
  is "$status ${#lines[@]}" '76 1'
  is_key lock:release
  let_go
}

@test "a lock that cools down: who holds it is said, and who waits gets it then" {
  local start
  "$RLOCK" -k "$K" --min-hold 1.5 -- true
  try "$RLOCK" -n -v -k "$K" -- true
  is "$status ${#lines[@]}" '75 1'
  [[ $output == *'cooling down'* && $output != *'another program'* ]]
  start=$(now_ms)
  # Not by polling: that is for locks of other programs.
  try "$RLOCK" -w 10 --retry-delay 20s --retry-max 20s -k "$K" -- sh -c 'exit 3'
  is "$status $output" '3 '
  between 1 $(($(now_ms) - start)) 3000
}
