/* SPDX-License-Identifier: MIT */
/*
 * record: one line of a lock's file: who holds it, or what was left behind
 * until a point in time.  With a checksum, since it is read while others
 * write: half a line is none.
 */
#ifndef RLOCK_RECORD_H
#define RLOCK_RECORD_H

#include <stdint.h>

#include "base/token.h"

#define RECORD_SIZE	1024		/* of a line with its NUL, at most */
#define RECORD_TEXT_MAX	(TOKEN_MAX + 64)

enum record_state {
	RECORD_NONE,
	RECORD_HELD,	/* text: the holder's token */
	RECORD_COOLING,	/* --min-hold: the same, until it is over */
	RECORD_DONE	/* --once: a marker, as core/marker reads it */
};

struct record {
	enum record_state state;
	char	 kind[8];		/* as in struct lock; "-": DONE */
	char	 boot[40];		/* the boot that until_at is of */
	int64_t	 until_at;		/* boottime clock */
	int64_t	 until_wall_ms;		/* for after a boot: ms since 1970 */
	char	 text[RECORD_TEXT_MAX];	/* no line feed */
};

/* A record that ends in ms from now; 0 for one without end. */
void record_make(struct record *, enum record_state, const char *kind,
    const char *text, int64_t ms);

/* Into out[RECORD_SIZE], filled up with NUL. */
void record_write(const struct record *, char *out);

/* From in[RECORD_SIZE]; RECORD_NONE for anything else. */
void record_read(struct record *, const char *in);

/*
 * How long it lasts still, in ms, 0 when it is over: by the boottime clock,
 * and by the wall clock when the host was booted meanwhile.
 */
int64_t record_left_ms(const struct record *);

#endif
