#!/usr/bin/env bats
# A lock of five independent servers, held by a majority.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2153

load ../lib/rlock
load ../lib/quorum

setup_file() { quorum_start 5; }
teardown_file() { quorum_stop; }
setup() { rlock_setup; }
teardown() {
  local i
  each redis_thaw
  for i in 1 2 3 4 5; do on "$i" _redis_up || on "$i" redis_up; done
  rlock_teardown
  each r flushall >/dev/null
}

_holders() { [[ $(holders) == "$1" ]]; }

# held_by COUNT: wait until so many servers have the key.
held_by() { wait_until 10 _holders "$1"; }

@test "taken on all, released on all, the status passed through" {
  try "$RLOCK" -k "$K" -- sh -c 'exit 7'
  is "$status" 7
  is "$output" ''
  hold
  held_by 5
  is "$(each r get "$L" | sort -u | wc -l)" 1
  let_go
  is "$(holders)" 0
}

@test "RLOCK_URL with blanks and -u more than once name the servers" {
  try env -u RLOCK_URL "$RLOCK" -u "$(url 1)" -u "$(url 2)" -u "$(url 3)" -k "$K" -- true
  is "$status" 0
  # An option wins over the environment.
  env -u RLOCK_URL RLOCK_URL="$(url 4) $(url 5)" "$RLOCK" -u "$(url 1)" -u "$(url 2)" -u "$(url 3)" \
    -k "$K" -- sh -c "$SH_HOLD" "$T/hold.pid" 3>&- &
  STARTED+=($!)
  wait_pidfile "$T/hold.pid" >/dev/null
  held_by 3
}

@test "held: -n ends with 75, -w in time, -r after so many more tries" {
  local from
  hold
  try "$RLOCK" -v -k "$K" -n -- touch "$T/ran"
  is "$status" 75
  [[ $output == *"busy: held by "*"pid $HOLDER,"* ]]
  from=$(now_ms)
  try "$RLOCK" -k "$K" -w 300ms -- touch "$T/ran"
  is "$status" 75
  between 280 $(($(now_ms) - from)) 3000
  try "$RLOCK" -k "$K" -r 2 --report "$T/report" -- touch "$T/ran"
  is "$status" 75
  is "$(fact "$T/report" retries)" 2
  [[ ! -e $T/ran ]]
  is "$(each r get "$L" | sort -u | wc -l)" 1
}

@test "who waits polls, and gets it when it is released" {
  hold
  bg "$RLOCK" -v -k "$K" -w 30 -- true 2>"$T/err"
  wait_line "$T/err" 'waiting: held by'
  let_go
  ended "$PID"
  is "$status" 0
  is "$(holders)" 0
}

@test "a signal ends the wait; nothing is left" {
  hold
  bg "$RLOCK" -v -k "$K" -- touch "$T/ran" 2>"$T/err"
  wait_line "$T/err" 'waiting: held by'
  kill -TERM "$PID"
  ended "$PID" 2
  is "$status" 143
  let_go
  is "$(holders)" 0
}

@test "ten contenders: never two at once, and all get it" {
  local i
  for i in 1 2 3 4 5 6 7 8 9 10; do
    bg "$RLOCK" -k "$K" -w 60 --retry-delay 5ms --retry-max 50ms -- sh -c 'mkdir "$T/inside" || echo overlap >>"$T/bad"
      echo ran >>"$T/log"; rmdir "$T/inside"'
  done
  for i in "${STARTED[@]}"; do
    ended "$i" 60
    is "$status" 0
  done
  is "$(lines "$T/log")" 10
  [[ ! -e $T/bad ]]
  is "$(holders)" 0
}

@test "one dead, one frozen: the others decide, and nobody waits for them" {
  local from
  on 1 redis_down
  on 2 redis_freeze
  from=$(now_ms)
  try "$RLOCK" -k "$K" -t 20 -- true
  is "$status" 0
  # Their time limit is a second.
  between 0 $(($(now_ms) - from)) 900
  on 2 redis_thaw
  # What the frozen one took later was given back behind it.
  wait_until 10 _holders_but_1
}

