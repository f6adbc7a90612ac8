#!/usr/bin/env bats
# acquire, extend and release of shared locks and slots.

load ../lib/script

setup_file() { redis_start && scripts_get; }
teardown_file() { redis_stop; }
setup() { fresh; W=$(token 9); }
teardown() { ears_off; }

reply() { cut -d ' ' -f "$1" <<<"$2"; }

shared() { KIND=s0 "$@"; }
two() { KIND=j2 "$@"; }

# members: of the set, in the order of their leases, tokens as their number.
members() {
  r zrange "$L" 0 -1 | sed 's/rlock:1:[^:]*:host:user:\([0-9]*\):.*/\1/' | line
}

# over: let the lease of TOKEN's member be over now, without waiting for it.
over() { r zadd "$L" 1 "$1" >/dev/null; }

@test "shared: readers together, each with its own lease, the key with the longest" {
  is "$(shared ask "$A" 5000)" '0 0 -1 '
  is "$(shared ask "$B" 50000)" '0 0 -1 '
  is "$(shared ask "$C" 500)" '0 0 -1 '
  is "$(members)" 's0:3 s0:1 s0:2'
  between 49000 "$(r pttl "$L")" 50000
  is "$(r exists "$Q")" 0
}

@test "shared: a short lease shortens no other's, taken, renewed or given back" {
  shared ask "$A" 60000
  shared ask "$B" 500
  between 59000 "$(r pttl "$L")" 60000
  is "$(extend "$B" 600)" 0
  between 59000 "$(r pttl "$L")" 60000
  is "$(shared release "$B")" '0 0'
  between 59000 "$(r pttl "$L")" 60000
  is "$(members)" 's0:1'
}

@test "shared: the key ends with the longest that is left" {
  shared ask "$A" 60000
  shared ask "$B" 5000
  is "$(shared release "$A")" '0 0'
  between 3000 "$(r pttl "$L")" 5000
  is "$(shared release "$B")" '0 0'
  is "$(r exists "$L" "$Q" "$H")" 0
}

@test "shared: a dead one lapses, whatever the others renew" {
  shared ask "$A"
  shared ask "$B" 60000
  over "s0:$A"
  is "$(extend "$B")" 0
  like "$(extend "$A")" "1 $B"
  like "$(shared release "$A")" "1 $B 0"
  is "$(members)" 's0:2' || is "$(members)" 's0:1 s0:2'
}

@test "shared and exclusive keep each other out, and say who" {
  shared ask "$A" 5000
  like "$(ask "$W")" "1 $A * 0 *"
  is "$(s take "$W" 1000)" 9
  shared release "$A"
  ask "$W"
  like "$(shared ask "$A")" "1 $W * 0 *"
  is "$(r exists "$Q")" 0
}

@test "a writer that waits stops the readers behind it; those before it go on" {
  shared ask "$A"
  hear "$W"
  join "$W"
  like "$(shared ask "$B")" "1 $A * 1 *"
  hear "$B"
  shared join "$B"
  is "$(extend "$A")" 0
  is "$(queue)" '9 2'
  is "$(shared release "$A")" '0 0'
  hears "$W" 'grant'
  is "$(r get "$L")" "$W"
  is "$(queue)" 2
}

@test "readers that follow one another are let in together, up to the next writer" {
  local t
  ask "$W"
  for t in "$A" "$B"; do hear "$t" && shared join "$t"; done
  X=$(token 8) Y=$(token 7)
  hear "$X"
  join "$X"
  hear "$Y"
  shared join "$Y"
  is "$(release "$W")" '0 0'
  hears "$A" grant
  hears "$B" grant
  is "$(members | tr ' ' '\n' | sort | line)" 's0:1 s0:2'
  hears_like "$X" 'first:*'
  is "$(queue)" '8 7'
  # The grant is no more than a chance to prove it.
  between 1 "$(r pttl "$L")" 2000
  is "$(shared ask "$A")" '0 2 -1 '
  between 9000 "$(r pttl "$L")" 10000
}

@test "a dead writer ahead stops nobody" {
  shared ask "$A"
  join "$W" # it listens no more
  is "$(shared ask "$B")" '0 0 -1 '
  is "$(r exists "$Q")" 0
}

@test "slots: one each, from 0 on, and no more than there are" {
  is "$(two ask "$A")" '0 0 0 '
  is "$(two ask "$B")" '0 0 1 '
  like "$(two ask "$C")" '1 rlock:1:* * 0 *'
  is "$(members)" 'j2:0:1 j2:1:2'
  is "$(r exists "$Q")" 0
}

