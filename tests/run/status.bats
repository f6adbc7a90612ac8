#!/usr/bin/env bats
# How the command ends is how rlock ends.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2153

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { rlock_setup; }
teardown() { rlock_teardown; }

@test "a status passes unchanged" {
  local n
  for n in 0 1 2 63 64 69 75 76 124 125 126 127 128 129 143 254 255; do
    try "$RLOCK" -k "$K" -- sh -c "exit $n"
    is "$status" "$n"
    is "$output" ''
    no_key
  done
}

@test "all 256 statuses pass, in parallel" {
  seq 0 255 | xargs -P 8 -I N sh -c \
    '"$RLOCK" -k "$K.N" -- sh -c "exit N"; s=$?; [ $s = N ] || echo N: $s' >"$T/bad"
  is "$(cat "$T/bad")" ''
  is "$(r --raw keys "$L.*")" ''
}

# How it ended, as wait(2) says: "SIGNAL CORE STATUS".
waited() {
  # perl itself ignores FPE, and INT and QUIT while it waits.
  perl -e 'system @ARGV; printf "%d %d %d\n", $? & 127, $? & 128, $? >> 8' \
    env --default-signal "$@"
}

@test "rlock dies of the signal that the command died of, without a core" {
  local s n
  cd "$T"
  ulimit -c unlimited 2>/dev/null || true
  for s in HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM \
    TERM XCPU XFSZ VTALRM PROF IO SYS RTMIN RTMIN+1 RTMAX; do
    n=$(kill -l "$s")
    try waited "$RLOCK" -k "$K" -- dash -c "kill -$n \$\$"
    is "$s: ${lines[-1]}" "$s: $n 0 0"
    no_key
  done
}

@test "it dies of that signal though the caller has it ignored or blocked" {
  local how
  for how in --ignore-signal=TERM --block-signal=TERM '--ignore-signal --block-signal'; do
    # shellcheck disable=SC2086
    run perl -e 'system @ARGV; printf "%d\n", $? & 127' env $how "$RLOCK" -k "$K" -- \
      perl -MPOSIX -e '$SIG{TERM} = "DEFAULT"; sigprocmask(SIG_SETMASK, POSIX::SigSet->new); kill TERM => $$; sleep 9'
    is "$how $output" "$how 15"
  done
}

@test "the shell sees 128 and the number" {
  local s
  for s in HUP INT KILL SEGV PIPE TERM; do
    try env --default-signal "$RLOCK" -k "$K" -- sh -c "kill -$s \$\$"
    is "$status" $((128 + $(kill -l "$s")))
  done
}

@test "a command that ends in a broken pipe dies of PIPE" {
  try env --default-signal "$RLOCK" -k "$K" -- bash -c \
    'yes | head -1; echo "${PIPESTATUS[0]}"'
  is "$output" $'y\n141'
}

# as_env STATUS COMMAND...: as env(1) ends, the lock free at once, one line.
as_env() {
  local want=$1
  shift
  try env "$@"
  is "env: $status" "env: $want"
  try "$RLOCK" -k "$K" -t 20 -- "$@"
  is "$status" "$want"
  is "${#lines[@]}" 1
  [[ $output == "rlock: $K: can't run $1: "* ]] || { echo "$output"; false; }
  no_key
  "$RLOCK" -n -k "$K" -- true
}

@test "a command that is not there: 127, the lock free at once" {
  as_env 127 /nonexistent
  as_env 127 no-such-command-anywhere a b
  as_env 127 ./relative/nothing
  as_env 127 ''
}

@test "an interpreter that is not there: 127" {
  printf '#!/nonexistent/interpreter\n' >"$T/script"
  chmod 755 "$T/script"
  as_env 127 "$T/script"
}

@test "a command that can't be executed: 126, the lock free at once" {
  echo 'exit 0' >"$T/plain"
  printf '\177ELF nonsense\n' >"$T/broken"
  ln -s loop "$T/loop"
  chmod 644 "$T/plain"
  as_env 126 "$T/plain"
  as_env 126 /etc
  as_env 126 /etc/passwd/x
  as_env 126 "$T/loop"
}

@test "a text without an interpreter line is run by the shell, as env does" {
  echo 'exit 9' >"$T/plain"
  chmod 755 "$T/plain"
  try env "$T/plain"
  is "$status" 9
  try "$RLOCK" -k "$K" -- "$T/plain"
  is "$status" 9
}

@test "in the PATH: not executable in the first folder, found in the next" {
  mkdir "$T/a" "$T/b"
  echo 'exit 1' >"$T/a/cmd"
  printf '#!/bin/sh\nexit 8\n' >"$T/b/cmd"
  chmod 755 "$T/b/cmd"
  try env PATH="$T/a:$T/b" "$RLOCK" -k "$K" -- cmd
  is "$status" 8
  try env PATH="$T/a" "$RLOCK" -k "$K" -- cmd
  is "$status" 126
  no_key
}

@test "a command that fails to start wakes who waits" {
  hold
  bg "$RLOCK" -k "$K" -- /nonexistent
  local first=$PID
  wait_waiters 1
  bg "$RLOCK" -k "$K" -t 30 -- touch "$T/ran"
  local second=$PID
  wait_waiters 2
  let_go
  ended "$first"
  is "$status" 127
  ended "$second" 2
  is "$status" 0
  [ -e "$T/ran" ]
}
