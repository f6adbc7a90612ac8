/* SPDX-License-Identifier: MIT */
/*
 * voter: see voter.h.  Owns at most two connections: the current one, and
 * one presumed dead whose answer would still count.  Every question has a tag
 * of its own; of an answer it is only asked whether its op is the one that is
 * being asked, since renew and release are idempotent by token.
 */
#include "redis/voter.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "redis/conn.h"

struct voter {
	struct loop *loop;
	const struct config *cfg;
	char *conn_name;
	const struct voter_handlers *handlers;
	void *arg;
	struct addresses known;
	struct conn *current;
	bool logged_in;	  /* current is */
	bool reached;	  /* once, by any */
	struct conn *old; /* presumed dead */
	/* the question */
	enum lock_op op;
	bool asking;
	bool accepting;	    /* late answers too */
	uint32_t tag;	    /* of this question */
	uint32_t first_tag; /* oldest that counts */
	int64_t limit_ms;
	bool whole;
	struct loop_timer timer;
	struct fault start_fault; /* could not start */
	bool start_failed;
};

static void
fail(struct voter *v, enum voter_failure why, const struct fault *fault)
{
	v->asking = false;
	loop_timer_clear(v->loop, &v->timer);
	v->handlers->failed(v->arg, why, fault);
}

static void
on_answer(void *arg, struct conn *c, uint32_t tag, int64_t sent_at,
    const struct reply *reply, bool deaf)
{
	struct voter *v = arg;

	if (!v->accepting || tag < v->first_tag)
		return;
	if (c == v->old) {
		/* It lives: it was slow, and is as good as the other. */
		if (v->current != NULL && !v->logged_in) {
			conn_free(v->current);
			v->current = v->old;
			v->old = NULL;
			v->logged_in = true;
		}
	}
	v->asking = v->accepting = false;
	loop_timer_clear(v->loop, &v->timer);
	v->handlers->answer(v->arg, v->op, sent_at, reply, deaf);
}

static void
on_message(void *arg, struct conn *c, const char *text, size_t len)
{
	struct voter *v = arg;

	if (c == v->current)
		v->handlers->message(v->arg, text, len);
}

static void
on_login(void *arg, struct conn *c, const struct fault *fault)
{
	struct voter *v = arg;

	if (c != v->current)
		return;
	v->logged_in = v->reached = true;
	if (fault != NULL) {
		v->accepting = false;
		fail(v, VOTER_LOGIN, fault);
	} else if (v->asking && !v->whole)
		loop_timer_set(v->loop, &v->timer,
		    clock_add(clock_now(), v->limit_ms));
}

static void
on_down(void *arg, struct conn *c, const struct fault *fault)
{
	struct voter *v = arg;
	bool sent = conn_has_sent(c);
	struct fault copy;

	conn_free(c);
	if (c == v->old) {
		v->old = NULL;
		return;
	}
	v->current = NULL;
	fault_set(&copy, fault->code, 0, "%s: %s%s", v->cfg->endpoint.shown,
	    fault->text,
	    sent || v->reached ?
		"" :
		" (does the server run, and is the URL right?)");
	fail(v, sent ? VOTER_BROKEN : VOTER_UNREACHED, &copy);
}

static void
on_timer(void *arg)
{
	struct voter *v = arg;
	struct fault fault;
	bool sent;

	if (v->start_failed) {
		v->start_failed = false;
		fail(v, VOTER_UNREACHED, &v->start_fault);
		return;
	}
	/* The next one is tried beside it; its answer would still count. */
	sent = voter_has_sent(v);
	conn_free(v->old);
	v->old = v->current;
	v->current = NULL;
	fault_set(&fault, FAULT_UNAVAILABLE, 0, "%s: %s in time",
	    v->cfg->endpoint.shown, sent ? "no answer" : "not connected");
	fail(v, sent ? VOTER_SILENT : VOTER_UNREACHED, &fault);
}

bool
voter_has_sent(const struct voter *v)
{
	return v->current != NULL && conn_has_sent(v->current);
}

struct voter *
voter_new(struct loop *loop, const struct config *cfg, const char *conn_name)
{
	struct voter *v = calloc(1, sizeof(*v));

	if (v == NULL || (v->conn_name = strdup(conn_name)) == NULL) {
		free(v);
		return NULL;
	}
	v->loop = loop;
	v->cfg = cfg;
	v->first_tag = 1;
	loop_timer_init(&v->timer, on_timer, v);
	return v;
}

void
voter_free(struct voter *v)
{
	if (v == NULL)
		return;
	loop_timer_clear(v->loop, &v->timer);
	conn_free(v->current);
	conn_free(v->old);
	free(v->conn_name);
	free(v);
}

void
voter_cancel(struct voter *v)
{
	v->asking = v->accepting = false;
	loop_timer_clear(v->loop, &v->timer);
}

void
voter_set_owner(struct voter *v, const struct voter_handlers *handlers,
    void *arg)
{
	voter_cancel(v);
	v->handlers = handlers;
	v->arg = arg;
}

static bool
connected(struct voter *v, struct fault *fault)
{
	static const struct conn_handlers handlers = { .answer = on_answer,
		.message = on_message,
		.login = on_login,
		.down = on_down };

	if (v->current == NULL) {
		v->logged_in = false;
		v->current = conn_new(v->loop, &v->cfg->endpoint, &v->known,
		    v->conn_name, &handlers, v, fault);
	}
	return v->current != NULL;
}

void
voter_ask(struct voter *v, const struct lock *lock, enum lock_op op,
    int64_t limit_ms, bool whole)
{
	struct request request;
	int64_t limit;

	v->tag++;
	if (op != v->op || !v->accepting)
		v->first_tag = v->tag;
	v->op = op;
	v->limit_ms = limit_ms;
	v->whole = whole;
	v->asking = v->accepting = true;
	v->start_failed = false;
	if (connected(v, &v->start_fault)) {
		lock_request(lock, op, &request);
		if (conn_send(v->current, &request, v->tag) == -1) {
			conn_free(v->current);
			v->current = NULL;
			fault_set(&v->start_fault, FAULT_SYSTEM, 0,
			    "no memory");
		}
	}
	limit = whole || v->logged_in ? limit_ms : v->cfg->connect_timeout_ms;
	if (v->current == NULL) {
		/* Told from the loop, as all failures are. */
		v->start_failed = true;
		limit = 0;
	}
	loop_timer_set(v->loop, &v->timer, clock_add(clock_now(), limit));
}

void
voter_drop(struct voter *v)
{
	conn_free(v->old);
	conn_free(v->current);
	v->old = v->current = NULL;
	voter_cancel(v);
}

void
voter_abandon(struct voter *v, const struct lock *lock, enum lock_op op)
{
	struct conn *conns[] = { v->old, v->current };
	struct request request;
	size_t i;

	lock_request(lock, op, &request);
	/* Written, not waited for; if even that fails, the lease ends. */
	for (i = 0; i < sizeof(conns) / sizeof(conns[0]); i++)
		if (conns[i] != NULL && conn_has_sent(conns[i]))
			(void)conn_send(conns[i], &request, ++v->tag);
	voter_drop(v);
}