_holders_but_1() {
  local i
  for i in 2 3 4 5; do [[ $(on "$i" r exists "$L") == 0 ]] || return 1; done
}

@test "three frozen: no quorum, 69, nothing is left behind" {
  on 1 redis_freeze
  on 2 redis_freeze
  on 3 redis_freeze
  try "$RLOCK" -k "$K" -t 2 --connect-timeout 500ms -- touch "$T/ran"
  is "$status" 69
  [[ $output == *'no quorum: 2 of 5 servers'* && ! -e $T/ran ]]
  try "$RLOCK" -k "$K" -t 2 -n -- touch "$T/ran"
  is "$status" 69
  each redis_thaw
  held_by 0
}

@test "a minority that is held is no reason to be busy, a majority is" {
  local i
  for i in 1 2; do on "$i" r set "$L" other px 60000 >/dev/null; done
  try "$RLOCK" -k "$K" -n -- true
  is "$status" 0
  is "$(holders)" 2
  on 3 r set "$L" other px 60000 >/dev/null
  try "$RLOCK" -k "$K" -n -- touch "$T/ran"
  is "$status" 75
  # What the others had granted is given back.
  is "$(holders)" 3
}

@test "votes that are split are given back, so that somebody gets it" {
  on 1 r set "$L" one px 60000 >/dev/null
  on 2 r set "$L" one px 60000 >/dev/null
  on 3 r set "$L" two px 1000 >/dev/null
  try "$RLOCK" -k "$K" -w 30 -- true
  is "$status" 0
  is "$(holders)" 2
}

@test "renewed by a majority while two are away; they get the key again" {
  hold -t 1
  held_by 5
  on 1 redis_down
  on 2 redis_freeze
  pass_ms 1500
  alive "$CMD"
  on 1 redis_up
  on 2 redis_thaw
  held_by 5
  let_go
  is "$status" 143
  is "$(holders)" 0
}

@test "a server restarted empty is given the key again" {
  hold -t 1
  held_by 5
  on 3 redis_restart
  held_by 5
  let_go
  is "$(holders)" 0
}

@test "the key deleted on three: lost, 76, and never taken again" {
  bg "$RLOCK" -k "$K" -t 1 -- sh -c "$SH_HOLD" "$T/hold.pid" 2>"$T/err"
  wait_pidfile "$T/hold.pid" >/dev/null
  held_by 5
  for i in 1 2 3; do on "$i" r del "$L" >/dev/null; done
  ended "$PID" 5
  is "$status" 76
  grep -q "^rlock: $K: lock lost: " "$T/err"
  for i in 1 2 3; do is "$(on "$i" r exists "$L")" 0; done
}

@test "three taken by somebody else: lost, 76; theirs is not touched" {
  local i
  bg "$RLOCK" -k "$K" -t 1 -- sh -c "$SH_HOLD" "$T/hold.pid" 2>"$T/err"
  wait_pidfile "$T/hold.pid" >/dev/null
  held_by 5
  for i in 1 2 3; do on "$i" r set "$L" other px 60000 >/dev/null; done
  ended "$PID" 5
  is "$status" 76
  grep -q 'another program (other)' "$T/err"
  for i in 1 2 3; do is "$(on "$i" r get "$L")" other; done
}

@test "three frozen while it is held: stopped in time, 76" {
  local from
  bg "$RLOCK" -k "$K" -t 1 -- sh -c "$SH_HOLD" "$T/hold.pid" 2>"$T/err"
  CMD=$(wait_pidfile "$T/hold.pid")
  held_by 5
  from=$(now_ms)
  for i in 1 2 3; do on "$i" redis_freeze; done
  ended "$PID" 5
  is "$status" 76
  between 300 $(($(now_ms) - from)) 1200
  grep -q 'lock in doubt' "$T/err"
  not alive "$CMD"
}

