#!/usr/bin/env bats
# When the system has nothing to give: processes, descriptors, a stderr that
# takes nothing.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2153

load ../lib/rlock

setup_file() {
  redis_start
  chmod 755 "$REDIS_DIR"
  chmod 777 "$REDIS_SOCK"
  cp "$RLOCK" "$REDIS_DIR/rlock"
}
teardown_file() { redis_stop; }
setup() { rlock_setup; }
teardown() { rlock_teardown; }

# as_poor N COMMAND...: as a user of its own that may have N processes.
as_poor() {
  local n=$1
  shift
  setpriv --reuid=$((700000 + RANDOM)) --regid=65534 --clear-groups \
    prlimit --nproc="$n" "$@"
}

@test "fork fails for the guard: 71, no key" {
  needs_root
  [[ ${RLOCK_SANITIZE:-} ]] && skip "the sanitizers fork, too"
  try as_poor 1 "$REDIS_DIR/rlock" -k "$K" -t 60 -- touch "$T/ran"
  is "$status" 71
  is "${#lines[@]}" 1
  [[ $output == "rlock: $K: "* ]]
  [ ! -e "$T/ran" ]
  no_key
  no_key "$Q"
}

@test "fork fails for the command: 71, no key" {
  needs_root
  try as_poor 2 "$REDIS_DIR/rlock" -k "$K" -t 60 -- touch "$T/ran"
  is "$status" 71
  is "${#lines[@]}" 1
  no_key
  no_key "$Q"
  # With one more it works.
  try as_poor 3 "$REDIS_DIR/rlock" -k "$K" -- true
  is "$status $output" '0 '
}

@test "fork fails after a wait: 71, the next is served" {
  needs_root
  hold
  bg setpriv --reuid=$((700000 + RANDOM)) --regid=65534 --clear-groups \
    prlimit --nproc=2 "$REDIS_DIR/rlock" -k "$K" -t 60 -- true
  local poor=$PID
  wait_waiters 1
  bg "$RLOCK" -k "$K" -- sh -c 'exit 4'
  local next=$PID
  wait_waiters 2
  let_go
  ended "$poor"
  is "$status" 71
  ended "$next" 2
  is "$status" 4
}

# with_files N COMMAND...: with 0 to 2, and a limit of N descriptors.
with_files() {
  local n=$1 fd
  shift
  for fd in 3 4 5 6 7 8 9; do
    eval "exec $fd>&-"
  done
  exec prlimit --nofile="$n" "$@"
}

@test "few descriptors: it works, or 71; never a key that stays" {
  local n
  for n in 4 5 6 7 8 9 10 11 12; do
    rm -f "$T/ran"
    try with_files "$n" "$RLOCK" -k "$K" -t 60 -- touch "$T/ran"
    echo "$n: $status $output"
    case $status in
    0) [ -e "$T/ran" ] ;;
    71) [ ! -e "$T/ran" ] && is "${#lines[@]}" 1 ;;
    *) false ;;
    esac
    no_key
    no_key "$Q"
  done
  is "$status" 0 # with 12
}

@test "few descriptors while it waits: never a key that stays" {
  local n waiter
  for n in 6 7 8 9 10; do
    hold
    bg bash -c "$(declare -f with_files); with_files \"\$@\"" - "$n" "$RLOCK" -k "$K" -w 20 -t 60 -- true
    waiter=$PID
    wait_until 10 eval '_waiters 1 || _wait_ended '"$waiter"
    let_go
    ended "$waiter"
    echo "$n: $status"
    [[ $status == 0 || $status == 71 ]]
    no_key
    no_key "$Q"
  done
}

@test "no memory: never a key that stays" {
  local kb
  for kb in 3000 4000 5000 6000 8000; do
    try prlimit --as=$((kb * 1024)) "$RLOCK" -k "$K" -t 60 -- true
    echo "$kb: $status $output"
    no_key
  done
}

# full: descriptor 8 is a pipe that is full and that nobody reads.
full() {
  mkfifo "$T/pipe"
  exec 8<>"$T/pipe"
  dd if=/dev/zero of="$T/pipe" bs=4096 count=1000 oflag=nonblock 2>/dev/null || true
}

# renewing COMMAND...: a run of 1.2 s that is renewed every 0.1 s.
renewing() {
  local start
  start=$(now_ms)
  status=0
  "$RLOCK" -v -v -t 0.3 -k "$K" --report "$T/report" -- "$@" || status=$?
  is "$status" 5
  between 1200 $(($(now_ms) - start)) 3000
  (($(fact "$T/report" renewals) >= 8))
  no_key
}

@test "stderr is a full pipe that nobody reads: renewing goes on" {
  full
  renewing sh -c 'sleep 1.2; exit 5' 2>&8
}

@test "stderr is closed: renewing goes on" {
  renewing sh -c 'sleep 1.2; exit 5' 2>&-
}

@test "stderr is /dev/full: renewing goes on" {
  renewing sh -c 'sleep 1.2; exit 5' 2>/dev/full
}

@test "stderr is a pipe without reader: renewing goes on" {
  mkfifo "$T/pipe"
  exec 8<>"$T/pipe"
  exec 9>"$T/pipe"
  exec 8<&-
  renewing sh -c 'sleep 1.2; exit 5' 2>&9
}

@test "the command fills the pipe that is our stderr: renewing goes on" {
  mkfifo "$T/pipe"
  exec 8<>"$T/pipe"
  status=0
  "$RLOCK" -v -t 0.3 -k "$K" --max-run 1.2 --report "$T/report" -- \
    cat /dev/zero >&8 2>&8 || status=$?
  is "$status" 124
  (($(fact "$T/report" renewals) >= 8))
  no_key
}

@test "stdout is a full pipe: of no matter to rlock" {
  full
  renewing sh -c 'sleep 1.2; exit 5' >&8
}

@test "a waiter with a full stderr gets its turn" {
  full
  hold
  bg "$RLOCK" -v -k "$K" -- touch "$T/ran" 2>&8
  local waiter=$PID
  wait_waiters 1
  let_go
  ended "$waiter" 2
  is "$status" 0
  [ -e "$T/ran" ]
}

@test "a loss is answered in time with a full stderr" {
  full
  rm -f "$T/hold.pid"
  bg "$RLOCK" -v -t 0.6 -k "$K" -- sh -c "$SH_HOLD" "$T/hold.pid" 2>&8
  local rlock=$PID
  wait_pidfile "$T/hold.pid"
  r del "$L"
  ended "$rlock" 2
  is "$status" 76
}

@test "no file may grow: messages and report are lost, the run is not" {
  try prlimit --fsize=0 "$RLOCK" -v -k "$K" --report "$T/report" -- sh -c 'exit 5' 2>"$T/err"
  is "$status" 5
  status=0
  prlimit --fsize=0 "$RLOCK" -v -k "$K" --report "$T/report" -- sh -c 'exit 6' 2>"$T/err" || status=$?
  is "$status" 6
  [ ! -e "$T/report" ]
  is "$(find "$T" -name 'report*')" ''
  no_key
}

@test "--help and --version to /dev/full fail" {
  local o
  for o in --help --version; do
    status=0
    "$RLOCK" "$o" >/dev/full 2>"$T/err" || status=$?
    (( status != 0 ))
    is "$(lines "$T/err")" 1
  done
}
