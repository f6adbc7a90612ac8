/*
 * rlock.pml: the lock's protocol, for spin.  `make model` checks it.
 *
 * What it is: the scripts of src/lua, each one atomic step, and the loops of
 * src/lives (waiter.c, claim.c, lease.c) over src/redis (voter.c, conn.c): N
 * runs of rlock that want one exclusive lock of one server, once each.  Where a
 * step is a line of theirs the comment says which: "acquire.lua: ZADD".  Change
 * a script or a loop, and change it here.
 *
 * What may go wrong is chosen by -D, and MAXF is how much of it in one history:
 *   CRASH    a run is killed; the server may notice later, or never
 *            (WAITERS_CRASH: only one that waits, and it is noticed at once)
 *   FREEZE   a run stands still, and may go on
 *   CUT      a connection breaks; what was sent may be lost or be carried out
 *            later; the server may notice later
 *   SILENT   an answer does not come in time; what was sent as above
 *   HALF     the server's end of a connection is gone, and the run not told
 *   LOSE     a message is lost
 *   EXPIRE   a lease ends though its run is alive and connected
 *   DELLOCK  the lock's key is deleted by hand;  DELQUEUE: the queue's
 *   REFUSE   one release may not PUBLISH
 *   LEAVE    a run that waits gives up (no fault, but counted)
 * and TRY: a run may be one of -n (one try); PHANTOM=n: the queue begins with
 * the entries of n killed runs, the lock with that of another one.
 *
 * Time is left out.  A timer may fire at any moment; it is only told apart
 * whether it is the head's ("near": at most a second) or another's ("far": 5 s
 * and more).  A lease ends at any moment, when its run is dead, frozen or has
 * given it up, and by EXPIRE otherwise.  The assumption of the lease
 * (timing.c: timing_lease): the run counts it from before the send, so that it,
 * or its guard, has stopped the command before the server's key is over.  So
 * the end of the key ends what relies on it in the same step: the command that
 * runs, and the "ours" that is still under way (waiter.c: ours, too late).  The
 * sabotaged NO_SENT_AT and NO_PROOF rely on something else and are not spared.
 *
 * One tidying step: a message that comes while something is asked is ignored
 * (waiter.c: on_message), so it is thrown away at once; of those that come
 * after the answer only the strongest is kept (first < grant, look).
 *
 * Properties, each an assertion of its own:
 *   mutex   two commands never run at once; not counted is one whose key was
 *           deleted by hand, until it is told
 *   wake    the lock is free and a live, undisturbed waiter waits => somebody
 *           alive is about to act: asks, has a message, or has the head's timer
 *           (the far timers don't count: they are the net below)
 *   order   nobody gets the lock before a live, undisturbed waiter that came
 *           earlier, unless that one is between UNSUBSCRIBE and acquire
 *           (-DSTRICT_ORDER: nor then)
 *   twice   who has had the lock is not given it again, unless the release is
 *           written behind (-DSTRICT_TWICE: not by a broken connection's
 *           remains either)
 *   orphan  the lock is never left to a token that its living run no longer
 *           uses, or that of a run that has ended undisturbed
 *   served  after a script that serves, a free lock has no queue
 *   ttl     the lock always has an end
 *   stuck   when nothing more can happen, everybody has been served
 *   live    (LTL, with weak fairness) a waiter that lives does not wait for ever
 *   ticket  acquire answers the ticket that the queue has
 * Undisturbed: never frozen, cut off, unanswered, or robbed of a message.
 *
 * What can be taken out, to see the property fail (the rows "bad"):
 *   NO_PROOF       waiter.c: on_message: grant means ask, not start
 *   NO_SENT_AT     conn.c: sent_at; waiter.c: ours: too late to be of use
 *   NO_COMPARE     release.lua: if v==tok
 *   SAME_TOKEN     claim.c: claim_cleaned: fresh_token
 *   NO_NUMSUB      prelude.lua: PUBSUB NUMSUB
 *   DEAD_AFTER_FIT prelude.lua: liveness before holder()
 *   NO_FIRST       prelude.lua: PUBLISH first
 *   NO_HEAD_TIMER  timing.c: timing_look_ms: rank <= 0
 *   KEEP_ENTRY     prelude.lua: ZREM after PUBLISH grant
 *   NO_MULTI       conn.c: put_request: MULTI
 *   NO_TICKET      acquire.lua: ARGV[4]
 *   TAKE_BLIND     take.lua: EXISTS;  FREE_BLIND: free.lua: EXISTS
 *   ZREM_FIRST     prelude.lua: PUBLISH comes before the entry goes
 *   NO_BEHIND      claim.c: VOTER_SILENT: voter_abandon
 *   NO_CLEAN       waiter.c: try_again: claim_clean
 *   NO_TELL        waiter.c: leave: claim_give_back while asking
 *   NO_SERVE       release.lua: serve
 *   NO_AGAIN       release.lua: if more
 *   LATER_TICKET   acquire.lua: ZADD answers 0: that place counts
 *   RENEW_GT       renew.lua: p>=0, not p>0
 *   NO_OTHERS_LOOK timing.c: timing_look_ms: rank > 0
 *
 * What else is known to be so (the rows "limit" of model.sh):
 *   - a head that looks while the lock is freed may be overtaken once, when
 *     the server reads UNSUBSCRIBE and the acquire apart (STRICT_ORDER)
 *   - what a broken connection carries may be carried out when its run is over:
 *     the lock is then nobody's for one TTL (STRICT_TWICE)
 *
 * To read a failure: build/model/ROW/history has what happened, one step a
 * line, "N:" being run N; tokens are 1 to G of run 0, the next G of run 1, and
 * so on.  Another mix of defines: as model.sh does it,
 *   spin -DTELL -DN=3 -DMAXF=1 -DCUT -a rlock.pml
 *   gcc -O2 -w -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -m100000; ./pan -r
 *
 * Left out: shared and slots (kinds.pml), nested runs, --once, --min-hold, several servers,
 * clusters, replicas, a server that loses its data, deaf waiters and foreign
 * holders (both poll), errors of the server, a renewal on two connections.
 */

