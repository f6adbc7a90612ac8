/* SPDX-License-Identifier: MIT */
/*
 * patience: how long a run waits for its lock, and how long it pauses between
 * two tries.
 */
#ifndef RLOCK_PATIENCE_H
#define RLOCK_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "words/config.h"

struct patience {
	const struct config	*cfg;
	int64_t	 started_at;
	bool	 seen;		/* the server has told of a holder */
	bool	 queued;	/* we once had our place in line */
	int64_t	 failures;	/* attempts without an answer, in a row */
	int64_t	 polls;		/* in a row */
	int64_t	 polled;	/* in all */
};

/* started_at: when the run began, on the boottime clock. */
void patience_init(struct patience *, const struct config *,
    int64_t started_at);

/* Is there to be one try only? */
bool patience_one_try(const struct patience *);

/*
 * When waiting ends, INT64_MAX for no limit.  Until the server has told of
 * a holder, --connect-timeout bounds a wait without -w; afterwards -r counts
 * too, as the time its pauses would take, but for polling, which counts tries.
 */
int64_t patience_deadline(const struct patience *, bool polling);

/* The pause after one more attempt without an answer, in ms, jittered. */
int64_t patience_fault_pause_ms(struct patience *);

/* The pause before the next poll in ms, jittered; -1: -r is used up. */
int64_t patience_poll_pause_ms(struct patience *);

#endif
