#!/usr/bin/env bats
# take, free, renew: the lock when nobody waits.

load ../lib/script

setup_file() { redis_start && scripts_get; }
teardown_file() { redis_stop; }
setup() { fresh; }
teardown() { ears_off; }

@test "take: a free lock is taken, as SET NX PX would" {
  is "$(take "$A" 10000)" 0
  is "$(r get "$L")" "$A"
  between 9000 "$(r pttl "$L")" 10000
  is "$(r exists "$Q" "$H")" 0
}

@test "take: held by somebody, ours or not, names the holder and changes nothing" {
  take "$A" 10000
  is "$(take "$B" 20000)" "1 $A"
  r set "$L" another PX 10000
  is "$(take "$B" 20000)" '1 another'
  is "$(r get "$L")" another
  between 9000 "$(r pttl "$L")" 10000
}

@test "take: sent twice is not taken twice, and names us" {
  is "$(take "$A" 10000)" 0
  is "$(take "$A" 20000)" "1 $A"
  between 9000 "$(r pttl "$L")" 10000
}

@test "take: after the lease somebody else's turn" {
  take "$A" 20
  wait_no_key "$L"
  is "$(take "$B")" 0
  is "$(r get "$L")" "$B"
}

@test "take: beside a queue or nested runs nothing is touched" {
  r zadd "$Q" 1 "$(entry "$B")"
  is "$(take "$A")" 9
  r del "$Q"
  r zadd "$H" 1 "$B"
  is "$(take "$A")" 9
  is "$(r exists "$L")" 0
}

@test "take: a lock or queue of another type is left alone" {
  r rpush "$L" x y
  is "$(take "$A")" 9
  is "$(r lrange "$L" 0 -1 | line)" 'x y'
  is "$(r pttl "$L")" -1
  r del "$L"
  r set "$Q" x
  is "$(take "$A")" 9
  is "$(r get "$Q")" x
}

@test "take: a foreign holder without a lease is named, and gets none" {
  r set "$L" forever
  is "$(take "$A")" '1 forever'
  is "$(r pttl "$L")" -1
}

@test "free: ours is gone" {
  take "$A"
  is "$(free "$A")" 0
  is "$(r exists "$L" "$Q" "$H")" 0
}

@test "free: somebody else's stays, with its lease" {
  take "$A" 10000
  is "$(free "$B")" "1 $A"
  is "$(r get "$L")" "$A"
  between 9000 "$(r pttl "$L")" 10000
}

@test "free: a part of the token is not the token" {
  take "$A"
  is "$(free "${A:0:40}")" "1 $A"
  is "$(free "${A}x")" "1 $A"
  is "$(r get "$L")" "$A"
}

@test "free: sent twice says gone, and spares who came in between" {
  take "$A"
  is "$(free "$A")" 0
  is "$(free "$A")" '2 '
  take "$B"
  is "$(free "$A")" "1 $B"
  is "$(r get "$L")" "$B"
}

@test "free: beside a queue or nested runs nothing is touched" {
  take "$A"
  r zadd "$Q" 1 "$(entry "$B")"
  is "$(free "$A")" 9
  r del "$Q"
  r zadd "$H" 1 "$B"
  is "$(free "$A")" 9
  is "$(r get "$L")" "$A"
}

@test "free: another type is somebody else's, and is left alone" {
  r hset "$L" f v
  is "$(free "$A")" '1 '
  is "$(r hget "$L" f)" v
  is "$(r pttl "$L")" -1
}

@test "renew: ours gets the full lease" {
  take "$A" 1000
  is "$(renew "$A" 10000)" 0
  between 9000 "$(r pttl "$L")" 10000
  is "$(renew "$A" 10000)" 0
  is "$(r get "$L")" "$A"
}

@test "renew: somebody else's keeps its lease" {
  take "$A" 10000
  is "$(renew "$B" 50000)" "1 $A"
  between 9000 "$(r pttl "$L")" 10000
}

@test "renew: a foreign lock without a lease gets none, a missing one is gone" {
  r set "$L" forever
  is "$(renew "$A")" '1 forever'
  is "$(r pttl "$L")" -1
  r del "$L"
  is "$(renew "$A")" '2 '
  is "$(r exists "$L")" 0
}

@test "renew: another type keeps data and lease" {
  r rpush "$L" x
  is "$(renew "$A")" '1 '
  is "$(r pttl "$L")" -1
  r pexpire "$L" 10000
  is "$(renew "$A" 50000)" '1 '
  between 9000 "$(r pttl "$L")" 10000
  is "$(r lrange "$L" 0 -1)" x
}

@test "renew: after the lease it is gone, and not taken anew" {
  take "$A" 20
  wait_no_key "$L"
  is "$(renew "$A")" '2 '
  is "$(r exists "$L")" 0
}

@test "renew: a no in the last millisecond of another's lease never makes it last" {
  local n text
  IFS= read -r -d '' text <"$SCRIPTS/renew" || true
  text=$(tr '\n' ' ' <<<"$text")
  # Each lease of 1 or 2 ms is asked for, on one connection, until it is over.
  for n in {1..60}; do
    echo "set $L$n x px $((n % 2 + 1))"
    for _ in {1..40}; do
      echo "eval \"${text//\"/\\\"}\" 1 $L$n $A 10000"
    done
  done | r >"$REDIS_DIR/out"
  is "$(sort -u "$REDIS_DIR/out" | line)" ' 1 2 OK x'
  wait_until 5 _nothing_left
}

_nothing_left() { # nor any that lasts
  [[ -z $(r --scan --pattern "$L*") ]]
}

@test "renew: declares the lock alone, and the fast scripts are small" {
  local name
  run grep -c 'KEYS\[[2-9]\]' "$SCRIPTS/renew"
  is "$output" 0
  for name in take free renew; do
    (($(wc -c <"$SCRIPTS/$name") < 512))
  done
}
