#!/usr/bin/env bats
# acquire, extend and release of runs below a run that holds the lock.

load ../lib/script

setup_file() { redis_start && scripts_get; }
teardown_file() { redis_stop; }
setup() { fresh; W=$(token 9); }
teardown() { ears_off; }

# inner TOKEN [TTL]: enter below A.
inner() { ABOVE=${ABOVE-$A} ask "$@"; }

not_granted() { ! heard "$1" | grep grant; }

holds() { r zrange "$H" 0 -1 | sed 's/.*:user:\([0-9]*\):.*/\1/' | line; }

@test "in by the token above, with a lease of its own; none is shortened" {
  ask "$A" 50000
  is "$(inner "$B" 5000)" '0 0 -1 '
  is "$(r get "$L")" "$B/nested"
  is "$(holds)" '2 1'
  between 49000 "$(r pttl "$L")" 50000
  between 49000 "$(r pttl "$H")" 50000
  is "$(inner "$C" 90000)" '0 0 -1 '
  between 89000 "$(r pttl "$L")" 90000
  ttls
}

@test "renewing: the fast way says so, each renews its own" {
  ask "$A" 5000
  inner "$B" 5000
  is "$(renew "$A" 60000)" 9
  is "$(extend "$A" 60000)" 0
  between 59000 "$(r pttl "$L")" 60000
  is "$(extend "$B" 70000)" 0
  is "$(extend "$W" 70000)" "1 $(r get "$L")"
  between 69000 "$(r pttl "$L")" 70000
}

@test "without the key of nested runs nothing is renewed, but told" {
  ask "$A"
  inner "$B"
  IFS= read -r -d '' text <"$SCRIPTS/extend" || true
  is "$(r eval "$text" 1 "$L" "$A" 1000 -1 | line)" 9
  between 9000 "$(r pttl "$L")" 10000
}

@test "inner first, outer first: the last one frees it" {
  for order in 'B A' 'A B'; do
    names "${BATS_TEST_NUMBER}${order// /}"
    ask "$A"
    inner "$B"
    is "$(s free "$A")" 9
    read -r first last <<<"$order"
    is "$(release "${!first}")" '0 0'
    # The one that is left holds it as if it had always been alone.
    is "$(r get "$L")" "${!last}"
    is "$(r exists "$H")" 0
    is "$(renew "${!last}" 20000)" 0
    like "$(ask "$W")" "1 ${!last} * 0 *"
    is "$(s free "${!last}")" 0
    is "$(r exists "$L" "$H" "$Q")" 0
  done
}

@test "three deep, in any order" {
  local order t
  for order in 'A B C' 'A C B' 'B A C' 'B C A' 'C A B' 'C B A'; do
    names "${BATS_TEST_NUMBER}${order// /}"
    ask "$A"
    inner "$B"
    ABOVE="$A $B" ask "$C"
    for t in $order; do
      is "$(r exists "$L")" 1
      like "$(ask "$W")" "1 * * 0 *"
      is "$(release "${!t}")" '0 0'
      ttls
    done
    is "$(r exists "$L" "$H" "$Q")" 0
  done
}

@test "given back twice is counted once" {
  ask "$A"
  inner "$B"
  is "$(release "$A")" '0 0'
  like "$(release "$A")" "1 $B 0"
  is "$(r get "$L")" "$B"
}

@test "entered twice is one" {
  ask "$A"
  inner "$B"
  inner "$B" 60000
  is "$(holds)" '1 2'
  is "$(release "$B")" '0 0'
  is "$(r get "$L")" "$A"
}

@test "a killed one lapses by itself" {
  ask "$A" 60000
  inner "$B"
  r zadd "$H" 1 "$B" >/dev/null
  is "$(extend "$A" 60000)" 0
  is "$(r get "$L")" "$A"
  is "$(r exists "$H")" 0
  like "$(extend "$B")" "1 $A"
  # And the outer one.
  inner "$B" 60000
  r zadd "$H" 1 "$A" >/dev/null
  is "$(extend "$B" 60000)" 0
  is "$(r get "$L")" "$B"
}

@test "a token that holds nothing is worth nothing" {
  ask "$A"
  release "$A"
  ask "$W"
  like "$(inner "$B")" "1 $W * 0 *"
  release "$W"
  # A is out, B goes on: what is left of A waits like anybody.
  ask "$A"
  inner "$B"
  release "$A"
  like "$(inner "$C")" "1 $B * 0 *"
  is "$(ABOVE="$A $B" ask "$C")" '0 0 -1 '
}

@test "past the queue, and the waiters are served when all are out" {
  ask "$A"
  hear "$W"
  join "$W"
  is "$(inner "$B")" '0 1 -1 '
  release "$A"
  not_granted "$W"
  release "$B"
  hears_like "$W" '*grant'
}

@test "taken anew, what was left of nested runs is gone" {
  ask "$A"
  inner "$B"
  r del "$L" >/dev/null
  is "$(ask "$W")" '0 0 -1 '
  is "$(r exists "$H")" 0
  like "$(extend "$B")" "1 $W"
}

@test "shared below exclusive is granted; exclusive below shared is refused" {
  ask "$A"
  is "$(KIND=s0 inner "$B")" '0 0 -1 '
  like "$(KIND=s0 ask "$W")" '1 * * 0 *'
  KIND=s0 release "$B"
  release "$A"
  KIND=s0 ask "$A"
  is "$(inner "$B")" '64 s0'
  is "$(r exists "$Q")" 0
  # But not by a token that is no reader's.
  like "$(ABOVE=$C ask "$B")" "1 $A * 0 *"
}

