/* SPDX-License-Identifier: MIT */
/*
 * finder: see finder.h.  What is said is not believed blindly: who connects to a
 * primary asks it for its role, and a node that does not own the slot says so.
 */
#include "redis/finder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "core/keys.h"
#include "redis/conn.h"

#define NEXT_MS 300

struct ask {
	struct finder *finder;
	struct endpoint endpoint; /* borrowed strings */
	struct addresses known;
	struct conn *conn; /* NULL: not begun, or over */
	struct loop_timer limit;
};

struct finder {
	struct loop *loop;
	const struct endpoint *endpoint;
	const char *key; /* of a cluster, else NULL */
	const struct tls_options *tls;
	const char *conn_name;
	int64_t limit_ms;
	finder_fn fn;
	void *arg;
	int begun;
	int open;
	struct loop_timer next;
	struct fault fault; /* of the last that was of no use */
	struct ask asks[ENDPOINT_HOSTS_MAX];
};

void
finder_cancel(struct finder *s)
{
	int i;

	if (s == NULL)
		return;
	loop_timer_clear(s->loop, &s->next);
	for (i = 0; i < s->begun; i++) {
		loop_timer_clear(s->loop, &s->asks[i].limit);
		conn_free(s->asks[i].conn);
	}
	free(s);
}

static void
tell(struct finder *s, const char *host, int port)
{
	finder_fn fn = s->fn;
	void *arg = s->arg;
	struct fault fault = s->fault;
	char name[256] = "";

	if (host != NULL)
		snprintf(name, sizeof(name), "%s", host);
	finder_cancel(s);
	fn(arg, host == NULL ? NULL : name, port, host == NULL ? &fault : NULL);
}

static void
soon(struct finder *s)
{
	loop_timer_set(s->loop, &s->next, clock_now());
}

/* This one is of no use; the fault says why. */
static void
drop(struct ask *a, const char *why)
{
	struct finder *s = a->finder;

	loop_timer_clear(s->loop, &a->limit);
	conn_free(a->conn);
	a->conn = NULL;
	s->open--;
	fault_set(&s->fault, FAULT_UNAVAILABLE, 0, "%s %.100s:%d: %.200s",
	    s->key != NULL ? "node" : "sentinel", a->endpoint.host,
	    a->endpoint.port, why);
	soon(s);
}

/* {host, port}; a host that is not told is the one that was asked.  -1 when it
 * makes no sense. */
static int
read_address(const struct ask *a, const struct reply *host_reply,
    const struct reply *port_reply, char *host, size_t cap, int *port)
{
	const char *text;
	size_t len;
	int64_t number;

	text = reply_text(host_reply, &len);
	if (a->finder->key != NULL &&
	    (text == NULL || len == 0 || (len == 1 && *text == '?'))) {
		text = a->endpoint.host;
		len = strlen(text);
	}
	number = reply_int(port_reply, -1);
	if (text == NULL || len == 0 || len >= cap || number < 1 ||
	    number > 65535)
		return -1;
	snprintf(host, cap, "%.*s", (int)len, text);
	*port = (int)number;
	return strlen(host) == len ? 0 : -1;
}

/* {{first, last, {host, port, ...}, ...}, ...}: who has the slot. */
static const struct reply *
owner_of(const struct reply *slots, int slot)
{
	const struct reply *range;
	size_t i;

	for (i = 0; i < reply_count(slots); i++) {
		range = reply_at(slots, i);
		if (reply_int(reply_at(range, 0), INT32_MAX) <= slot &&
		    reply_int(reply_at(range, 1), -1) >= slot)
			return reply_at(range, 2);
	}
	return NULL;
}

