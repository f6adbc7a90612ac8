#!/usr/bin/env bats
# What a run costs the server and the network, as MONITOR and strace see it.

load ../lib/net

setup_file() {
  redis_start --tcp
  r acl setuser jobs on '>pw' '~*' '&*' +@all >/dev/null
}
teardown_file() { redis_stop; }
setup() {
  net_setup
  AT=127.0.0.1:$REDIS_PORT
}
teardown() {
  REDISCLI_AUTH=s3cret r config set requirepass '' >/dev/null 2>&1
  net_teardown
}

# What clients send from now on, without what scripts do, to $T/monitor.out.
monitor_start() {
  begin monitor "$REDIS_CLI" -s "$REDIS_SOCK" monitor
  wait_line "$T/monitor.out" OK
}

# commands: the names of the commands since then, a line for each.
commands() {
  r echo end.of.it >/dev/null
  wait_line "$T/monitor.out" end.of.it
  grep -E '^[0-9]+\.[0-9]+ \[' "$T/monitor.out" | grep -v '^[0-9.]* \[[0-9]* lua\]' |
    grep -v '"echo"\|"COMMAND"' | sed -E 's/^[0-9.]+ \[[^]]*\] "([A-Za-z]+)".*/\1/'
}

# sends OPTIONS...: how often a run has written to its socket.
sends() {
  traced "$T/strace" network "$RLOCK" -k "$K" "$@" -- true || return 1
  # Not to the end of the line: strace splits a call that others overtake.
  # What begins with *N is for the server, the rest for the guard (whose bytes
  # are a process number, so one of them may be '*').
  grep -cE 'send(to|msg)\([0-9]+, "\*[0-9]+\\r' "$T/strace"
}

@test "an uncontended run is two scripts, a name for the connection, and nothing else" {
  monitor_start
  timed rl -- true
  is 0 "$GOT"
  is 'client EVAL EVAL ' "$(commands | sed 's/^CLIENT$/client/' | tr '\n' ' ')"
  no_trace
}

@test "with password, user and database it is the same, and SELECT" {
  monitor_start
  timed rl -u "redis://jobs:pw@$AT/3" -- true
  is 0 "$GOT"
  # MONITOR leaves AUTH out.
  is 'SELECT CLIENT EVAL EVAL ' "$(commands | grep -vi '^auth$' | tr '\n' ' ')"
  no_trace 3
  no_trace 0
}

@test "an uncontended run is two writes, so two round trips beside connecting" {
  local url
  for url in "unix://$REDIS_SOCK" "redis://$AT" "redis://jobs:pw@$AT" "redis://jobs:pw@$AT/3" \
    "unix://$REDIS_SOCK?db=3" "redis://$AT/5" "redis://localhost:$REDIS_PORT"; do
    is "$url 2" "$url $(sends -u "$url")"
    is "$url 1" "$url $(grep -cE 'connect(\(| resumed).*(= 0|EINPROGRESS)' "$T/strace")"
  done
  r config set requirepass s3cret >/dev/null
  is 2 "$(REDISCLI_AUTH=s3cret sends -u "redis://$AT/2")"
  REDISCLI_AUTH=s3cret r config set requirepass '' >/dev/null
  no_trace
}

@test "the scripts of an uncontended run are short" {
  local length
  monitor_start
  timed rl -- true
  commands >/dev/null
  while read -r length; do
    within 50 "$length" 350
  done < <(grep -o '"EVAL" ".*" "[23]" "lock:' "$T/monitor.out" | sed 's/\\n/n/g' |
    awk '{ print length($0) - 20 }')
}

@test "a renewal is one write and one script" {
  hold a -t 1
  monitor_start
  let_pass 1200
  r del nothing >/dev/null
  # At 1/3, 2/3, 1, ... s: three or four of them.
  n=$(commands | grep -ciE '^eval$')
  within 3 "$n" 4
  is 'EVAL ' "$(commands | grep -vi '^del$' | sort -u | tr '\n' ' ')"
  finish a
  status "$PID_a"
}

# hand_over N [OPTIONS...]: so many wait; the hand-overs are counted.
hand_over() {
  local n
  hold h -t 60 "${@:2}"
  for n in $(seq "$1"); do
    begin "w$n" rl -t 60 "${@:2}" -- true
    # In order, a few at a time.
    ((n % 10)) || queued "$n" 20
  done
  queued "$1" 20
  monitor_start
  finish h
  for n in $(seq "$1"); do
    local pid=PID_w$n
    status "${!pid}" 30
    is 0 "$GOT"
  done
  status "$PID_h"
  no_trace
  # SCAN is ours, of no_trace.
  commands | grep -viE '^scan$' >"$T/commands"
  echo "# $1 hand-overs: $(wc -l <"$T/commands") commands: $(
    sort "$T/commands" | uniq -c | tr -s ' \n' ' ')" >&3
  within "$1" "$(wc -l <"$T/commands")" $(($1 * 4))
}

@test "a hand-over takes at most 4 commands when 10 wait" { hand_over 10; }
@test "a hand-over takes at most 4 commands when 100 wait" { hand_over 100; }

@test "a hand-over of a slot takes at most 4 commands when 10 wait" { hand_over 10 -j 1; }
@test "a hand-over of a slot takes at most 4 commands when 100 wait" { hand_over 100 -j 1; }

@test "waiting is cheap: 20 waiters ask less than twice a second, all together" {
  local n
  hold h -t 60
  for n in $(seq 20); do
    begin "w$n" rl -t 60 -- true
  done
  queued 20
  monitor_start
  let_pass 3000
  # The head looks every second: UNSUBSCRIBE, MULTI, EVAL, SUBSCRIBE, EXEC.
  within 2 "$(commands | grep -ciE '^eval$')" 5
  within 2 "$(commands | wc -l)" 25
}
