/* SPDX-License-Identifier: MIT */
/*
 * lease: the life of one lock from holding it to having given it back:
 * renewing, finding it lost or in doubt, releasing.
 *
 * MUST count a lease from before the request was sent that took or renewed it.
 * MUST treat silence and every error as "not renewed", never as "not ours".
 * MUST go on renewing until it is told to release.
 * MUST NOT touch the server any more once the lock is proven lost.
 * MUST NOT try to release once the lease is over.
 */
#ifndef RLOCK_LEASE_H
#define RLOCK_LEASE_H

#include <stdint.h>

#include "base/fault.h"
#include "core/lock.h"
#include "core/timing.h"
#include "loop/loop.h"
#include "redis/quorum.h"
#include "words/config.h"

struct lease;

enum lease_event {
	LEASE_RENEWED,
	LEASE_RETRYING,		/* a renewal failed; fault says why */
	LEASE_DOUBT,		/* term_at came without a renewal */
	LEASE_LAST,		/* kill_at came: the last moment to KILL */
	LEASE_LOST,		/* the server says it is not ours */
	/* after lease_give_back: */
	LEASE_RELEASED,
	LEASE_UNHEARD,		/* released, but may not PUBLISH: waiters find
				   out by themselves */
	LEASE_FOUND_LOST,	/* it was gone or somebody else's */
	LEASE_STUCK		/* not released: it ends by itself; fault */
};

/* fault is NULL unless the event's line says it is there. */
typedef void (*lease_fn)(void *arg, enum lease_event,
    const struct fault *fault);

/*
 * Ready to hold a lock.  All pointers outlive it; fn is called from the loop
 * only.  NULL without memory: later it needs none.
 */
struct lease *lease_new(struct loop *, const struct config *,
    struct quorum *, struct lock *, lease_fn fn, void *arg);
void lease_free(struct lease *);

/* Hold it, from a proof that was sent at sent_at. */
void lease_hold(struct lease *, int64_t sent_at);

/* Renew now: after a pause of ours, before the command goes on. */
void lease_prove(struct lease *);

/*
 * Stop renewing and release, for min(--command-timeout, lease_end) at most.
 * Ends in one of the last four events, at once when the lease is over.  terms:
 * NULL for none.
 */
void lease_give_back(struct lease *, const struct lock_terms *);

/* End lease_give_back now: LEASE_STUCK. */
void lease_abandon(struct lease *);

/* The points of the lease as last renewed. */
struct timing_lease lease_points(const struct lease *);

/* How long it lasts still, in ms, maybe negative; -1 when it has no end. */
int64_t lease_left_ms(const struct lease *);

/* Who held it instead when it was found lost: a token, or "" for nobody. */
const char *lease_holder(const struct lease *);

int64_t lease_renewals(const struct lease *);

/* The least that was left of the lease whenever it was renewed, or given back,
 * in ms; negative: it was over, or has no end. */
int64_t lease_margin_ms(const struct lease *);

#endif
