/* SPDX-License-Identifier: MIT */
/*
 * snapshot: all that is to be known of a lock, at one moment: what the script
 * of LOCK_STATUS answers.
 */
#ifndef RLOCK_SNAPSHOT_H
#define RLOCK_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/token.h"
#include "core/marker.h"
#include "core/reply.h"

enum snapshot_mode {
	SNAPSHOT_FREE,		/* nobody holds it */
	SNAPSHOT_EXCLUSIVE,
	SNAPSHOT_SHARED,
	SNAPSHOT_SLOTS,
	SNAPSHOT_FOREIGN	/* made by other software */
};

/* The values are the reply's, and live as long as it. */
struct snapshot {
	enum snapshot_mode	 mode;
	int			 slots;		/* SLOTS: at most so many */
	char			 type[16];	/* of the key, as TYPE says */
	int64_t			 left_ms;	/* -1: has no end */
	const struct reply	*holders;
	size_t			 holder_count;
	int64_t			 waiting;	/* in the queue */
	const struct reply	*waiters;	/* the first of them */
	size_t			 waiter_count;
	bool			 done;		/* the marker of --once */
	struct marker		 marker;
	int64_t			 marker_left_ms;
	int64_t			 fence;		/* -1: never numbered */
};

struct snapshot_holder {
	char	 token[TOKEN_MAX];	/* maybe cut */
	int64_t	 left_ms;		/* -1: has no end */
	int64_t	 slot;			/* -1: none */
};

struct snapshot_waiter {
	char	 token[TOKEN_MAX];
	char	 kind[8];		/* "x0", "s0", "jN" */
	bool	 listens;		/* else it is gone, or polls */
};

/* 0, or -1 and a fault: an error, or nonsense. */
int snapshot_read(struct snapshot *, const struct reply *, struct fault *);

/* i below the count of each. */
void snapshot_holder(const struct snapshot *, size_t i,
    struct snapshot_holder *);
void snapshot_waiter(const struct snapshot *, size_t i,
    struct snapshot_waiter *);

/* Has somebody rather than --min-hold got it? */
bool snapshot_is_cooling(const struct snapshot *);

#endif
