#!/usr/bin/env bats
# Signals, groups, environment, folder, umask: as the caller has them.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2153

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { rlock_setup; }
teardown() { rlock_teardown; }

# same_signals LAUNCHER...: /proc/self/status of a command started by it, with
# rlock between and without.
same_signals() {
  "$@" grep -E '^(Sig(Pnd|Blk|Ign|Cgt)|ShdPnd)' /proc/self/status >"$T/want"
  "$@" "$RLOCK" -v -k "$K" -- grep -E '^(Sig(Pnd|Blk|Ign|Cgt)|ShdPnd)' /proc/self/status >"$T/got" 2>/dev/null
  diff "$T/want" "$T/got"
  no_key
}

@test "the signal mask and the ignored signals are the caller's" {
  same_signals env --default-signal
  same_signals env --ignore-signal=HUP
  same_signals env --ignore-signal=PIPE
  same_signals env --ignore-signal=INT,QUIT,TSTP,TTIN,TTOU
  same_signals env --ignore-signal=CHLD
  same_signals env --ignore-signal=ALRM,USR1
  same_signals env --block-signal=ALRM
  same_signals env --block-signal=CHLD
  same_signals env --block-signal=TERM,INT,HUP,USR2
  same_signals env --block-signal
  # The sanitizers handle SEGV and its like by themselves.
  [[ ${RLOCK_SANITIZE:-} ]] || same_signals env --ignore-signal
}

@test "after a wait as well" {
  env --ignore-signal=HUP,CHLD,USR1 --block-signal=ALRM,TERM \
    grep '^Sig[BI]' /proc/self/status >"$T/want"
  hold
  bg env --ignore-signal=HUP,CHLD,USR1 --block-signal=ALRM,TERM "$RLOCK" -k "$K" \
    -- cp /proc/self/status "$T/status"
  local waiter=$PID
  wait_waiters 1
  let_go
  ended "$waiter"
  is "$status" 0
  grep '^Sig[BI]' "$T/status" | diff "$T/want" -
}

@test "SIGCHLD ignored or blocked by the caller does not matter" {
  local how
  for how in --ignore-signal=CHLD --block-signal=CHLD --block-signal=ALRM --block-signal --ignore-signal; do
    try env "$how" "$RLOCK" -t 0.3 -k "$K" --report "$T/report" -- sh -c 'sleep 0.5; exit 5'
    is "$how $status $output" "$how 5 "
    (($(fact "$T/report" renewals) >= 2))
    no_key
  done
}

@test "a nohup'ed HUP reaches neither rlock nor the command" {
  rm -f "$T/hold.pid"
  bg env --ignore-signal=HUP "$RLOCK" -t 0.3 -k "$K" -- sh -c "$SH_HOLD" "$T/hold.pid"
  HOLDER=$PID
  CMD=$(wait_pidfile "$T/hold.pid")
  kill -HUP "$HOLDER"
  pass_ms 150
  alive "$HOLDER"
  alive "$CMD"
  let_go
  is "$status" 143
}

@test "a nohup'ed waiter outlives a HUP" {
  hold
  bg env --ignore-signal=HUP "$RLOCK" -k "$K" -- touch "$T/ran"
  local waiter=$PID
  wait_waiters 1
  kill -HUP "$waiter"
  let_go
  ended "$waiter"
  is "$status" 0
  [ -e "$T/ran" ]
}

@test "with every signal blocked by the caller TERM still ends the run" {
  rm -f "$T/hold.pid"
  bg env --block-signal "$RLOCK" --kill-after 0.1 -k "$K" -- sh -c "$SH_HOLD" "$T/hold.pid"
  HOLDER=$PID
  CMD=$(wait_pidfile "$T/hold.pid")
  let_go
  is "$status" 137
  not alive "$CMD"
  no_key
}

@test "the command leads a process group of its own, in rlock's session" {
  hold
  is "$(ps -o pgid= -p "$CMD" | tr -d ' ')" "$CMD"
  is "$(ps -o sid= -p "$CMD")" "$(ps -o sid= -p "$HOLDER")"
  is "$(ps -o ppid= -p "$CMD" | tr -d ' ')" "$HOLDER"
}

@test "a session leader, a group leader, and neither" {
  try setsid -w "$RLOCK" -k "$K" -- sh -c 'exit 5'
  is "$status $output" '5 '
  try bash -c 'set -m; "$@" & wait $! 2>/dev/null' - "$RLOCK" -k "$K" -- sh -c 'exit 6'
  is "$status" 6
  try bash -c '"$@" & wait $!' - "$RLOCK" -k "$K" -- sh -c 'exit 7'
  is "$status $output" '7 '
}

