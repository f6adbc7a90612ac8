#!/usr/bin/env bats
# Names of locks, prefix, help and version.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2034,SC2153

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { rlock_setup; }
teardown() { rlock_teardown; }

# named NAME: the lock of that name excludes itself, has that very key, waits
# and is served.
named() {
  local K=$1 L=lock:$1 HOLDER PID
  rm -f "$T/hold.pid"
  bg "$RLOCK" -k "$K" -t 20 -- sh -c "$SH_HOLD" "$T/hold.pid"
  HOLDER=$PID # let_go reads it
  wait_pidfile "$T/hold.pid"
  is_key "$L"
  [[ $(r get "$L") == rlock:1:* ]]
  try "$RLOCK" -n -k "$K" -- true
  is "$status $output" '75 '
  try "$RLOCK" -n -v -k "$K" -- true # escaped, on one line
  is "${#lines[@]}" 1
  not env LC_ALL=C grep -q '[[:cntrl:]]' <<<"$output"
  bg "$RLOCK" -k "$K" -t 20 -- sh -c 'printf %s "$RLOCK_KEY" >"$0"' "$T/key"
  local waiter=$PID
  wait_until 10 eval '[[ $(r --raw keys "rlock:queue*" | grep -c .) -ge 1 ]]'
  let_go
  is "$status" 143
  ended "$waiter" 3
  is "$status" 0
  printf %s "$K" | cmp - "$T/key"
  no_key "$L"
}

@test "odd names" {
  local name
  # shellcheck disable=SC1003
  for name in 'a b' '50%s' '%n%n' '%b' '日本語' $'a\nb' $'\xff\xfe' '"q"' "'" '*' \
    -x -- --help .. '{tag}' 'a{b}c' '{}' '}{' 'a}' '{a}{b}' ' ' $'\t' $'\x01' $'\e[31m' '7' 0 '\' '$HOME' 'k:=é'; do
    echo "name: $name"
    named "$name"
  done
}

@test "1024 bytes are a name, and only itself" {
  local long
  long=$(printf '%01023d' 0)
  named "${long}a"
  K=${long}a
  hold
  try "$RLOCK" -n -k "${long}a" -- true
  is "$status" 75
  try "$RLOCK" -n -k "${long}b" -- sh -c 'exit 3'
  is "$status" 3
  let_go
}

@test "1025 bytes, and none: usage errors" {
  try "$RLOCK" -u unix:///nonexistent -k "$(printf '%01025d' 0)" -- true
  is "$status ${#lines[@]}" '64 1'
  try "$RLOCK" -u unix:///nonexistent -k '' -- true
  is "$status ${#lines[@]}" '64 1'
  try "$RLOCK" -u unix:///nonexistent -n -- true
  is "$status" 64
}

@test "names that belong to rlock itself: usage errors" {
  try "$RLOCK" -u unix:///nonexistent --prefix '' -k rlock:x -- true
  is "$status ${#lines[@]}" '64 1'
  try "$RLOCK" -u unix:///nonexistent --prefix rlo -k ck:x -- true
  is "$status" 64
  try "$RLOCK" -u unix:///nonexistent --prefix rlock: -k x -- true
  is "$status" 64
  try "$RLOCK" --prefix '' -k "rlockx$K" -- true
  is "$status" 0
  try "$RLOCK" -k rlock:x -- true # lock:rlock:x
  is "$status" 0
}

@test "--prefix, RLOCK_PREFIX, and which of them wins" {
  try "$RLOCK" --prefix 'team a:' -k "$K" -- "$REDIS_CLI" -s "$REDIS_SOCK" exists "team a:$K"
  is "$output" 1
  RLOCK_PREFIX=p: try "$RLOCK" -k "$K" -- "$REDIS_CLI" -s "$REDIS_SOCK" exists "p:$K"
  is "$output" 1
  RLOCK_PREFIX=p: try "$RLOCK" --prefix q: -k "$K" -- "$REDIS_CLI" -s "$REDIS_SOCK" exists "q:$K"
  is "$output" 1
}

@test "the tag of a name decides the side keys' name" {
  K="a{b}$K" L="lock:$K"
  hold
  bg "$RLOCK" -k "$K" -- true
  local waiter=$PID
  wait_key "rlock:queue=$L"
  let_go
  ended "$waiter" 3
  is "$status" 0
  no_key "rlock:queue=$L"
}

@test "tokens: 128 random bits, a host, a user, a process, a start, a note" {
  "$RLOCK" -k "$K" --note 'a:b %' -- sh -c 'echo "$RLOCK_TOKEN" $PPID' >"$T/got"
  local token pid
  read -r token pid <"$T/got"
  [[ $token =~ ^rlock:1:[0-9a-f]{32}:[^:]+:[^:]+:$pid:[0-9]{13}:[^:\ ]+$ ]] || { echo "$token"; false; }
  seq 50 | xargs -P 4 -I @ "$RLOCK" -k "$K.@" -- sh -c 'echo "$RLOCK_TOKEN"' | cut -d: -f3 >"$T/random"
  is "$(sort -u "$T/random" | wc -l | tr -d ' ')" 50
}

@test "--note: 80 bytes, not more" {
  try "$RLOCK" --note "$(printf '%080d' 0)" -k "$K" -- true
  is "$status" 0
  try "$RLOCK" -u unix:///nonexistent --note "$(printf '%081d' 0)" -k "$K" -- true
  is "$status" 64
}

@test "-h and -V: on stdout, status 0, no server, no key" {
  local o
  for o in -h --help; do
    "$RLOCK" "$o" >"$T/out" 2>"$T/err"
    [ ! -s "$T/err" ]
    grep -q -- '-k, --key' "$T/out"
    is "$(awk 'length > 80' "$T/out")" ''
    not grep -q $'\t' "$T/out"
  done
  for o in -V --version; do
    is "$("$RLOCK" -u unix:///nonexistent "$o")" "rlock $(cat "$RLOCK_TESTS/../VERSION")"
  done
}

@test "an unknown option: 64, one line on stderr, nothing on stdout" {
  "$RLOCK" -k "$K" --no-such-option -- true >"$T/out" 2>"$T/err" || status=$?
  is "$status" 64
  [ ! -s "$T/out" ]
  is "$(lines "$T/err")" 1
  grep -q -- '--no-such-option' "$T/err"
  try "$RLOCK" -k "$K" -Z -- true
  is "$status ${#lines[@]}" '64 1'
}

@test "flock's -F and -u FD get a hint" {
  try "$RLOCK" -F -k "$K" true
  is "$status" 64
  try "$RLOCK" -u 9
  is "$status" 64
  try "$RLOCK" -n "$T/file" true
  is "$status" 64
  [[ $output == *-k* ]]
  [ ! -e "$T/file" ]
}
