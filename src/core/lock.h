/* SPDX-License-Identifier: MIT */
/*
 * lock: the rules of one lock.  It says which script to run with which
 * arguments and reads the reply; it does no I/O and reads no clock.
 */
#ifndef RLOCK_LOCK_H
#define RLOCK_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/token.h"
#include "core/keys.h"
#include "core/refusal.h"
#include "core/reply.h"

/* What can be asked of the server. */
enum lock_op {
	LOCK_TAKE,	/* take it if nobody holds it or waits */
	LOCK_JOIN,	/* take it, or stay in the queue and listen */
	LOCK_ASK,	/* take it or prove that it is ours; not queued */
	LOCK_QUEUE,	/* as LOCK_JOIN, but without listening */
	LOCK_RENEW,
	LOCK_FREE,	/* release it, if nobody waits */
	LOCK_RELEASE	/* release it or leave the queue; serve who waits */
};

struct lock {
	struct keys	 keys;
	int64_t		 ttl_ms;
	char		 ttl_text[24];
	char		 token[TOKEN_MAX];
	char		 ticket[24];	/* place in the queue; "0": none yet */
	bool		 crowded;	/* somebody waited at our last proof */
};

#define REQUEST_ARGS_MAX 12

/*
 * One script to run: EVAL's arguments.  The pointers are into the lock and
 * into static text, valid until the lock changes.
 */
struct request {
	int		 argc;
	const char	*argv[REQUEST_ARGS_MAX];
	bool		 listen;	/* subscribe to channel in the same
					   step (MULTI ... EXEC) */
	char		 channel[6 + TOKEN_ID_LEN + 1];
};

enum verdict {
	VERDICT_OURS,	/* taken, proven, renewed, released */
	VERDICT_HELD,	/* somebody else holds it: holder */
	VERDICT_GONE,	/* nobody holds it */
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
	char		 holder[TOKEN_MAX]; /* HELD: its token, maybe cut */
};

/* What a waiter hears on its channel. */
enum message {
	MESSAGE_LOOK,	/* ask now; also all that is not understood */
	MESSAGE_GRANT,	/* the lock is handed over: ask, to prove it */
	MESSAGE_FIRST	/* head of the queue now: look in left_ms */
};

/* 0, or -1 and a fault.  lock_release frees what it holds (not the lock). */
int lock_init(struct lock *, const char *prefix, const char *key,
    int64_t ttl_ms, struct fault *);
void lock_release(struct lock *);

/* Fill *request with what to send for op. */
void lock_request(const struct lock *, enum lock_op op, struct request *);

/*
 * Read the reply to op into *answer, and keep the ticket.  Anything that is
 * not of the script's form is an ERROR (REFUSAL_UNFIT).
 */
void lock_read(struct lock *, enum lock_op op, const struct reply *,
    struct answer *);

/* Read a message; *left_ms is set for MESSAGE_FIRST only, -1: no end. */
enum message lock_message(const char *text, size_t len, int64_t *left_ms);

#endif
