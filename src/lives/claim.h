/* SPDX-License-Identifier: MIT */
/*
 * claim: what the server may know of us while we try to get a lock: whether
 * our token is there, may be there, or may yet come to be there.
 *
 * An acquire that got no answer may be carried out at any later time.  So
 * such a connection is never just closed: the release is written behind the
 * acquire, and the next try has a token of its own (with the same ticket, so
 * that the place in the queue is kept): an old release, whenever it runs, can
 * not free the lock under the new token.  Before that try the old token is
 * released on the new connection too, should the old one be a black hole.
 */
#ifndef RLOCK_CLAIM_H
#define RLOCK_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/token.h"
#include "core/lock.h"
#include "core/patience.h"
#include "redis/quorum.h"
#include "words/config.h"

struct claim {
	const struct config		*cfg;
	struct quorum			*quorum;
	struct lock			*lock;
	const struct token_owner	*owner;
	bool	 tried;		/* the token was sent in an acquire */
	bool	 unsure;	/* the server may know the token */
	bool	 stale;		/* the token was abandoned: clean up first */
	bool	 deaf;		/* we may not subscribe */
};

/* All pointers outlive it; makes the first token.  -1 and a FAULT_SYSTEM
 * without randomness. */
int claim_init(struct claim *, const struct config *, struct quorum *,
    struct lock *, const struct token_owner *, struct fault *);

/* How to ask for a place in line, or only once; and before anything was asked:
 * as cheaply as can be. */
enum lock_op claim_full_op(const struct claim *, const struct patience *);
enum lock_op claim_first_op(const struct claim *, const struct patience *);

/* Send an acquire of any kind. */
void claim_ask(struct claim *, enum lock_op op);

/* May the server know the token?  asking: an acquire is under way. */
bool claim_is_known(const struct claim *, bool asking);

/* The last question failed so: what may have come of it, and away with the
 * connection if it may yet be carried out. */
void claim_failed(struct claim *, enum voter_failure why);

/* Release the abandoned token on a new connection ... */
void claim_clean(struct claim *);

/* ... and, when that was answered, take a new one.  -1 and a FAULT_SYSTEM
 * without randomness. */
int claim_cleaned(struct claim *, struct fault *);

/*
 * Give up: leave the queue, give back a grant.  Written at once, on the same
 * connection behind what is under way; the quorum tells within limit_ms.
 */
void claim_give_back(struct claim *, int64_t limit_ms);

/* Is that its answer, or was it asked again, since others are to be served? */
bool claim_given_back(struct claim *, const struct reply *, int64_t limit_ms);

#endif
