/* SPDX-License-Identifier: MIT */
/*
 * quorum: the servers that vote on a lock, asked as one.  A single server is
 * its voter, and nothing else.  Of several independent ones, all are asked at
 * once, each with a time limit of its own; a majority decides, and nobody
 * waits for the rest.
 *
 * MUST count a server once, and no vote that was not asked for in this round.
 * MUST give back, or have given back, what was granted without a majority.
 * MUST NOT give a server the key again but while a majority stands.
 */
#ifndef RLOCK_QUORUM_H
#define RLOCK_QUORUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "core/lock.h"
#include "loop/loop.h"
#include "redis/voter.h"
#include "words/config.h"

struct quorum;

/* All of these as for voter, for the servers of cfg. */
struct quorum *quorum_new(struct loop *, const struct config *cfg,
    const char *conn_name, struct fault *);
void quorum_free(struct quorum *);
void quorum_set_owner(struct quorum *, const struct voter_handlers *,
    void *arg);

/*
 * Of several servers: an acquire of any kind is answered in the form of
 * LOCK_ASK.  Held means that what was granted is being given back: the next
 * try takes a new token.  VOTER_SILENT: no quorum.  Only locks of one holder,
 * and LOCK_STATUS, RENEW, FREE and RELEASE beside the acquires.
 */
void quorum_ask(struct quorum *, const struct lock *, enum lock_op op,
    int64_t limit_ms, bool whole);

/* count is 1 for several servers. */
void quorum_ask_each(struct quorum *, const struct lock *locks,
    size_t count, enum lock_op op, int64_t limit_ms);

int quorum_fd(const struct quorum *);
const char *quorum_lacks(const struct quorum *);
bool quorum_has_sent(const struct quorum *);
void quorum_abandon(struct quorum *, const struct lock *, enum lock_op op);
void quorum_drop(struct quorum *);
void quorum_cancel(struct quorum *);

#endif
