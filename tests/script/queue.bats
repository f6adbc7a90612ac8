#!/usr/bin/env bats
# acquire and release: who waits, who is next, who is dropped.

load ../lib/script

setup_file() { redis_start && scripts_get; }
teardown_file() { redis_stop; }
setup() { fresh; }
teardown() { ears_off; }

# reply N TEXT: element N of a reply, from 1.
reply() { cut -d ' ' -f "$1" <<<"$2"; }

@test "acquire: a free lock is taken, and nothing else is left" {
  is "$(ask "$A")" '0 0 -1 '
  is "$(r get "$L")" "$A"
  between 9000 "$(r pttl "$L")" 10000
  is "$(join "$A")" '0 0 -1 '
  is "$(r exists "$Q" "$H")" 0
}

@test "acquire: takes a lock that nobody renewed" {
  take "$A" 20
  wait_no_key "$L"
  is "$(join "$B")" '0 0 -1 '
  is "$(r get "$L")" "$B"
  is "$(r exists "$Q")" 0
}

@test "acquire: taken anew, a leftover of nested runs goes" {
  r zadd "$H" 1 "$B"
  is "$(ask "$A")" '0 0 -1 '
  is "$(r exists "$H")" 0
}

@test "acquire: the holder proves the lock and gets the full lease, however often" {
  take "$A" 1000
  is "$(ask "$A")" '0 0 -1 '
  between 9000 "$(r pttl "$L")" 10000
  is "$(join "$A")" '0 0 -1 '
  is "$(r exists "$Q")" 0
}

@test "acquire: the holder learns how many wait, and is itself out of the queue" {
  take "$A"
  hear "$B"
  join "$B"
  r zadd "$Q" 1 "$(entry "$A")" # of a join whose answer was lost
  is "$(ask "$A")" '0 1 -1 '
  is "$(queue)" 2
}

@test "acquire: without join a held lock is named, and no entry stays" {
  take "$A" 10000
  got=$(ask "$B")
  like "$got" "1 $A * 0 *"
  between 9000 "$(reply 3 "$got")" 10000
  is "$(r exists "$Q")" 0
  is "$(r get "$L")" "$A"
}

@test "acquire: with join the entry has kind, N, ttl, once and token, and a ticket" {
  take "$A" 10000
  got=$(join "$B" 12345)
  like "$got" "1 $A * 0 *"
  is "$(r zrange "$Q" 0 -1 withscores | line)" "x0:12345:0:$B $(reply 5 "$got")"
  between 115000 "$(r pttl "$Q")" 120000
  ttls
}

