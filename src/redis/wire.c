/* SPDX-License-Identifier: MIT */
/*
 * wire: see wire.h.  Attempts run side by side, each started 250 ms after the
 * one before or at once when that one failed (RFC 8305); the first that
 * connects wins and the others are closed.  Invariant: w->fd is -1 until one
 * has won.
 */
#include "redis/wire.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "redis/secure.h"

#define HEAD_START_MS 250

struct attempt {
	struct wire *wire;
	struct loop_watch watch; /* fd -1: none */
};

struct wire {
	struct loop *loop;
	const struct endpoint *endpoint;
	const struct wire_handlers *handlers;
	void *arg;
	struct addresses *known;
	struct addresses addresses;
	int next; /* address to try */
	struct attempt attempts[RESOLVE_MAX];
	struct resolve *resolve;
	struct loop_timer timer; /* head start */
	struct fault fault;	 /* of the last attempt */
	struct loop_watch watch; /* the winner */
	int fd;
	struct secure *secure; /* NULL: no TLS */
	bool shaken;
};

static void try_next(struct wire *);

/* The socket is connected, or ready for something. */
static void
go_on(struct wire *w)
{
	int done = 1;

	if (w->secure != NULL && !w->shaken) {
		done = secure_shake(w->secure, w->fd);
		w->shaken = done == 1;
		wire_want_write(w, false);
	}
	if (done == 1)
		w->handlers->ready(w->arg);
	else if (done == -1)
		w->handlers->failed(w->arg, secure_fault(w->secure));
}

static void
on_ready(void *arg, short revents)
{
	(void)revents; /* recv and send say what it was */
	go_on(arg);
}

static void
drop_attempt(struct wire *w, struct attempt *a)
{
	int fd = a->watch.fd;

	if (fd == -1)
		return;
	loop_watch_drop(w->loop, &a->watch);
	close(fd);
}

static void
drop_attempts(struct wire *w)
{
	int i;

	for (i = 0; i < RESOLVE_MAX; i++)
		drop_attempt(w, &w->attempts[i]);
	loop_timer_clear(w->loop, &w->timer);
	resolve_cancel(w->resolve);
	w->resolve = NULL;
}

static void
win(struct wire *w, struct attempt *a)
{
	w->fd = a->watch.fd;
	loop_watch_drop(w->loop, &a->watch);
	drop_attempts(w);
	w->watch = (struct loop_watch) {
		.fd = w->fd, .events = POLLIN, .fn = on_ready, .arg = w
	};
	loop_watch_add(w->loop, &w->watch);
	*w->known = w->addresses;
}

static int
pending(const struct wire *w)
{
	int i, n = 0;

	for (i = 0; i < RESOLVE_MAX; i++)
		n += w->attempts[i].watch.fd != -1;
	return n;
}

/* Whose error it is the owner puts in front. */
static void
set_fault(struct wire *w, int error)
{
	fault_set(&w->fault, FAULT_UNAVAILABLE, 0, "%s", strerror(error));
}

static void
attempt_failed(struct wire *w, int error)
{
	set_fault(w, error);
	if (w->next < w->addresses.count)
		try_next(w);
	else if (pending(w) == 0 && w->resolve == NULL)
		w->handlers->failed(w->arg, &w->fault);
}

static void
on_attempt(void *arg, short revents)
{
	struct attempt *a = arg;
	struct wire *w = a->wire;
	socklen_t len = sizeof(int);
	int error = 0;

	(void)revents; /* SO_ERROR says it */
	if (getsockopt(a->watch.fd, SOL_SOCKET, SO_ERROR, &error, &len) == -1)
		error = errno;
	if (error == 0) {
		win(w, a);
		go_on(w);
		return;
	}
	drop_attempt(w, a);
	attempt_failed(w, error);
}

static int
start_socket(const struct address *address)
{
	int one = 1, idle = 60, fd, saved;

	fd = socket(address->u.sa.sa_family,
	    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd == -1)
		return -1;
	if (address->u.sa.sa_family != AF_UNIX) {
		/* Latency and middleboxes only: without them it works, too. */
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one,
		    sizeof(one));
		(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one,
		    sizeof(one));
		(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle,
		    sizeof(idle));
	}
	if (connect(fd, &address->u.sa, address->len) == -1 &&
	    errno != EINPROGRESS) {
		saved = errno;
		close(fd);
		errno = saved;
		return -1;
	}
	return fd;
}

/* Start with the next address that lets itself be started. */
static void
try_next(struct wire *w)
{
	struct attempt *a;
	int fd;

	while (w->next < w->addresses.count) {
		a = &w->attempts[w->next];
		fd = start_socket(&w->addresses.at[w->next++]);
		if (fd == -1) {
			set_fault(w, errno);
			continue;
		}
		a->watch = (struct loop_watch) {
			.fd = fd, .events = POLLOUT, .fn = on_attempt, .arg = a
		};
		loop_watch_add(w->loop, &a->watch);
		if (w->next < w->addresses.count)
			loop_timer_set(w->loop, &w->timer,
			    clock_add(clock_now(), HEAD_START_MS));
		return;
	}
	/* Report from the loop: the caller may still be in wire_open. */
	if (pending(w) == 0 && w->resolve == NULL)
		loop_timer_set(w->loop, &w->timer, clock_now());
}

