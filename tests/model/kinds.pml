/*
 * kinds.pml: shared locks and slots beside exclusive ones, for spin.  `make
 * model` checks it.
 *
 * What it is: what rlock.pml leaves out: the sorted set at the lock's key, whose
 * members have leases of their own, and who is let in together.  N runs of rlock
 * that want one lock, each of a kind that is drawn at the start: exclusive or
 * shared (MIXED), or one of SLOTS slots.  Connections, lost messages and late
 * answers are rlock.pml's; here a message arrives, and a script is one atomic
 * step together with its answer.
 *
 *   CRASH   a run is killed; the server notices later, or never
 *   EXPIRE  a lease ends though its run lives: it was frozen.  Its command is
 *           stopped before (timing.c: timing_lease), and what it sends when it
 *           thaws, a renewal and a release, comes late
 *   MAXF    how much of it in one history
 *
 * Time is left out: the lease of a run that is dead or expired may end at any
 * moment.  The key's own end is that of the longest lease: so it ends when none
 * is left that lives.  The head's timer, and the others', may go off whenever
 * they wait.
 *
 * Properties, each an assertion of its own:
 *   mutex   a writer's command runs alone; at most SLOTS run, and none in the
 *           slot of another
 *   served  after a script that serves, the first of the queue that lives has
 *           no room
 *   order   nobody that came later gets in before a live waiter of the other
 *           kind; of slots, nobody at all
 *   twice   nobody is let in twice
 *   late    a lapsed lease is not set again, nor anybody else's given back by it
 *   key     while a lease lives its member is there
 *   stuck   when nothing more can happen, everybody has been served
 *
 * What can be taken out, to see the property fail:
 *   PASS_WRITER    prelude.lua: serve: only the head is looked at: a reader is
 *                  let in past the writer that waits
 *   ROOM_BLIND     prelude.lua: room: k~=kind
 *   ONE_MORE       prelude.lua: room: n<tonumber(k:sub(2))
 *   KEEP_SLOT      prelude.lua: put: ZREM of the member in whose place it comes
 *   REVIVE         prelude.lua: lives: score > now
 *   DROP_OTHER     prelude.lua: held: the token is in the member's name
 *   NEWEST_END     prelude.lua: tidy: the last of the set, not the newest
 *   ONE_READER     prelude.lua: serve: go on after a grant
 *   NO_SERVE       release.lua: serve
 *   KEEP_ENTRY     prelude.lua: serve: ZREM of the entry
 */

#ifndef N
#define N 4
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef MAXF
#define MAXF 0
#endif
/* JUST: only the property that is named beside it. */
#ifndef JUST
#define MUTEX
#define SERVED
#define ORDER
#define TWICE
#define LATE
#define KEY
#define STUCK
#endif

#define X 0
#define S 1
#define J 2

/* Where a run is. */
#define IDLE	0
#define QUEUED	1
#define GRANTED	2		/* it has the message, and is to prove it */
#define HOLDING	3
#define STALE	4		/* expired; has a renewal and a release to send */
#define DONE	5
#define DEAD	6

/* A member, or the string of an exclusive lock. */
#define NONE	0
#define LIVES	1
#define LAPSED	2		/* its score is over, and nobody removed it */

#define FREE	15

typedef Run {
	unsigned st : 3;
	unsigned kind : 2;
	unsigned tick : 3;	/* in the queue, 0: not */
	unsigned gone : 1;	/* the server knows that it does not listen */
	unsigned lease : 2;
	unsigned slot : 2;
	unsigned cs : 1;	/* its command runs */
	unsigned used : 1;
	unsigned ending : 1;	/* nobody renews it: it may lapse */
	unsigned sent : 1	/* STALE: the renewal */
};

Run R[N];
byte owner[SLOTS + 1];		/* of a slot that was ever taken; FREE */
byte card;			/* how many there are */
byte newest;			/* whose lease was set last (NEWEST_END) */
byte faults;

hidden byte i, j, e, t, room, mine, mutex_broken, served_broken, order_broken,
    twice_broken, late_broken, key_broken, stuck;

/* prelude.lua: load: live is whether anybody holds it; of which kind. */
#define NOBODY 3
hidden byte kind;

inline load() {
	kind = NOBODY; i = 0;
	do
	:: i == N -> break
	:: else ->
		if :: R[i].lease == LIVES -> kind = R[i].kind :: else fi;
		i++
	od
}

/* e: the first of the queue, N: none. */
inline head() {
	e = N; i = 0;
	do
	:: i == N -> break
	:: else ->
		if
		:: R[i].tick != 0 && (e == N || R[i].tick < R[e].tick) -> e = i
		:: else
		fi;
		i++
	od
}

inline push(p) {		/* acquire.lua: ZADD; a ticket after the last */
	t = 0; i = 0;
	do
	:: i == N -> break
	:: else ->
		if :: R[i].tick > t -> t = R[i].tick :: else fi;
		i++
	od;
	R[p].tick = t + 1
}

