/* SPDX-License-Identifier: MIT */
/*
 * answer: what the server says about a lock: the replies to its scripts, and
 * the messages to who waits for it.
 */
#ifndef RLOCK_ANSWER_H
#define RLOCK_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/token.h"
#include "core/lock.h"
#include "core/refusal.h"
#include "core/reply.h"

enum verdict {
	VERDICT_OURS,	/* taken, proven, renewed, released */
	VERDICT_HELD,	/* somebody else holds it: holder */
	VERDICT_GONE,	/* nobody holds it */
	VERDICT_DONE,	/* done before: marker */
	VERDICT_FULL,	/* ask LOCK_RELEASE (again), or the full acquire */
	VERDICT_ERROR	/* refusal and fault tell */
};

struct answer {
	enum verdict	 verdict;
	enum refusal	 refusal;	/* ERROR */
	struct fault	 fault;		/* ERROR */
	int64_t		 left_ms;	/* HELD, of JOIN, ASK and QUEUE: until
					   the lease is over; -1: has no end */
	int64_t		 rank;		/* the same: 0 is the head */
	bool		 foreign;	/* HELD: not by an rlock */
	bool		 released;	/* FULL, of RELEASE: it was ours, and is
					   released; others are to be served */
	bool		 unheard;	/* RELEASE: PUBLISH was refused */
	char		 holder[TOKEN_MAX]; /* HELD: a token, maybe cut */
	char		 marker[TOKEN_MAX]; /* DONE: see lua/release.lua */
};

/* What a waiter hears on its channel. */
enum message {
	MESSAGE_LOOK,	/* ask now; also all that is not understood */
	MESSAGE_GRANT,	/* the lock is handed over: ask, to prove it */
	MESSAGE_FIRST	/* head of the queue now: look in left_ms */
};

/*
 * Read the reply to op into *answer, and keep what the
 * lock has to know of it.  Anything that is
 * not of the script's form is an ERROR (REFUSAL_UNFIT).
 */
void answer_read(struct lock *, enum lock_op op, const struct reply *,
    struct answer *);

/*
 * Read a message, and keep the slot that it grants; *left_ms is set for
 * MESSAGE_FIRST only, -1: no end.
 */
enum message answer_message(struct lock *, const char *text, size_t len,
    int64_t *left_ms);

#endif
