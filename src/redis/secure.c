/* SPDX-License-Identifier: MIT */
/*
 * secure: see secure.h.  Invariant: what TLS has for the server is in out, or
 * sent, whenever a function returns.
 */
#include "redis/secure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/buf.h"

struct secure {
	struct tls *tls;
	struct buf out; /* not taken by the socket yet */
	bool shaken;
	bool ended;	/* the server has */
	bool heard;	/* anything in the clear */
	bool certified; /* we have a certificate to show */
	bool told;	/* fault is set */
	struct fault fault;
};

struct secure *
secure_new(const struct tls_options *options, const char *host,
    struct fault *fault)
{
	struct secure *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		fault_set(fault, FAULT_SYSTEM, 0, "no memory");
		return NULL;
	}
	s->certified = options->cert != NULL;
	if ((s->tls = tls_new(options, host, fault)) == NULL) {
		free(s);
		return NULL;
	}
	return s;
}

void
secure_free(struct secure *s)
{
	if (s == NULL)
		return;
	tls_free(s->tls);
	buf_release(&s->out);
	free(s);
}

static int
broken(struct secure *s, int error)
{
	/* The alert that says so is often lost with the connection. */
	if (!s->told)
		fault_set(&s->fault, FAULT_UNAVAILABLE, 0,
		    "TLS: the connection broke: %s%s", strerror(error),
		    s->shaken && !s->heard && !s->certified ?
			" (does the server ask for a certificate: "
			"--tls-cert?)" :
			"");
	s->told = true;
	errno = EPROTO;
	return -1;
}

/* 0, or -1 and EPROTO. */
static int
flush(struct secure *s, int fd)
{
	char chunk[4096];
	size_t len;
	ssize_t n;

	for (;;) {
		while ((len = tls_take(s->tls, chunk, sizeof(chunk))) > 0)
			if (buf_put(&s->out, chunk, len) == -1)
				return broken(s, ENOMEM);
		if (s->out.len == 0)
			return 0;
		n = send(fd, s->out.data, s->out.len,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n == -1 && errno == EAGAIN)
			return 0;
		if (n == -1 && errno != EINTR)
			return broken(s, errno);
		if (n > 0)
			buf_drop(&s->out, (size_t)n);
	}
}

/* All that the socket has.  0, or -1 and EPROTO. */
static int
fill(struct secure *s, int fd)
{
	char chunk[4096];
	ssize_t n;

	while (!s->ended) {
		n = recv(fd, chunk, sizeof(chunk), MSG_DONTWAIT);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			return 0;
		if (n == -1)
			return broken(s, errno);
		s->ended = n == 0;
		if (tls_feed(s->tls, chunk, (size_t)n) == -1)
			return broken(s, ENOMEM);
	}
	return 0;
}

int
secure_shake(struct secure *s, int fd)
{
	int done;

	if (s->shaken)
		return 1;
	if (fill(s, fd) == -1)
		return -1;
	done = tls_handshake(s->tls, &s->fault);
	if (done == -1)
		s->told = true;
	/* Also when it failed: the server is told why. */
	if (flush(s, fd) == -1 || done == -1)
		return -1;
	if (done == 0 && s->ended) {
		fault_set(&s->fault, FAULT_UNAVAILABLE, 0,
		    "the server closed the connection in the TLS handshake "
		    "(does it speak TLS on this port?)");
		s->told = true;
		return -1;
	}
	s->shaken = done == 1;
	return done;
}

ssize_t
secure_send(struct secure *s, int fd, const void *data, size_t len)
{
	struct fault fault;
	ssize_t n;

	if (!s->shaken) {
		errno = EAGAIN;
		return -1;
	}
	n = tls_write(s->tls, data, len, &fault);
	if (n == -1 && errno == EPROTO && !s->told) {
		s->fault = fault;
		s->told = true;
	}
	if (n > 0 && flush(s, fd) == -1)
		return -1;
	return n;
}

/* As much as there is: poll(2) does not tell of what is in here already. */
ssize_t
secure_recv(struct secure *s, int fd, void *data, size_t cap)
{
	struct fault fault;
	size_t done = 0;
	ssize_t n = 0;

	if (!s->shaken) {
		errno = EAGAIN;
		return -1;
	}
	if (fill(s, fd) == -1)
		return -1;
	while (done < cap) {
		n = tls_read(s->tls, (char *)data + done, cap - done, &fault);
		if (n <= 0)
			break;
		s->heard = true;
		done += (size_t)n;
	}
	if (done == 0 && n == -1 && errno == EAGAIN && s->ended)
		return 0;
	if (done == 0 && n == -1 && errno == EPROTO && !s->told) {
		s->fault = fault;
		s->told = true;
	}
	if (done == 0)
		return n;
	/* Renewed keys and the like may have to be answered. */
	return flush(s, fd) == -1 ? -1 : (ssize_t)done;
}

bool
secure_wants_write(const struct secure *s)
{
	return s->out.len > 0;
}

const struct fault *
secure_fault(const struct secure *s)
{
	return s->told ? &s->fault : NULL;
}