static void
on_timer(void *arg)
{
	struct wire *w = arg;

	if (w->addresses.count == 0 && w->resolve != NULL &&
	    w->known->count > 0)
		w->addresses = *w->known;
	if (w->next < w->addresses.count)
		try_next(w);
	else if (pending(w) == 0 && w->resolve == NULL)
		w->handlers->failed(w->arg, &w->fault);
}

static void
on_resolved(void *arg, const struct addresses *found, const struct fault *fault)
{
	struct wire *w = arg;

	w->resolve = NULL;
	if (w->addresses.count > 0) {
		/* The known ones are being tried already. */
		if (found != NULL)
			*w->known = *found;
		if (pending(w) == 0 && w->next >= w->addresses.count)
			w->handlers->failed(w->arg, &w->fault);
		return;
	}
	if (found == NULL && w->known->count == 0) {
		w->handlers->failed(w->arg, fault);
		return;
	}
	w->addresses = found != NULL ? *found : *w->known;
	try_next(w);
}

static int
find_addresses(struct wire *w, struct fault *fault)
{
	const struct endpoint *e = w->endpoint;
	struct address *a = &w->addresses.at[0];

	if (e->kind == ENDPOINT_UNIX) {
		a->u.un.sun_family = AF_UNIX;
		strncpy(a->u.un.sun_path, e->path,
		    sizeof(a->u.un.sun_path) - 1);
		a->len = sizeof(a->u.un);
		w->addresses.count = 1;
		return 0;
	}
	if (resolve_numeric(e->host, e->port, &w->addresses))
		return 0;
	w->resolve =
	    resolve_start(w->loop, e->host, e->port, on_resolved, w, fault);
	if (w->resolve == NULL)
		return -1;
	if (w->known->count > 0)
		loop_timer_set(w->loop, &w->timer,
		    clock_add(clock_now(), HEAD_START_MS));
	return 0;
}

struct wire *
wire_open(struct loop *loop, const struct endpoint *endpoint,
    const struct tls_options *tls, struct addresses *known,
    const struct wire_handlers *handlers, void *arg, struct fault *fault)
{
	struct wire *w;
	int i;

	if ((w = calloc(1, sizeof(*w))) == NULL) {
		fault_set(fault, FAULT_SYSTEM, 0, "no memory");
		return NULL;
	}
	w->loop = loop;
	w->endpoint = endpoint;
	w->handlers = handlers;
	w->arg = arg;
	w->known = known;
	w->fd = w->watch.fd = -1;
	for (i = 0; i < RESOLVE_MAX; i++) {
		w->attempts[i].wire = w;
		w->attempts[i].watch.fd = -1;
	}
	loop_timer_init(&w->timer, on_timer, w);
	if (tls != NULL &&
	    (w->secure = secure_new(tls, endpoint->host, fault)) == NULL) {
		wire_close(w);
		return NULL;
	}
	if (find_addresses(w, fault) == -1) {
		wire_close(w);
		return NULL;
	}
	if (w->addresses.count > 0)
		try_next(w);
	return w;
}

void
wire_close(struct wire *w)
{
	if (w == NULL)
		return;
	drop_attempts(w);
	if (w->fd != -1) {
		loop_watch_drop(w->loop, &w->watch);
		close(w->fd);
	}
	secure_free(w->secure);
	free(w);
}

ssize_t
wire_send(struct wire *w, const void *data, size_t len)
{
	struct attempt *only = &w->attempts[0];
	ssize_t n;

	if (w->fd != -1 && w->secure != NULL)
		return secure_send(w->secure, w->fd, data, len);
	if (w->fd != -1)
		return send(w->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (w->secure != NULL || w->addresses.count != 1 ||
	    only->watch.fd == -1) {
		errno = EAGAIN;
		return -1;
	}
	n = send(only->watch.fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n > 0)
		win(w, only);
	else if (n == -1 && (errno == EPIPE || errno == ECONNRESET)) {
		/* It was up, and closed: what the server said is to be read. */
		win(w, only);
		errno = EAGAIN;
	} else if (n == -1 && errno != EAGAIN) {
		/* send has taken the socket's error: on_attempt would see
		   none.  Reported from the loop, as all failures are. */
		set_fault(w, errno);
		drop_attempt(w, only);
		loop_timer_set(w->loop, &w->timer, clock_now());
		errno = EAGAIN;
	}
	return n;
}

ssize_t
wire_recv(struct wire *w, void *data, size_t cap)
{
	if (w->fd == -1) {
		errno = EAGAIN;
		return -1;
	}
	return w->secure != NULL ? secure_recv(w->secure, w->fd, data, cap) :
				   recv(w->fd, data, cap, MSG_DONTWAIT);
}

void
wire_want_write(struct wire *w, bool want)
{
	/* What TLS can't take yet waits for the handshake, not for room. */
	if (w->secure != NULL)
		want = secure_wants_write(w->secure);
	if (w->fd != -1)
		w->watch.events = want ? POLLIN | POLLOUT : POLLIN;
}

const char *
wire_lacks(const struct wire *w)
{
	if (w->secure == NULL || w->fd == -1)
		return "not connected in time";
	return "no answer to the TLS handshake in time (does it speak TLS on "
	       "this port?)";
}

const struct fault *
wire_fault(const struct wire *w)
{
	return w->secure == NULL ? NULL : secure_fault(w->secure);
}
