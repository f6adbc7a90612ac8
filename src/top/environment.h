/* SPDX-License-Identifier: MIT */
/*
 * environment: what the command finds in its environment: the caller's, with
 * the RLOCK_ variables of this run in place of inherited ones.
 */
#ifndef RLOCK_ENVIRONMENT_H
#define RLOCK_ENVIRONMENT_H

#include <stdbool.h>

/* What the command is told, as text; "" for what this run has not. */
struct environment {
	const char	*key;
	const char	*token;
	bool		 locked;	/* else RLOCK_TOKEN is not set: there is
					   no lock */
	const char	*slot;
	const char	*fence;
	const char	*shard;
};

/*
 * RLOCK_KEY, RLOCK_TOKEN, RLOCK_TOKENS (inherited tokens, then this one,
 * separated by blanks), RLOCK_SLOT, RLOCK_FENCE and RLOCK_SHARD; inherited
 * ones of which this run has none are removed.  NULL without memory; to be
 * freed by environment_free.
 */
char **environment_new(char *const *inherited, const struct environment *);
void environment_free(char **);

#endif
