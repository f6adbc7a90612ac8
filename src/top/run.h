/* SPDX-License-Identifier: MIT */
/*
 * run: one run, from the first request to having given the lock back.
 */
#ifndef RLOCK_RUN_H
#define RLOCK_RUN_H

#include <stdbool.h>

#include "base/token.h"
#include "core/lock.h"
#include "loop/loop.h"
#include "redis/voter.h"
#include "words/config.h"
#include "words/outcome.h"

/* What a run is made of; all outlive it. */
struct run_parts {
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
void run(const struct run_parts *, struct outcome *);

#endif
