/* SPDX-License-Identifier: MIT */
/*
 * supervise: one run, from waiting for the lock to having given it back.  The
 * only place where the life of the lock and the life of the command meet.
 */
#ifndef RLOCK_SUPERVISE_H
#define RLOCK_SUPERVISE_H

#include <stdbool.h>

#include "base/token.h"
#include "core/lock.h"
#include "lives/guard.h"
#include "loop/loop.h"
#include "redis/voter.h"
#include "words/config.h"
#include "words/outcome.h"

/* What a run is made of; all outlive it. */
struct supervise_parts {
	struct loop			*loop;
	const struct config		*cfg;
	const struct token_owner	*owner;
	struct lock			*lock;
	struct voter			*voter;
	bool				 ignore_chld;	/* as inherited */
	unsigned int			 closed;	/* see child.h */
};

/*
 * Wait for the lock, run the command under it, release it; *outcome says how
 * it went.  Nothing of the command that must be gone is left when it returns,
 * nor any process of ours.
 */
void supervise_run(const struct supervise_parts *, struct outcome *);

#endif
