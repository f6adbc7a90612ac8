/* SPDX-License-Identifier: MIT */
/*
 * series: the samples of a metrics file: read, changed, written.  Values are
 * kept exactly, in thousandths.
 */
#ifndef RLOCK_SERIES_H
#define RLOCK_SERIES_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* A metric; a histogram has three names below one head. */
struct series_def {
	const char	*name;		/* of the samples */
	const char	*head;		/* HELP and TYPE lines; NULL: as before */
};

struct sample {
	size_t	 def;		/* place in the table */
	char	*labels;	/* what is between the braces */
	int64_t	 value;		/* in thousandths */
};

struct series {
	const struct series_def	*defs;
	size_t			 def_count;
	struct sample		*samples;
	size_t			 count, cap;
};

void series_init(struct series *, const struct series_def *, size_t count);
void series_release(struct series *);

/*
 * Read text, which series_write has written (an empty one is right, too).  0,
 * or -1 and a phrase: what is not of that form is not understood by halves.
 */
int series_read(struct series *, const char *text, size_t len,
    const char **why);

/* The sample's value, made 0 if it is new; NULL without memory. */
int64_t *series_at(struct series *, size_t def, const char *labels);

/* 0, or -1 without memory. */
int series_write(const struct series *, struct buf *out);

#endif
