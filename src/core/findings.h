/* SPDX-License-Identifier: MIT */
/*
 * findings: what an examination came to, a line each.
 */
#ifndef RLOCK_FINDINGS_H
#define RLOCK_FINDINGS_H

#include <stddef.h>

enum finding_level { FINDING_OK, FINDING_WARN, FINDING_FAIL };

struct finding {
	enum finding_level level;
	char	 check[16];	/* what was looked at, one word */
	char	 text[400];	/* what it means, and what to do */
};

struct findings {
	struct finding	*list;
	size_t		 count;
	size_t		 failed;
	int		 error;	/* no memory for one of them */
};

/* Append one; texts are cut. */
void findings_add(struct findings *, enum finding_level, const char *check,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

void findings_release(struct findings *);

/* "ok", "warn", "fail". */
const char *findings_word(enum finding_level);

#endif
