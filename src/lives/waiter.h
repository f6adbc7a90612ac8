/* SPDX-License-Identifier: MIT */
/*
 * waiter: the life of one lock from the first try to holding it: asking,
 * standing in line, coming back after a fault, giving up without a trace.
 */
#ifndef RLOCK_WAITER_H
#define RLOCK_WAITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/token.h"
#include "core/lock.h"
#include "loop/loop.h"
#include "redis/quorum.h"
#include "words/config.h"

struct waiter;

enum waiter_end {
	WAITER_ACQUIRED,	/* ours now */
	WAITER_DONE,		/* done within the time of --once */
	WAITER_BUSY,		/* somebody holds it, and the wait is over */
	WAITER_FAILED,		/* see fault */
	WAITER_LEFT		/* waiter_leave was called */
};

enum waiter_news {
	WAITER_WAITS,		/* in line now, behind holder */
	WAITER_UNREACHED,	/* no server yet: trying again */
	WAITER_AWAY,		/* the server is away, the place is kept */
	WAITER_BACK,		/* and is back */
	WAITER_DEAF		/* not allowed to subscribe: polls */
};

struct waiter_handlers {
	/* Once.  sent_at: for ACQUIRED, from before the proof was sent; the
	 * lease counts from there.  fault: for FAILED, else NULL. */
	void	(*ended)(void *arg, enum waiter_end, int64_t sent_at,
		    const struct fault *fault);
	/* Each at its first time, and BACK after UNREACHED or AWAY. */
	void	(*news)(void *arg, enum waiter_news,
		    const struct fault *fault);
};

/*
 * Ready to start; nothing is sent yet.  All pointers outlive it; the lock's
 * token is made, and made anew when an old one was abandoned.  NULL and a
 * fault without memory or randomness.
 */
struct waiter *waiter_new(struct loop *, const struct config *,
    struct quorum *, struct lock *, const struct token_owner *,
    const struct waiter_handlers *, void *arg, struct fault *);
void waiter_free(struct waiter *);

/* Send the first request.  ended is called from the loop. */
void waiter_start(struct waiter *);

/*
 * Give up: leave the queue and give back a grant, if there is any chance that
 * the server knows of us.  ended(WAITER_LEFT) comes within 300 ms, whether
 * the server answers or not; what it must know is written by then.
 */
void waiter_leave(struct waiter *);

/* The token of who holds the lock, as last seen; "" when never.  After
 * WAITER_DONE the marker, as core/snapshot reads it. */
const char *waiter_holder(const struct waiter *);

/* Requests to take the lock beyond the first. */
int64_t waiter_retries(const struct waiter *);

#endif
