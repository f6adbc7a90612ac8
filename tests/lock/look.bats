#!/usr/bin/env bats
# --status, --list, --break: what is there, and how to end it.

load ../lib/rlock

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { rlock_setup; }
teardown() { rlock_teardown; }

# json FILE EXPRESSION: print what python makes of the document d.
json() {
  python3 -I -S -c 'import json, sys
d = [json.loads(line) for line in open(sys.argv[1])]
d = d[0] if len(d) == 1 else d
print(eval("(" + sys.argv[2] + ")"))' "$1" "$2"
}

look() { # OPTIONS...: STATUS, and what was said in $T/out and $T/err
  STATUS=0
  "$RLOCK" "$@" >"$T/out" 2>"$T/err" || STATUS=$?
}

@test "status: free is 1, held is 0, and who holds it" {
  look --status "$K"
  is "$STATUS" 1
  is "$(cat "$T/out")" "$K: free"
  hold --note 'build 17'
  look --status "$K"
  is "$STATUS" 0
  is "$(head -1 "$T/out")" "$K: held, exclusive"
  grep -q "pid $HOLDER, started .*, build 17" "$T/out"
  grep -qE '^ +(2[0-9]|30)\.[0-9] s left$' "$T/out"
  is "$(cat "$T/err")" ''
  look --status -k "$K"
  is "$STATUS" 0
}

@test "status: options and the operand mix, behind the verb" {
  look --status --prefix lock: "$K" -q
  is "$STATUS" 1
  look "$K" --status
  is "$STATUS" 64
}

@test "status: shared, slots, waiters in order, each with its kind" {
  hold -s
  bg "$RLOCK" -k "$K" -w 20 -- true
  W=$PID
  wait_waiters 1
  bg "$RLOCK" -k "$K" -s -w 20 -- true
  R=$PID
  wait_waiters 2
  look --status "$K"
  is "$(head -1 "$T/out")" "$K: held, shared"
  grep -q '^  waiting  2$' "$T/out"
  grep -qE "^ +1\. +exclusive, .*pid $W," "$T/out"
  grep -qE "^ +2\. +shared, .*pid $R," "$T/out"
  look --status "$K" --json
  is "$(json "$T/out" 'd["mode"], d["waiting"], [w["pid"] for w in d["waiters"]],
    [w["mode"] for w in d["waiters"]], [w["listens"] for w in d["waiters"]]')" \
    "('shared', 2, [$W, $R], ['exclusive', 'shared'], [True, True])"
  let_go
}

@test "status: slots" {
  hold -j 3
  look --status "$K" --json
  is "$(json "$T/out" 'd["state"], d["mode"], d["slots"],
    [(h["slot"], h["pid"]) for h in d["holders"]]')" \
    "('held', 'slots', 3, [(0, $HOLDER)])"
}

@test "status: nested runs, each of them, and no mark of it shown" {
  bg "$RLOCK" -k "$K" -- "$RLOCK" -k "$K" --note inner -- \
    sh -c "$SH_HOLD" "$T/pid"
  wait_pidfile "$T/pid" >/dev/null
  look --status "$K"
  is "$(head -1 "$T/out")" "$K: held, exclusive, by nested runs"
  is "$(grep -c '^  holder ' "$T/out")" 2
  grep -q ', inner$' "$T/out"
  not grep -q nested/ "$T/out"
  look --status "$K" --json
  is "$(json "$T/out" 'len(d["holders"]), sorted(str(h["note"]) for h in d["holders"])')" \
    "(2, ['None', 'inner'])"
}

@test "status: cooling down, done before, the fence" {
  "$RLOCK" -k "$K" --min-hold 1h --once 1d --fence -- true
  look --status "$K"
  is "$STATUS" 0
  is "$(head -1 "$T/out")" "$K: cooling, exclusive"
  grep -q 'cooling down after' "$T/out"
  grep -qE '^  done     20..-' "$T/out"
  grep -qE '^  fence    [0-9]{16}$' "$T/out"
  look --status "$K" --json
  is "$(json "$T/out" 'd["state"], d["holders"][0]["pid"] == d["done"]["pid"],
    d["done"]["run_ms"] < 5000, 86000000 < d["done"]["left_ms"] <= 86400000')" \
    "('cooling', True, True, True)"
  is "$(json "$T/out" 'd["fence"]')" "$(r get "rlock:fence:{$L}")"
}

@test "status: what other software has made is foreign, whatever it is" {
  r set "$L" 'somebody else' >/dev/null
  look --status "$K"
  is "$STATUS" 0
  is "$(head -1 "$T/out")" "$K: foreign, not by rlock: a string"
  grep -q 'another program (somebody else)' "$T/out"
  r del "$L" >/dev/null
  r zadd "$L" 5 player >/dev/null
  look --status "$K" --json
  is "$(json "$T/out" 'd["state"], d["type"], d["holders"]')" "('foreign', 'zset', [])"
  r del "$L" >/dev/null
  r rpush "$L" a >/dev/null
  look --status "$K"
  is "$(cat "$T/out")" "$K: foreign, not by rlock: a list"
}

@test "status: control bytes and bad UTF-8 do no harm" {
  r set "$L" $'\e[31mx\n\xff' >/dev/null
  look --status "$K"
  not grep -q $'\e' "$T/out"
  grep -q '\\x1b\[31mx\\n' "$T/out"
  look --status "$K" --json
  is "$(json "$T/out" 'd["holders"][0]["token"]')" $'\e[31mx\n�'
}

