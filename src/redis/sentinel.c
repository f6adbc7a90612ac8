/* SPDX-License-Identifier: MIT */
/*
 * sentinel: see sentinel.h.  What a sentinel says is not believed blindly: the
 * one who connects asks the server for its role.
 */
#include "redis/sentinel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"
#include "redis/conn.h"

#define NEXT_MS 300

struct ask {
	struct sentinel *sentinel;
	struct endpoint endpoint; /* borrowed strings */
	struct addresses known;
	struct conn *conn; /* NULL: not begun, or over */
	struct loop_timer limit;
};

struct sentinel {
	struct loop *loop;
	const struct endpoint *endpoint;
	const struct tls_options *tls;
	const char *conn_name;
	int64_t limit_ms;
	sentinel_fn fn;
	void *arg;
	int begun;
	int open;
	struct loop_timer next;
	struct fault fault; /* of the last that was of no use */
	struct ask asks[ENDPOINT_HOSTS_MAX];
};

void
sentinel_cancel(struct sentinel *s)
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
tell(struct sentinel *s, const char *host, int port)
{
	sentinel_fn fn = s->fn;
	void *arg = s->arg;
	struct fault fault = s->fault;
	char name[256] = "";

	if (host != NULL)
		snprintf(name, sizeof(name), "%s", host);
	sentinel_cancel(s);
	fn(arg, host == NULL ? NULL : name, port, host == NULL ? &fault : NULL);
}

static void
soon(struct sentinel *s)
{
	loop_timer_set(s->loop, &s->next, clock_now());
}

/* This one is of no use; the fault says why. */
static void
drop(struct ask *a, const char *why)
{
	struct sentinel *s = a->sentinel;

	loop_timer_clear(s->loop, &a->limit);
	conn_free(a->conn);
	a->conn = NULL;
	s->open--;
	fault_set(&s->fault, FAULT_UNAVAILABLE, 0, "sentinel %.100s:%d: %.200s",
	    a->endpoint.host, a->endpoint.port, why);
	soon(s);
}

static void
on_answer(void *arg, struct conn *c, uint32_t tag, int64_t sent_at,
    const struct reply *reply, bool deaf)
{
	struct ask *a = arg;
	const char *why, *text;
	char host[256], digits[8];
	size_t len, digits_len;
	int64_t port;

	(void)c;
	(void)tag;
	(void)sent_at;
	(void)deaf;
	if (reply_error(reply) != NULL) {
		drop(a, reply_error(reply));
		return;
	}
	text = reply_text(reply_at(reply, 0), &len);
	if (text == NULL || len == 0 || len >= sizeof(host)) {
		drop(a, "knows no primary of this name");
		return;
	}
	snprintf(host, sizeof(host), "%.*s", (int)len, text);
	text = reply_text(reply_at(reply, 1), &digits_len);
	snprintf(digits, sizeof(digits), "%.*s",
	    (int)(text == NULL ? 0 : digits_len), text == NULL ? "" : text);
	if (strlen(host) != len || digits_len >= sizeof(digits) ||
	    parse_count(digits, 1, 65535, &port, &why) == -1) {
		drop(a, "its answer makes no sense");
		return;
	}
	tell(a->sentinel, host, (int)port);
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
begin(struct sentinel *s, struct ask *a, int i)
{
	static const struct conn_handlers handlers = { .answer = on_answer,
		.message = on_message,
		.login = on_login,
		.down = on_down };
	const struct endpoint *e = s->endpoint;
	struct conn_plan plan = { .tls = s->tls, .name = s->conn_name };
	struct request request = { .argc = 3,
		.argv = { "SENTINEL", "GET-MASTER-ADDR-BY-NAME", e->name } };

	a->sentinel = s;
	a->endpoint = (struct endpoint) { .kind = ENDPOINT_TCP,
		.host = e->hosts[i].host,
		.port = e->hosts[i].port,
		.user = e->sentinel_user,
		.password = e->sentinel_password };
	loop_timer_init(&a->limit, on_limit, a);
	plan.endpoint = &a->endpoint;
	plan.known = &a->known;
	a->conn = conn_new(s->loop, &plan, &handlers, a, &s->fault);
	if (a->conn == NULL || conn_send(a->conn, &request, 1) == -1) {
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
	struct sentinel *s = arg;

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

struct sentinel *
sentinel_ask(struct loop *loop, const struct endpoint *endpoint,
    const struct tls_options *tls, const char *conn_name, int64_t limit_ms,
    sentinel_fn fn, void *arg, struct fault *fault)
{
	struct sentinel *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		fault_set(fault, FAULT_SYSTEM, 0, "no memory");
		return NULL;
	}
	s->loop = loop;
	s->endpoint = endpoint;
	s->tls = tls;
	s->conn_name = conn_name;
	s->limit_ms = limit_ms;
	s->fn = fn;
	s->arg = arg;
	loop_timer_init(&s->next, on_next, s);
	soon(s);
	return s;
}
