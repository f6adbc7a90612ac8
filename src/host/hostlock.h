/* SPDX-License-Identifier: MIT */
/*
 * hostlock: a lock of this host, without a server: what the scripts of
 * src/lua do, on the lock's file.  Nothing here waits.
 */
#ifndef RLOCK_HOSTLOCK_H
#define RLOCK_HOSTLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "core/lock.h"
#include "host/folder.h"
#include "host/lockfile.h"

enum hostlock_verdict {
	HOSTLOCK_OURS,		/* taken, proven, released */
	HOSTLOCK_HELD,		/* by who has the token text, "": not known */
	HOSTLOCK_GONE,		/* ours no more: the file was removed */
	HOSTLOCK_DONE,		/* done before: text is the marker */
	HOSTLOCK_STUCK,		/* it waits for one above us; text: its kind */
	HOSTLOCK_CLASH,		/* another kind than text can't meet */
	HOSTLOCK_FAILED		/* see fault */
};

struct hostlock_answer {
	enum hostlock_verdict	 verdict;
	char			 text[RECORD_TEXT_MAX];
	int64_t			 left_ms;	/* HELD: by --min-hold, so
						   long; -1: has no end */
	int			 slot;		/* OURS: -1: none */
	struct fault		 fault;
};

struct hostlock {
	const struct folder	*folder;
	struct lockfile		 file;
	bool			 held;
	bool			 nested;	/* by the right of a run above */
	int			 place;		/* ours; held only */
	char			 kind[8];	/* of what is held */
	char			 token[TOKEN_MAX];
};

/* folder outlives it; no file is open yet. */
void hostlock_init(struct hostlock *, const struct folder *);

/* The kernel takes from us what is held. */
void hostlock_close(struct hostlock *);

/*
 * Have the file of lock open: before a process is forked that shall keep the
 * lock alive beside us.  0, or -1 and a fault.
 */
int hostlock_open(struct hostlock *, const struct lock *, struct fault *);

/* Take it, or prove that it is ours. */
void hostlock_acquire(struct hostlock *, const struct lock *,
    struct hostlock_answer *);

/* Is it ours still? */
void hostlock_prove(struct hostlock *, const struct lock *,
    struct hostlock_answer *);

/* Release it on the lock's terms. */
void hostlock_release(struct hostlock *, const struct lock *,
    struct hostlock_answer *);

#endif
