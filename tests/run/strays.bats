#!/usr/bin/env bats
# What leaves the command's group, but not its session, ends with the command;
# and nothing else does.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2089,SC2090,SC2153

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }

setup() {
  rlock_setup
  # A leaf of the tree of processes: a sleep that has said its pid.
  export LEAF='echo $$ >>"$T/pids"; exec sleep 40'
  # The command: leaves in its own group and, by several ways, in others.
  export TREE='
    timeout 60 sh -c "$LEAF" &
    bash -c "set -m; sh -c \"\$LEAF\" & sh -c \"\$LEAF\" & wait" &
    perl -e "for (1 .. 3) { fork and next; setpgrp 0, 0; exec qw(sh -c), \$ENV{LEAF} }
      1 while wait > 0" &
    "$RLOCK" -k "$K.in" -- sh -c "$LEAF" &
    (sh -c "$LEAF" &)
    bash -c "set -m; (sh -c \"\$LEAF\" &); exit" &
    setsid sh -c "echo \$\$ >\"\$T/daemon\"; exec sleep 40" &
    echo $$ >"$T/cmd.pid"
    wait; wait; wait; wait; wait'
  LEAVES=9
}

teardown() {
  local pid
  redis_thaw
  rlock_teardown
  cat "$T/pids" "$T/daemon" 2>/dev/null | while read -r pid; do
    kill -KILL "$pid" 2>/dev/null || true
  done
}

# tree [RLOCK OPTIONS...]: start it; returns when all of it is there.
tree() {
  bg "$RLOCK" -k "$K" "$@" -- sh -c "$TREE"
  HOLDER=$PID
  CMD=$(wait_pidfile "$T/cmd.pid")
  DAEMON=$(wait_pidfile "$T/daemon")
  wait_until 10 all_there "$LEAVES"
}

all_there() { [[ $(lines "$T/pids") == "$1" ]]; }

boot_ms() { perl -MTime::HiRes=clock_gettime -e 'printf "%d\n", clock_gettime(7) * 1000'; }

# none_left: no leaf runs any more.
none_left() {
  local pid
  while read -r pid; do
    _wait_ended "$pid" || return 1
  done <"$T/pids"
}

# locked_to_the_end SECONDS: until there is no lock; by then none is left.
locked_to_the_end() {
  until [[ $(r exists "$L") == 0 ]]; do
    ((SECONDS < $1)) || return 1
  done
  none_left
}

@test "TERM: after --kill-after all of it is gone, and only then the lock" {
  tree -t 20 --kill-after 0.5
  kill -TERM "$HOLDER"
  locked_to_the_end $((SECONDS + 10))
  ended "$HOLDER"
  is "$status" 143
  alive "$DAEMON"
  wait_no_key "$L.in"
}

@test "TERM ignored by all of it: the same" {
  bg "$RLOCK" -k "$K" -t 20 --kill-after 0.4 -- env --ignore-signal=TERM sh -c "$TREE"
  HOLDER=$PID
  DAEMON=$(wait_pidfile "$T/daemon")
  wait_until 10 all_there "$LEAVES"
  kill -TERM "$HOLDER"
  locked_to_the_end $((SECONDS + 10))
  ended "$HOLDER"
  is "$status" 137
  alive "$DAEMON"
}

@test "a second TERM: all of it is gone at once" {
  tree -t 20 --kill-after 30
  kill -TERM "$HOLDER"
  pass_ms 300
  not none_left
  is_key
  kill -TERM "$HOLDER"
  ended "$HOLDER" 3
  none_left
  no_key
  alive "$DAEMON"
}

@test "loss: all of it is gone" {
  tree -t 1.5 --kill-after 0.3
  r del "$L" >/dev/null
  ended "$HOLDER" 4
  is "$status" 76
  none_left
  alive "$DAEMON"
}

