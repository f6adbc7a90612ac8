#!/usr/bin/env bats
# --status, --list, --break: what is there, and how to end it.

load ../lib/rlock
load ../lib/pty

setup_file() { redis_start; }
teardown_file() { redis_stop; }
setup() { rlock_setup; }
teardown() {
  pty_stop
  rlock_teardown
}

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

@test "list: without a prefix, what can't be a lock is left out" {
  r set "$K:string" x >/dev/null
  r rpush "$K:list" x >/dev/null
  r zadd "$K:board" 5 player >/dev/null
  r zadd "$K:shared" 99999999999999 "s0:rlock:1:$(printf %032x 1):h:u:1:0:" >/dev/null
  look --list --prefix '' "$K:*"
  is "$(awk 'NR > 1 { print $1, $2 }' "$T/out" | tr '\n' ';')" \
    "$K:shared shared;$K:string foreign;"
  # With one, they are in the way of locks.
  look --list --prefix "$K:"
  is "$(awk 'NR > 1 { print $1, $2 }' "$T/out" | tr '\n' ';')" \
    'board foreign;list foreign;shared shared;string foreign;'
}

@test "list: what is free, though its key is there, is left out" {
  r zadd "$L" 1 "s0:rlock:1:$(printf %032x 1):h:u:1:0:" >/dev/null
  look --list "$K"
  is "$STATUS$(cat "$T/out")" 0
  look --list "$K" --json
  is "$STATUS$(cat "$T/out")" 0
}

@test "list: 100,000 locks among as many other keys, in steps, each once, in order" {
  local before after calls
  r eval 'for i = 1, 100000 do
    redis.call("SET", "many:" .. i, i)
    redis.call("SET", "lock:steps:" .. i,
      string.format("rlock:1:%032x:h:u:%d:0:", i, i), "PX", 600000)
  end' 0 >/dev/null
  before=$(r info commandstats | sed -n 's/^cmdstat_scan:calls=\([0-9]*\).*/\1/p')
  look --list 'steps:*'
  is "$STATUS" 0
  is "$(cat "$T/err")" ''
  after=$(r info commandstats | sed -n 's/^cmdstat_scan:calls=\([0-9]*\).*/\1/p')
  calls=$((after - ${before:-0}))
  between 150 "$calls" 300 # a thousand keys each, more or less
  tail -n +2 "$T/out" | cut -d ' ' -f 1 >"$T/names"
  is "$(lines "$T/names")" 100000
  LC_ALL=C sort -c -u "$T/names"
  # Who reads no further ends it, as it ends others in a pipe.
  STATUS=0
  "$RLOCK" --list 'steps:*' --json 2>"$T/err" | head -1 >"$T/out" || true
  is "$(json "$T/out" 'd["key"]')" steps:1
  is "$(cat "$T/err")" ''
  r flushall >/dev/null
}

@test "list: on a terminal no line is broken, in a pipe none is cut" {
  local long
  long=$K:$(printf '%090d' 0)
  r set "lock:$long" "rlock:1:$(printf %032x 1):some.host.example.com:somebody:4711:0:" >/dev/null
  r set "lock:$K:b" x >/dev/null
  look --list "$K:*"
  grep -q "^$long  exclusive .*somebody@some.host.example.com:4711$" "$T/out"
  not grep -q $'\t' "$T/out"
  not grep -q ' $' "$T/out"
  pty_open --size 24x80 "$RLOCK" --list "$K:*"
  sees '^KEY '
  ends 0
  is "$(tr -d '\r' <"$PTY_DIR/raw" | wc -l)" 3
  not grep -qE '.{81}' <(tr -d '\r' <"$PTY_DIR/raw")
  grep -q "^$K:b " "$PTY_DIR/raw"
}

@test "status: fits 80 columns with a long note, and says the same" {
  local note
  note=$(printf 'a note of %d words, ' 1 2 3 4)
  hold --note "$note"
  look --status "$K"
  not grep -qE '.{80}' "$T/out"
  is "$(sed -n 2,4p "$T/out" | tr -s ' \n' ' ' | grep -c "pid $HOLDER, started .*, $note")" 1
}