@test "slots below another kind, or another N, are refused as beside it" {
  ask "$A"
  is "$(KIND=j2 inner "$B")" '79 x0'
  is "$(r exists "$H" "$Q")" 0
  release "$A"
  KIND=s0 ask "$A"
  is "$(KIND=j2 inner "$B")" '79 s0'
  KIND=s0 release "$A"
  KIND=j2 ask "$A"
  is "$(KIND=j3 inner "$B")" '79 j2'
  is "$(KIND=s0 inner "$B")" '79 j2'
  is "$(inner "$B")" '79 j2'
  is "$(r exists "$Q")" 0
}

@test "a reader below a reader passes the writer that waits" {
  KIND=s0 ask "$A"
  hear "$W"
  join "$W"
  is "$(KIND=s0 inner "$B")" '0 1 -1 '
  KIND=s0 release "$A"
  not_granted "$W"
  KIND=s0 release "$B"
  hears_like "$W" '*grant'
}

@test "slots that are full of runs above would wait for themselves" {
  export KIND=j2
  ask "$A"
  is "$(inner "$B")" '0 0 1 '
  is "$(ABOVE="$A $B" ask "$C")" '64 j2'
  # One of them is another's: that one may end.
  like "$(inner "$C")" '1 * * 0 *'
  is "$(r exists "$Q")" 0
}

@test "out of memory: entered, renewed, left" {
  ask "$A"
  r config set maxmemory 1 >/dev/null
  got="$(inner "$B"); $(extend "$B"); $(extend "$A"); $(release "$B"); $(release "$A")"
  r config set maxmemory 0 >/dev/null
  is "$got" '0 0 -1 ; 0; 0; 0 0; 0 0'
}

@test "every key ends, and no lease is shortened, at each step of a deep one" {
  local t last
  ask "$A" 60000
  ABOVE=$A ask "$B" 500
  ABOVE="$A $B" ask "$C" 30000
  for t in "$C" "$B"; do
    ttls
    between 50000 "$(r pttl "$L")" 60000
    extend "$t" 700
    between 50000 "$(r pttl "$L")" 60000
    release "$t"
  done
  is "$(r get "$L")" "$A"
  between 50000 "$(r pttl "$L")" 60000
}

@test "what would be done twice is done once: entered, renewed, left, by any" {
  local t
  ask "$A"
  for t in "$B" "$B" "$C" "$C" "$B"; do is "$(inner "$t")" '0 0 -1 '; done
  is "$(r zcard "$H")" 3
  for t in "$A" "$B" "$C"; do is "$(extend "$t")$(extend "$t")" 00; done
  is "$(release "$B")" '0 0'
  like "$(release "$B")" '1 *'
  is "$(release "$C")" '0 0'
  like "$(release "$C")" "1 $A 0"
  is "$(release "$A")" '0 0'
  is "$(release "$A")" '2  0'
}

@test "the outer one is killed and lapses: the inner one keeps the lock, the waiters wait" {
  ask "$A"
  inner "$B" 60000
  hear "$W"
  join "$W"
  r zadd "$H" 1 "$A" >/dev/null
  like "$(join "$W" 10000 1700000000000000)" '1 * * 0 *'
  like "$(extend "$A")" '1 *'
  is "$(extend "$B" 60000)" 0
  is "$(r get "$L")" "$B"
  is "$(renew "$B" 60000)" 0
  not_granted "$W"
  is "$(release "$B")" '0 0'
  hears_like "$W" '*grant'
}

@test "no two share it by a token that was released, cooled, broken or lapsed" {
  ask "$A"
  COOL=60000 release "$A"
  like "$(inner "$B")" '1 *'
  s break
  like "$(inner "$B")" '0 0 -1 ' # free now, as for anybody
  is "$(r get "$L")" "$B"
  is "$(r exists "$H")" 0
  s break
  ask "$A"
  s break
  ask "$W"
  like "$(inner "$C")" "1 $W * 0 *"
  is "$(ABOVE="$A $B $C" ask "$C" | cut -d ' ' -f 1)" 1
}

@test "a reader's token that has lapsed is worth nothing beside living ones" {
  KIND=s0
  ask "$A"
  ask "$B" 60000
  hear "$W"
  KIND=x0 join "$W"
  r zadd "$L" 1 "s0:$A" >/dev/null
  like "$(inner "$C")" '1 * * 1 *'
  is "$(ABOVE=$B ask "$C")" '0 1 -1 '
}

@test "two keys: the tokens of one are nothing to the other" {
  ask "$A"
  names "${BATS_TEST_NUMBER}b"
  ask "$W"
  like "$(inner "$B")" "1 $W * 0 *"
  is "$(ABOVE="$A $W" ask "$B")" '0 0 -1 '
}

@test "their key is of another type: refused, named, untouched" {
  ask "$A"
  inner "$B"
  r del "$H" >/dev/null
  r rpush "$H" x >/dev/null
  is "$(inner "$C")" "78 $H"
  like "$(extend "$A")" '*WRONGTYPE*'
  like "$(release "$A")" '*WRONGTYPE*'
  is "$(r lrange "$H" 0 -1)" x
  ttl=$(r pttl "$L")
  between 1 "$ttl" 10000
}