#ifndef N
#define N 3
#endif
#ifndef G
#define G 2			/* tokens of one run: 1 + times abandoned */
#endif
#ifndef MAXF
#define MAXF 0
#endif
#ifndef PHANTOM
#define PHANTOM 0
#endif
#ifndef BATCH
#define BATCH 255		/* prelude.lua: BATCH, as far as any queue here */
#endif
/* JUST: only those properties that are named beside it. */
#ifndef JUST
#define MUTEX
#define ORDER
#define TWICE
#define ORPHAN
#define SERVED
#define TTL
#define STUCK
#define TICKET
#endif
#ifdef PHANTOM_HOLDER
#define PH 1
#else
#define PH 0
#endif

#ifdef TELL		/* a history in words, by pan -r */
#define SAY(text) printf text
#else
#define SAY(text) skip
#endif

#ifdef COVER		/* d_step hides from spin what is reached */
#define d_step atomic
#endif

#define REAL	(N * G)
#define NTOK	(REAL + PHANTOM + PH)
/* Tokens are 1 to NTOK, those of the killed ones last; 0: nobody. */
#define TOK(p)	((p) * G + P[p].gen + 1)
#define OWNER(t) (((t) - 1) / G)
#define CURRENT(t) ((t) <= REAL && TOK(OWNER(t)) == (t))

/* Where a run is: waiter.c: enum state, lease.c: enum state. */
#define IDLE	0
#define ASKING	1
#define QUEUED	2
#define PAUSING	3
#define CLEANING 4
#define LEAVING	5
#define HOLDING	6
#define RELEASING 7
#define DONE	8
#define DEAD	9

/* lock.h: enum lock_op */
#define TAKE	1
#define JOIN	2
#define ASK	3
#define RENEW	4
#define FREE	5
#define RELEASE	6

/* Answers; HEAD is "held, and your rank is 0". */
#define OURS	1
#define LATE	2		/* "ours", and its lease is over by now */
#define HELD	3
#define HEAD	4
#define FULL	5
#define GONE	6

/* Messages. */
#define FIRST	1
#define GRANT	2
#define LOOK	3

typedef Party {
	unsigned st : 4;
	unsigned gen : 2;	/* which token */
	unsigned tick : 4;	/* ticket, 0: none */
	unsigned queued : 1;	/* patience.queued */
	unsigned stale : 1;	/* claim.stale */
	unsigned near : 1;	/* QUEUED: the head's timer is set, else a far one */
	unsigned one : 1;	/* -n */
	unsigned renewed : 1;	/* once is enough here */
	/* the connection, upwards: UNSUBSCRIBE?, op?, SUBSCRIBE? (NO_MULTI),
	   and a release behind */
	unsigned unsub : 1;
	unsigned op : 3;
	unsigned latesub : 1;
	unsigned behind : 1;
	unsigned listening : 1;	/* conn.listening */
	unsigned half : 1;	/* the server's end is gone */
	/* downwards: answer?, message? */
	unsigned ans : 3;
	unsigned atick : 4;
	unsigned msg : 2;
	/* a former connection: the same, as far as the server has not read it */
	unsigned gopen : 1;
	unsigned gunsub : 1;
	unsigned gop : 3;
	unsigned gbehind : 1;
	unsigned gbegun : 1;
	unsigned gcut : 1;	/* it broke: nothing could be written behind */
	unsigned ggen : 2;
	unsigned gtick : 4;
	/* for the properties */
	unsigned cs : 1;	/* the command runs */
	unsigned used : 1;	/* and has run */
	unsigned arrived : 4;	/* the first ticket */
	unsigned remains : 1;	/* what a broken connection left was carried out */
	unsigned robbed : 1;	/* its key was deleted by hand */
	unsigned frozen : 1;
	unsigned disturbed : 1
};

Party P[N];
/* The server. */
byte L;				/* the lock: whose token, 0: none */
bit endless;			/* it has no TTL */
byte qt[NTOK + 1];		/* the queue: ticket of a token's entry, 0: none */
byte sub[NTOK + 1];		/* subscribed: 1 by the connection, 2 by a former one */
byte faults;

/* Only within steps. */
hidden byte e, i, j, o, r, rt, tk, b, who;
hidden byte mine, changed, more, refuse, refused, prompt, waits;

