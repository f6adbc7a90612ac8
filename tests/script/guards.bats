#!/usr/bin/env bats
# What a release leaves behind (--min-hold, --once), and the fence.

load ../lib/script

setup_file() { redis_start && scripts_get; }
teardown_file() { redis_stop; }
setup() { fresh; W=$(token 9); }
teardown() { ears_off; }

cooling() { echo "rlock:1:cooling${1:40}"; }

@test "cooling: nobody's, for the time that is left, and of no use to the old token" {
  ask "$A" 60000
  is "$(COOL=5000 release "$A")" '0 0'
  is "$(r get "$L")" "$(cooling "$A")"
  between 4000 "$(r pttl "$L")" 5000
  is "$(renew "$A")" "1 $(cooling "$A")"
  is "$(extend "$A")" "1 $(cooling "$A")"
  like "$(ABOVE=$A ask "$B")" "1 $(cooling "$A") * 0 *"
  is "$(COOL=60000 release "$A")" "1 $(cooling "$A") 0"
  between 3000 "$(r pttl "$L")" 5000
}

@test "cooling: the first waiter is told when it ends" {
  ask "$A" 60000
  hear "$B"
  join "$B"
  COOL=5000 release "$A"
  hears_like "$B" 'first:*'
  between 4000 "$(heard "$B" | cut -d : -f 2)" 5000
  is "$(queue)" 2
}

@test "cooling: a slot" {
  KIND=j2
  ask "$A"
  ask "$B" 60000
  is "$(COOL=5000 release "$A")" '0 0'
  is "$(r zrange "$L" 0 0)" "j2:0:$(cooling "$A")"
  like "$(ask "$C")" '1 rlock:1:* * 0 *'
  r zadd "$L" 1 "j2:0:$(cooling "$A")" >/dev/null
  is "$(ask "$C")" '0 0 0 '
}

@test "cooling: of one of nested runs, the place stays taken after the others" {
  ask "$A" 60000
  ABOVE=$A ask "$B" 2000
  COOL=50000 release "$A"
  like "$(ask "$W")" '1 * * 0 *'
  is "$(extend "$B" 2000)" 0
  is "$(release "$B")" '0 0'
  is "$(r get "$L")" "$(cooling "$A")"
  between 45000 "$(r pttl "$L")" 50000
  is "$(r exists "$H")" 0
}

@test "once: the marker is set by the holder's release, and by no other" {
  ask "$A"
  like "$(DONE=60000 RAN=1234 release "$B")" "1 $A 0"
  is "$(r exists "$D")" 0
  is "$(DONE=60000 RAN=1234 release "$A")" '0 0'
  like "$(r get "$D")" "1[0-9]* 1234 $A"
  between 59000 "$(r pttl "$D")" 60000
  is "$(DONE=60000 release "$A")" '2  0'
}

@test "once: who asks is told; who does not ask for it is not kept out" {
  ask "$A"
  DONE=60000 release "$A"
  is "$(ONCE=1 ask "$B")" "3 $(r get "$D")"
  is "$(ONCE=1 join "$B")" "3 $(r get "$D")"
  is "$(r exists "$L" "$Q")" 0
  is "$(ask "$B")" '0 0 -1 '
}

@test "once: waiters that asked for it are told and leave; the others are served" {
  ask "$A"
  hear "$B"
  ONCE=1 join "$B"
  hear "$W"
  join "$W"
  hear "$C"
  ONCE=1 join "$C"
  DONE=60000 release "$A"
  hears_like "$B" '*done'
  hears_like "$W" '*grant'
  # At once, also behind one that holds it now.
  hears_like "$C" '*done'
  release "$W"
  is "$(r exists "$Q" "$L")" 0
}

@test "once: the first in line leaves, and the next is told when to look" {
  ask "$A"
  hear "$B"
  ONCE=1 join "$B"
  hear "$C"
  join "$C"
  is "$(heard "$C")" ''
  r set "$D" '1 2 x' px 60000 >/dev/null
  is "$(ONCE=1 ask "$B")" '3 1 2 x'
  hears_like "$C" 'first:*'
  is "$(queue)" 3
}

@test "once: one that was granted before gives it back, and the next is served" {
  ask "$A"
  hear "$B"
  ONCE=1 join "$B"
  hear "$C"
  join "$C"
  release "$A"
  hears "$B" grant
  r set "$D" '1 2 x' px 60000 >/dev/null # by another way into the lock
  is "$(ONCE=1 ask "$B")" '3 1 2 x'
  hears_like "$C" '*grant'
  is "$(r get "$L")" "$C"
}

@test "fence: grows over release, expiry, hand-over, break, and a server come back empty" {
  local last=0 n i
  for i in release expire break flush handover; do
    case $i in
    handover)
      ask "$A"
      hear "$B"
      join "$B"
      release "$A"
      hears "$B" grant
      n=$(FENCE=1 ask "$B")
      release "$B"
      ;;
    *) n=$(FENCE=1 ask "$A") ;;
    esac
    case $i in
    release) release "$A" ;;
    expire) r del "$L" >/dev/null ;;
    break) s break ;;
    flush) r flushdb >/dev/null ;;
    esac
    n=${n##* }
    (("$n" > "$last")) || { echo "$i: $n after $last"; return 1; }
    last=$n
  done
  between 2591990000 "$(r pttl "$F")" 2592000000
}

