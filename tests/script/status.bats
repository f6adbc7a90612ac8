#!/usr/bin/env bats
# status and break: what is said of each kind of lock, and how it ends.

load ../lib/script

setup_file() { redis_start && scripts_get; }
teardown_file() { redis_stop; }
setup() { fresh; W=$(token 9); }
teardown() { ears_off; }

# The parts of an answer on one line each; a list is in brackets.
status() {
  local text
  IFS= read -r -d '' text <"$SCRIPTS/status" || true
  r --json eval "$text" 5 "$L" "$Q" "$H" "$D" "$F" >"$REDIS_DIR/status.json"
  python3 -I -S -c 'import json, sys
for part in json.load(open(sys.argv[1])):
    print(part)' "$REDIS_DIR/status.json"
}

# part N: that of the last status, from 0 on.
part() {
  python3 -I -S -c 'import json, sys
part = json.load(open(sys.argv[1]))[int(sys.argv[2])]
print(*part if type(part) is list else [part])' "$REDIS_DIR/status.json" "$1"
}

brk() { s break; }

# What a dead lock leaves: its queue, of nobody.
nothing_left() { is "$(r exists "$L" "$Q" "$H")" 0; }

@test "status: nothing there" {
  is "$(status | line)" ' none -2 [] 0 []  -2 '
}

@test "status: an exclusive one" {
  take "$A" 60000
  status
  is "$(part 0) $(part 1)" 'x0 string'
  between 50000 "$(part 2)" 60000
  like "$(part 3)" "$A [56]???? -1"
}

@test "status: shared, who has lapsed is not shown" {
  KIND=s0 ask "$A" 60000
  KIND=s0 ask "$B" 30000
  r zadd "$L" 1 "s0:$C" >/dev/null
  status
  is "$(part 0) $(part 1)" 's0 zset'
  between 50000 "$(part 2)" 60000
  like "$(part 3)" "$B [23]???? -1 $A [56]???? -1"
}

@test "status: slots, those that were given back are free" {
  export KIND=j3
  ask "$A" 60000
  ask "$B" 30000
  ask "$C" 60000
  release "$A"
  status
  is "$(part 0)" j3
  like "$(part 3)" "$B [23]???? 1 $C [56]???? 2"
  release "$B"
  release "$C"
  is "$(status | head -2 | line)" ' none'
}

@test "status: all are over, and the key is still there" {
  r zadd "$L" 1 "s0:$A" >/dev/null
  status
  is "$(part 0)|$(part 1)|$(part 3)" '|zset|'
}

@test "status: nested runs, without the mark" {
  ask "$A" 60000
  ABOVE=$A ask "$B" 30000
  status
  is "$(part 0)" x0
  like "$(part 3)" "$B [23]???? -1 $A [56]???? -1"
  # Their set is gone, or somebody's: the lock's own value tells.
  r del "$H" >/dev/null
  status
  like "$(part 3)" "$B * -1"
  not_nested
  r rpush "$H" x >/dev/null
  status
  like "$(part 3)" "$B * -1"
  not_nested
}

not_nested() {
  if grep -q /nested "$REDIS_DIR/status.json"; then
    cat "$REDIS_DIR/status.json"
    return 1
  fi
}

@test "status: cooling down, of each kind" {
  ask "$A"
  COOL=60000 release "$A"
  status
  like "$(part 0) $(part 3)" "x0 rlock:1:cooling${A:40} * -1"
  again 1
  export KIND=j2
  ask "$A"
  COOL=60000 release "$A"
  status
  like "$(part 0) $(part 3)" "j2 rlock:1:cooling${A:40} * 0"
}

@test "status: who waits, in order, each with its kind, and whether it listens" {
  take "$A" 60000
  hear "$C"
  KIND=s0 join "$C" 10000 >/dev/null
  r zadd "$Q" 1 "$(entry "$B" 20000)" >/dev/null
  r zadd "$Q" 9e15 'no entry' >/dev/null
  status
  is "$(part 4)" 3
  is "$(part 5)" "x0 20000 $B 0 s0 10000 $C 1"
}

@test "status: of very many who wait, the first thousand" {
  take "$A" 60000
  r eval 'for i = 1, 1500 do redis.call("ZADD", KEYS[1], i,
    string.format("x0:1:0:rlock:1:%032x:h:u:1:0:", i)) end' 1 "$Q" >/dev/null
  status
  is "$(part 4)" 1500
  is "$(part 5 | wc -w)" 4000
}

@test "status: the marker and the fence" {
  FENCE=1 ask "$A" >/dev/null
  DONE=60000 RAN=1234 release "$A" >/dev/null
  status
  is "$(part 0)" ''
  is "$(part 6)" "$(r get "$D")"
  between 50000 "$(part 7)" 60000
  is "$(part 8)" "$(r get "$F")"
}

