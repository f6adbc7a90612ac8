/* SPDX-License-Identifier: MIT */
/*
 * resolve: from a host's name to addresses, off the loop's thread, so that a
 * name server that hangs never delays renewing or killing.
 */
#ifndef RLOCK_RESOLVE_H
#define RLOCK_RESOLVE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/fault.h"
#include "loop/loop.h"

#define RESOLVE_MAX 8

struct address {
	socklen_t	 len;
	union {
		struct sockaddr		sa;
		struct sockaddr_in	in;
		struct sockaddr_in6	in6;
		struct sockaddr_un	un;
	} u;
};

struct addresses {
	int		 count;		/* 0 to RESOLVE_MAX */
	struct address	 at[RESOLVE_MAX];
};

struct resolve;

/* found is NULL exactly when fault says why; both live during the call. */
typedef void (*resolve_fn)(void *arg, const struct addresses *found,
    const struct fault *fault);

/*
 * The addresses that host is without asking anybody: a numeric IPv4 or IPv6
 * address (with %ZONE), or "localhost", which is loopback by RFC 6761.  false
 * when it is a name.
 */
bool resolve_numeric(const char *host, int port, struct addresses *);

/*
 * Start a thread that asks getaddrinfo(3) and call fn once, with the families
 * taken in turn.  NULL and a FAULT_SYSTEM when there can be no thread.
 */
struct resolve *resolve_start(struct loop *, const char *host, int port,
    resolve_fn fn, void *arg, struct fault *);

/* Forget it; fn will not be called.  A thread that hangs is left behind and
 * holds nothing of ours.  NULL is fine. */
void resolve_cancel(struct resolve *);

#endif
