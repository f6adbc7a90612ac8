/* SPDX-License-Identifier: MIT */
/*
 * finder: ask those who know where the server is: the sentinels of a sentinel://
 * URL for the primary, the nodes of a cluster:// URL for the owner of a key's
 * slot.  Sources: "High availability with Redis Sentinel", guidelines for
 * clients; the page of CLUSTER SLOTS.
 */
#ifndef RLOCK_FINDER_H
#define RLOCK_FINDER_H

#include <stdint.h>

#include "base/fault.h"
#include "loop/loop.h"
#include "redis/tls.h"
#include "words/endpoint.h"

struct finder;

/* host is NULL exactly when fault says why nobody could tell; both live during
 * the call, which is the last thing of the finder. */
typedef void (*finder_fn)(void *arg, const char *host, int port,
    const struct fault *fault);

/*
 * Ask the first one at once, each next one 300 ms later or as soon as the one
 * before is known to be of no use; each has limit_ms.  fn is called once, from
 * the loop; then it is freed.  key: whose owner is wanted, NULL for sentinels.
 * tls: NULL for none.  All pointers outlive it.
 * NULL and a fault without memory.
 */
struct finder *finder_ask(struct loop *, const struct endpoint *,
    const char *key, const struct tls_options *tls, const char *conn_name,
    int64_t limit_ms, finder_fn fn, void *arg, struct fault *);

/* Forget it; fn will not be called.  NULL is fine. */
void finder_cancel(struct finder *);

#endif
