#!/usr/bin/env bats
# The server is frozen (SIGSTOP): its kernel takes connections and bytes, and
# nobody answers.  What is sent is carried out when it thaws (F16: nothing of
# an abandoned run may be left then).

load ../lib/net

setup_file() { redis_start --tcp; }
teardown_file() { redis_stop; }
setup() {
  net_setup
  TCP=redis://127.0.0.1:$REDIS_PORT
}
teardown() {
  redis_thaw
  net_teardown
}

# The server has carried out what was sent before.
settled() {
  redis_thaw
  # Whoever has gone has been read to the end and dropped.
  wait_until 10 _settled
}
_settled() { ! r client list | grep -q ' name=rlock'; }

@test "frozen before connecting: 69 after --connect-timeout, and nothing is left when it thaws" {
  local url
  for url in "$RLOCK_URL" "$TCP"; do
    redis_freeze
    timed rl -u "$url" --connect-timeout 0.6 -- touch "$T/ran"
    is 69 "$GOT"
    within 500 "$TOOK" 2000
    said err 'no answer'
    settled
    no_trace
  done
  [ ! -e "$T/ran" ]
}

@test "frozen before connecting: -n is one pass, -w DUR is DUR" {
  redis_freeze
  timed rl -n --connect-timeout 0.4 -- touch "$T/ran"
  is 69 "$GOT"
  within 300 "$TOOK" 1500
  timed rl -w 1 --connect-timeout 0.3 -- touch "$T/ran"
  is 69 "$GOT"
  within 900 "$TOOK" 2000
  timed rl -w 0.5 -- touch "$T/ran"
  is 69 "$GOT"
  within 400 "$TOOK" 1500
  settled
  no_trace
  [ ! -e "$T/ran" ]
}

@test "frozen before connecting, thawed in time: the command runs once, nothing is left" {
  redis_freeze
  begin a rl -w 20 --connect-timeout 0.3 -- sh -c "echo ran >>$T/ran"
  # Two tries at least have been abandoned then.
  let_pass 900
  redis_thaw
  status "$PID"
  is 0 "$GOT"
  is 1 "$(wc -l <"$T/ran")"
  settled
  no_trace
}

@test "acquire under way, the login answered: 69 after --connect-timeout, nothing is left" {
  # Writes wait, the login does not.
  r client pause 1500 write >/dev/null
  timed rl --connect-timeout 0.8 --command-timeout 0.3 -- touch "$T/ran"
  is 69 "$GOT"
  within 700 "$TOOK" 1450
  r client unpause >/dev/null
  settled
  no_trace
  [ ! -e "$T/ran" ]
}

@test "acquire under way, the login answered: --command-timeout bounds the answer" {
  r client pause 3000 write >/dev/null
  timed rl -n --connect-timeout 10 --command-timeout 0.2 -- touch "$T/ran"
  is 69 "$GOT"
  within 150 "$TOOK" 1500
  r client unpause >/dev/null
  settled
  no_trace
  [ ! -e "$T/ran" ]
}

@test "frozen while holding for longer than the TTL: the command is stopped before the lease ends, 76" {
  local from left
  begin a rl -t 1500ms -- "$RLOCK_PROGS/stamp" "$T/log" beat 2
  wait_file "$T/log"
  from=$(boot_ms)
  left=$(r pttl "$L")
  redis_freeze
  status "$PID"
  is 76 "$GOT"
  within $((from + left - 700)) "$(last_beat)" $((from + left - 1))
  said a.err 'in doubt'
  settled
  no_trace
}

@test "frozen while holding: a command that ignores TERM is killed before the lease ends, 76" {
  local from left
  begin a rl -t 1500ms -- "$RLOCK_PROGS/stamp" "$T/log" beat 2 ignore
  wait_file "$T/log"
  from=$(boot_ms)
  left=$(r pttl "$L")
  redis_freeze
  status "$PID"
  is 76 "$GOT"
  within $((from + left - 400)) "$(last_beat)" $((from + left - 1))
  settled
  no_trace
}
boot_ms() { # of this process's own making: a stamp
  rm -f "$T/now"
  "$RLOCK_PROGS/stamp" "$T/now" span - 0
  awk '{ printf "%d", $2 / 1000; exit }' "$T/now"
}
last_beat() { tail -n 1 "$T/log" | awk '{ printf "%d", $2 / 1000 + 1 }'; }

@test "frozen while holding for less than TTL/2: the lock is kept, the command's status" {
  local token
  hold a -t 3s
  token=$(token)
  for _ in 1 2; do
    redis_freeze
    let_pass 1300
    redis_thaw
    # A renewal has got through since.
    wait_until 3 _pttl_above 2500
  done
  is "$token" "$(token)"
  finish a 7
  status "$PID"
  is 7 "$GOT"
  is '' "$(cat "$T/a.err")"
  settled
  no_trace
}
_pttl_above() { (($(r pttl "$L") > $1)); }

