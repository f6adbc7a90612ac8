/* SPDX-License-Identifier: MIT */
/*
 * tls_none: in place of tls.c in a build with TLS=0.
 */
#include <errno.h>

#include "redis/tls.h"

struct tls *
tls_new(const struct tls_options *o, const char *host, struct fault *fault)
{
	(void)o;
	(void)host;
	fault_set(fault, FAULT_UNAVAILABLE, 0,
	    "this rlock was built without TLS (make TLS=0)");
	return NULL;
}

void
tls_free(struct tls *t)
{
	(void)t;
}

int
tls_feed(struct tls *t, const void *data, size_t len)
{
	(void)t;
	(void)data;
	(void)len;
	return -1;
}

size_t
tls_pending(const struct tls *t)
{
	(void)t;
	return 0;
}

size_t
tls_take(struct tls *t, void *out, size_t cap)
{
	(void)t;
	(void)out;
	(void)cap;
	return 0;
}

int
tls_handshake(struct tls *t, struct fault *fault)
{
	(void)t;
	(void)fault;
	return -1;
}

ssize_t
tls_write(struct tls *t, const void *data, size_t len, struct fault *fault)
{
	(void)t;
	(void)data;
	(void)len;
	(void)fault;
	errno = EPROTO;
	return -1;
}

ssize_t
tls_read(struct tls *t, void *out, size_t cap, struct fault *fault)
{
	(void)t;
	(void)out;
	(void)cap;
	(void)fault;
	errno = EPROTO;
	return -1;
}
