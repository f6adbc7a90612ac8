/* SPDX-License-Identifier: MIT */
/*
 * local: answers a voter's questions in a server's stead, from the lock files
 * of this host, in the form in which the scripts do; and says when it is
 * worth asking again.
 */
#ifndef RLOCK_LOCAL_H
#define RLOCK_LOCAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "core/lock.h"
#include "loop/loop.h"
#include "redis/conn.h"
#include "words/endpoint.h"

struct local;

/*
 * Open the folder of the endpoint, an ENDPOINT_LOCAL; of an ENDPOINT_NONE every
 * lock is ours at once, and kept from nobody.  The handlers are called
 * as a connection would, with NULL for it: answer; message, when the lock that
 * was asked for last may be free; login, when its file is of no use.  NULL and
 * a fault as of folder_open.
 */
struct local *local_new(struct loop *, const struct endpoint *,
    const struct conn_handlers *, void *arg, struct fault *);

/* Who holds a lock loses it here.  NULL is fine. */
void local_free(struct local *);

/*
 * Ask op of count locks; the handlers are called from the loop.  The file of a
 * lock that is to be taken is open when it returns, if it can be.
 */
void local_ask(struct local *, const struct lock *, size_t count,
    enum lock_op op, uint32_t tag);

/* Forget the question. */
void local_cancel(struct local *);

/* Release the lock, or what was taken of it, on the spot. */
void local_give_up(struct local *, const struct lock *);

/*
 * The descriptor by which the lock is, or will be, held; -1 for none.  As long
 * as any process has it open, the lock is held.
 */
int local_fd(const struct local *);

#endif