@test "doubt: all of it is gone before the lease ends" {
  local from left
  export LEAF='echo $$ >>"$T/pids"; exec "$RLOCK_PROGS/stamp" "$T/log" beat 5 ignore'
  tree -t 3
  left=$(r pttl "$L")
  from=$(boot_ms) # the lease ends at from + left, or before
  redis_freeze
  ended "$HOLDER" 5
  none_left
  redis_thaw
  is "$status" 76
  (($(sort -k2n "$T/log" | tail -n 1 | cut -d' ' -f2) / 1000 < from + left))
  alive "$DAEMON"
}

@test "--max-run: 124, and all of it is gone" {
  tree -t 20 --max-run 2 --kill-after 0.3
  ended "$HOLDER" 10
  is "$status" 124
  none_left
  no_key
  alive "$DAEMON"
}

@test "--on-lost pause, lost: all of it is gone" {
  tree -t 1.5 --on-lost pause --kill-after 0.5
  r set "$L" another >/dev/null
  ended "$HOLDER" 6
  is "$status" 76
  none_left
}

@test "KILL of rlock: within a second all of it is gone" {
  tree -t 5
  kill -KILL "$HOLDER"
  wait_until 1 none_left
  alive "$DAEMON"
}

@test "rlock stopped beyond the lease: all of it is gone before its end" {
  tree -t 3
  kill -STOP "$HOLDER"
  wait_stopped "$HOLDER"
  wait_no_key "$L" 5
  none_left
  alive "$DAEMON"
  kill -CONT "$HOLDER"
  ended "$HOLDER"
  is "$status" 76
}

# Without RLOCK_TOKENS, and in a group of its own, only its parents tell.
BARE='
  bash -c "set -m; env -i T=\"\$T\" sh -c \"\$LEAF\" & wait" &
  env -i T="$T" PATH="$PATH" timeout 60 sh -c "$LEAF" &
  wait; wait'
BARE_BELOW='bash -c "set -m; env -i T=\"\$T\" sh -c \"\$LEAF\" & wait"; exit'

@test "without a mark in the environment: gone by TERM" {
  bg "$RLOCK" -k "$K" --kill-after 0.3 -- sh -c "$BARE"
  local rlock=$PID
  wait_until 10 all_there 2
  kill -TERM "$rlock"
  ended "$rlock"
  none_left
}

@test "without a mark in the environment: gone by KILL of rlock" {
  bg "$RLOCK" -k "$K" -- sh -c "$BARE_BELOW"
  local rlock=$PID
  wait_until 10 all_there 1
  kill -KILL "$rlock"
  wait_until 1 none_left
}

# A stray that is a new process, in a new group, every few milliseconds; and
# writes a byte each time.
RUNNER='
  open my $f, ">>", "$ENV{T}/runs";
  my $end = time + 15;
  while (time < $end) {
    syswrite $f, "."; fork and exit; setpgrp 0, 0 if @ARGV; select undef, undef, undef, 0.002 }'

runs() { stat -c %s "$T/runs"; }
more_runs() { (($(runs) > $1)); }
running() { wait_until 5 test -s "$T/runs" && wait_until 5 more_runs "$(($(runs) + 5))"; }
caught() {
  local n
  n=$(runs)
  pass_ms 100
  is "$(runs)" "$n"
}

@test "one that forks and exits all the time is caught by TERM" {
  export RUNNER
  bg "$RLOCK" -k "$K" --kill-after 0.2 -- sh -c 'perl -e "$RUNNER" away & sleep 40'
  local rlock=$PID
  running
  kill -TERM "$rlock"
  ended "$rlock" 8
  caught
  no_key
}

@test "one that forks and exits all the time is caught at KILL of rlock" {
  export RUNNER
  bg "$RLOCK" -k "$K" -- sh -c 'perl -e "$RUNNER" away & sleep 40'
  local rlock=$PID
  running
  kill -KILL "$rlock"
  wait_until 1 caught
}

