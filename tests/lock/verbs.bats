#!/usr/bin/env bats
# shellcheck disable=SC2016 # for the shells within
# --acquire, --renew, --release: a lock over several steps.

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { rlock_setup; }
teardown() { rlock_teardown; }

acquire() { "$RLOCK" --acquire -k "$K" -t 20 "$@"; }
verb() { # VERB TOKEN [OPTIONS...]
  try "$RLOCK" "--$1" "$K" --token "$2" "${@:3}"
}

@test "take it, set its lease again, free it: of every kind" {
  local kind token
  for kind in -x -s '-j 2'; do
    # shellcheck disable=SC2086
    token=$(acquire $kind)
    between 15000 "$(r pttl "$L")" 20000
    verb renew "$token" -t 60
    is "$status$output" 0
    between 50000 "$(r pttl "$L")" 60000
    verb release "$token"
    is "$status$output" 0
    no_key
    verb release "$token"
    is "$status" 1
    verb renew "$token" -t 5
    is "$status" 1
  done
}

@test "of what is not ours: 76, who has it, and untouched" {
  local old
  old=$(acquire)
  verb release "$old"
  hold -t 30
  before=$(r get "$L")
  verb release "$old"
  is "$status" 76
  [[ $output == *"not held under this token, but by "*"pid $HOLDER"*"(left untouched)" ]]
  verb renew "$old" -t 100
  is "$status" 76
  is "$(r get "$L")" "$before"
  between 1 "$(r pttl "$L")" 30000
}

@test "who waits is served by the release" {
  local token
  token=$(acquire)
  bg "$RLOCK" -k "$K" -w 20 -- true
  wait_waiters 1
  verb release "$token"
  ended "$PID" 3
  is "$status" 0
}

@test "json: all of it, and nothing else" {
  acquire -j 3 --fence --json >"$T/out"
  is "$(lines "$T/out")" 1
  is "$(fact "$T/out" slot)" 0
  is "$(fact "$T/out" key)" "$K"
  is "$(fact "$T/out" fence)" "$(r get "rlock:fence:{$L}")"
  verb release "$(fact "$T/out" token)"
  is "$status" 0
}

@test "busy: 75 or -E, nothing on stdout" {
  hold
  try acquire -n
  is "$status$output" 75
  try acquire -w 100ms -E 9
  is "$status$output" 9
}

@test "interrupted in line: nothing is left, the status is the signal's" {
  local signal
  hold
  for signal in TERM INT HUP; do
    bg "$RLOCK" --acquire -k "$K" -t 20
    wait_waiters 1
    kill -s "$signal" "$PID"
    ended "$PID"
    is "$status" $((128 + $(kill -l "$signal")))
    wait_waiters 0
  done
  let_go
  no_key
}

# now_us, spin_us US: pass_ms is too coarse for the moments meant here.
now_us() { echo "${EPOCHREALTIME/[.,]/}"; }
spin_us() {
  local end=$((${EPOCHREALTIME/[.,]/} + $1))
  while ((${EPOCHREALTIME/[.,]/} < end)); do :; done
}

# start_taking: as a job, to $T/token.
start_taking() {
  rm -f "$T/token"
  bg sh -c 'exec "$RLOCK" --acquire -k "$K" -t 20 $KIND >"$T/token"'
}

@test "interrupted at any moment, of every kind: a token was printed, or nothing is there" {
  local i kind=(-x -s '-j 1') from took rounds=48
  export KIND=-x
  start_taking
  from=$(now_us)
  ended "$PID"
  took=$(($(now_us) - from))
  given_or_nothing
  for i in $(seq $rounds); do
    KIND=${kind[i % 3]}
    start_taking
    spin_us $((took * i / rounds))
    kill -s $((i % 2 ? 2 : 15)) "$PID" 2>/dev/null || true
    ended "$PID"
    given_or_nothing
  done
}

@test "interrupted just when it is granted, of every kind: a token, or nothing" {
  local i kind=(-x -s '-j 1') first from took=0 rounds=48
  export KIND
  for i in $(seq 0 $rounds); do
    KIND=${kind[i % 3]}
    # shellcheck disable=SC2086
    first=$("$RLOCK" --acquire -k "$K" -t 20 ${KIND/-s/-x})
    start_taking
    wait_waiters 1
    from=$(now_us)
    "$RLOCK" --release -k "$K" --token "$first" 3>&- &
    if ((i == 0)); then # how long it takes, without a signal
      wait_until 10 test -s "$T/token"
      took=$(($(now_us) - from))
    fi
    spin_us $((took * i / rounds))
    kill -s $((i % 2 ? 2 : 15)) "$PID" 2>/dev/null || true
    wait $!
    ended "$PID"
    given_or_nothing
  done
}

