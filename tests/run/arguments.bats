#!/usr/bin/env bats
# The command gets its arguments as they were given.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2153

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { rlock_setup; }
teardown() { rlock_teardown; }

@test "arguments pass byte by byte" {
  # shellcheck disable=SC1003
  local args=('a b' '' '*' '$HOME' $'x\ny' '\\' '%s%n' $'\xff\xfe' 'é' '"' "'"
    -x -- --help '' ' ' $'\t')
  printf '<%s>\n' "${args[@]}" >"$T/want"
  "$RLOCK" -k "$K" -- printf '<%s>\n' "${args[@]}" >"$T/got"
  cmp "$T/want" "$T/got"
  "$RLOCK" -k "$K" printf '<%s>\n' "${args[@]}" >"$T/got"
  cmp "$T/want" "$T/got"
}

@test "no shell: a name with a blank is a name" {
  try "$RLOCK" -k "$K" -- 'echo hi'
  is "$status" 127
  no_key
}

@test "100000 arguments" {
  local args
  mapfile -t args < <(seq 100000)
  "$RLOCK" -k "$K" -- perl -e 'print scalar(@ARGV), " $ARGV[-1]\n"' "${args[@]}" >"$T/got"
  is "$(cat "$T/got")" '100000 100000'
}

@test "a list that is too long: 126, the lock free at once" {
  # With the token behind it RLOCK_TOKENS is above the kernel's 128 KiB.
  local long
  long=$(printf '%0131050d' 0)
  RLOCK_TOKENS=$long try "$RLOCK" -k "$K" -- true
  is "$status" 126
  [[ $output == *'rgument list too long'* ]]
  no_key
}

@test "the command's name is given as it is, path and all" {
  try "$RLOCK" -k "$K" -- /bin/../bin/sh -c 'tr "\0" "\n" </proc/$$/cmdline | head -1'
  is "$output" /bin/../bin/sh
}

@test "-c runs a shell's string" {
  try "$RLOCK" -k "$K" -c 'printf "a b\n" | tr a-z A-Z; x=$(echo y); echo "$x"; exit 3'
  is "$status" 3
  is "$output" $'A B\ny'
  try "$RLOCK" -k "$K" --command 'exit 4'
  is "$status" 4
  try "$RLOCK" -c 'readlink /proc/$$/exe' -k "$K"
  is "$output" "$(readlink -f /bin/sh)"
}

@test "-c takes no operands, and is no empty command" {
  try "$RLOCK" -k "$K" -c true more
  is "$status" 64
  try "$RLOCK" -k "$K" -c true -- more
  is "$status" 64
  try "$RLOCK" -k "$K" -c
  is "$status" 64
}

@test "the command's options are its own" {
  echo content >"$T/f"
  try "$RLOCK" -k "$K" cat -v "$T/f"
  is "$output" content
  try "$RLOCK" -k "$K" -- cat -v "$T/f"
  is "$output" content
  try "$RLOCK" -k "$K" sh -c 'echo "$@"' x --help -t 1s -k other -n -- -V
  is "$output" '--help -t 1s -k other -n -- -V'
  try "$RLOCK" -k "$K" -- echo -- x
  is "$output" '-- x'
  try "$RLOCK" -k "$K" -- -odd-
  is "$status" 127
}

@test "POSIXLY_CORRECT or not, options end at the first operand" {
  POSIXLY_CORRECT=1 try "$RLOCK" -k "$K" echo -v -q
  is "$output" '-v -q'
}

@test "without a command: 64, nothing asked" {
  try "$RLOCK" -u unix:///nonexistent -k "$K"
  is "$status" 64
  try "$RLOCK" -u unix:///nonexistent -k "$K" --
  is "$status" 64
  try "$RLOCK" -u unix:///nonexistent --
  is "$status" 64
  try "$RLOCK"
  is "$status" 64
}

@test "without -k: 64 and a hint" {
  try "$RLOCK" -u unix:///nonexistent job true
  is "$status" 64
  [[ $output == *'-k'* ]]
}

@test "long options may be abbreviated, the last one wins" {
  try "$RLOCK" --key other --ke "$K" --ttl=1s --tt 9s -- "$REDIS_CLI" -s "$REDIS_SOCK" pttl "$L"
  is "$status" 0
  between 8000 "$output" 9000
}