hidden byte mutex_broken, wake_broken, order_broken, twice_broken,
    orphan_broken, served_broken, ttl_broken, ticket_broken, stuck;

/* --- the scripts ---------------------------------------------------------- */

/* e: first entry of the queue, 0: none (prelude.lua: ZRANGE Q 0 0). */
inline head() {
	e = 0; i = 1;
	do
	:: i > NTOK -> break
	:: else ->
		if
		:: qt[i] != 0 && (e == 0 || qt[i] < qt[e]) -> e = i
		:: else
		fi;
		i++
	od
}

/* tk: a ticket after all that anybody remembers
   (acquire.lua: max of TIME and the last one + 1). */
inline fresh_ticket() {
	tk = 0; i = 1;
	do
	:: i > NTOK -> break
	:: else ->
		if :: qt[i] > tk -> tk = qt[i] :: else fi;
		i++
	od;
	i = 0;
	do
	:: i == N -> break
	:: else ->
		if :: P[i].tick > tk -> tk = P[i].tick :: else fi;
		if :: P[i].atick > tk -> tk = P[i].atick :: else fi;
		if :: P[i].gtick > tk -> tk = P[i].gtick :: else fi;
		if :: P[i].arrived > tk -> tk = P[i].arrived :: else fi;
		i++
	od;
#ifdef NO_TICKET
	tk = (tk < 15 -> tk + 1 : 15)
#else
	tk++;
	assert(tk < 16)
#endif
}

/* prelude.lua: PUBLISH */
inline publish(t, m) {
	if
	:: t <= REAL && (sub[t] & 1) ->
		o = OWNER(t);
		SAY(("  message %d to %d\n", m, o));
		if
		:: (P[o].st == QUEUED || P[o].st == ASKING) && !P[o].unsub &&
		    P[o].msg != GRANT && P[o].msg != LOOK -> P[o].msg = m
		:: else
		fi
	:: else
	fi
}

/* A release of t is written behind what is carried out. */
#define BEHIND(t) ((CURRENT(t) && P[OWNER(t)].behind) || \
	(P[OWNER(t)].gopen && P[OWNER(t)].gbehind && P[OWNER(t)].ggen == ((t) - 1) % G))

/* What a broken connection left was carried out. */
#ifdef STRICT_TWICE
#define REMAINS(p) 0
#else
#define REMAINS(p) P[p].remains
#endif

/* UNSUBSCRIBE was read, the acquire behind it not yet. */
#ifdef STRICT_ORDER
#define BETWEEN(p) 0
#else
#define BETWEEN(p) (P[p].st == ASKING && !P[p].unsub && P[p].op != 0)
#endif

/* prelude.lua: put */
inline put(t) {
	SAY(("  lock set to token %d\n", t));
	L = t; endless = 0;
	if
	:: t <= REAL ->
		o = OWNER(t);
		j = 0;
		do
		:: j == N -> break
		:: else ->
			if
			:: j != o && CURRENT(t) && P[o].st != DEAD && P[o].st != DONE && !REMAINS(o) &&
			    P[j].arrived != 0 && !P[j].disturbed && !P[j].frozen &&
			    (P[j].st == QUEUED || P[j].st == ASKING) && !BETWEEN(j) &&
			    (P[o].arrived == 0 || P[j].arrived < P[o].arrived) ->
				order_broken = 1
			:: else
			fi;
			j++
		od;
		if
		:: P[o].used && !BEHIND(t) && !REMAINS(o) -> twice_broken = 1
		:: else
		fi
	:: else
	fi
}

/* prelude.lua: serve */
#ifdef NO_NUMSUB
#define GONE_AWAY(t) 0
#else
#define GONE_AWAY(t) (sub[t] == 0)		/* PUBSUB NUMSUB */
#endif

inline serve(me, was_changed) {
	mine = 0; changed = was_changed; more = 0; refused = 0; b = 0;
	do
	:: b == BATCH -> more = 1; break
	:: else ->
		head();
		if
		:: e == 0 -> break
#ifdef DEAD_AFTER_FIT
		:: e != 0 && L == 0 && e != me && GONE_AWAY(e) ->
#else
		:: e != 0 && e != me && GONE_AWAY(e) ->
#endif
			qt[e] = 0;			/* ZREM */
			b++;
			publish(e, LOOK);
			changed = 1
		:: else ->
			if
			:: L != 0 ->			/* holder() */
#ifndef NO_FIRST
				if
				:: changed && e != me && !refuse ->
					publish(e, FIRST)
				:: else
				fi;
#endif
				break
			:: L == 0 && e == me ->
				put(e);
				qt[e] = 0;
				mine = 1; changed = 1
			:: L == 0 && e != me && refuse ->
#ifdef ZREM_FIRST
				qt[e] = 0;
#endif
				refused = 1;
				break
			:: else ->
				publish(e, GRANT);
#ifndef KEEP_ENTRY
				qt[e] = 0;
#endif
				/* with the grant lease */
				put(e);
				changed = 1
			fi
		fi
	od
}

inline check_served() {
#ifdef SERVED
	head();
	if
	:: L == 0 && e != 0 && !more && !refused -> served_broken = 1
	:: else
	fi;
	assert(!served_broken)
#else
	skip
#endif
}

