/* SPDX-License-Identifier: MIT */
/*
 * conn: one logged-in connection.  Requests go out in order, the login in the
 * same write as the first; replies come back in order and are handed to the
 * owner with the tag of their request.  RESP2.
 */
#ifndef RLOCK_CONN_H
#define RLOCK_CONN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "core/lock.h"
#include "core/reply.h"
#include "loop/loop.h"
#include "redis/resolve.h"
#include "redis/tls.h"
#include "words/endpoint.h"

struct conn;

/* So many requests that don't listen may be under way at once, at least. */
#define CONN_PENDING_MAX 32

struct conn_handlers {
	/* The reply to the request with this tag.  sent_at is from before it
	 * was sent.  deaf: its script has run, or not (reply NULL), but the
	 * right to subscribe is missing. */
	void	(*answer)(void *arg, struct conn *, uint32_t tag,
		    int64_t sent_at, const struct reply *, bool deaf);
	/* Something was published on the channel listened to. */
	void	(*message)(void *arg, struct conn *, const char *text,
		    size_t len);
	/* The login is over: fault is NULL, or says why it was refused; what
	 * follows it was then executed all the same, as another user or in
	 * another database. */
	void	(*login)(void *arg, struct conn *, const struct fault *fault);
	/* Not connected, or broken; nothing more will come. */
	void	(*down)(void *arg, struct conn *, const struct fault *);
};

/* Whom to connect to, and how; all pointers outlive the connection. */
struct conn_plan {
	const struct endpoint	*endpoint;	/* TCP or UNIX */
	const struct tls_options *tls;		/* NULL: no TLS */
	struct addresses	*known;		/* see wire.h */
	const char		*name;		/* for CLIENT SETNAME: printable
						   ASCII without blanks */
	bool			 primary;	/* anything else is of no use */
};

/*
 * Start connecting and log in as the endpoint says.  Handlers are called from
 * the loop only, and may call conn_free.  NULL and a fault when it can't start.
 */
struct conn *conn_new(struct loop *, const struct conn_plan *,
    const struct conn_handlers *, void *arg, struct fault *);

/* Close it; no handler is called any more.  NULL is fine. */
void conn_free(struct conn *);

/*
 * Send a request, or keep it until connected.  When the connection listens
 * to a channel it stops to (RESP2 refuses scripts meanwhile).  0, or -1
 * without memory.
 */
int conn_send(struct conn *, const struct request *, uint32_t tag);

/* What has not come about when nothing could be sent in time. */
const char *conn_lacks(const struct conn *);

/* Whether bytes of a request may have reached the server. */
bool conn_has_sent(const struct conn *);

#endif
