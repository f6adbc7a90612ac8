/* SPDX-License-Identifier: MIT */
/*
 * sync: between having taken a lock and relying on it: wait until so many
 * replicas have it, too (--replicas).  Source: the page of the command WAIT.
 */
#ifndef RLOCK_SYNC_H
#define RLOCK_SYNC_H

#include "base/fault.h"
#include "core/lock.h"
#include "redis/quorum.h"
#include "words/config.h"

/* fault: NULL when they have it. */
typedef void (*sync_fn)(void *arg, const struct fault *fault);

struct sync {
	const struct config	*cfg;
	struct quorum		*quorum;
	struct lock		*lock;
	sync_fn			 fn;
	void			*arg;
};

/*
 * Start; fn is called once, from the loop, within twice min(--command-timeout,
 * TTL/6).  All pointers outlive it.
 */
void sync_start(struct sync *, const struct config *, struct quorum *,
    struct lock *, sync_fn fn, void *arg);

#endif