/* take.lua */
inline take(t) {
	head();
	if
#ifndef TAKE_BLIND
	:: e != 0 -> r = FULL				/* EXISTS */
	:: e == 0 && L == 0 -> put(t); r = OURS	/* SET NX */
#else
	:: L == 0 -> put(t); r = OURS
#endif
	:: else -> r = HELD
	fi
}

/* acquire.lua; rt: the ticket it answers */
inline acquire(t, join, ticket) {
	rt = 0;
	head();
	if
	:: L == t ->					/* if v==tok */
		qt[t] = 0;
		r = OURS
	:: L == 0 && e == 0 ->				/* waiting==0: put */
		put(t);
		r = OURS
	:: else ->
#ifdef NO_TICKET
		tk = 0;
#else
		tk = ticket;
#endif
		if
		:: tk == 0 -> fresh_ticket()		/* if ticket=='0' */
		:: else
		fi;
		if
		:: qt[t] == 0 -> qt[t] = tk		/* ZADD NX */
#ifdef LATER_TICKET
		:: else
#else
		:: else -> tk = qt[t]			/* ZRANK, ZRANGE */
#endif
		fi;
		if
		:: P[OWNER(t)].arrived == 0 && CURRENT(t) && join ->
			P[OWNER(t)].arrived = tk
		:: else
		fi;
		rt = tk;
		serve(t, 0);
		if
		:: mine -> r = OURS; rt = 0
		:: else ->
			head();				/* ZRANK */
			r = (e == t || more -> HEAD : HELD);
#ifdef TICKET
			ticket_broken = (join && qt[t] != 0 && qt[t] != rt);
			assert(!ticket_broken);
#endif
			if
			:: !(join) -> qt[t] = 0		/* ARGV[3]~='1' */
			:: else
			fi
		fi;
		check_served()
	fi
}

/* release.lua */
inline release(t) {
	qt[t] = 0;					/* ZREM */
	r = (L == t -> OURS : (L == 0 -> GONE : HELD));
#ifdef NO_COMPARE
	L = 0;
#else
	if
	:: L == t -> L = 0				/* DEL */
	:: else
	fi;
#endif
#ifndef NO_SERVE
	serve(0, 1);
#else
	more = 0; refused = 0;
#endif
#ifndef NO_AGAIN
	r = (more -> FULL : r);
#endif
	check_served()
}

/* free.lua */
inline free(t) {
	head();
	if
#ifndef FREE_BLIND
	:: e != 0 -> r = FULL				/* EXISTS */
#else
	:: e != 0 && L == t -> L = 0; r = OURS; more = 0; refused = 0; check_served()
	:: e != 0 && L != t -> r = GONE
#endif
	:: else ->
		r = (L == t -> OURS : (L == 0 -> GONE : HELD));
		if
		:: L == t -> L = 0			/* DEL */
		:: else
		fi
	fi
}

/* renew.lua */
inline renew(t) {
	r = (L == t -> OURS : (L == 0 -> GONE : HELD));
#ifdef RENEW_GT
	/* p>0: the last millisecond */
	if
	:: r == HELD -> endless = 1			/* PERSIST */
	:: else
	fi
#endif
}

/* One script of t; join, ticket: of acquire. */
inline script(scr, t, ticket) {
	rt = 0;
	if
	:: scr == TAKE -> take(t)
	:: scr == JOIN || scr == ASK ->
		acquire(t, (scr == JOIN), ticket)
	:: scr == RENEW -> renew(t)
	:: scr == FREE -> free(t)
	:: scr == RELEASE -> release(t)
	fi
}

/* --- the properties -------------------------------------------------------- */

inline check() {
#ifdef TTL
	ttl_broken = (L != 0 && endless);
	assert(!ttl_broken);
#endif
#ifdef ORDER
	assert(!order_broken);
#endif
#ifdef TWICE
	assert(!twice_broken);
#endif
#ifdef ORPHAN
	if
	:: L != 0 && L <= REAL ->
		o = OWNER(L);
		orphan_broken = !BEHIND(L) &&
		    ((P[o].st == DONE && !P[o].disturbed) ||
		     (!CURRENT(L) && P[o].st != DONE && P[o].st != DEAD && !REMAINS(o)))
	:: else
	fi;
	assert(!orphan_broken);
#endif
#ifdef WAKE
	if
	:: L == 0 ->
		waits = 0; prompt = 0; i = 0;
		do
		:: i == N -> break
		:: else ->
			if
			:: P[i].frozen
			:: !P[i].frozen && P[i].st == QUEUED ->
				if
				:: P[i].near || P[i].msg != 0 -> prompt = 1
				:: !(P[i].near || P[i].msg != 0) && !P[i].disturbed -> waits = 1
				:: else
				fi
			:: !P[i].frozen && (P[i].st == ASKING || P[i].st == PAUSING ||
			    P[i].st == CLEANING || P[i].st == LEAVING ||
			    P[i].op == RELEASE ||
			    P[i].st == RELEASING && P[i].ans == FULL) -> prompt = 1
			:: else
			fi;
			i++
		od;
		wake_broken = waits && !prompt
	:: else
	fi;
	assert(!wake_broken);
#endif
	skip
}