@test "slots: idempotent, with the slot, without it, or searched for" {
  two ask "$A"
  two ask "$B"
  is "$(SLOT=1 two ask "$B")" '0 0 1 '
  is "$(SLOT='?' two join "$B")" '0 0 1 '
  is "$(members)" 'j2:0:1 j2:1:2'
  is "$(SLOT=1 extend "$B")" 0
  is "$(SLOT=0 extend "$B")" "1 $A"
}

@test "slots: one that is given back stays, free, and is taken next" {
  two ask "$A"
  two ask "$B" 60000
  is "$(two release "$A")" '0 0'
  is "$(members)" 'j2:0: j2:1:2'
  is "$(r zscore "$L" j2:0:)" 0
  between 59000 "$(r pttl "$L")" 60000
  is "$(two ask "$C")" '0 0 0 '
  two release "$B"
  two release "$C"
  is "$(r exists "$L")" 0
}

@test "slots: a dead one's is taken over, and its late holder gets nothing back" {
  two ask "$A"
  two ask "$B" 60000
  over "j2:0:$A"
  is "$(two ask "$C" 60000)" '0 0 0 '
  is "$(r zcard "$L")" 2
  like "$(SLOT=0 extend "$A")" '1 rlock:1:*'
  like "$(SLOT=0 two release "$A")" '1 rlock:1:* 0'
  like "$(SLOT=0 two ask "$A")" '1 rlock:1:* * 0 *'
  is "$(members | tr ' ' '\n' | sort | line)" 'j2:0:3 j2:1:2'
}

@test "slots: the waiter hears which one, and proves it with its whole lease" {
  two ask "$A"
  two ask "$B" 60000
  hear "$C"
  like "$(two join "$C")" '1 * * 0 *'
  is "$(two release "$B")" '0 0'
  hears "$C" 'grant:1'
  is "$(SLOT=1 two ask "$C" 60000)" '0 0 1 '
  between 59000 "$(r pttl "$L")" 60000
}

@test "slots: as many as are free are granted in one step" {
  local t
  KIND=j3
  for t in "$A" "$B" "$C"; do ask "$t"; done
  X=$(token 8) Y=$(token 7)
  hear "$X"
  join "$X"
  hear "$Y"
  join "$Y"
  over "j3:0:$A"
  is "$(release "$B")" '0 0'
  hears_like "$X" 'first:* grant:*' || hears_like "$X" 'grant:*'
  hears_like "$Y" '*grant:*'
  is "$(r exists "$Q")" 0
  is "$(r zcard "$L")" 3
}

@test "the time to look: of slots the first to end, of readers the last" {
  two ask "$A" 5000
  two ask "$B" 60000
  got=$(two ask "$C")
  between 3000 "$(reply 3 "$got")" 5000
  names "${BATS_TEST_NUMBER}b"
  shared ask "$A" 5000
  shared ask "$B" 60000
  got=$(ask "$C")
  between 58000 "$(reply 3 "$got")" 60000
}

@test "another kind, another N: refused with what is there, and untouched" {
  two ask "$A"
  before=$(r zrange "$L" 0 -1 withscores)
  is "$(KIND=j3 ask "$B")" '79 j2'
  is "$(ask "$B")" '79 j2'
  is "$(shared join "$B")" '79 j2'
  is "$(r zrange "$L" 0 -1 withscores)" "$before"
  is "$(r exists "$Q")" 0
  two release "$A"
  ask "$A"
  is "$(two ask "$B")" '79 x0'
  release "$A"
  shared ask "$A"
  is "$(two ask "$B")" '79 s0'
}

@test "of another kind, but dead: a waiter stops nobody" {
  local n=0
  for KIND in x0 s0 j3; do
    again $((n += 1))
    ask "$A"
    join "$W" # it listens no more
    KIND=${KIND/s0/x0} join "$C"
    r del "$L" >/dev/null # the holder is gone, too
    is "$(two ask "$B")" '0 0 0 '
    is "$(r exists "$Q")" 0
    is "$(two extend "$B")" 0
  done
}

@test "of another kind, in line for what is free: served first, then it is refused" {
  ask "$A"
  hear "$W"
  join "$W"
  r del "$L" >/dev/null
  is "$(two join "$B")" '79 x0'
  hears "$W" grant
  is "$(r get "$L")" "$W"
  is "$(r exists "$Q")" 0
  # And what waits already, when another kind has come in between.
  r del "$L" >/dev/null
  two ask "$A"
  two ask "$C" 60000
  hear "$B"
  two join "$B"
  r del "$L" >/dev/null
  r set "$L" other px 60000 >/dev/null
  is "$(two join "$B" 10000 1700000000000000)" '79 x0'
  is "$(r exists "$Q")" 0
  is "$(r get "$L")" other
}

