/* SPDX-License-Identifier: MIT */
/*
 * resolve: see resolve.h.  The thread shares nothing with us but a pipe: it
 * owns its job and the writing end, and writes one result of fixed size, so
 * that it can be abandoned at any moment.
 */
#include "redis/resolve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct job {
	int fd; /* the pipe's writing end */
	int port;
	char host[];
};

struct result {
	int error; /* of getaddrinfo; 0: found */
	int saved_errno;
	struct addresses found;
};

/* One write of it must not be torn. */
_Static_assert(sizeof(struct result) <= 4096, "result fits in PIPE_BUF");

struct resolve {
	struct loop *loop;
	struct loop_watch watch;
	resolve_fn fn;
	void *arg;
	char *host;
};

static void
put_in(struct addresses *out, uint32_t ip, int port)
{
	struct address *a = &out->at[out->count++];

	memset(a, 0, sizeof(*a));
	a->len = sizeof(a->u.in);
	a->u.in.sin_family = AF_INET;
	a->u.in.sin_port = htons((uint16_t)port);
	a->u.in.sin_addr.s_addr = ip;
}

static void
put_in6(struct addresses *out, const struct in6_addr *ip, unsigned int zone,
    int port)
{
	struct address *a = &out->at[out->count++];

	memset(a, 0, sizeof(*a));
	a->len = sizeof(a->u.in6);
	a->u.in6.sin6_family = AF_INET6;
	a->u.in6.sin6_port = htons((uint16_t)port);
	a->u.in6.sin6_addr = *ip;
	a->u.in6.sin6_scope_id = zone;
}

bool
resolve_numeric(const char *host, int port, struct addresses *out)
{
	const char *zone = strchr(host, '%');
	char bare[INET6_ADDRSTRLEN + 1];
	struct in6_addr ip6;
	struct in_addr ip;
	unsigned int index = 0;

	out->count = 0;
	if (inet_pton(AF_INET, host, &ip) == 1) {
		put_in(out, ip.s_addr, port);
		return true;
	}
	if (strcasecmp(host, "localhost") == 0) {
		put_in(out, htonl(INADDR_LOOPBACK), port);
		put_in6(out, &in6addr_loopback, 0, port);
		return true;
	}
	snprintf(bare, sizeof(bare), "%.*s",
	    zone == NULL ? INET6_ADDRSTRLEN : (int)(zone - host), host);
	if (inet_pton(AF_INET6, bare, &ip6) != 1)
		return false;
	if (zone != NULL && (index = if_nametoindex(zone + 1)) == 0)
		index = (unsigned int)atoi(zone + 1);
	put_in6(out, &ip6, index, port);
	return true;
}

/* The addresses of one family after another in turn (RFC 8305, section 4). */
static void
interleave(const struct addrinfo *list, int port, struct addresses *out)
{
	const struct addrinfo *next[2] = { list, list };
	int first = list->ai_family == AF_INET ? 0 : 1;
	int families[2] = { AF_INET, AF_INET6 };
	int turn, dry = 0;

	for (turn = first; out->count < RESOLVE_MAX && dry < 2; turn = !turn) {
		while (next[turn] != NULL &&
		    next[turn]->ai_family != families[turn])
			next[turn] = next[turn]->ai_next;
		if (next[turn] == NULL) {
			dry++;
			continue;
		}
		dry = 0;
		if (turn == 0)
			put_in(out,
			    ((const struct sockaddr_in *)(const void *)
				    next[turn]
					->ai_addr)
				->sin_addr.s_addr,
			    port);
		else {
			const struct sockaddr_in6 *six =
			    (const void *)next[turn]->ai_addr;

			put_in6(out, &six->sin6_addr, six->sin6_scope_id, port);
		}
		next[turn] = next[turn]->ai_next;
	}
}

static void *
run(void *arg)
{
	struct job *job = arg;
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *list = NULL;
	struct result result;

	memset(&result, 0, sizeof(result));
	result.error = getaddrinfo(job->host, NULL, &hints, &list);
	result.saved_errno = errno;
	if (result.error == 0) {
		interleave(list, job->port, &result.found);
		freeaddrinfo(list);
	}
	/* Nobody reads any more: abandoned. */
	while (write(job->fd, &result, sizeof(result)) == -1 && errno == EINTR)
		continue;
	close(job->fd);
	free(job);
	return NULL;
}

static void
on_result(void *arg, short revents)
{
	struct resolve *r = arg;
	struct result result;
	struct fault fault;
	resolve_fn fn = r->fn;
	void *fn_arg = r->arg;
	ssize_t n;

	(void)revents; /* whatever it was, read says it */
	n = read(r->watch.fd, &result, sizeof(result));
	if (n == -1 && errno == EAGAIN)
		return;
	if (n != sizeof(result))
		fault_set(&fault, FAULT_UNAVAILABLE, 0,
		    "the name %.200s can't be resolved", r->host);
	else if (result.error != 0 || result.found.count == 0)
		fault_set(&fault, FAULT_UNAVAILABLE,
		    result.error == EAI_SYSTEM ? result.saved_errno : 0,
		    "the name %.200s can't be resolved: %s", r->host,
		    result.error == 0 ? "it has no address" :
					gai_strerror(result.error));
	else {
		resolve_cancel(r);
		fn(fn_arg, &result.found, NULL);
		return;
	}
	resolve_cancel(r);
	fn(fn_arg, NULL, &fault);
}

static int
start_thread(struct job *job)
{
	pthread_attr_t attr;
	pthread_t thread;
	int error;

	if ((error = pthread_attr_init(&attr)) != 0)
		return error;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	/* Signals are blocked already; the thread inherits that. */
	error = pthread_create(&thread, &attr, run, job);
	pthread_attr_destroy(&attr);
	return error;
}

struct resolve *
resolve_start(struct loop *loop, const char *host, int port, resolve_fn fn,
    void *arg, struct fault *fault)
{
	struct resolve *r = calloc(1, sizeof(*r));
	struct job *job = malloc(sizeof(*job) + strlen(host) + 1);
	int ends[2] = { -1, -1 }, error = ENOMEM;

	if (r == NULL || job == NULL || (r->host = strdup(host)) == NULL)
		goto out;
	if (pipe2(ends, O_CLOEXEC) == -1) {
		error = errno;
		goto out;
	}
	/* Only our end: the thread may wait for us, we never for it. */
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	job->fd = ends[1];
	job->port = port;
	strcpy(job->host, host);
	if ((error = start_thread(job)) != 0)
		goto out;
	r->loop = loop;
	r->fn = fn;
	r->arg = arg;
	r->watch = (struct loop_watch) {
		.fd = ends[0], .events = POLLIN, .fn = on_result, .arg = r
	};
	loop_watch_add(loop, &r->watch);
	return r;
out:
	fault_set(fault, FAULT_SYSTEM, error,
	    "can't start to resolve the name %.200s", host);
	if (ends[0] != -1) {
		close(ends[0]);
		close(ends[1]);
	}
	if (r != NULL)
		free(r->host);
	free(r);
	free(job);
	return NULL;
}

void
resolve_cancel(struct resolve *r)
{
	int fd;

	if (r == NULL)
		return;
	fd = r->watch.fd;
	loop_watch_drop(r->loop, &r->watch);
	close(fd);
	free(r->host);
	free(r);
}