/* --- the connection: what the server reads --------------------------------- */

inline hang_up(p) {
	sub[TOK(p)] = sub[TOK(p)] & 2;
	P[p].unsub = 0; P[p].op = 0; P[p].behind = 0; P[p].listening = 0;
	P[p].half = 0; P[p].latesub = 0;
	P[p].ans = 0; P[p].atick = 0; P[p].msg = 0
}

inline drop_former(p) {
	sub[p * G + P[p].ggen + 1] = sub[p * G + P[p].ggen + 1] & 1;
	P[p].gopen = 0; P[p].gunsub = 0; P[p].gop = 0; P[p].gbehind = 0;
	P[p].gbegun = 0; P[p].gcut = 0; P[p].ggen = 0; P[p].gtick = 0
}

/* The connection is given up; what lies in it may yet be carried out.
   broke: nothing more can be written; else a release may be, behind.  One such
   connection is kept, the other counts as lost; not the one whose acquire was
   carried out and whose release was not. */
inline leave_behind(p, broke, release_too) {
	if
	:: !P[p].half && !(P[p].gbegun && P[p].gbehind) ->
		drop_former(p);
		P[p].gopen = 1;
		P[p].gunsub = P[p].unsub;
		P[p].gop = P[p].op;
		P[p].gbehind = P[p].behind || (release_too);
		P[p].gcut = broke;
		P[p].ggen = P[p].gen;
		P[p].gtick = (P[p].op == JOIN || P[p].op == ASK -> P[p].tick : 0);
		sub[TOK(p)] = (sub[TOK(p)] & 1) * 2
	:: else
	fi;
	hang_up(p)
}

/* The run is over. */
inline done(p) {
	P[p].st = DONE;
	P[p].cs = 0; P[p].near = 0; P[p].tick = 0; P[p].arrived = 0;
	P[p].queued = 0; P[p].renewed = 0; P[p].robbed = 0; P[p].stale = 0;
	hang_up(p)
}

proctype Server(byte p) {
end:	do
	:: d_step { !P[p].half && P[p].unsub ->		/* UNSUBSCRIBE */
		SAY(("%d: server reads UNSUBSCRIBE\n", p));
		sub[TOK(p)] = sub[TOK(p)] & 2;
		P[p].unsub = 0
	   }
	:: d_step { !P[p].half && !P[p].unsub && P[p].op != 0 ->
		SAY(("%d: server reads op %d, ticket %d\n", p, P[p].op, P[p].tick));
		script(P[p].op, TOK(p), P[p].tick);
		/* voter.c: first_tag: who leaves waits for the release's answer */
		P[p].ans = (P[p].behind -> 0 : r);
		P[p].atick = (P[p].behind -> 0 : rt);
		if
		:: P[p].op == JOIN ->			/* SUBSCRIBE, EXEC */
#ifdef NO_MULTI
			P[p].latesub = 1
#else
			sub[TOK(p)] = sub[TOK(p)] | 1
#endif
		:: else
		fi;
		P[p].op = 0;
		check()
	   }
#ifdef NO_MULTI
	:: d_step { P[p].latesub && P[p].op == 0 ->
		sub[TOK(p)] = sub[TOK(p)] | 1; P[p].latesub = 0 }
#endif
	:: d_step { !P[p].half && !P[p].unsub && P[p].op == 0 && P[p].behind ->
		SAY(("%d: server reads release behind\n", p));
		sub[TOK(p)] = sub[TOK(p)] & 2;
		P[p].behind = 0;
		release(TOK(p));
		P[p].ans = r;
		check()
	   }
#ifdef REFUSE
	:: d_step { !P[p].half && !P[p].unsub && P[p].op == RELEASE && faults < MAXF ->
		SAY(("%d: server reads release, PUBLISH refused\n", p));
		faults++;
		refuse = 1;
		release(TOK(p));
		refuse = 0;
		P[p].op = 0;
		P[p].ans = r;
		check()
	   }
#endif
	/* A former connection. */
	:: d_step { P[p].gopen && P[p].gunsub ->
		SAY(("%d: server reads former's UNSUBSCRIBE\n", p));
		sub[p * G + P[p].ggen + 1] = sub[p * G + P[p].ggen + 1] & 1;
		P[p].gunsub = 0
	   }
	:: d_step { P[p].gopen && !P[p].gunsub && P[p].gop != 0 ->
		SAY(("%d: server reads former's op %d, ticket %d\n", p, P[p].gop, P[p].gtick));
		P[p].gbegun = 1;
		P[p].remains = P[p].remains || P[p].gcut;
		who = p * G + P[p].ggen + 1;
		script(P[p].gop, who, P[p].gtick);
		if
		:: P[p].gop == JOIN -> sub[who] = sub[who] | 2
		:: else
		fi;
		P[p].gop = 0; P[p].gtick = 0;
		check()
	   }
	:: d_step { P[p].gopen && !P[p].gunsub && P[p].gop == 0 && P[p].gbehind ->
		SAY(("%d: server reads former's release behind\n", p));
		who = p * G + P[p].ggen + 1;
		sub[who] = sub[who] & 1;
		P[p].gbehind = 0;
		release(who);
		check()
	   }
	/* All read, or all lost. */
	:: d_step { P[p].gopen && !(P[p].gbegun && P[p].gbehind) ->
		SAY(("%d: former connection is gone\n", p));
		drop_former(p);
		check()
	   }
	od
}