static void
on_answer(void *arg, struct conn *c, uint32_t tag, int64_t sent_at,
    const struct reply *reply, bool deaf)
{
	struct ask *a = arg;
	struct finder *s = a->finder;
	const struct reply *found = reply;
	char host[256];
	int port;

	(void)c;
	(void)tag;
	(void)sent_at;
	(void)deaf;
	if (reply_error(reply) != NULL) {
		drop(a, reply_error(reply));
		return;
	}
	if (s->key != NULL)
		found = owner_of(reply, keys_slot(s->key));
	if (reply_count(found) == 0)
		drop(a,
		    s->key != NULL ? "no node has the slot of this lock" :
				     "knows no primary of this name");
	else if (read_address(a, reply_at(found, 0), reply_at(found, 1), host,
		     sizeof(host), &port) == -1)
		drop(a, "its answer makes no sense");
	else
		tell(s, host, port);
}

static void
on_message(void *arg, struct conn *c, const char *text, size_t len)
{
	/* Nothing here listens. */
	(void)arg;
	(void)c;
	(void)text;
	(void)len;
}

static void
on_login(void *arg, struct conn *c, const struct fault *fault)
{
	(void)c;
	if (fault != NULL)
		drop(arg, fault->text);
}

static void
on_down(void *arg, struct conn *c, const struct fault *fault)
{
	(void)c;
	drop(arg, fault->text);
}

static void
on_limit(void *arg)
{
	struct ask *a = arg;

	drop(a,
	    conn_has_sent(a->conn) ? "no answer in time" : conn_lacks(a->conn));
}

/* -1 and s->fault when it can't be asked. */
static int
begin(struct finder *s, struct ask *a, int i)
{
	static const struct conn_handlers handlers = { .answer = on_answer,
		.message = on_message,
		.login = on_login,
		.down = on_down };
	const struct endpoint *e = s->endpoint;
	struct conn_plan plan = { .tls = s->tls, .name = s->conn_name };
	static const struct request slots = { .argc = 2,
		.argv = { "CLUSTER", "SLOTS" } };
	const struct request primary = { .argc = 3,
		.argv = { "SENTINEL", "GET-MASTER-ADDR-BY-NAME", e->name } };

	a->finder = s;
	a->endpoint = (struct endpoint) { .kind = ENDPOINT_TCP,
		.host = e->hosts[i].host,
		.port = e->hosts[i].port,
		.user = s->key != NULL ? e->user : e->sentinel_user,
		.password =
		    s->key != NULL ? e->password : e->sentinel_password };
	loop_timer_init(&a->limit, on_limit, a);
	plan.endpoint = &a->endpoint;
	plan.known = &a->known;
	a->conn = conn_new(s->loop, &plan, &handlers, a, &s->fault);
	if (a->conn == NULL ||
	    conn_send(a->conn, s->key != NULL ? &slots : &primary, 1) == -1) {
		conn_free(a->conn);
		a->conn = NULL;
		return -1;
	}
	s->open++;
	loop_timer_set(s->loop, &a->limit, clock_add(clock_now(), s->limit_ms));
	return 0;
}

static void
on_next(void *arg)
{
	struct finder *s = arg;

	while (s->begun < s->endpoint->host_count) {
		int i = s->begun++;

		if (begin(s, &s->asks[i], i) == -1)
			continue;
		loop_timer_set(s->loop, &s->next,
		    clock_add(clock_now(), NEXT_MS));
		return;
	}
	if (s->open == 0)
		tell(s, NULL, 0);
}

struct finder *
finder_ask(struct loop *loop, const struct endpoint *endpoint, const char *key,
    const struct tls_options *tls, const char *conn_name, int64_t limit_ms,
    finder_fn fn, void *arg, struct fault *fault)
{
	struct finder *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		fault_set(fault, FAULT_SYSTEM, 0, "no memory");
		return NULL;
	}
	s->loop = loop;
	s->endpoint = endpoint;
	s->key = key;
	s->tls = tls;
	s->conn_name = conn_name;
	s->limit_ms = limit_ms;
	s->fn = fn;
	s->arg = arg;
	loop_timer_init(&s->next, on_next, s);
	soon(s);
	return s;
}