@test "frozen at the release: the command's status, one line, within --command-timeout" {
  hold a -t 30 --command-timeout 0.7
  redis_freeze
  finish a 3
  status "$PID"
  is 3 "$GOT"
  within 0 "$TOOK" 2000
  is 1 "$(wc -l <"$T/a.err")"
  said a.err "rlock: $K: not released"
  settled
  no_trace
}

@test "frozen at the release: TERM ends it at once" {
  local from
  hold a -t 60 --command-timeout 30
  redis_freeze
  finish a 3
  wait_gone "$(cat "$T/a.pid")"
  kill -TERM "$PID_a"
  from=$(now_ms)
  status "$PID_a"
  within 0 $(($(now_ms) - from)) 900
  is 3 "$GOT"
  said a.err 'not released'
  settled
  no_trace
}

@test "frozen while waiting: TERM, INT, HUP end the wait at once; after the thaw no key and no entry is left" {
  local url signal want from pids=() n=0
  hold a -t 60
  for url in "$RLOCK_URL" "$TCP"; do
    for signal in TERM INT HUP TERM; do
      begin "w$((n += 1))" env --default-signal=INT "$RLOCK" -k "$K" -u "$url" -- touch "$T/ran"
      pids+=("$PID:$signal")
      queued "$n"
    done
  done
  redis_freeze
  for url in "${pids[@]}"; do
    signal=${url#*:}
    kill "-$signal" "${url%:*}"
    from=$(now_ms)
    status "${url%:*}"
    within 0 $(($(now_ms) - from)) 700
    case $signal in TERM) want=143 ;; INT) want=130 ;; HUP) want=129 ;; esac
    is "$want" "$GOT"
  done
  redis_thaw
  queued 0 3
  is 1 "$(r exists "$L")"
  finish a
  status "$PID_a"
  is 0 "$GOT"
  settled
  no_trace
  [ ! -e "$T/ran" ]
}

@test "frozen while waiting: the holder's lease ends meanwhile; TERM leaves no grant and no entry" {
  local n
  r set "$L" another px 700 >/dev/null
  for n in 1 2 3 4 5 6; do
    begin "w$n" rl -u "$TCP" -t 60 -- touch "$T/ran"
    queued "$n"
  done
  redis_freeze
  let_pass 1000
  for n in 1 2 3 4 5 6; do
    kill -TERM "${STARTED[n - 1]}"
    status "${STARTED[n - 1]}"
    is 143 "$GOT"
    within 0 "$TOOK" 700
  done
  settled
  no_trace
  [ ! -e "$T/ran" ]
}

@test "frozen while waiting: -w ends it, 75 since a holder was seen; nothing is left" {
  hold a -t 60
  begin b rl -w 1.5 -- touch "$T/ran"
  queued 1
  redis_freeze
  status "$PID_b"
  is 75 "$GOT"
  within 500 "$TOOK" 2300
  redis_thaw
  queued 0 3
  finish a
  status "$PID_a"
  is 0 "$GOT"
  settled
  no_trace
  [ ! -e "$T/ran" ]
}

@test "frozen while waiting, thawed: the place in line is kept, and the lock comes" {
  hold a -t 60
  begin b rl -u "$TCP" --command-timeout 0.3 -- sh -c "echo b >>$T/order"
  queued 1
  begin c rl --command-timeout 0.3 -- sh -c "echo c >>$T/order"
  queued 2
  redis_freeze
  # The first one looks every second, in vain.
  wait_line "$T/b.err" 'the place in line is kept'
  redis_thaw
  # Who is away when the lock is freed has no turn: back first.
  listening 2
  queued 2
  finish a
  status "$PID_b"
  is 0 "$GOT"
  status "$PID_c"
  is 0 "$GOT"
  is 'b c' "$(tr '\n' ' ' <"$T/order" | sed 's/ $//')"
  settled
  no_trace
}

@test "frozen during the first question: TERM ends it at once; no key is left after the thaw (20 runs)" {
  local n url
  redis_freeze
  for n in $(seq 20); do
    url=$RLOCK_URL
    ((n % 2)) && url=$TCP
    begin "w$n" "$RLOCK" -k "$K.$n" -u "$url" -t 60 -- touch "$T/ran"
  done
  let_pass 500
  for n in $(seq 20); do
    kill -TERM "${STARTED[n - 1]}"
  done
  for n in $(seq 20); do
    status "${STARTED[n - 1]}" 1
    is 143 "$GOT"
  done
  settled
  no_trace
  [ ! -e "$T/ran" ]
}
