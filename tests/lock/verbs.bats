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

@test "interrupted at any moment: a token was printed, or nothing is there" {
  local i token
  for i in $(seq 40); do
    # shellcheck disable=SC2016
    bg sh -c 'exec "$RLOCK" --acquire -k "$K" -t 20 >"$T/token"'
    pass_ms $((i % 5))
    kill -TERM "$PID" 2>/dev/null || true
    ended "$PID"
    token=$(cat "$T/token" 2>/dev/null || true)
    if [[ $token ]]; then
      is "$(r get "$L")" "$token"
      verb release "$token"
      is "$status" 0
    fi
    no_key
    rm -f "$T/token"
  done
}

@test "nobody reads the token: given back" {
  try sh -c '"$RLOCK" --acquire -k "$K" -t 20 >/dev/full'
  is "$status" 71
  no_key
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
