/* SPDX-License-Identifier: MIT */
/*
 * keys: the names of what a lock is on the server.  L = PREFIX + KEY is the
 * lock; a side key is named rlock:KIND:{L}, or rlock:KIND=L when L has a hash
 * tag of its own, so that all keys of a lock are in one slot of a cluster and
 * never have the name of another lock.
 */
#ifndef RLOCK_KEYS_H
#define RLOCK_KEYS_H

#include <stdbool.h>

struct keys {
	char	*lock;
	char	*queue;		/* sorted set: who waits */
	char	*holds;		/* sorted set: nested runs */
	char	*done;		/* string: marker of --once */
	char	*fence;		/* string: the last number of --fence */
};

/* 0, or -1 without memory (then *keys is released). */
int keys_init(struct keys *, const char *prefix, const char *key);
void keys_release(struct keys *);

/* The slot of a cluster that a key is in, 0 to 16383. */
int keys_slot(const char *key);

/* Are all keys of the lock in one slot? */
bool keys_meet(const struct keys *);

#endif