/* --- the run ---------------------------------------------------------------- */

/* voter.c: voter_ask; conn.c: put_request */
inline ask(p, what) {
	P[p].unsub = P[p].listening;
	P[p].op = what;
	P[p].listening = (what == JOIN);
	P[p].ans = 0; P[p].atick = 0; P[p].msg = 0; P[p].near = 0
}

#define FULL_OP(p) (P[p].one -> ASK : JOIN)	/* waiter.c: full_op */

/* waiter.c: trouble */
inline trouble(p) {
	P[p].near = 0;
	P[p].st = PAUSING
}

/* waiter.c: ours; run.c: acquired */
inline start(p) {
	P[p].st = HOLDING;
	P[p].cs = 1; P[p].used = 1;
	P[p].near = 0; P[p].tick = 0; P[p].arrived = 0; P[p].msg = 0;
	i = 0;
	do
	:: i == N -> break
	:: else ->
		if
		:: i != p && P[i].cs && !P[i].robbed && !P[p].robbed -> mutex_broken = 1
		:: else
		fi;
		i++
	od;
#ifdef MUTEX
	assert(!mutex_broken)
#else
	skip
#endif
}

inline answer(p) {
	r = P[p].ans; rt = P[p].atick;
	P[p].ans = 0; P[p].atick = 0;
	if
	:: P[p].st == ASKING ->				/* waiter.c: read_answer */
		if
		:: rt != 0 -> P[p].tick = rt		/* lock.c: read_held */
		:: else
		fi;
		if
		:: r == OURS -> start(p)
		:: r == LATE ->
			if
			:: P[p].one -> P[p].st = LEAVING; ask(p, RELEASE)
			:: else -> trouble(p)
			fi
		:: r == FULL -> ask(p, FULL_OP(p))
		:: else ->				/* waiter.c: held */
			if
			:: P[p].one -> done(p)
			:: !P[p].one && !P[p].listening -> ask(p, JOIN)
			:: else ->			/* waiter.c: stand */
				P[p].queued = 1;
				P[p].st = QUEUED;
#ifndef NO_HEAD_TIMER
				P[p].near = (r == HEAD)
#endif
			fi
		fi
	:: P[p].st == CLEANING ->			/* claim.c: claim_cleaned */
#ifndef SAME_TOKEN
		hang_up(p);				/* no more than tidying */
		P[p].gen++;
#endif
		P[p].stale = 0;
		P[p].st = ASKING;			/* waiter.c: try_again */
		if
		:: P[p].queued -> ask(p, JOIN)
		:: else -> ask(p, TAKE)
		fi
	:: P[p].st == LEAVING ->			/* claim.c: claim_given_back */
		if
		:: r == FULL -> ask(p, RELEASE)
		:: else -> done(p)
		fi
	:: P[p].st == HOLDING ->			/* lease.c: read_renewal */
		if
		:: r == OURS
		:: else -> done(p)			/* LEASE_LOST */
		fi
	:: P[p].st == RELEASING ->			/* lease.c: read_release */
		if
		:: r == FULL -> ask(p, RELEASE)
		:: else -> done(p)
		fi
	:: else
	fi
}

inline message(p) {					/* waiter.c: on_message */
	r = P[p].msg;
	P[p].msg = 0;
	if
	:: r == FIRST -> P[p].near = 1			/* stand, rank 0 */
#ifdef NO_PROOF
	:: r == GRANT -> start(p)
#else
	:: r == GRANT -> ask(p, ASK); P[p].st = ASKING
#endif
	:: r == LOOK -> ask(p, JOIN); P[p].st = ASKING
	fi
}

/* voter.c: on_timer; waiter.c, lease.c: on_failed; claim.c: claim_failed */
inline unanswered(p) {
	P[p].disturbed = 1;
	if
	:: P[p].st == ASKING || P[p].st == CLEANING ->	/* VOTER_SILENT: abandon */
#ifdef NO_BEHIND
		leave_behind(p, 0, 0);
#else
		leave_behind(p, 0, 1);
#endif
		if
		:: P[p].one -> P[p].st = LEAVING; ask(p, RELEASE)
		:: else ->
			P[p].stale = 1;
			trouble(p)
		fi
	:: P[p].st == LEAVING ->
		leave_behind(p, 0, 0);
		done(p)
	:: P[p].st == HOLDING -> leave_behind(p, 0, 0)	/* renewal_failed */
	:: P[p].st == RELEASING ->
		r = P[p].op;
		leave_behind(p, 0, 0);
		ask(p, (r == 0 -> RELEASE : r))		/* ask_release again */
	:: else
	fi
}

#ifdef NO_OTHERS_LOOK
#define LOOKS(p) P[p].near
#else
#define LOOKS(p) 1
#endif