@test "acquire: the ticket is the server's microseconds, in digits" {
  take "$A"
  before=$(r time | tr -d '\n')
  got=$(reply 5 "$(join "$B")")
  after=$(r time | tr -d '\n')
  # TIME has no leading zeros in its second line.
  like "$got" '[1-9]*'
  is "${got//[0-9]/}" ''
  ((${#got} == 16))
  ((${before:0:10} <= ${got:0:10} && ${got:0:10} <= ${after:0:10}))
}

@test "acquire: a later one gets a later ticket, also when the clock has gone back" {
  take "$A"
  hear "$B"
  r zadd "$Q" 9000000000000000 "$(entry "$B")"
  got=$(join "$C")
  is "$(reply 4 "$got")" 1
  is "$(reply 5 "$got")" 9000000000000001
  is "$(queue)" '2 3'
}

@test "acquire: sent twice has one entry, and keeps its ticket" {
  take "$A"
  got=$(reply 5 "$(join "$B")")
  is "$(reply 5 "$(join "$B" 10000 "$got")")" "$got"
  is "$(r zcard "$Q")" 1
  # Not heard of the first answer: the place is the first one all the same.
  hear "$C"
  hear "$B"
  join "$C"
  join "$B" 10000 0
  is "$(queue)" '2 3'
  is "$(r zscore "$Q" "$(entry "$B")")" "$got"
}

@test "acquire: who brings a ticket along gets its old place" {
  take "$A"
  hear "$B"
  hear "$C"
  got=$(reply 5 "$(join "$B")")
  join "$C"
  r zrem "$Q" "$(entry "$B")"
  got2=$(join "$B" 10000 "$got")
  is "$(reply 4 "$got2")" 0
  is "$(reply 5 "$got2")" "$got"
  is "$(queue)" '2 3'
}

@test "acquire: ranks go up from the head" {
  take "$A"
  for n in 2 3 4; do
    hear "$(token $n)"
    is "$(reply 4 "$(join "$(token $n)")")" $((n - 2))
  done
  is "$(queue)" '2 3 4'
  ttls
}

@test "acquire: a newcomer never overtakes: a living head gets the free lock" {
  take "$A"
  hear "$B"
  join "$B"
  r del "$L"
  like "$(ask "$C")" "1 $B * 0 *"
  is "$(r get "$L")" "$B"
  hears "$B" grant
  is "$(r exists "$Q")" 0
}

@test "acquire: beside a living head the newcomer that joins is told its new rank" {
  take "$A"
  hear "$B"
  join "$B"
  r del "$L"
  like "$(join "$C")" "1 $B * 0 *"
  is "$(queue)" 3
}

@test "acquire: the head itself is granted its whole ttl, without a message" {
  take "$A"
  hear "$B"
  got=$(reply 5 "$(join "$B")")
  r del "$L"
  is "$(join "$B" 10000 "$got")" '0 0 -1 '
  is "$(r get "$L")" "$B"
  between 9000 "$(r pttl "$L")" 10000
  is "$(heard "$B")" ''
  is "$(r exists "$Q")" 0
}

@test "acquire: the head is alive though it is not subscribed while it asks" {
  take "$A"
  got=$(reply 5 "$(join "$B")")
  like "$(join "$B" 10000 "$got")" "1 $A * 0 $got"
  is "$(queue)" 2
  r del "$L"
  is "$(join "$B" 10000 "$got")" '0 0 -1 '
}

@test "acquire: the head that takes the lock tells the next one when to look" {
  take "$A"
  hear "$C"
  got=$(reply 5 "$(join "$B")")
  join "$C"
  # C was second, and B is not heard of: C becomes the head by that look.
  is "$(queue)" 3
  hear "$B"
  join "$B" 10000 "$got"
  is "$(queue)" '2 3'
  r del "$L"
  is "$(join "$B" 10000 "$got")" '0 1 -1 '
  hears_like "$C" '*first:*'
  got=$(heard "$C")
  between 9000 "${got##*first:}" 10000
}

@test "acquire: a lock of another type is 78, and nothing is touched" {
  r zadd "$L" 1 leader 2 board
  is "$(join "$A")" "78 $L"
  is "$(ask "$A")" "78 $L"
  is "$(r zrange "$L" 0 -1 | line)" 'leader board'
  is "$(r pttl "$L")" -1
  is "$(r exists "$Q" "$H")" 0
}

@test "acquire: a queue of another type is 78, and nothing is touched" {
  r set "$Q" mine
  is "$(join "$A")" "78 $Q"
  is "$(ask "$A")" "78 $Q"
  is "$(r get "$Q")" mine
  is "$(r exists "$L")" 0
  take "$A" # also when the lock is held, and by whom
  r set "$L" "$A" PX 10000
  is "$(ask "$A")" "78 $Q"
}

@test "acquire: a foreign holder without a lease: left -1, and it gets none" {
  r set "$L" forever
  like "$(join "$B")" '1 forever -1 0 *'
  is "$(r pttl "$L")" -1
  r del "$L"
  ttls
}

@test "acquire: dead ones ahead are dropped, and told to look" {
  take "$A"
  join "$B" # never subscribed
  got=$(join "$C")
  is "$(reply 4 "$got")" 0
  is "$(queue)" 3
}

@test "acquire: an entry of no form that is known is dropped" {
  take "$A"
  r zadd "$Q" 1 garbage 2 x0:nottl:0:a 3 x0:1
  is "$(reply 4 "$(join "$B")")" 0
  is "$(queue)" 2
}

@test "release: ours is gone, and the queue with it" {
  take "$A"
  is "$(release "$A")" '0 0'
  is "$(r exists "$L" "$Q" "$H")" 0
}

@test "release: nested runs go with the lock" {
  take "$A"
  r zadd "$H" 1 "$A" 2 "$B"
  is "$(release "$A")" '0 0'
  is "$(r exists "$L" "$H")" 0
}

@test "release: somebody else's stays, a missing one is gone" {
  is "$(release "$B")" '2  0'
  take "$A" 10000
  is "$(release "$B")" "1 $A 0"
  is "$(r get "$L")" "$A"
  between 9000 "$(r pttl "$L")" 10000
}

@test "release: sent twice says gone, or the next holder, and spares it" {
  take "$A"
  is "$(release "$A")" '0 0'
  is "$(release "$A")" '2  0'
  take "$A"
  hear "$B"
  join "$B"
  is "$(release "$A")" '0 0'
  is "$(release "$A")" "1 $B 0"
  is "$(r get "$L")" "$B"
}

@test "release: the first in line has the lock by the same step, for two seconds" {
  take "$A"
  hear "$B"
  hear "$C"
  join "$B" 60000
  join "$C"
  is "$(release "$A")" '0 0'
  is "$(r get "$L")" "$B"
  between 1000 "$(r pttl "$L")" 2000
  is "$(queue)" 3
  hears "$B" grant
  ttls
}

@test "release: a ttl below two seconds is the lease of the grant" {
  take "$A"
  hear "$B"
  join "$B" 500
  release "$A"
  between 1 "$(r pttl "$L")" 500
}

@test "release: the new head is told when to look: when the grant is over" {
  take "$A"
  hear "$B"
  hear "$C"
  join "$B"
  join "$C"
  release "$A"
  hears_like "$C" 'first:*'
  got=$(heard "$C")
  between 1500 "${got#first:}" 2000
  # And the proof by the one granted tells nobody anything more.
  is "$(ask "$B")" '0 1 -1 '
  is "$(heard "$C")" "$got"
}

@test "release: the order is that of the tickets" {
  take "$A"
  for n in 2 3 4 5; do
    hear "$(token $n)"
    join "$(token $n)"
  done
  for n in 2 3 4 5; do
    release "$(r get "$L")"
    is "$(r get "$L")" "$(token $n)"
  done
  release "$(token 5)"
  is "$(r exists "$L" "$Q" "$H")" 0
}

@test "release: leaving takes the entry out, and leaves the lock" {
  take "$A"
  hear "$B"
  hear "$C"
  join "$B"
  join "$C"
  is "$(release "$B")" "1 $A 0"
  is "$(queue)" 3
  is "$(r get "$L")" "$A"
  hears_like "$C" 'first:*'
  got=$(heard "$C")
  between 8000 "${got#first:}" 10000
}

@test "release: who leaves with a grant that came gives it to the next" {
  take "$A"
  hear "$B"
  hear "$C"
  join "$B"
  join "$C"
  release "$A"
  is "$(r get "$L")" "$B"
  is "$(release "$B")" '0 0'
  is "$(r get "$L")" "$C"
  hears_like "$C" 'first:* grant'
}

@test "release: the ttl names the entry" {
  take "$A"
  join "$B" 4321
  release "$B" 1234
  is "$(queue)" ''
  # The dead one was dropped anyhow; a living one stays:
  hear "$B"
  join "$B" 4321
  release "$B" 1234
  is "$(queue)" 2
  release "$B" 4321
  is "$(queue)" ''
}

@test "release: a dead head is dropped, the living one behind it is served" {
  take "$A"
  join "$B" # not subscribed
  hear "$C"
  r zadd "$Q" 9000000000000000 "$(entry "$C")"
  is "$(release "$A")" '0 0'
  is "$(r get "$L")" "$C"
  is "$(r exists "$Q")" 0
  hears "$C" grant
}

@test "release: who listens to all channels does not make the dead live" {
  r psubscribe '*' >"$REDIS_DIR/all" 2>&1 </dev/null 3>&- &
  EARS+=($!)
  wait_until 5 grep -q psubscribe "$REDIS_DIR/all"
  take "$A"
  join "$B"
  hear "$C"
  r zadd "$Q" 9000000000000000 "$(entry "$C")"
  release "$A"
  is "$(r get "$L")" "$C"
  # A dropped one is sent "look" all the same: it may listen at another node.
  wait_line "$REDIS_DIR/all" '^grant'
  is "$(grep -A1 -x "$(channel "$B")" "$REDIS_DIR/all" | tail -1)" look
}

@test "release: only dead ones: the lock is free and the queue empty" {
  take "$A"
  r zadd "$Q" 1 "$(entry "$B")" 2 "$(entry "$C")"
  is "$(release "$A")" '0 0'
  is "$(r exists "$L" "$Q")" 0
}

@test "release: a dead head does not hide the next one while the lock is held" {
  take "$A"
  join "$B"
  hear "$C"
  r zadd "$Q" 9000000000000000 "$(entry "$C")"
  is "$(release "$(token 9)")" "1 $A 0"
  is "$(queue)" 3
  hears_like "$C" 'first:*'
}

@test "release: another type of lock or queue is left alone" {
  r hset "$L" f v
  is "$(release "$A")" '1  0'
  is "$(r hget "$L" f)" v
  is "$(r pttl "$L")" -1
  r del "$L"
  r set "$Q" mine
  take "$A"
  r set "$L" "$A" PX 10000
  is "$(release "$A")" '0 0'
  is "$(r exists "$L")" 0
  is "$(r get "$Q")" mine
}

# many N: so many dead ones at the front of the queue.
many() {
  r eval "for i = 1, ARGV[1] do
    redis.call('ZADD', KEYS[1], i, string.format('x0:10000:0:rlock:1:%032x:h:u:%d:0:', 77000000 + i, i))
  end" 1 "$Q" "$1"
}

@test "more than 1000 dead ones: a release drops so many, its own lock is free" {
  take "$A"
  many 1500
  hear "$B"
  r zadd "$Q" 9000000000000000 "$(entry "$B")"
  # Released, and to be asked again: the head is one of the dead.
  is "$(release "$A")" '9 0'
  is "$(r zcard "$Q")" 501
  is "$(r exists "$L")" 0
  is "$(release "$A")" '2  0'
  is "$(r get "$L")" "$B"
  is "$(r exists "$Q")" 0
}

@test "more than 1000 dead ones: who asks is told to ask again at once" {
  many 1500
  got=$(join "$B")
  like "$got" '1  0 0 *'
  is "$(r zcard "$Q")" 501
  is "$(join "$B" 10000 "$(reply 5 "$got")")" '0 0 -1 '
  is "$(r get "$L")" "$B"
  is "$(r exists "$Q")" 0
}

@test "more than 1000 dead ones: while it is held too" {
  take "$A"
  many 1001
  got=$(join "$B")
  like "$got" "1 $A 0 0 *"
  got=$(join "$B" 10000 "$(reply 5 "$got")")
  between 8000 "$(reply 3 "$got")" 10000
  is "$(queue)" 2
}

@test "more than 1000 dead ones: without join none of ours stays" {
  many 1500
  like "$(ask "$B")" '1  0 0 *'
  is "$(r zscore "$Q" "$(entry "$B")")" ''
}

@test "just 1000 dead ones: served in one step, or told that there is more" {
  take "$A"
  many 1000
  hear "$B"
  r zadd "$Q" 9000000000000000 "$(entry "$B")"
  release "$A"
  release "$C"
  is "$(r get "$L")" "$B"
}

@test "asked again after a lost answer: the ticket is the one in the queue" {
  take "$A"
  got=$(join "$B")
  is "$(reply 5 "$(join "$B")")" "$(reply 5 "$got")"
  is "$(reply 5 "$(join "$B" 10000 99)")" "$(reply 5 "$got")"
}

@test "1000 dead ones and two that live: one is granted, the next is told when to look" {
  take "$A"
  many 1000
  hear "$B"
  hear "$C"
  r zadd "$Q" 9000000000000000 "$(entry "$B")" 9000000000000001 "$(entry "$C")"
  is "$(release "$A")" '9 0'
  is "$(release "$A")" '2  0'
  is "$(r get "$L")" "$B"
  is "$(queue)" 3
}

@test "no entry survives those who wait: the queue lasts two minutes from the last look" {
  take "$A"
  got=$(reply 5 "$(join "$B")")
  r pexpire "$Q" 5000
  join "$B" 10000 "$got"
  between 115000 "$(r pttl "$Q")" 120000
}

@test "a queue without an expiry gets one at the next look" {
  take "$A"
  r zadd "$Q" 1 "$(entry "$B")"
  join "$C"
  ttls
}

@test "names with blanks, quotes, braces and bytes are as good as others" {
  local key
  for key in 'a b' "it's \"x\"" 'br{ac}e' '{}' $'\xff\n' '*?[x]'; do
    L="lock:$key" Q="rlock:queue:{$L}" H="rlock:holds:{$L}"
    is "$(take "$A")" 0
    is "$(r --no-raw exists "$L")" '(integer) 1'
    is "$(release "$A")" '0 0'
  done
}