@test "one that forks all the time in the group is caught at KILL of rlock" {
  export RUNNER
  bg "$RLOCK" -k "$K" -- sh -c 'perl -e "$RUNNER" & sleep 40'
  local rlock=$PID
  running
  kill -KILL "$rlock"
  wait_until 1 caught
}

# --- who is spared ----------------------------------------------------------------

@test "others of the session are spared: by TERM, loss, and KILL of rlock" {
  local bystander
  bg sleep 40
  bystander=$PID
  hold --kill-after 0.1
  kill -TERM "$HOLDER"
  ended "$HOLDER"
  hold -t 0.6
  r del "$L" >/dev/null
  ended "$HOLDER"
  hold -t 0.6
  kill -KILL "$HOLDER"
  wait_gone "$CMD" 1
  alive "$bystander"
  ended "$HOLDER"
}

@test "a child that rlock was started with is spared, and delays nothing" {
  local elder how
  for how in TERM loss max-run KILL; do
    rm -f "$T/hold.pid" "$T/elder"
    r del "$L" >/dev/null
    bg bash -c 'set -m; sleep 40 & echo $! >"$T/elder"; set +m; exec "$@"' - \
      "$RLOCK" -t 2 --kill-after 0.2 --max-run "$([[ $how == max-run ]] && echo 0.5 || echo 0)" \
      -k "$K" -- sh -c "$SH_HOLD" "$T/hold.pid"
    HOLDER=$PID
    elder=$(wait_pidfile "$T/elder")
    echo "$elder" >>"$T/pids"
    CMD=$(wait_pidfile "$T/hold.pid")
    case $how in
    TERM) kill -TERM "$HOLDER" ;;
    loss) r del "$L" >/dev/null ;;
    KILL) kill -KILL "$HOLDER" ;;
    esac
    ended "$HOLDER" 3
    wait_gone "$CMD" 1
    alive "$elder" || { echo "$how: not spared"; false; }
  done
}

@test "at a normal end strays are spared as the group is" {
  try "$RLOCK" -k "$K" -- bash -c 'set -m; sh -c "$LEAF" >/dev/null 2>&1 3>&- &
    until [ -s "$T/pids" ]; do sleep 0.01; done; exit 3'
  is "$status" 3
  not none_left
  no_key
}

# --- without /proc ----------------------------------------------------------------

without_proc() {
  unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' - "$@"
}

@test "/proc not mounted: the group is all, and delays the end" {
  [[ ${RLOCK_SANITIZE:-} ]] && skip 'the sanitizers need /proc'
  without_proc true 2>/dev/null || skip 'no mount namespaces here'
  bg unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' - \
    "$RLOCK" -k "$K" --kill-after 1.2 -- sh -c '
    sh -c "$LEAF" & env --ignore-signal=TERM sh -c "$LEAF" & echo $$ >"$T/cmd.pid"; wait; wait'
  local rlock=$PID
  wait_until 10 all_there 2
  kill -TERM "$rlock"
  pass_ms 150
  is_key
  not none_left
  ended "$rlock" 5
  is "$status" 143
  none_left
  no_key
}

@test "/proc not mounted: loss, KILL of rlock, a plain run" {
  [[ ${RLOCK_SANITIZE:-} ]] && skip 'the sanitizers need /proc'
  without_proc true 2>/dev/null || skip 'no mount namespaces here'
  try without_proc "$RLOCK" -k "$K" -- sh -c 'exit 4'
  is "$status $output" '4 '
  bg unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' - \
    "$RLOCK" -k "$K" -t 1 -- sh -c 'sh -c "$LEAF" & sh -c "$LEAF"; wait'
  wait_until 10 all_there 2
  r del "$L" >/dev/null
  ended "$PID" 3
  is "$status" 76
  none_left
  rm "$T/pids"
  bg unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' - \
    "$RLOCK" -k "$K" -t 1 -- sh -c 'sh -c "$LEAF" & sh -c "$LEAF"; wait'
  wait_until 10 all_there 2
  kill -KILL "$PID"
  wait_until 1 none_left
}
