#!/usr/bin/env bats
# A lock that is lost, and one that must not be.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2153

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { rlock_setup; }
teardown() { rlock_teardown; }

# told RLOCK OPTIONS...: hold K with a command that writes the time of its TERM
# to "$T/told" and then exits 0 (9 without one, once "$T/end" is there).
told() {
  rm -f "$T/told" "$T/told.pid" "$T/end"
  bg "$RLOCK" -k "$K" "$@" -- perl -MTime::HiRes=time,sleep -e '
    $SIG{TERM} = sub { open F, q(>), $ARGV[0]; printf F qq(%d\n), time * 1000; close F; exit 0 };
    open P, q(>), qq($ARGV[0].pid); print P qq($$\n); close P;
    for (1 .. 1500) { exit 9 if -e $ARGV[1]; sleep 0.01 }' "$T/told" "$T/end" 2>"$T/err"
  HOLDER=$PID
  CMD=$(wait_pidfile "$T/told.pid")
}

@test "key deleted: the signal within a renewal interval; 76, also after an exit 0" {
  local start
  told -t 1.5
  start=$(now_ms)
  is "$(r del "$L")" 1
  ended "$HOLDER" 3
  is "$status" 76
  between 0 $(($(cat "$T/told") - start)) 1000
  is "$(lines "$T/err")" 1
  grep -q "^rlock: $K: lock lost: " "$T/err"
  no_key
}

@test "key overwritten: 76, the other's key is not touched, the line names it" {
  told -t 0.9
  r set "$L" 'somebody else' px 20000 >/dev/null
  ended "$HOLDER" 3
  is "$status" 76
  is "$(r get "$L")" 'somebody else'
  between 15000 "$(r pttl "$L")" 20000
  grep -q "^rlock: $K: lock lost: .*somebody else" "$T/err"
}

@test "key overwritten without a lease: it gets none from us" {
  told -t 0.6
  r set "$L" forever >/dev/null
  ended "$HOLDER" 3
  is "$status" 76
  is "$(r get "$L") $(r pttl "$L")" 'forever -1'
}

@test "another one's lease falls steadily, we never add to it" {
  told -t 0.9 --on-lost warn
  r set "$L" other px 700 >/dev/null
  wait_no_key "$L" 1.5
  alive "$CMD"
  touch "$T/end"
  ended "$HOLDER"
}

@test "key of another type: 76, the data is not touched" {
  told -t 0.6
  r del "$L" >/dev/null
  r rpush "$L" a b c >/dev/null
  ended "$HOLDER" 3
  is "$status" 76
  is "$(r lrange "$L" 0 -1)" $'a\nb\nc'
  is "$(r pttl "$L")" -1
}

@test "a command that ignores the TERM of a loss is killed; 76" {
  bg "$RLOCK" -t 0.9 --kill-after 0.2 -k "$K" -- sh -c 'trap "" TERM; '"$SH_HOLD" "$T/pid"
  local rlock=$PID
  wait_pidfile "$T/pid"
  r del "$L"
  ended "$rlock" 2
  is "$status" 76
}

@test "--on-lost warn: one line, the command's own status, nothing taken again" {
  told -t 0.6 --on-lost warn
  r del "$L"
  wait_line "$T/err" 'lock lost' 2
  pass_ms 500
  alive "$CMD"
  no_key
  touch "$T/end"
  ended "$HOLDER" 3
  is "$status" 9
  [ ! -e "$T/told" ]
  # what is found out at the release is the same loss, told already
  is "$(lines "$T/err")" 1
}

@test "--on-lost warn, overwritten: the other's key stays" {
  told -t 0.6 --on-lost warn
  r set "$L" other px 20000 >/dev/null
  wait_line "$T/err" 'lock lost' 2
  touch "$T/end"
  ended "$HOLDER" 3
  is "$status" 9
  is "$(r get "$L")" other
}

@test "gone or taken at the end only: 76, a line; with warn the own status" {
  local change
  for change in "del $L" "set $L another" "set $L another px 20000"; do
    r del "$L" >/dev/null
    # shellcheck disable=SC2086
    try "$RLOCK" -k "$K" -- "$REDIS_CLI" -s "$REDIS_SOCK" $change
    is "$change: $status" "$change: 76"
    is "${#lines[@]}" 2
    [[ ${lines[1]} == "rlock: $K: lock lost: "* ]]
    [[ $change != set* ]] || is "$(r get "$L")" another
    r del "$L" >/dev/null
    try "$RLOCK" -k "$K" --on-lost warn -- sh -c '"$REDIS_CLI" -s "$REDIS_SOCK" '"$change"'; exit 5'
    is "$status" 5
    is "${#lines[@]}" 2
    [[ ${lines[1]} == "rlock: $K: lock lost: "* ]]
  done
}

@test "gone at the end: 76 also when the command died of a signal, or with a status" {
  try "$RLOCK" -k "$K" -- sh -c '"$REDIS_CLI" -s "$REDIS_SOCK" del "$L"; exit 5'
  is "$status" 76
  try "$RLOCK" -k "$K" -- sh -c '"$REDIS_CLI" -s "$REDIS_SOCK" del "$L"; kill $$'
  is "$status" 76
}