/* room: for one of p's kind, 0: none, else the slot + 1 (1 without slots). */
inline find_room(p) {
	room = 0;
	if
	:: kind == NOBODY -> room = 1
#ifdef ROOM_BLIND
	:: kind != NOBODY && R[p].kind == S -> room = 1
#else
	:: kind == S && R[p].kind == S -> room = 1
#endif
	:: kind == J && R[p].kind == J ->
		i = 0;
		do				/* ZRANGEBYSCORE -inf now */
		:: i == card -> break
		:: else ->
			if
			:: room == 0 && owner[i] == FREE -> room = i + 1
			:: else
			fi;
			i++
		od;
		i = 0;
		do				/* one whose lease is over */
		:: i == N -> break
		:: else ->
			if
			:: room == 0 && R[i].lease == LAPSED ->
				room = R[i].slot + 1
			:: else
			fi;
			i++
		od;
		if
#ifdef ONE_MORE
		:: room == 0 && card <= SLOTS -> room = card + 1
#else
		:: room == 0 && card < SLOTS -> room = card + 1
#endif
		:: else
		fi
	:: else
	fi
}

/* prelude.lua: put */
inline put(p) {
	if
	:: R[p].used -> twice_broken = 1
	:: else
	fi;
	/* Has anybody been overtaken? */
	i = 0;
	do
	:: i == N -> break
	:: else ->
		if
		:: i != p && R[i].tick != 0 && R[p].tick > R[i].tick &&
		    R[i].st != DEAD && (R[i].kind != S || R[p].kind != S) ->
			order_broken = 1
		:: else
		fi;
		i++
	od;
	if
	:: kind == NOBODY ->			/* DEL of what is over */
		card = 0; i = 0;
		do
		:: i == N -> break
		:: else ->
			if :: R[i].lease == LAPSED -> R[i].lease = NONE :: else fi;
			i++
		od
	:: else
	fi;
	if
	:: R[p].kind == J ->
		R[p].slot = room - 1;
		if
		:: room > card -> card = room
#ifndef KEEP_SLOT
		:: else ->
			if
			:: owner[room - 1] != FREE -> R[owner[room - 1]].lease = NONE
			:: else
			fi
#else
		:: else
#endif
		fi;
		owner[room - 1] = p
	:: else
	fi;
	R[p].lease = LIVES; R[p].ending = 0; kind = R[p].kind;
	newest = p; R[p].used = 1
}

/* prelude.lua: serve; me: N for nobody */
inline serve(me) {
	mine = 0;
	do
	:: head();
#ifdef PASS_WRITER
		if
		:: e < N && R[e].kind == X && kind == S ->
			/* the first reader behind it */
			i = 0;
			do
			:: i == N -> break
			:: else ->
				if
				:: R[i].tick != 0 && R[i].kind == S -> e = i
				:: else
				fi;
				i++
			od
		:: else
		fi;
#endif
		if
		:: e == N -> break
		:: e < N && e != me && R[e].gone -> R[e].tick = 0	/* NUMSUB */
		:: else ->
			find_room(e);
			if
			:: room == 0 -> break
			:: else ->
				put(e);
#ifndef KEEP_ENTRY
				R[e].tick = 0;
#endif
				if
				:: e == me -> mine = 1
				:: e != me && R[e].st == QUEUED ->
					R[e].st = GRANTED; R[e].ending = 1
				:: else -> R[e].ending = 1	/* dead: unheard */
				fi;
#ifdef ONE_READER
				break
#endif
			fi
		fi
	od;
	check_served(me)
}

/* The first that listens has no room. */
inline check_served(me) {
	head();
	if
	:: e < N && !R[e].gone && e != me ->
		load(); find_room(e);
		served_broken = (room != 0)
	:: else
	fi;
	e = 0; room = 0; i = 0
}

inline check() {
	i = 0;
	do
	:: i == N -> break
	:: else ->
		j = i + 1;
		do
		:: R[i].cs == 0 || j >= N -> break
		:: else ->
			if
			:: R[j].cs && (R[i].kind == X || R[j].kind == X ||
			    (R[i].kind == J && R[i].slot == R[j].slot) ||
			    (R[i].kind == J && (R[i].slot >= SLOTS ||
				R[j].slot >= SLOTS))) -> mutex_broken = 1
			:: else
			fi;
			j++
		od;
		if
		:: R[i].cs && R[i].lease == NONE -> key_broken = 1
		:: else
		fi;
		i++
	od;
	i = 0; j = 0; t = 0; kind = 0; e = 0; room = 0; mine = 0;
#ifdef MUTEX
	assert(!mutex_broken);
#endif
#ifdef SERVED
	assert(!served_broken);
#endif
#ifdef ORDER
	assert(!order_broken);
#endif
#ifdef TWICE
	assert(!twice_broken);
#endif
#ifdef LATE
	assert(!late_broken);
#endif
#ifdef KEY
	assert(!key_broken);
#endif
	served_broken = 0
}

inline drop(p) {		/* prelude.lua: drop */
	R[p].lease = NONE;
	if
	:: R[p].kind == J && owner[R[p].slot] == p -> owner[R[p].slot] = FREE
	:: else
	fi
}

