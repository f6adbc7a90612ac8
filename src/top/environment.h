/* SPDX-License-Identifier: MIT */
/*
 * environment: what the command finds in its environment: the caller's, with
 * the RLOCK_ variables of this run in place of inherited ones.
 */
#ifndef RLOCK_ENVIRONMENT_H
#define RLOCK_ENVIRONMENT_H

/*
 * RLOCK_KEY, RLOCK_TOKEN, and RLOCK_TOKENS (inherited tokens, then this one,
 * separated by blanks); RLOCK_FENCE, RLOCK_SLOT and RLOCK_SHARD are removed.
 * NULL without memory; to be freed by environment_free.
 */
char **environment_new(char *const *inherited, const char *key,
    const char *token);
void environment_free(char **);

#endif
