#!/usr/bin/env bats
# What is said: the report, -v, -q, the password file.
# What the shells within are to expand stands in single quotes.
# shellcheck disable=SC2016,SC2153

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { rlock_setup; }
teardown() { rlock_teardown; }

FIELDS='exit_status fence hold_ms holder key message outcome renewals retries signal slot token wait_ms'

# report: one JSON object with all the fields; sets R to its file.
report() {
  R=$T/report.json
  perl -MJSON::PP -e 'local $/; open F, "<", $ARGV[0] or die; my $h = decode_json(<F>);
    print join(" ", sort keys %$h), "\n"' "$R" >"$T/fields"
  is "$(cat "$T/fields")" "$FIELDS"
}

# says NAME VALUE...: so the report says.
says() {
  while (($#)); do
    is "$1=$(fact "$R" "$1")" "$1=$2"
    shift 2
  done
}

@test "--report: valid JSON, to python's mind too" {
  command -v python3 >/dev/null || skip "no python3"
  "$RLOCK" -k $'odd "\\ \x01\xff\n é' --report "$T/r" -- true
  python3 -m json.tool "$T/r" >/dev/null
  python3 -c 'import json, sys
d = json.load(open(sys.argv[1], encoding="utf-8"))
assert d["key"] == "odd \"\\ \x01\ufffd\n \u00e9", d["key"]
for name in "exit_status wait_ms hold_ms renewals retries".split():
    assert type(d[name]) is int, (name, d[name])
assert d["signal"] is None and d["holder"] is None and d["message"] is None, d
assert d["outcome"] == "ran" and d["token"].startswith("rlock:1:"), d' "$T/r"
}

@test "--report: all the fields" {
  "$RLOCK" -k "$K" --report "$T/report.json" -- true
  report
}

@test "--report: ran" {
  R=$T/report.json
  try "$RLOCK" -k "$K" -t 0.3 --report "$R" -- sh -c 'sleep 0.5; exit 5'
  is "$status" 5
  says outcome ran exit_status 5 signal '' key "$K" retries 0 holder '' message ''
  between 500 "$(fact "$R" hold_ms)" 2000
  between 0 "$(fact "$R" wait_ms)" 500
  between 3 "$(fact "$R" renewals)" 6
  try "$RLOCK" -k "$K" --report "$R" -- sh -c 'kill $$'
  says outcome ran exit_status 143 signal 15
}

@test "--report: busy names who was in the way" {
  R=$T/report.json
  hold --note why
  try "$RLOCK" -n -E 7 -k "$K" --report "$R" -- true
  says outcome busy exit_status 7 key "$K" hold_ms ''
  [[ $(fact "$R" holder) == *"$HOLDER"* ]]
  try "$RLOCK" -w 0.3 -k "$K" --report "$R" -- true
  says outcome busy exit_status 75
  between 300 "$(fact "$R" wait_ms)" 900
}

@test "--report: a waiter that got its turn names who was in the way" {
  R=$T/report.json
  hold
  bg "$RLOCK" -k "$K" --report "$R" -- true
  local waiter=$PID
  wait_waiters 1
  let_go
  ended "$waiter"
  says outcome ran exit_status 0
  [[ $(fact "$R" holder) == *"$HOLDER"* ]]
}

@test "--report: lost, timeout, interrupted, error, unavailable, refused" {
  R=$T/report.json
  try "$RLOCK" -k "$K" --report "$R" -- "$REDIS_CLI" -s "$REDIS_SOCK" del "$L"
  says outcome lost exit_status 76
  try "$RLOCK" -k "$K" --max-run 0.1 --report "$R" -- sleep 30
  says outcome timeout exit_status 124
  hold
  bg "$RLOCK" -k "$K" --report "$R" -- true
  wait_waiters 1
  kill -TERM "$PID"
  ended "$PID"
  says outcome interrupted exit_status 143 signal 15
  let_go
  try "$RLOCK" -k "$K" --report "$R" -- /nonexistent
  says outcome error exit_status 127
  [[ $(fact "$R" message) == *nonexistent* ]]
  try "$RLOCK" -n -u unix:///nonexistent -k "$K" --report "$R" -- true
  says outcome unavailable exit_status 69
  [[ $(fact "$R" message) == *nonexistent* ]]
  r rpush "$L" x >/dev/null
  try "$RLOCK" -n -k "$K" --report "$R" -- true
  says outcome refused exit_status 78
}

@test "--report: the mode is the umask's" {
  local mask
  for mask in 022 077 000 027; do
    rm -f "$T/r"
    (umask "$mask" && "$RLOCK" -k "$K" --report "$T/r" -- true)
    is "$mask $(stat -c %a "$T/r")" "$mask $(printf '%o' $((0666 & ~mask)))"
  done
}

@test "--report: what is no regular file is left alone, status unchanged" {
  mkfifo "$T/fifo"
  mkdir "$T/dir"
  local target
  for target in "$T/fifo" "$T/dir" /dev/full /dev/null "$T/none/r"; do
    try "$RLOCK" -k "$K" --report "$target" -- sh -c 'exit 5'
    is "$target $status ${#lines[@]}" "$target 5 1"
    [[ $output == *"$target"* ]]
  done
  [ -p "$T/fifo" ]
  [ -c /dev/full ]
  [ -c /dev/null ]
  is "$(find "$T" -mindepth 1 -maxdepth 1 | wc -l | tr -d ' ')" 2
}

@test "--report: a link is followed or replaced, nothing else is left behind" {
  echo old >"$T/old"
  "$RLOCK" -k "$K" --report "$T/old" -- true
  is "$(fact "$T/old" outcome)" ran
  is "$(find "$T" -mindepth 1 | wc -l | tr -d ' ')" 1
}

@test "--report: a reader never sees half of it" {
  "$RLOCK" -k "$K" --report "$T/r" -- true
  local i
  for i in 1 2 3 4; do
    bg sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do "$RLOCK" -k "$K.$1" --report "$0" -- true || exit; done' "$T/r" "$i"
  done
  perl -MJSON::PP -e '$end = time + 10; while (time < $end && kill 0, @ARGV[1 .. $#ARGV]) { local $/;
    open F, "<", $ARGV[0] or die "gone\n"; my $t = <F>; decode_json($t); $n++;
    @s = grep { open(S, "<", "/proc/$_/stat") && <S> !~ /\) Z/ } @ARGV[1 .. $#ARGV]; last unless @s }
    exit !$n' "$T/r" "${STARTED[@]}"
  for i in "${STARTED[@]}"; do
    ended "$i"
    is "$status" 0
  done
  is "$(find "$T" -name 'r.*' | wc -l | tr -d ' ')" 0
}

@test "--report: a read-only folder, a full disk: a line, status and lock as ever" {
  "${UNSHARE[@]}" -m true 2>/dev/null || skip "no mount namespaces here (they take root)"
  try "${UNSHARE[@]}" -m sh -c 'mkdir "$T/small" && mount -t tmpfs -o size=4k none "$T/small" &&
    head -c 4096 /dev/zero >"$T/small/fill"
    "$RLOCK" -k "$K" --report "$T/small/r" -- sh -c "exit 5"; s=$?
    ls "$T/small"; exit $s'
  is "$status" 5
  [[ ${lines[0]} == "rlock: $K: no report written to $T/small/r: "* ]]
  is "${lines[*]:1}" fill
  no_key
}

@test "-q says nothing, whatever happens" {
  local how
  try "$RLOCK" -q -k "$K" -- true
  is "$status $output" '0 '
  try "$RLOCK" -q -k "$K" -- /nonexistent
  is "$status $output" '127 '
  try "$RLOCK" -q -n -u unix:///nonexistent -k "$K" -- true
  is "$status $output" '69 '
  try "$RLOCK" -q -k "$K" --report /dev/full -- true
  is "$status $output" '0 '
  try "$RLOCK" -q -k "$K" --on-lost warn -- "$REDIS_CLI" -s "$REDIS_SOCK" del "$L"
  is "$status $output" '0 1'
  try "$RLOCK" -q -k '' -- true
  is "$status $output" '64 '
  for how in '-q --no-such-option' '-q -t x' '--quiet -E 256'; do
    # shellcheck disable=SC2086
    try "$RLOCK" $how -k "$K" -- true
    is "$how $status $output" "$how 64 "
  done
  hold
  try "$RLOCK" -q -n -k "$K" -- true
  is "$status $output" '75 '
}

@test "-q and -v: the last one wins" {
  try "$RLOCK" -v -q -k "$K" -- true
  is "$output" ''
  try "$RLOCK" -q -v -k "$K" -- true
  [ -n "$output" ]
}

@test "-v: a line for each thing that happens, all of the same form" {
  hold
  bg "$RLOCK" -v -k "$K" -- sh -c 'exit 3' 2>"$T/err"
  local waiter=$PID
  wait_waiters 1
  wait_line "$T/err" "waiting: held by .*$HOLDER"
  let_go
  ended "$waiter"
  is "$status" 3
  is "$(lines "$T/err")" 3
  is "$(grep -c "^rlock: $K: " "$T/err")" 3
  grep -q 'acquired after [0-9]*\.[0-9][0-9] s' "$T/err"
  grep -q 'status is 3' "$T/err"
}

@test "free and silent: not a byte without -v" {
  try "$RLOCK" -k "$K" -- true
  is "$output" ''
  try "$RLOCK" -k "$K" -- sh -c 'exit 9'
  is "$output" ''
}

@test "every error names the lock" {
  try "$RLOCK" -n -u unix:///nonexistent -k "$K" -- true
  [[ $output == "rlock: $K: "*nonexistent* ]]
  try "$RLOCK" -k $'x\ny' -n -u unix:///nonexistent -- true
  is "${#lines[@]}" 1
  [[ $output == 'rlock: x\ny: '* ]]
}

@test "password file: its first line, with LF, CRLF or neither" {
  r acl setuser pwuser reset on '>s:e@c/r t%' '~*' '&*' '+@all' >/dev/null
  local url=unix://pwuser@$REDIS_SOCK form
  for form in 's:e@c/r t%' 's:e@c/r t%\n' 's:e@c/r t%\r\n' 's:e@c/r t%\nmore\n'; do
    # shellcheck disable=SC2059
    printf "${form//%/%%}" >"$T/pw"
    try "$RLOCK" -u "$url" --password-file "$T/pw" -k "$K" -- sh -c 'exit 3'
    is "$form $status $output" "$form 3 "
  done
  printf 'wrong\n' >"$T/pw"
  try "$RLOCK" -u "$url" --password-file "$T/pw" -k "$K" -- true
  is "$status ${#lines[@]}" '77 1'
  [[ $output != *'wrong'*'wrong'* ]]
  try "$RLOCK" -u "$url" --password-file "$T/none" -k "$K" -- true
  is "$status ${#lines[@]}" '64 1' || is "$status ${#lines[@]}" '71 1'
  [[ $output == *"$T/none"* ]]
}

@test "password file over URL over REDISCLI_AUTH; the latter passes to the command" {
  r acl setuser pwuser2 reset on '>right' '~*' '&*' '+@all' >/dev/null
  printf 'right\n' >"$T/pw"
  local url=unix://pwuser2@$REDIS_SOCK
  REDISCLI_AUTH=wrong try "$RLOCK" -u "unix://pwuser2:wrong@$REDIS_SOCK" --password-file "$T/pw" -k "$K" -- true
  is "$status $output" '0 '
  REDISCLI_AUTH=wrong try "$RLOCK" -u "unix://pwuser2:right@$REDIS_SOCK" -k "$K" -- true
  is "$status $output" '0 '
  REDISCLI_AUTH=right try "$RLOCK" -u "$url" -k "$K" -- sh -c 'echo "$REDISCLI_AUTH"'
  is "$status $output" '0 right'
  REDISCLI_AUTH=wrong try "$RLOCK" -u "$url" -k "$K" -- true
  is "$status" 77
}

@test "a password in the URL shows in no message, report or process list" {
  r acl setuser pwuser3 reset on '>sEcReT' '~*' '&*' '+@all' >/dev/null
  local url=unix://pwuser3:sEcReT@$REDIS_SOCK
  rm -f "$T/hold.pid"
  bg "$RLOCK" -v -u "$url" -k "$K" --report "$T/r" -- sh -c "$SH_HOLD" "$T/hold.pid" 2>"$T/err"
  HOLDER=$PID
  wait_pidfile "$T/hold.pid"
  not grep -qa sEcReT "/proc/$HOLDER/cmdline" "/proc/$(guard_of "$HOLDER")/cmdline"
  [[ $(r get "$L") != *sEcReT* ]]
  try "$RLOCK" -v -n -u "$url" -k "$K" -- true
  [[ $output != *sEcReT* ]]
  let_go
  not grep -q sEcReT "$T/err" "$T/r"
  for url in unix://pwuser3:sEcReT@/nonexistent redis://u:sEcReT@127.0.0.1:1 redis://u:sEcReT@h:70000 \
    redis://u:sEcReT@ http://u:sEcReT@h unix://x:sEcReT@$REDIS_SOCK; do
    try "$RLOCK" -v -n -u "$url" -k "$K" --report "$T/r" -- true
    (( status != 0 ))
    [[ $output != *sEcReT* ]]
    [ ! -e "$T/r" ] || not grep -q sEcReT "$T/r"
  done
}