@test "status: what is no lock, by its type" {
  r set "$L" 'somebody else' >/dev/null
  status
  is "$(part 0) $(part 1) $(part 2) $(part 3)" \
    'x0 string -1 somebody else -1 -1'
  r del "$L" >/dev/null
  r zadd "$L" 99999999999999 player >/dev/null
  is "$(status | head -4 | line)" 'odd zset -1 []'
  r del "$L" >/dev/null
  r hset "$L" a b >/dev/null
  is "$(status | head -4 | line)" 'odd hash -1 []'
  r del "$L" >/dev/null
  r xadd "$L" '*' a b >/dev/null
  is "$(status | head -4 | line)" 'odd stream -1 []'
}

@test "status: a member that others added, a long value, side keys of other types" {
  KIND=s0 ask "$A" 60000
  r zadd "$L" 99999999999998 'zzz player' >/dev/null
  status
  like "$(part 3)" "$A [56]???? -1 zzz player * -1"
  r del "$L" >/dev/null
  r eval 'redis.call("SET", KEYS[1], string.rep("v", 100000))' 1 "$L" >/dev/null
  status
  is "$(part 3 | cut -d ' ' -f 1 | tr -d '\n' | wc -c)" 640
  r rpush "$Q" x >/dev/null
  r rpush "$D" x >/dev/null
  r rpush "$F" x >/dev/null
  status
  is "$(part 4)|$(part 5)|$(part 6)|$(part 8)" '0|||'
}

@test "status: writes nothing" {
  local before after
  ask "$A" 60000
  ABOVE=$A ask "$B" 30000
  join "$C" >/dev/null
  before=$(r info persistence | grep ^rdb_changes)
  status
  after=$(r info persistence | grep ^rdb_changes)
  is "$after" "$before"
}

@test "break: an exclusive one, and what stays" {
  FENCE=1 ask "$A" >/dev/null
  is "$(brk)" "0 0 $A"
  nothing_left
  is "$(r exists "$F")" 1
  is "$(renew "$A")" '2 '
  is "$(brk)" 2
}

@test "break: all that share it, or are in its slots, but none that has lapsed" {
  KIND=s0 ask "$A" 60000
  KIND=s0 ask "$B" 30000
  r zadd "$L" 1 "s0:$C" >/dev/null
  is "$(brk)" "0 0 $B $A"
  nothing_left
  KIND=j3 ask "$A" 60000
  KIND=j3 ask "$B" 30000
  KIND=j3 ask "$C" 10000
  KIND=j3 release "$C"
  is "$(brk)" "0 0 $B $A"
  nothing_left
}

@test "break: nested runs, all at once" {
  ask "$A" 60000
  ABOVE=$A ask "$B" 30000
  is "$(brk)" "0 0 $B $A"
  nothing_left
  is "$(extend "$B")" '2 '
}

@test "break: nested runs whose set was lost, or is somebody's" {
  ask "$A" 60000
  ABOVE=$A ask "$B" 30000
  r del "$H" >/dev/null
  is "$(brk)" "0 0 $B"
  nothing_left
  ask "$A" 60000
  ABOVE=$A ask "$B" 30000
  r del "$H" >/dev/null
  r rpush "$H" x >/dev/null
  is "$(brk)" "78 $H"
  is "$(r lrange "$H" 0 -1)" x
}

@test "break: one that cools down" {
  ask "$A"
  COOL=60000 release "$A"
  is "$(brk)" "0 0 rlock:1:cooling${A:40}"
  nothing_left
}

@test "break: the first who waits is served, the dead are dropped" {
  take "$A" 60000
  hear "$C"
  join "$C" >/dev/null
  hear "$W"
  join "$W" >/dev/null
  r zadd "$Q" 1 "$(entry "$B")" >/dev/null
  is "$(brk)" "0 0 $A"
  hears "$C" grant
  hears_like "$W" 'first:*'
  is "$(r get "$L")" "$C"
  is "$(queue)" 9
}

@test "break: more than one step of dead ones" {
  take "$A" 60000
  r eval 'for i = 1, 2500 do redis.call("ZADD", KEYS[1], i,
    string.format("x0:1:0:rlock:1:%032x:h:u:1:0:", i)) end' 1 "$Q" >/dev/null
  hear "$C"
  join "$C" >/dev/null
  is "$(brk)" "0 0 $A"
  hears "$C" grant
  is "$(r get "$L")" "$C"
}

@test "break: a foreign string is one that is broken, too" {
  r set "$L" 'somebody else' >/dev/null
  is "$(brk)" '0 0 somebody else'
  nothing_left
}

@test "break: what is no lock stays: 78" {
  r zadd "$L" 5 player >/dev/null
  is "$(brk)" "78 $L"
  is "$(r zscore "$L" player)" 5
  r del "$L" >/dev/null
  r hset "$L" a b >/dev/null
  is "$(brk)" "78 $L"
  is "$(r hget "$L" a)" b
  r del "$L" >/dev/null
  take "$A" 60000
  r rpush "$Q" x >/dev/null
  is "$(brk)" "78 $Q"
  is "$(r get "$L")" "$A"
}