proctype Run(byte p) {
end:	do
	/* waiter.c: waiter_start */
	:: atomic { P[p].st == IDLE ->
#ifdef TRY
		if
		:: P[p].one = 0
		:: P[p].one = 1
		fi;
#endif
		P[p].st = ASKING; ask(p, TAKE)
	   }
	:: d_step { P[p].ans != 0 && !P[p].frozen ->
		SAY(("%d: gets answer %d, was in state %d\n", p, P[p].ans, P[p].st));
		answer(p); check() }
	:: d_step { P[p].st == QUEUED && P[p].msg != 0 && !P[p].frozen ->
		SAY(("%d: gets message %d\n", p, P[p].msg));
		message(p); check() }
	/* waiter.c: on_timer */
	:: d_step { P[p].st == QUEUED && !P[p].frozen && LOOKS(p) ->
		SAY(("%d: timer, near %d\n", p, P[p].near));
		P[p].st = ASKING; ask(p, JOIN) }
	:: d_step { P[p].st == PAUSING && !P[p].frozen ->	/* try_again */
		SAY(("%d: tries again\n", p));
#ifdef NO_CLEAN
		if
		:: P[p].stale -> P[p].gen++; P[p].stale = 0
		:: else
		fi;
#endif
		if
		:: P[p].stale -> P[p].st = CLEANING; ask(p, RELEASE)
		:: else -> P[p].st = ASKING; ask(p, JOIN)
		fi
	   }
	/* The server's end is gone: what is asked gets no answer. */
	:: d_step { P[p].half && P[p].op != 0 && !P[p].frozen -> unanswered(p); check() }
	/* lease.c: on_next */
	:: d_step { P[p].st == HOLDING && !P[p].renewed && P[p].op == 0 &&
	    P[p].ans == 0 && !P[p].frozen ->
		SAY(("%d: renews\n", p));
		P[p].renewed = 1; ask(p, RENEW) }
	/* The command ends: lease.c: lease_give_back, crowded or not. */
	:: atomic { P[p].st == HOLDING && P[p].op == 0 && P[p].ans == 0 &&
	    !P[p].frozen ->
		SAY(("%d: command ends\n", p));
		P[p].cs = 0; P[p].st = RELEASING;
		if
		:: ask(p, FREE)
		:: ask(p, RELEASE)
		fi
	   }
	od
}

/* --- what the runs do not choose ---------------------------------------------- */

/* Expiry of the lock. */
inline expire() {
	if
	:: L <= REAL && CURRENT(L) ->
		o = OWNER(L);
#ifndef NO_SENT_AT
		if
		:: P[o].ans == OURS -> P[o].ans = LATE
		:: else
		fi;
#endif
		L = 0;
		if
		:: P[o].st == HOLDING && !P[o].robbed ->	/* LEASE_LAST, then over */
			leave_behind(o, 0, 0);
			done(o);
			P[o].disturbed = 1
		:: P[o].st == RELEASING ->	/* lease.c: lease_abandon */
			leave_behind(o, 0, 1);
			done(o);
			P[o].disturbed = 1
		:: P[o].st == DEAD -> P[o].cs = 0	/* by its guard */
		:: else -> P[o].disturbed = 1
		fi
	:: else -> L = 0
	fi
}

#define LEFT_ALONE(p) (P[p].st == DEAD || P[p].st == DONE || P[p].frozen || \
	P[p].half || P[p].st == QUEUED && P[p].msg == 0 && !P[p].near)

active proctype Clock() {
end:	do
	:: d_step { L != 0 && (L > REAL || !CURRENT(L) || LEFT_ALONE(OWNER(L))) ->
		SAY(("lease of token %d is over\n", L));
		expire(); check() }
#ifdef STUCK
	/* Nothing more can happen: everybody is to be served. */
	:: atomic { timeout ->
		i = 0;
		do
		:: i == N -> break
		:: else ->
			stuck = (P[i].st != DONE && P[i].st != DEAD);
			assert(!stuck);
			i++
		od;
		assert(L == 0)
	   }
#endif
#ifdef FREEZE
	/* Who was frozen goes on. */
	:: d_step { P[0].frozen -> SAY(("0: thaws\n")); P[0].frozen = 0 }
	:: d_step { P[1].frozen -> SAY(("1: thaws\n")); P[1].frozen = 0 }
#if N > 2
	:: d_step { P[2].frozen -> SAY(("2: thaws\n")); P[2].frozen = 0 }
#endif
#endif
	od
}

#define ON_ITS_WAY(p) (P[p].st != IDLE && P[p].st < DONE)

#ifdef WAITERS_CRASH
#define CRASHES(p) (P[p].st == QUEUED && L != TOK(p))
#else
#define CRASHES(p) 1
#endif