@test "list: a line for each lock, sorted, those of the prefix only" {
  local i
  for i in 3 1 2; do r set "lock:$K:$i" "rlock:1:$(printf %032x "$i"):h:u:$i:0:" px 60000 >/dev/null; done
  r set "other:$K:4" x >/dev/null
  r zadd "rlock:queue:{lock:$K:1}" 5 x >/dev/null
  look --list "$K:*"
  is "$STATUS" 0
  is "$(head -1 "$T/out")" "KEY   MODE            LEFT  WAIT  HOLDER"
  is "$(awk 'NR > 1 { print $1, $2, $5, $6 }' "$T/out" | tr '\n' ';')" \
    "$K:1 exclusive 1 u@h:1;$K:2 exclusive 0 u@h:2;$K:3 exclusive 0 u@h:3;"
  not grep -qE '.{81}' "$T/out"
  look --list "$K:*" --json
  is "$(json "$T/out" '[e["key"] for e in d]')" "['$K:1', '$K:2', '$K:3']"
}

@test "list: a pattern is for the name, and the prefix is itself" {
  r set "p*:$K" "rlock:1:$(printf %032x 1):h:u:1:0:" px 60000 >/dev/null
  r set "px:$K" "rlock:1:$(printf %032x 2):h:u:2:0:" px 60000 >/dev/null
  look --list --prefix 'p*:' --json
  is "$(json "$T/out" 'd["key"]')" "$K"
  look --list "none-$K"
  is "$STATUS" 0
  is "$(cat "$T/out")" ''
}

@test "list: without a prefix, side keys are no locks" {
  hold --prefix '' -s
  bg "$RLOCK" -k "$K" --prefix '' -w 20 -- true
  export Q="rlock:queue:{$K}"
  wait_waiters 1
  look --list --prefix '' --json '*'"$K"'*'
  is "$(json "$T/out" 'd["key"], d["waiting"]')" "('$K', 1)"
}

@test "list: among 20,000 keys, in steps" {
  r eval 'for i = 1, 20000 do redis.call("SET", "many:" .. i, i) end
    for i = 1, 1500 do redis.call("SET", "lock:steps:" .. i, "x", "PX", 60000) end' 0 >/dev/null
  look --list 'steps:*'
  is "$STATUS" 0
  is "$(tail -n +2 "$T/out" | wc -l)" 1500
  is "$(tail -n +2 "$T/out" | sort -u | wc -l)" 1500
  # A step is a thousand keys at most.
  is "$(r slowlog get 100 | grep -c '^SCAN$' || true)" 0
}

@test "break: the holder loses it, the next one runs, and it is said who lost it" {
  # Long enough that no renewal of its own tells it.
  hold -t 60
  bg "$RLOCK" -k "$K" -w 20 -- sh -c "$SH_HOLD" "$T/next"
  wait_waiters 1
  look --break "$K"
  is "$STATUS" 0
  grep -qE "^rlock: $K: broken: it was held by .*pid $HOLDER, .*who has been told" "$T/err"
  is "$(cat "$T/out")" ''
  wait_pidfile "$T/next" >/dev/null
  ended "$HOLDER"
  is "$status" 76
}

@test "break: who may not end connections leaves it to the next renewal" {
  r acl setuser breaker on '>pw' '~*' '&*' +@all -client >/dev/null
  hold -t 900ms
  look --break "$K" -u "unix://breaker:pw@$REDIS_SOCK"
  is "$STATUS" 0
  grep -q 'who finds out at the next renewal' "$T/err"
  ended "$HOLDER"
  is "$status" 76
}

@test "break: all that share it, or are in it by nesting, or in its slots" {
  local kind
  for kind in -s '-j 2'; do
    rm -f "$T/pid"
    # shellcheck disable=SC2086
    hold $kind
    # shellcheck disable=SC2086
    bg "$RLOCK" -k "$K" $kind -- sh -c "$SH_HOLD" "$T/pid"
    wait_pidfile "$T/pid" >/dev/null
    look --break "$K"
    is "$STATUS $(grep -c 'broken: it was held by' "$T/err")" '0 2'
    is "$(r exists "$L")" 0
    ended "$PID"
    is "$status" 76
    ended "$HOLDER"
    is "$status" 76
  done
}

@test "break: nothing there is 1, somebody's data 78 and untouched" {
  look --break "$K"
  is "$STATUS" 1
  r zadd "$L" 5 player >/dev/null
  look --break "$K"
  is "$STATUS" 78
  is "$(r zscore "$L" player)" 5
}

@test "no server: 69 within the time; no right: 77" {
  look --status "$K" -u redis://127.0.0.1:1 --connect-timeout 0.3
  is "$STATUS" 69
  look --list -u redis://127.0.0.1:1 --connect-timeout 0.3
  is "$STATUS" 69
  r acl setuser poor on '>pw' '~*' '&*' -@all +select >/dev/null
  look --status "$K" -u "unix://poor:pw@$REDIS_SOCK"
  is "$STATUS" 77
  look --list -u "unix://poor:pw@$REDIS_SOCK"
  is "$STATUS" 77
  is "$(cat "$T/out")" ''
}

@test "a full disk at stdout is an error" {
  local status=0
  "$RLOCK" --status "$K" >/dev/full 2>"$T/err" || status=$?
  is "$status" 71
  grep -q "can't write to stdout" "$T/err"
}