@test "three frozen for less than the lease: it goes on" {
  hold -t 3
  held_by 5
  for i in 1 2 3; do on "$i" redis_freeze; done
  pass_ms 1200
  each redis_thaw
  pass_ms 2500
  alive "$CMD"
  let_go
  is "$status" 143
  held_by 0
}

@test "frozen at the release: the command's status; the others are free" {
  hold -t 2
  held_by 5
  on 5 redis_freeze
  let_go
  is "$status" 143
  on 5 redis_thaw
  held_by 0
}

@test "rlock killed: the command ends, and the lock with its lease" {
  hold -t 1
  held_by 5
  kill -KILL "$HOLDER"
  wait_gone "$CMD" 2
  try "$RLOCK" -k "$K" -w 10 -- true
  is "$status" 0
}

@test "nested runs, and a signal to them" {
  "$RLOCK" -k "$K" -- "$RLOCK" -k "$K" -n -- "$RLOCK" -k "$K" -n -- true
  is "$(holders)" 0
  "$RLOCK" -k "$K" -t 1 -- sh -c '"$RLOCK" -k "$K" -t 1 -- sh -c "$SH_HOLD" "$T/in.pid" >/dev/null 2>&1 3>&- &
    echo $! >"$T/rlock"; while [ ! -s "$T/in.pid" ]; do :; done'
  STARTED+=("$(cat "$T/rlock")")
  pass_ms 1500
  try "$RLOCK" -k "$K" -n -- true
  is "$status" 75
  kill -TERM "$(cat "$T/rlock")"
  wait_gone "$(cat "$T/rlock")"
  held_by 0
}

@test "--min-hold" {
  "$RLOCK" -k "$K" --min-hold 1h -- true
  is "$(holders)" 5
  try "$RLOCK" -k "$K" -n -- true
  is "$status" 75
  try "$RLOCK" --status "$K"
  [[ $output == *cooling* ]]
}

@test "--acquire, --renew, --release by a token" {
  local token
  token=$("$RLOCK" --acquire "$K" -t 20)
  is "$(holders)" 5
  on 1 r del "$L" >/dev/null
  try "$RLOCK" --renew "$K" --token "$token" -t 60
  is "$status" 0
  between 50000 "$(on 2 r pttl "$L")" 60000
  try "$RLOCK" --release "$K" --token "$token"
  is "$status" 0
  held_by 0
  try "$RLOCK" --release "$K" --token "$token"
  is "$status" 1
}

@test "--status says what a majority says; too few answers are 69" {
  local i
  try "$RLOCK" --status "$K"
  is "$status" 1
  hold
  try "$RLOCK" --status "$K"
  is "$status" 0
  [[ $output == *"pid $HOLDER,"* ]]
  for i in 4 5; do on "$i" redis_down; done
  try "$RLOCK" --status "$K"
  is "$status" 0
  let_go
  for i in 1 2; do on "$i" r set "$L" other px 60000 >/dev/null; done
  try "$RLOCK" --status "$K"
  is "$status" 1
  on 3 redis_down
  try "$RLOCK" --status "$K" --connect-timeout 300ms
  is "$status" 69
}

@test "--break ends it on all of them; its holder is told once" {
  bg "$RLOCK" -k "$K" -t 60 -- sh -c "$SH_HOLD" "$T/hold.pid" 2>"$T/err"
  wait_pidfile "$T/hold.pid" >/dev/null
  held_by 5
  try "$RLOCK" --break "$K"
  is "$status" 0
  is "${#lines[@]}" 1
  [[ $output == *"broken: it was held by "*"pid $PID,"* ]]
  ended "$PID" 5
  is "$status" 76
  is "$(holders)" 0
  try "$RLOCK" --break "$K"
  is "$status" 1
}

