/* SPDX-License-Identifier: MIT */
/*
 * sentinel: ask the sentinels of a sentinel:// URL for the primary.  Source:
 * "High availability with Redis Sentinel", guidelines for clients.
 */
#ifndef RLOCK_SENTINEL_H
#define RLOCK_SENTINEL_H

#include <stdint.h>

#include "base/fault.h"
#include "loop/loop.h"
#include "redis/tls.h"
#include "words/endpoint.h"

struct sentinel;

/* host is NULL exactly when fault says why nobody could tell; both live during
 * the call, which is the last thing of the sentinel. */
typedef void (*sentinel_fn)(void *arg, const char *host, int port,
    const struct fault *fault);

/*
 * Ask the first one at once, each next one 300 ms later or as soon as the one
 * before is known to be of no use; each has limit_ms.  fn is called once, from
 * the loop; then it is freed.  tls: NULL for none.  All pointers outlive it.
 * NULL and a fault without memory.
 */
struct sentinel *sentinel_ask(struct loop *, const struct endpoint *,
    const struct tls_options *tls, const char *conn_name, int64_t limit_ms,
    sentinel_fn fn, void *arg, struct fault *);

/* Forget it; fn will not be called.  NULL is fine. */
void sentinel_cancel(struct sentinel *);

#endif