@test "lost while --max-run or a TERM stops it" {
  bg "$RLOCK" -t 0.6 -k "$K" --kill-after 20 -- bash -c 'trap "echo >\"$0.term\"" TERM
    echo $$ >"$0"; while :; do sleep 0.02; done' "$T/pid"
  local rlock=$PID
  wait_pidfile "$T/pid"
  kill -TERM "$rlock"
  wait_until 5 test -e "$T/pid.term"
  r set "$L" other >/dev/null
  ended "$rlock" 2
  is "$status" 76
  is "$(r get "$L")" other
}

@test "the lease is renewed for several TTLs: never above the TTL, never without" {
  hold -t 0.6
  r -r 90 -i 0.02 pttl "$L" >"$T/samples"
  awk '$1 < 1 || $1 > 600 { print; bad = 1 } END { exit bad }' "$T/samples"
  is "$(lines "$T/samples")" 90
  # renewed: the lease has grown from one sample to the next, several times
  between 6 "$(awk 'NR > 1 && $1 > last { n++ } { last = $1 } END { print n }' "$T/samples")" 12
  let_go
  is "$status" 143
  no_key
}

@test "the lease is -t, in every unit" {
  local ttl
  for ttl in 5=5000 5s=5000 5000ms=5000 1.5s=1500 2m=120000 1h=3600000 1d=86400000 365d=31536000000 100ms=100; do
    try "$RLOCK" -k "$K" -t "${ttl%=*}" -- "$REDIS_CLI" -s "$REDIS_SOCK" pttl "$L"
    is "$status" 0
    between $((${ttl#*=} - 1000)) "$output" "${ttl#*=}"
  done
  try "$RLOCK" -k "$K" -- "$REDIS_CLI" -s "$REDIS_SOCK" pttl "$L"
  between 29000 "$output" 30000
  RLOCK_TTL=7s try "$RLOCK" -k "$K" -- "$REDIS_CLI" -s "$REDIS_SOCK" pttl "$L"
  between 6000 "$output" 7000
}

@test "a lease made shorter by hand is set again" {
  hold -t 1.5
  r pexpire "$L" 900 >/dev/null
  wait_until 1 eval '(($(r pttl "$L") > 1000))'
  r persist "$L" >/dev/null
  wait_until 1 eval '(($(r pttl "$L") > 1000))'
  let_go
}

@test "scripts flushed, the connection killed: nothing happens" {
  hold -t 0.6
  local i
  for i in 1 2 3 4 5 6; do
    r script flush >/dev/null
    r client kill type normal skipme yes >/dev/null
    pass_ms 100
  done
  alive "$CMD"
  is_key
  r client kill type normal skipme yes >/dev/null
  let_go
  is "$status" 143
  no_key
}

@test "the connection is killed at the end of the command: released all the same" {
  try "$RLOCK" -k "$K" -t 60 -- "$REDIS_CLI" -s "$REDIS_SOCK" client kill type normal skipme yes
  is "$status" 0
  no_key
}

@test "after the release nothing more is asked for that token" {
  redis_monitor() { exec "$REDIS_CLI" -s "$REDIS_SOCK" monitor 3>&-; }
  redis_monitor >"$T/log" &
  local monitor=$! i
  STARTED+=("$monitor")
  wait_line "$T/log" OK
  for i in $(seq 30); do
    # 0.1 s: the moment of a renewal
    "$RLOCK" -k "$K.$i" -t 0.3 -- sleep "0.$((95 + i % 10))" 3>&- &
    STARTED+=("$!")
  done
  for i in "${STARTED[@]:1}"; do
    ended "$i"
    is "$status" 0
  done
  r set "end-of-$K" 1 >/dev/null
  wait_line "$T/log" "end-of-$K"
  kill "$monitor"
  # Of every token the last command that a client sent is the one that deletes.
  perl -ne '
    next unless /\[\d+ (?!lua)[^\]]*\].*(rlock:1:[0-9a-f]{32})/;
    push @{$c{$1}}, $_;
    END { for my $t (keys %c) {
        my @sent = @{$c{$t}}; my $deletes = grep { /KEYS\[1\]\) return/ && /.DEL./ && !/PEXPIRE|PX/ } @sent;
        print "$deletes $t\n" if $deletes != 1 || $sent[-1] !~ /.DEL./ || $sent[-1] =~ /PEXPIRE/;
        $n++ } print "$n tokens\n" }' "$T/log" >"$T/found"
  is "$(cat "$T/found")" '30 tokens'
  is "$(r --raw keys "$L.*")" ''
}

@test "taken in one step, with a lease from the first instant" {
  r monitor >"$T/log" 3>&- &
  local monitor=$!
  STARTED+=("$monitor")
  wait_line "$T/log" OK
  "$RLOCK" -k "$K" -t 5 -- true
  r set "end-of-$K" 1 >/dev/null
  wait_line "$T/log" "end-of-$K"
  kill "$monitor"
  is "$(grep -c "lua\\] \"SET\" \"$L\" .* \"NX\" \"PX\" \"5000\"" "$T/log")" 1
  # connect and two round trips: no more than two scripts
  is "$(grep -vc 'lua\]' "$T/log")" "$(grep -vc 'lua\].*' "$T/log")"
  is "$(grep -v 'lua\]' "$T/log" | grep -ic '"EVAL')" 2
  no_key "$Q"
}