inline start(p) {
	R[p].st = HOLDING; R[p].cs = 1; R[p].ending = 0
}

proctype Go(byte p) {
end:	do
	/* acquire.lua, join */
	:: d_step { R[p].st == IDLE ->
		load();
		push(p);
		serve(p);
		if
		:: mine -> start(p)
		:: else -> R[p].st = QUEUED
		fi;
		check()
	   }
	/* the look: the timer of the head, or another's */
	:: d_step { R[p].st == QUEUED ->
		load();
		if
		:: R[p].lease == LIVES -> R[p].tick = 0; start(p)
		:: else ->
			if :: R[p].tick == 0 -> push(p) :: else fi;
			serve(p);
			if :: mine -> start(p) :: else fi
		fi;
		check()
	   }
	/* the proof */
	:: d_step { R[p].st == GRANTED ->
		load();
		if
		:: R[p].lease == LIVES -> start(p)
		:: else -> R[p].st = QUEUED; R[p].used = 0; push(p); serve(p);
			if :: mine -> start(p) :: else fi
		fi;
		check()
	   }
	/* the command ends: release.lua */
	:: d_step { R[p].st == HOLDING ->
		R[p].cs = 0;
		load();
		if :: R[p].lease == LIVES -> drop(p) :: else fi;
		R[p].st = DONE;
		load();
#ifndef NO_SERVE
		serve(N);
#else
		check_served(N);
#endif
		check()
	   }
	/* a run that was frozen: extend.lua ... */
	:: d_step { R[p].st == STALE && !R[p].sent ->
		R[p].sent = 1;
#ifdef REVIVE
		if
		:: R[p].lease == LAPSED -> R[p].lease = LIVES; late_broken = 1
		:: else
		fi;
#endif
		check()
	   }
	/* ... and release.lua */
	:: d_step { R[p].st == STALE && R[p].sent ->
		load();
#ifdef DROP_OTHER
		if
		:: R[p].kind == J && owner[R[p].slot] != p &&
		    owner[R[p].slot] != FREE ->
			R[owner[R[p].slot]].lease = NONE;
			owner[R[p].slot] = FREE; late_broken = 1
		:: else
		fi;
#endif
		R[p].st = DONE;
		load(); serve(N);
		check()
	   }
	od
}

#ifdef NEWEST_END
#define KEY_GONE(p) (newest == p)
#else
#define KEY_GONE(p) 0
#endif

inline lapse() {
	R[p].lease = LAPSED;
	if
	:: R[p].st == GRANTED -> R[p].st = QUEUED; R[p].used = 0
	:: else
	fi;
	if
	:: KEY_GONE(p) ->
		i = 0;
		do
		:: i == N -> break
		:: else -> R[i].lease = NONE; i++
		od
	:: else
	fi;
	p = 0;
	check()
}

active proctype Clock() {
	byte p;
end:	do
	/* A lease that nobody renews is over. */
	:: d_step {
		R[0].lease == LIVES && R[0].ending && !R[0].cs -> p = 0; lapse() }
	:: d_step {
		R[1].lease == LIVES && R[1].ending && !R[1].cs -> p = 1; lapse() }
#if N > 2
	:: d_step {
		R[2].lease == LIVES && R[2].ending && !R[2].cs -> p = 2; lapse() }
#endif
#if N > 3
	:: d_step {
		R[3].lease == LIVES && R[3].ending && !R[3].cs -> p = 3; lapse() }
#endif
#ifdef STUCK
	:: atomic { timeout ->
		i = 0;
		do
		:: i == N -> break
		:: else ->
			stuck = (R[i].st != DONE && R[i].st != DEAD);
			assert(!stuck);
			i++
		od
	   }
#endif
	od
}

#if MAXF > 0
proctype Faults(byte p) {
end:	do
	:: false
#ifdef CRASH
	:: d_step { faults < MAXF && R[p].st != IDLE && R[p].st < DONE ->
		faults++;
		/* Its guard has ended the command. */
		R[p].st = DEAD; R[p].cs = 0; R[p].ending = 1;
		check() }
	:: d_step { R[p].st == DEAD && !R[p].gone -> R[p].gone = 1 }
#endif
#ifdef EXPIRE
	:: d_step { faults < MAXF && R[p].st == HOLDING ->
		faults++;
		R[p].cs = 0; R[p].st = STALE; R[p].ending = 1;
		check() }
#endif
	od
}
#endif

init {
	atomic {
		byte n;
		n = 0;
		do
		:: n == N -> break
		:: else ->
#ifdef MIXED
			if
			:: R[n].kind = X
			:: R[n].kind = S
			fi;
#else
			R[n].kind = J;
#endif
			n++
		od;
		n = 0;
		do
		:: n == SLOTS + 1 -> break
		:: else -> owner[n] = FREE; n++
		od;
		n = 0;
		do
		:: n == N -> break
		:: else ->
			run Go(n);
#if MAXF > 0
			run Faults(n);
#endif
			n++
		od
	}
}
