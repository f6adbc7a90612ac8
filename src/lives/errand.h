/* SPDX-License-Identifier: MIT */
/*
 * errand: one question to the server, asked until it is answered: of a verb
 * that holds nothing and waits for nobody.
 */
#ifndef RLOCK_ERRAND_H
#define RLOCK_ERRAND_H

#include "base/fault.h"
#include "core/lock.h"
#include "core/reply.h"
#include "loop/loop.h"
#include "redis/quorum.h"
#include "words/config.h"

/* What to do with the reply; 0, or -1 and a fault when it is of no use. */
typedef int (*errand_fn)(void *arg, const struct reply *, struct fault *);

/*
 * Ask op of lock and hand the reply to fn, from within.  A server that can't
 * be reached, or can't answer for now, is tried again for
 * --connect-timeout; every question has --command-timeout.  INT, TERM, HUP
 * and the like end it.  op must be one that may be asked twice; LOCK_BREAK may
 * not, and is not when its answer is lost.  fn gets errors, too, of LOCK_PLAIN.
 * 0 or -1 as fn says, or -1 and a fault; *signal is what ended it, or 0.
 */
int errand_run(struct loop *, const struct config *, struct quorum *,
    const struct lock *, enum lock_op op, errand_fn fn, void *arg,
    int *signal, struct fault *);

/*
 * The same of count locks at once, 1 to VOTER_BATCH_MAX; fn is called for each
 * in their order, until it says -1.  What a broken connection left open is
 * asked again.
 */
int errand_run_each(struct loop *, const struct config *, struct quorum *,
    const struct lock *locks, size_t count, enum lock_op op, errand_fn fn,
    void *arg, int *signal, struct fault *);

#endif