@test "break: the holder finds out at once, the next one runs, and it is said who lost it" {
  hold -t 60
  bg "$RLOCK" -k "$K" -w 20 -- sh -c "$SH_HOLD" "$T/next"
  wait_waiters 1
  look --break "$K"
  is "$STATUS" 0
  grep -qE "^rlock: $K: broken: it was held by .*pid $HOLDER, .*has been told" "$T/err"
  is "$(lines "$T/err")" 1
  is "$(cat "$T/out")" ''
  wait_pidfile "$T/next" >/dev/null
  ended "$HOLDER" # long before the 20 s of its next renewal
  is "$status" 76
}

@test "break: by a user that may not see who is connected, the next renewal tells" {
  r acl setuser meek on '>pw' '~*' '&*' +@all -client >/dev/null
  hold -t 900ms
  look --break "$K" -u "unix://meek:pw@$REDIS_SOCK"
  is "$STATUS" 0
  grep -qE "^rlock: $K: broken: .*pid $HOLDER, .*next renewal" "$T/err"
  is "$(lines "$T/err")" 1
  ended "$HOLDER"
  is "$status" 76
}

@test "break: of two connections with the holder's name none is closed" {
  hold -t 60
  name=$(r client list | sed -n "s/.* name=\(rlock:[^ ]*:$HOLDER\) .*/\1/p")
  mkfifo "$T/twin"
  r <"$T/twin" >"$T/twin.out" 3>&- &
  STARTED+=($!)
  exec 7>"$T/twin"
  echo "client setname $name" >&7
  wait_file "$T/twin.out"
  look --break "$K"
  is "$STATUS" 0
  grep -q "pid $HOLDER, .*next renewal" "$T/err"
  is "$(r client list | grep -c " name=$name ")" 2
  exec 7>&-
  let_go
}

@test "break: all that share it, or are in its slots, or in it by nesting" {
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
    no_key
    ended "$PID"
    is "$status" 76
    ended "$HOLDER"
    is "$status" 76
  done
  rm -f "$T/pid"
  bg "$RLOCK" -k "$K" -- "$RLOCK" -k "$K" --note inner -- \
    sh -c "$SH_HOLD" "$T/pid"
  wait_pidfile "$T/pid" >/dev/null
  look --break "$K"
  is "$STATUS $(grep -c 'broken: it was held by' "$T/err")" '0 2'
  grep -q "pid $PID, .*has been told" "$T/err"
  grep -q ', inner (who has been told)' "$T/err"
  not grep -q nested "$T/err"
  no_key
  ended "$PID"
  is "$status" 76
}

@test "break: what --acquire has taken, and what cools down" {
  "$RLOCK" --acquire -k "$K" -t 60 --note step >"$T/token"
  look --break "$K"
  is "$STATUS" 0
  grep -q ', step (who finds out at the next renewal)$' "$T/err"
  "$RLOCK" -k "$K" --min-hold 1h -- true
  look --break "$K"
  is "$STATUS" 0
  grep -q 'held by nobody, cooling down after [^()]*$' "$T/err"
  no_key
}

@test "break: nothing there is 1, somebody's data 78 and untouched" {
  look --break "$K"
  is "$STATUS" 1
  r zadd "$L" 5 player >/dev/null
  look --break "$K"
  is "$STATUS" 78
  grep -q "the key $L on the server is not a lock" "$T/err"
  is "$(r zscore "$L" player)" 5
  r del "$L" >/dev/null
  hold
  r rpush "$Q" x >/dev/null
  look --break "$K"
  is "$STATUS" 78
  grep -q "the key $Q on the server is not a lock" "$T/err"
  is_key
  r del "$Q" >/dev/null
  let_go
}

@test "a server that does not answer: 69 in time; TERM and INT end it sooner" {
  local verb from
  redis_freeze
  for verb in --status --list --break; do
    look "$verb" "$K" --connect-timeout 0.3 --command-timeout 0.3
    is "$verb $STATUS" "$verb 69"
    from=$(now_ms)
    bg "$RLOCK" "$verb" "$K" --connect-timeout 60 --command-timeout 60 2>"$T/err"
    wait_until 10 test -e "/proc/$PID/fd/3" # beyond its beginnings
    kill -INT "$PID"
    ended "$PID"
    is "$verb $status $(cat "$T/err")" "$verb 130 "
    between 0 $(($(now_ms) - from)) 9000
  done
  redis_thaw
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
