/* SPDX-License-Identifier: MIT */
/*
 * run: one run, from the first request to having given the lock back.
 */
#ifndef RLOCK_RUN_H
#define RLOCK_RUN_H

#include <stdbool.h>

#include "top/session.h"
#include "words/outcome.h"

/* What a run is made of; the session outlives it. */
struct run_parts {
	struct session	*session;
	bool		 ignore_chld;	/* as inherited */
	unsigned int	 closed;	/* see child.h */
};

/*
 * Wait for the lock, run the command under it, release it; *outcome says how
 * it went.  Nothing of the command that must be gone is left when it returns,
 * nor any process of ours.
 */
void run(const struct run_parts *, struct outcome *);

#endif