@test "readers and writers in the order in which they came" {
  local t=() i kinds=(x0 s0 s0 x0 x0 s0) steps=()
  ask "$W"
  for i in 0 1 2 3 4 5; do
    t[i]=$(token $((20 + i)))
    hear "${t[i]}"
    KIND=${kinds[i]} join "${t[i]}"
  done
  release "$W"
  # Each of them leaves as soon as it is in: what is in then?
  for i in 0 1 2 3 4 5; do
    wait_until 5 _granted "${t[i]}"
    steps+=("$(queue | tr -d ' ')")
    KIND=${kinds[i]} release "${t[i]}"
  done
  is "${steps[*]}" '2122232425 232425 232425 2425 25 '
  is "$(r exists "$L" "$Q")" 0
}

_granted() { heard "$1" | grep -q grant; }

@test "slots: in the order in which they came, whichever is free" {
  local t=() i
  two ask "$A" 60000
  two ask "$B" 60000
  for i in 0 1 2 3; do
    t[i]=$(token $((20 + i)))
    hear "${t[i]}"
    two join "${t[i]}" 60000
  done
  two release "$B"
  hears_like "${t[0]}" '*grant:1'
  over "j2:0:$A"
  # The first looks: one of two is over.
  is "$(two join "${t[1]}" 60000 1700000000000000 | cut -d ' ' -f 1-3)" '0 2 0'
  is "$(queue)" '22 23'
  two release "${t[0]}"
  hears_like "${t[2]}" '*grant:1'
  two release "${t[2]}"
  hears_like "${t[3]}" '*grant:1'
  is "$(members)" 'j2:1:23 j2:0:21'
}

@test "somebody's sorted set is no lock: 78, and as it was" {
  local first before
  # What comes first is all that tells.
  for first in anna j2:me s0:x j2:0:x j0:0:rlock:1: x0:rlock:1: j2::rlock:1:; do
    r del "$L" >/dev/null
    r zadd "$L" 1 "$first" 100 zoe 9000000000000 max >/dev/null
    before=$(r zrange "$L" 0 -1 withscores)
    for KIND in x0 s0 j2; do
      is "$(ask "$A")" "78 $L"
      is "$(join "$A")" "78 $L"
      like "$(extend "$A")" '1 *'
      like "$(release "$A")" '1 * 0'
    done
    is "$(s leave "s0:$A" '')" 9
    is "$(s leave "j2:0:$A" j2:0:)" 9
    is "$(r zrange "$L" 0 -1 withscores)" "$before"
    is "$(r pttl "$L")" -1
    is "$(r exists "$Q" "$H")" 0
  done
}

@test "when all are over it is free for any kind, also in the key's last millisecond" {
  local next
  for KIND in s0 j2; do
    for next in x0 s0 j2 j3; do
      names "$BATS_TEST_NUMBER$KIND$next"
      ask "$A"
      ask "$B"
      r zadd "$L" 1 "${KIND/j2/j2:0}:$A" 2 "${KIND/j2/j2:1}:$B" >/dev/null
      like "$(KIND=$next ask "$C")" '0 0 * '
      is "$(KIND=$next extend "$C")" 0
      like "$(extend "$A")" "1 $C"
      is "$(KIND=$next release "$C")" '0 0'
      is "$(r exists "$L")" 0
    done
  done
}

@test "shared: what the dead leave goes with the next that comes" {
  local i
  shared ask "$C" 60000
  for i in 1 2 3; do
    shared ask "$A"
    over "s0:$A"
    shared ask "$B"
    over "s0:$B"
  done
  shared ask "$W"
  is "$(members | tr ' ' '\n' | sort | line)" 's0:3 s0:9'
}

@test "a side key of another type is named, and as it was" {
  local key
  for key in "$Q" "$H" "$D" "$F"; do
    r del "$Q" "$H" "$D" "$F" >/dev/null
    r rpush "$key" x >/dev/null
    for KIND in x0 s0 j2; do
      is "$(ONCE=1 FENCE=1 ask "$A")" "78 $key"
    done
    is "$(r lrange "$key" 0 -1)" x
    is "$(r exists "$L")" 0
  done
}

@test "every key ends by itself, whatever was done" {
  local t n=0
  for KIND in s0 j2; do
    again $((n += 1))
    for t in "$A" "$B" "$C"; do hear "$t" && join "$t" && ttls; done
    extend "$A" && ttls
    release "$A" && ttls
    release "$B" && ttls
  done
}