# given_or_nothing: what is in $T/token is the lock's; else there is none.
given_or_nothing() {
  local token
  token=$(cat "$T/token" 2>/dev/null || true)
  if [[ $token ]]; then
    is "$status" 0
    verb release "$token"
    is "$status" 0
  else
    ((status > 128)) || { echo "no token, status $status"; return 1; }
  fi
  no_key
  is "$(r exists "$Q")" 0
}

@test "nobody gets the token, stdout closed, full, or its reader gone: given back" {
  local kind out
  export KIND OUT
  for KIND in -x -s '-j 2' '--fence --json'; do
    for out in '>&-' '>/dev/full' '>&6'; do
      # Descriptor 6: a pipe whose reader has ended.
      try bash -c 'exec 6> >(:); wait $!
        eval "\"\$RLOCK\" --acquire -k \"\$K\" -t 20 $KIND $1"' sh "$out"
      is "$status" 71
      [[ $output == "rlock: $K: can't write to stdout: "* ]]
      no_key
    done
  done
}

@test "a release serves who waits, of every kind" {
  local kind token
  for kind in -s '-j 1'; do
    # shellcheck disable=SC2086
    token=$(acquire $kind)
    # shellcheck disable=SC2086
    bg "$RLOCK" -k "$K" -w 20 ${kind/-s/-x} -- true
    wait_waiters 1
    verb release "$token"
    is "$status" 0
    ended "$PID" 3
    is "$status" 0
    no_key
  done
}

@test "of what others have, in every kind: 76, and untouched" {
  local kind old before
  for kind in -s '-j 1'; do
    # shellcheck disable=SC2086
    old=$(acquire $kind)
    verb release "$old"
    # shellcheck disable=SC2086
    hold $kind -t 30
    before=$(r zrange "$L" 0 -1)
    verb release "$old"
    is "$status" 76
    verb renew "$old" -t 100
    is "$status" 76
    is "$(r zrange "$L" 0 -1)" "$before"
    between 1 "$(r pttl "$L")" 30000
    let_go
  done
}

@test "not renewed, it ends by itself; the token is worth nothing then" {
  local token
  token=$("$RLOCK" --acquire -k "$K" -t 300ms)
  wait_no_key "$L"
  verb renew "$token" -t 20
  is "$status" 1
  no_key
  hold
  verb release "$token"
  is "$status" 76
  is_key
}

@test "released while a nested run goes on: that one has it, and the last frees it" {
  local token
  token=$(acquire)
  bg env RLOCK_TOKENS="$token" "$RLOCK" -k "$K" -t 5 -- sh -c "$SH_HOLD" "$T/pid"
  wait_pidfile "$T/pid" >/dev/null
  verb renew "$token" -t 60
  is "$status$output" 0
  between 50000 "$(r pttl "$L")" 60000
  verb release "$token"
  is "$status$output" 0
  between 1 "$(r pttl "$L")" 5000
  verb release "$token"
  is "$status" 76
  try "$RLOCK" -k "$K" -n -- true
  is "$status" 75
  kill -TERM "$PID"
  ended "$PID"
  no_key
}

@test "taken below one that was taken, each is given back by its own token" {
  local outer inner
  outer=$(acquire)
  inner=$(RLOCK_TOKENS=$outer acquire -n)
  verb release "$outer"
  is "$status" 0
  try "$RLOCK" -k "$K" -n -- true
  is "$status" 75
  verb renew "$inner" -t 60
  is "$status" 0
  verb release "$inner"
  is "$status" 0
  no_key
}

@test "a key that is no lock: refused, or not held; and as it was" {
  local token
  token=$(acquire)
  verb release "$token"
  r zadd "$L" 5 anna >/dev/null
  try acquire
  is "$status" 78
  verb renew "$token" -t 9
  is "$status" 76
  verb release "$token"
  is "$status" 76
  is "$(r zrange "$L" 0 -1 withscores | tr '\n' ' ')" 'anna 5 '
  is "$(r pttl "$L")" -1
}

@test "server away: 69; a renewal and a release too" {
  local token with
  token=$(acquire)
  for verb in renew release; do
    with=()
    [[ $verb == release ]] || with=(-t 5)
    verb $verb "$token" -u redis://127.0.0.1:1 --connect-timeout 0.3 "${with[@]}"
    is "$status" 69
  done
  verb release "$token"
}
