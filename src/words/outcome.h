/* SPDX-License-Identifier: MIT */
/*
 * outcome: how a run ended, and the only map from there to an exit status.
 */
#ifndef RLOCK_OUTCOME_H
#define RLOCK_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "words/config.h"

enum outcome_kind {
	OUTCOME_RAN,		/* under the lock, all the way */
	OUTCOME_SKIPPED,	/* done before: --once; or unreached */
	OUTCOME_BUSY,		/* not obtained: somebody holds it */
	OUTCOME_LOST,		/* lost while the command ran */
	OUTCOME_UNAVAILABLE,	/* no server that answers */
	OUTCOME_REFUSED,	/* the server refuses us, or is unfit */
	OUTCOME_TIMEOUT,	/* --max-run was over */
	OUTCOME_INTERRUPTED,	/* a signal, while still waiting */
	OUTCOME_ERROR		/* the rest: fault says what */
};

struct outcome {
	enum outcome_kind kind;
	int	 status;	/* RAN, LOST: of the command, 0 to 255 */
	int	 signal;	/* RAN, LOST: that ended the command;
				   INTERRUPTED: that ended the wait; else 0 */
	bool	 unreached;	/* no server was to be had, and none needed:
				   --on-unreachable */
	bool	 by_key;	/* RAN: it died of a key at the terminal */
	struct fault fault;	/* why, where there is a why */
	/* for the report */
	int64_t	 wait_ms;	/* from the start to lock or end */
	int64_t	 hold_ms;	/* from lock to release; -1: never held */
	int64_t	 renewals;
	int64_t	 margin_ms;	/* least time left of the lease; -1 */
	int64_t	 retries;	/* attempts beyond the first to take it */
	char	 token[640];	/* "" before one was made */
	char	 holder[400];	/* who was in the way, described; "" */
	int	 slot;		/* -1: none */
	int64_t	 fence;		/* -1: none */
};

/* Nothing has happened yet: OUTCOME_ERROR, never held. */
void outcome_init(struct outcome *);

/* The kind that goes with a fault that ended a run before the command. */
enum outcome_kind outcome_kind_of(const struct fault *);

/*
 * 0 to 255.  For OUTCOME_RAN and OUTCOME_INTERRUPTED by a signal it is
 * 128 + signal; the caller should rather die of that signal.  OUTCOME_LOST
 * with --on-lost warn is the command's own status, so a lock that was lost
 * before the command ran must not be reported as OUTCOME_LOST then.
 */
int outcome_exit_status(const struct outcome *, const struct config *);

/* "ran", "busy", ...: the word in --report. */
const char *outcome_word(enum outcome_kind);

#endif
