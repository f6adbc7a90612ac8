/* SPDX-License-Identifier: MIT */
/*
 * wire: a byte stream to one server: resolving, connecting to whichever of
 * its addresses answers first, TLS if asked for, sending and receiving.  Every
 * socket is close-on-exec and non-blocking from birth.
 */
#ifndef RLOCK_WIRE_H
#define RLOCK_WIRE_H

#include <sys/types.h>

#include "base/fault.h"
#include "loop/loop.h"
#include "redis/resolve.h"
#include "redis/tls.h"
#include "words/endpoint.h"

struct wire;

struct wire_handlers {
	/* Connected, or bytes can be read or written again. */
	void	(*ready)(void *arg);
	/* It could not be connected; the wire is of no use any more. */
	void	(*failed)(void *arg, const struct fault *);
};

/*
 * Start connecting.  tls: NULL for none.  known outlives the wire: the addresses that last worked,
 * used when the resolver has not answered after 250 ms, or fails.  handlers
 * are called from the loop only, never before wire_open has returned.  NULL
 * and a fault when it can't even start.
 */
struct wire *wire_open(struct loop *, const struct endpoint *,
    const struct tls_options *tls, struct addresses *known,
    const struct wire_handlers *, void *arg, struct fault *);

/* Close it; no handler is called any more.  NULL is fine. */
void wire_close(struct wire *);

/*
 * Bytes sent or received, 0 at the end of the stream (receiving), or -1 and
 * errno: EAGAIN when it would block or is not connected yet, else it is
 * broken.  Sending may succeed before ready was called: a connection to this
 * host is often up by then.
 */
ssize_t wire_send(struct wire *, const void *data, size_t len);
ssize_t wire_recv(struct wire *, void *data, size_t cap);

/* What has not come about when nothing could be sent in time. */
const char *wire_lacks(const struct wire *);

/* Why it broke, when errno is EPROTO. */
const struct fault *wire_fault(const struct wire *);

/* Whether ready is to be called when bytes can be written again. */
void wire_want_write(struct wire *, bool want);

#endif