@test "the same server by two names, or too few real ones: 78" {
  ln -s "${QUORUM##* }/sock" "$T/twin"
  ln -s "${QUORUM##* }/sock" "$T/third"
  try "$RLOCK" -u "$(url 5)" -u "$T/twin" -u "$T/third" -k "$K" -- touch "$T/ran"
  is "$status" 78
  [[ $output == *'the same server as another one'* && ! -e $T/ran ]]
  held_by 0
}

@test "the vote of a server that is there twice does not count" {
  ln -s "${QUORUM##* }/sock" "$T/twin"
  # Two of three are one: with the other one frozen there is no majority.
  on 1 redis_freeze
  try "$RLOCK" -u "$(url 1)" -u "$(url 5)" -u "$T/twin" -k "$K" -t 2 -n -- touch "$T/ran"
  [[ $status == 78 || $status == 69 ]]
  [[ ! -e $T/ran ]]
}

@test "a replica of another one: its vote never counts" {
  on 2 r replicaof 127.0.0.1 1 >/dev/null
  on 3 r replicaof 127.0.0.1 1 >/dev/null
  try "$RLOCK" -u "$(url 1)" -u "$(url 2)" -u "$(url 3)" -k "$K" -n -- touch "$T/ran"
  on 2 r replicaof no one >/dev/null
  on 3 r replicaof no one >/dev/null
  is "$status" 78
  [[ $output == *READONLY* && ! -e $T/ran ]]
}

@test "one refuses us: the others are enough; three do: 77" {
  on 1 r config set requirepass secret >/dev/null
  try "$RLOCK" -k "$K" -n -- true
  is "$status" 0
  for i in 2 3; do on "$i" r config set requirepass secret >/dev/null; done
  try "$RLOCK" -k "$K" -n -- touch "$T/ran"
  for i in 1 2 3; do on "$i" r -a secret config set requirepass '' >/dev/null 2>&1; done
  is "$status" 77
  [[ ! -e $T/ran ]]
  held_by 0
}

@test "a wrong database on some: what was taken in the first one is undone" {
  try "$RLOCK" -u "$(url 1)?db=99" -u "$(url 2)?db=99" -u "$(url 3)" -k "$K" -n -- touch "$T/ran"
  is "$status" 78
  [[ ! -e $T/ran ]]
  held_by 0
}

@test "two servers: a line that says so; both are needed" {
  try "$RLOCK" -u "$(url 1)" -u "$(url 2)" -k "$K" -- true
  is "$status" 0
  [[ $output == *'two servers: both have to be there'* ]]
  on 1 redis_freeze
  try "$RLOCK" -q -u "$(url 1)" -u "$(url 2)" -k "$K" -t 2 -n -- touch "$T/ran"
  is "$status" 69
}

@test "what has no meaning over independent servers is a usage error" {
  local options
  for options in '-s -- true' '-j 2 -- true' '--fence -- true' '--once 5 -- true' '--replicas 1 -- true' '--list'; do
    # shellcheck disable=SC2086
    try "$RLOCK" ${options:+$( [[ $options == --list ]] || echo "-k $K")} $options
    is "$status" 64
    [[ $output == *'several servers'* ]]
  done
}

@test "no password of any URL is shown" {
  try "$RLOCK" -u "redis://:S3CRET1@127.0.0.1:1" -u "redis://:S3CRET2@127.0.0.1:2" \
    -u "redis://:S3CRET3@127.0.0.1:3" -k "$K" --connect-timeout 100ms -v -- true
  is "$status" 69
  [[ $output != *S3CRET* ]]
}

@test "--on-unreachable: no quorum is no server" {
  for i in 1 2 3; do on "$i" redis_down; done
  try "$RLOCK" -k "$K" --connect-timeout 200ms --on-unreachable run -- sh -c 'exit 3'
  is "$status" 3
  held_by_quiet
}

held_by_quiet() {
  local i
  for i in 4 5; do wait_until 10 on_gone "$i"; done
}
on_gone() { [[ $(on "$1" r exists "$L") == 0 ]]; }