@test "fence: a clock set back does not make it fall" {
  r set "$F" 9000000000000000 >/dev/null
  is "$(FENCE=1 ask "$A")" '0 0 -1 9000000000000001'
  is "$(FENCE=1 ask "$A")" '0 0 -1 9000000000000002'
}

@test "fence: of every kind, and of nested runs" {
  local last=0 n
  for KIND in x0 s0 j2; do
    names "$BATS_TEST_NUMBER$KIND"
    for t in "$A" "$B"; do
      n=$(ABOVE=$A FENCE=1 ask "$t")
      is "${n%% *}" 0
      is "${n##* }" "$(r get "$F")"
      (("${n##* }" > last))
      last=${n##* }
    done
  done
}

@test "break: whatever kind, and who waits is served" {
  local n=0
  for KIND in x0 s0 j1; do
    again $((n += 1))
    ask "$A"
    hear "$W"
    KIND=${KIND/s0/x0} join "$W"
    is "$(s break)" "0 0 $A"
    hears_like "$W" '*grant*'
    is "$(r exists "$H")" 0
    like "$(extend "$A")" '1 *'
  done
}

@test "break: nested runs, nothing, not a lock" {
  is "$(s break)" 2
  ask "$A"
  ABOVE=$A ask "$B"
  is "$(s break | tr ' ' '\n' | sort | line)" "0 0 $(printf '%s\n' "$A" "$B" | sort | line)"
  is "$(r exists "$L" "$H")" 0
  r sadd "$L" x >/dev/null
  is "$(s break)" "78 $L"
  is "$(r scard "$L")" 1
}

@test "cooling: of two nested runs, the longer one counts, whatever their order" {
  local n=0 first
  for first in 50000 5000; do
    again $((n += 1))
    ask "$A" 60000
    ABOVE=$A ask "$B"
    COOL=$first release "$A"
    COOL=$((55000 - first)) release "$B"
    like "$(ask "$C")" '1 rlock:1:cooling* * 0 *'
    like "$(ABOVE="$A $B" ask "$C")" '1 rlock:1:cooling* * 0 *'
    between 45000 "$(r pttl "$L")" 50000
    ttls
  done
}

@test "cooling: the old token sent again changes nothing, in a slot neither" {
  KIND=j1
  ask "$A"
  COOL=5000 release "$A"
  before=$(r zrange "$L" 0 -1 withscores)
  like "$(COOL=60000 release "$A")" '1 rlock:1:cooling* 0'
  like "$(extend "$A" 60000)" '1 rlock:1:cooling*'
  like "$(SLOT=0 ask "$A")" '1 rlock:1:cooling* * 0 *'
  is "$(s leave "j1:0:$A" j1:0:)" 9
  is "$(r zrange "$L" 0 -1 withscores)" "$before"
  between 3000 "$(r pttl "$L")" 5000
}

@test "once: a release that is sent again, after the marker went, sets it no more" {
  for KIND in x0 s0 j2; do
    names "$BATS_TEST_NUMBER$KIND"
    ask "$A"
    DONE=60000 release "$A"
    is "$(r del "$D")" 1
    DONE=60000 release "$A" >/dev/null
    is "$(r exists "$D")" 0
  done
}

@test "once: by a nested run, and by a late one that has lapsed" {
  ask "$A" 60000
  ABOVE=$A ask "$B"
  is "$(DONE=60000 release "$B")" '0 0'
  like "$(r get "$D")" "* 0 $B"
  r del "$D"
  ABOVE=$A ask "$B"
  r zadd "$H" 1 "$B" >/dev/null
  like "$(DONE=60000 release "$B")" '1 *'
  is "$(r exists "$D")" 0
}

@test "once: a holder that asks again when it is done gives back, of every kind" {
  for KIND in x0 s0 j2; do
    names "$BATS_TEST_NUMBER$KIND"
    ask "$A"
    r set "$D" '1 2 x' px 60000 >/dev/null
    is "$(ONCE=1 ask "$A")" '3 1 2 x'
    is "$(r exists "$L" "$Q")" 0
  done
}

@test "fence: a number each, in the order in which they were let in, also from the queue" {
  local last=0 n t
  KIND=s0
  ask "$A"
  for t in "$B" "$C" "$A"; do
    n=$(FENCE=1 ask "$t")
    n=${n##* }
    ((n > last)) || { echo "$n after $last"; return 1; }
    last=$n
  done
  # Who asks for none, gets none, and uses none up.
  is "$(ask "$B")" '0 0 -1 '
  is "$(r get "$F")" "$last"
}

@test "fence: what is busy, done or refused uses no number up" {
  ask "$A"
  FENCE=1 ask "$B" >/dev/null
  FENCE=1 KIND=j2 ask "$B" >/dev/null
  is "$(r exists "$F")" 0
  DONE=60000 release "$A"
  FENCE=1 ONCE=1 ask "$B" >/dev/null
  is "$(r exists "$F")" 0
}

@test "every key of the guards has an end" {
  local t
  for KIND in x0 s0 j2; do
    names "$BATS_TEST_NUMBER$KIND"
    for t in "$A" "$B"; do
      ABOVE=$A FENCE=1 ONCE=1 ask "$t" >/dev/null
      ttls
    done
    for t in "$A" "$B"; do
      COOL=5000 DONE=5000 RAN=3 release "$t" >/dev/null
      ttls
    done
  done
}