#if MAXF > 0
proctype Faults(byte p) {
end:	do
#ifdef CALM
	/* No fault need happen. */
	:: d_step { faults < MAXF -> faults = MAXF }
#else
	:: false
#endif
#ifdef CRASH
	:: d_step { faults < MAXF && ON_ITS_WAY(p) && CRASHES(p) ->
		SAY(("%d: CRASH\n", p)); faults++;
		leave_behind(p, 1, 0);
#ifdef WAITERS_CRASH
		drop_former(p);
#endif
		P[p].st = DEAD;
		P[p].near = 0; P[p].tick = 0; P[p].arrived = 0; P[p].queued = 0;
		P[p].renewed = 0; P[p].frozen = 0; P[p].stale = 0;
		check()
	   }
#endif
#ifdef FREEZE
	:: d_step { faults < MAXF && ON_ITS_WAY(p) && !P[p].frozen ->
		SAY(("%d: FREEZE\n", p)); faults++;
		P[p].frozen = 1; P[p].disturbed = 1;
		check()
	   }
#endif
#ifdef CUT
	:: d_step { faults < MAXF && ON_ITS_WAY(p) && P[p].st != PAUSING && !P[p].half &&
	    !P[p].frozen ->
		SAY(("%d: CUT\n", p)); faults++;
		P[p].disturbed = 1;
		r = P[p].op;
		leave_behind(p, 1, 0);
		if
		:: P[p].st == LEAVING -> done(p)
		:: P[p].st == HOLDING			/* renew at once */
		:: P[p].st == RELEASING -> ask(p, (r == 0 -> RELEASE : r))
		:: P[p].st == ASKING && P[p].one ->	/* give_up, leave */
			P[p].st = LEAVING;
			ask(p, RELEASE)
		:: else -> trouble(p)			/* VOTER_BROKEN */
		fi;
		check()
	   }
#endif
#ifdef SILENT
	:: d_step { faults < MAXF && ON_ITS_WAY(p) && !P[p].half && !P[p].frozen &&
	    P[p].gen < G - 1 && (P[p].op != 0 || P[p].ans != 0 || P[p].behind) ->
		SAY(("%d: SILENT\n", p)); faults++;
		unanswered(p);
		check()
	   }
#endif
#ifdef HALF
	:: d_step { faults < MAXF && ON_ITS_WAY(p) && !P[p].half && P[p].st != PAUSING &&
	    P[p].gen < G - 1 ->
		SAY(("%d: HALF\n", p)); faults++;
		P[p].disturbed = 1;
		sub[TOK(p)] = sub[TOK(p)] & 2;
		P[p].half = 1; P[p].msg = 0;
		P[p].ans = 0; P[p].atick = 0;
		if
		:: P[p].op == 0 && P[p].st != QUEUED && P[p].st != HOLDING ->
			P[p].op = RELEASE	/* asked, and no answer will come */
		:: else
		fi;
		check()
	   }
#endif
#ifdef LOSE
	:: d_step { faults < MAXF && P[p].msg != 0 ->
		SAY(("%d: LOSE\n", p)); faults++;
		P[p].msg = 0; P[p].disturbed = 1;
		check()
	   }
#endif
#ifdef EXPIRE
	:: d_step { faults < MAXF && L != 0 && L <= REAL && CURRENT(L) && OWNER(L) == p &&
	    !LEFT_ALONE(p) ->
		SAY(("%d: EXPIRE\n", p)); faults++;
		expire();
		check()
	   }
#endif
#ifdef DELLOCK
	:: d_step { faults < MAXF && L != 0 && p == 0 ->
		SAY(("%d: DELLOCK\n", p)); faults++;
		if
		:: L <= REAL && (P[OWNER(L)].cs || P[OWNER(L)].ans == OURS) ->
			P[OWNER(L)].robbed = 1
		:: else
		fi;
		if
		:: L <= REAL -> P[OWNER(L)].disturbed = 1
		:: else
		fi;
		L = 0;
		check()
	   }
#endif
#ifdef DELQUEUE
	:: d_step { faults < MAXF && p == 0 ->
		head();
		if
		:: e != 0 ->
			SAY(("%d: DELQUEUE\n", p)); faults++;
			i = 1;
			do
			:: i > NTOK -> break
			:: else ->
				qt[i] = 0;
				if :: i <= REAL -> P[OWNER(i)].disturbed = 1 :: else fi;
				i++
			od
		:: else
		fi;
		check()
	   }
#endif
#ifdef LEAVE
	:: d_step { faults < MAXF && P[p].st != IDLE && P[p].st < LEAVING && !P[p].frozen ->
		SAY(("%d: LEAVE\n", p)); faults++;
		/* waiter.c: leave; claim.c: claim_give_back */
		if
		:: P[p].st == ASKING && P[p].op != 0 ->	/* behind it */
#ifdef NO_TELL
			r = P[p].op;
			leave_behind(p, 0, 0);
			done(p)
#else
			P[p].behind = 1; P[p].st = LEAVING; P[p].near = 0
#endif
		:: P[p].st == CLEANING -> P[p].st = LEAVING
		:: else -> ask(p, RELEASE); P[p].st = LEAVING
		fi;
		check()
	   }
#endif
	od
}
#endif

init {
	atomic {
		byte n;
		n = 1;
		do
		:: n > PHANTOM -> break
		:: else -> qt[REAL + n] = n; n++
		od;
		if
		:: PH -> L = NTOK
		:: else
		fi;
		n = 0;
		do
		:: n == N -> break
		:: else ->
			run Run(n); run Server(n);
#if MAXF > 0
			run Faults(n);
#endif
			n++
		od;
		n = 0
	}
}

#ifdef LTL
#define WAITS (P[0].st >= ASKING && P[0].st <= CLEANING && !P[0].frozen)
ltl live { [] (WAITS -> <> !WAITS) }
#endif
