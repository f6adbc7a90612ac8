#!/usr/bin/env bats
# What a run costs rlock itself, in figures that no other load of the machine
# moves: instructions and system calls.  What is sent is in cost.bats; times are
# in `make bench`.
# The environment is empty but for what counts: its length is in the figures.

load ../lib/net

setup_file() { redis_start --tcp; }
teardown_file() { redis_stop; }
setup() {
  net_setup
  AT=127.0.0.1:$REDIS_PORT
  unset MALLOC_PERTURB_ MALLOC_CHECK_
}
teardown() { net_teardown; }

# bare COMMAND...: with as little environment as it runs with.
bare() { env -i PATH=/usr/bin:/bin LC_ALL=C "$@"; }

# instructions URL: of a run of true, without those of its children.
instructions() {
  # The guard is killed before it could write a file of its own.
  bare valgrind --tool=callgrind --callgrind-out-file="$T/callgrind" \
    "$RLOCK" -u "$1" -k "$K" -- /bin/true >"$T/out" 2>"$T/err" || return 1
  awk '/^(summary|totals):/ { print $2; exit }' "$T/callgrind"
}

# system_calls URL: the same; those of the guard and the command are not
# followed.
system_calls() {
  bare strace -qq -o "$T/strace" "$RLOCK" -u "$1" -k "$K" -- /bin/true || return 1
  grep -cE '^[a-z0-9_]+\(' "$T/strace"
}

@test "an uncontended run takes rlock at most 350,000 instructions" {
  [[ ${RLOCK_SANITIZE:-} ]] && skip 'the sanitizers would be in the figure'
  local url n
  for url in "unix://$REDIS_SOCK" "redis://$AT"; do
    n=$(instructions "$url")
    echo "# ${url%%:*}: $n instructions" >&3
    within 50000 "$n" 350000
  done
  no_trace
}

@test "an uncontended run takes rlock at most 90 system calls" {
  [[ ${RLOCK_SANITIZE:-} ]] && skip 'the sanitizers would be in the figure'
  local url n
  for url in "unix://$REDIS_SOCK" "redis://$AT"; do
    n=$(system_calls "$url")
    echo "# ${url%%:*}: $n system calls" >&3
    within 30 "$n" 90 || { cat "$T/strace"; false; }
  done
  no_trace
}