@test "leave: the fast way back, and what it leaves to the full one" {
  shared ask "$A" 60000
  shared ask "$B" 5000
  is "$(s leave "s0:$A" '')" 0
  is "$(members)" 's0:2'
  between 3000 "$(r pttl "$L")" 5000
  is "$(s leave "s0:$A" '')" 9
  is "$(s leave "s0:$B" '')" 0
  is "$(r exists "$L")" 0
  two ask "$A"
  two ask "$B"
  is "$(s leave "j2:0:$A" j2:0:)" 0
  is "$(members)" 'j2:0: j2:1:2'
  over "j2:1:$B"
  is "$(s leave "j2:1:$B" j2:1:)" 9
  is "$(two ask "$A")" '0 0 0 '
  two ask "$B"
  hear "$C"
  like "$(two join "$C")" '1 *'
  is "$(s leave "j2:0:$A" j2:0:)" 9
  is "$(members | tr ' ' '\n' | sort | line)" 'j2:0:1 j2:1:2'
  is "$(queue)" 3
  r del "$L" "$Q" >/dev/null
  r set "$L" x >/dev/null
  is "$(s leave "j2:0:$A" j2:0:)" 9
  is "$(r get "$L")" x
}

@test "leave: when out of memory, too; the time of the others stays" {
  two ask "$A" 60000
  two ask "$B" 5000
  r config set maxmemory 1 >/dev/null
  got="$(s leave "j2:0:$A" j2:0:) $(r pttl "$L")"
  got+=" $(s leave "j2:1:$B" j2:1:) $(r exists "$L")"
  r config set maxmemory 0 >/dev/null
  like "$got" '0 * 0 0'
  between 3000 "$(reply 2 "$got")" 5000
}

@test "given back twice is given back once" {
  for KIND in s0 j2; do
    names "${BATS_TEST_NUMBER}$KIND"
    ask "$A"
    ask "$B"
    is "$(release "$A")" '0 0'
    like "$(release "$A")" "1 $B 0"
    is "$(ask "$C" | cut -d ' ' -f 1)" 0
    like "$(release "$A")" '1 rlock:1:* 0'
    is "$(extend "$B")" 0
    is "$(extend "$C")" 0
  done
}

@test "out of memory: no new lock, but renewed and given back, and the next one served" {
  local n=0
  for KIND in s0 j2; do
    again $((n += 1))
    ask "$A" 60000
    hear "$B"
    KIND=${KIND/s0/x0} join "$B" 60000 | grep -q . # a writer, or the second slot
    r config set maxmemory 1 >/dev/null
    like "$(ask "$C")" '*OOM*' || { r config set maxmemory 0; return 1; }
    is "$(extend "$A" 60000)" 0
    is "$(release "$A")" '0 0'
    r config set maxmemory 0 >/dev/null
  done
}

# crowd KIND COUNT [ONCE]: so many in the queue, from number 1000 on, of whom one
# client hears all the channels.
crowd() {
  r eval 'for i = 0, ARGV[2] - 1 do redis.call("ZADD", KEYS[1], 1000 + i, string.format(
    "%s:60000:%s:rlock:1:%032x:host:user:%d:0:", ARGV[1], ARGV[3], ARGV[4] * 1000000 + 1000 + i, 1000 + i)) end' \
    1 "$Q" "$1" "$2" "${3:-0}" "${BATS_TEST_NUMBER:-0}" >/dev/null
  local i channels=()
  for ((i = 0; i < $2; i++)); do channels+=("$(channel "$(token $((1000 + i)))")"); done
  r subscribe "${channels[@]}" >"$REDIS_DIR/crowd" 2>&1 </dev/null 3>&- &
  EARS+=($!)
  wait_until 10 _hears_all "${channels[-1]}"
}

_hears_all() { [[ $(r pubsub numsub "$1" | tail -1) == 1 ]]; }

@test "who is let in first serves all behind, also beyond one step" {
  crowd s0 1005
  KIND=s0 hear "$A"
  like "$(KIND=s0 join "$A" 10000 5)" '0 *'
  is "$(r zcard "$L") $(r zcard "$Q")" '1006 0'
}

@test "who asks when it is done tells all who wait for that, also beyond one step" {
  r set "$D" "1 2 $C" px 60000 >/dev/null
  crowd x0 1005 1
  ONCE=1 ask "$A" >/dev/null
  is "$(r zcard "$Q")" 0
}

@test "a step that is not the last tells the next one to go on" {
  take "$A"
  hear "$B"
  join "$B" 10000 5000 >/dev/null
  r eval 'for i = 1, 1000 do redis.call("ZADD", KEYS[1], i,
    string.format("x0:1:0:rlock:1:%032x:h:u:1:0:", i)) end' 1 "$Q" >/dev/null
  # Asked once, and not again: who released was killed.
  is "$(release "$A")" '9 0'
  hears "$B" first:0
}