@test "the command finds the key and its tokens" {
  RLOCK_TOKENS='rlock:1:one rlock:1:two' RLOCK_TOKEN=old RLOCK_KEY=old \
    "$RLOCK" -k "$K" -- sh -c 'printf "%s\n" "$RLOCK_KEY" "$RLOCK_TOKEN" "$RLOCK_TOKENS"
    "$REDIS_CLI" -s "$REDIS_SOCK" get "$L"' >"$T/got"
  mapfile -t lines <"$T/got"
  is "${lines[0]}" "$K"
  [[ ${lines[1]} =~ ^rlock:1:[0-9a-f]{32}: ]]
  is "${lines[2]}" "rlock:1:one rlock:1:two ${lines[1]}"
  is "${lines[3]}" "${lines[1]}"
}

@test "inherited variables of another run are overwritten or removed, once each" {
  env RLOCK_KEY=a RLOCK_TOKEN=b RLOCK_SLOT=3 RLOCK_FENCE=4 RLOCK_SHARD=5 \
    RLOCK_TOKENS='' RLOCK_OTHER=6 "$RLOCK" -k "$K" -- env >"$T/got"
  is "$(grep -c '^RLOCK_\(SLOT\|FENCE\|SHARD\)=' "$T/got" || true)" 0
  is "$(grep -c '^RLOCK_KEY=' "$T/got")" 1
  is "$(grep -c '^RLOCK_TOKEN=' "$T/got")" 1
  is "$(grep -c '^RLOCK_TOKENS=rlock:1:[0-9a-f]*:[^ ]*$' "$T/got")" 1
  grep -qx RLOCK_OTHER=6 "$T/got"
  grep -qxF "RLOCK_URL=$RLOCK_URL" "$T/got"
}

@test "-u and --password-file make no variables" {
  echo pw >"$T/pw"
  env -u RLOCK_URL "$RLOCK" -u "unix://$REDIS_SOCK?db=3" -k "$K" -- env >"$T/got"
  is "$(grep -c '^RLOCK_URL\|^REDISCLI_AUTH' "$T/got" || true)" 0
}

@test "everything else of the environment passes" {
  env -i PATH="$PATH" A='b c' EMPTY= "RLOCK_URL=$RLOCK_URL" "$RLOCK" -k "$K" -- env >"$T/got"
  grep -v '^RLOCK_\(KEY\|TOKENS*\)=' "$T/got" | sort >"$T/rest"
  printf '%s\n' "PATH=$PATH" 'A=b c' EMPTY= "RLOCK_URL=$RLOCK_URL" | sort | diff - "$T/rest"
}

@test "cron's environment" {
  try env -i PATH=/usr/bin:/bin SHELL=/bin/sh setsid -w \
    "$RLOCK" -u "$RLOCK_URL" -k "$K" -- sh -c 'echo ok' </dev/null
  is "$status $output" '0 ok'
}

@test "no environment at all" {
  try env -i "$RLOCK" -u "$RLOCK_URL" -k "$K" -- /bin/echo ok
  is "$status $output" '0 ok'
  try env -i "$RLOCK" -u "$RLOCK_URL" -k "$K" -- echo ok # the system's own PATH
  is "$status $output" '0 ok'
}

@test "a user that nobody knows, without a home" {
  needs_root
  chmod 755 "$REDIS_DIR"
  chmod 777 "$REDIS_SOCK"
  cp "$RLOCK" "$REDIS_DIR/rlock-$K"
  try env -i PATH=/usr/bin:/bin setpriv --reuid=1234567 --regid=1234567 --clear-groups \
    "$REDIS_DIR/rlock-$K" -v -u "$RLOCK_URL" -k "$K" -- sh -c 'id -u; echo "$RLOCK_TOKEN"'
  is "$status" 0
  [[ $output == *1234567* ]]
  [[ $output =~ rlock:1:[0-9a-f]{32}:[^:]*:1234567: ]] || { echo "$output"; false; }
}

@test "the working folder, removed or not, and the umask" {
  mkdir "$T/gone"
  cd "$T/gone"
  is "$("$RLOCK" -k "$K" -- pwd)" "$T/gone"
  rmdir "$T/gone"
  try "$RLOCK" -k "$K" -- echo ok
  is "$status $output" '0 ok'
  cd /
  is "$(umask 077 && "$RLOCK" -k "$K" -- sh -c umask)" 0077
}

@test "limits and niceness pass" {
  is "$(prlimit --nofile=77 --core=0 nice -n 3 "$RLOCK" -k "$K" -- \
    sh -c 'ulimit -n; ulimit -c; nice')" $'77\n0\n'"$(($(nice) + 3))"
}
