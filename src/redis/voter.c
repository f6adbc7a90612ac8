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
#include "redis/local.h"
#include "redis/finder.h"
#include "redis/place.h"
#include "redis/redirect.h"

#define FINDER_MAX_MS 1000 /* for one of those who know */
#define HOPS_MAX 5

_Static_assert(VOTER_BATCH_MAX <= CONN_PENDING_MAX, "what conn_send takes");

struct voter {
	struct loop *loop;
	const struct config *cfg;
	const struct endpoint *endpoint;
	char *conn_name;
	const struct voter_handlers *handlers;
	void *arg;
	struct finder *finder; /* being asked where it is */
	struct endpoint there; /* what it said; host is ours */
	char *host;
	int hops; /* from node to node, for this question */
	struct place place;
	struct conn *current;
	bool logged_in;	     /* current is */
	bool reached;	     /* once, by any */
	struct conn *old;    /* presumed dead */
	struct local *local; /* instead of all of these */
	/* the question */
	const struct lock *lock;
	size_t count; /* of locks; of one, but for voter_ask_each */
	size_t owed;  /* answers, still */
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

static void redirect(struct voter *, const struct redirect *);

static void
on_answer(void *arg, struct conn *c, uint32_t tag, int64_t sent_at,
    const struct reply *reply, bool deaf)
{
	struct voter *v = arg;
	struct redirect to;
	struct fault fault;

	if (!v->accepting || tag < v->first_tag)
		return;
	if (place_in_cluster(&v->place) &&
	    redirect_read(reply_error(reply), &to)) {
		/* An old connection's does not matter: the new one's comes. */
		if (c == v->current)
			redirect(v, &to);
		return;
	}
	if (place_is_told(&v->place) &&
	    redirect_from_replica(reply_error(reply))) {
		/* It was the primary: whoever is now, is to be asked for. */
		fault_set(&fault, FAULT_UNAVAILABLE, 0,
		    "%s: not the primary any more", v->endpoint->shown);
		voter_drop(v);
		fail(v, VOTER_UNREACHED, &fault);
		return;
	}
	if (c != NULL && c == v->old) {
		/* It lives: it was slow, and is as good as the other. */
		if (v->current != NULL && !v->logged_in) {
			conn_free(v->current);
			v->current = v->old;
			v->old = NULL;
			v->logged_in = true;
		}
	}
	if (--v->owed == 0) {
		v->asking = v->accepting = false;
		loop_timer_clear(v->loop, &v->timer);
	} else
		loop_timer_set(v->loop, &v->timer,
		    clock_add(clock_now(), v->limit_ms));
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
	fault_set(&copy, fault->code, 0, "%s: %s%s", v->endpoint->shown,
	    fault->text, v->reached ? "" : place_hint(&v->place, sent));
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
	fault_set(&fault, FAULT_UNAVAILABLE, 0, "%s: %s", v->endpoint->shown,
	    voter_lacks(v));
	finder_cancel(v->finder);
	v->finder = NULL;
	conn_free(v->old);
	v->old = v->current;
	v->current = NULL;
	fail(v, sent ? VOTER_SILENT : VOTER_UNREACHED, &fault);
}

const char *
voter_lacks(const struct voter *v)
{
	return v->finder != NULL ? place_in_cluster(&v->place) ?
				   "no node has answered in time" :
				   "no sentinel has answered in time" :
	    v->current == NULL	 ? "not connected in time" :
	    voter_has_sent(v)	 ? "no answer in time" :
				   conn_lacks(v->current);
}

bool
voter_has_sent(const struct voter *v)
{
	return v->local != NULL ||
	    (v->current != NULL && conn_has_sent(v->current));
}

static const struct conn_handlers handlers = { .answer = on_answer,
	.message = on_message,
	.login = on_login,
	.down = on_down };

struct voter *
voter_new(struct loop *loop, const struct config *cfg,
    const struct endpoint *endpoint, const char *conn_name, struct fault *fault)
{
	struct voter *v = calloc(1, sizeof(*v));

	if (v == NULL || (v->conn_name = strdup(conn_name)) == NULL) {
		fault_set(fault, FAULT_SYSTEM, 0, "no memory");
		free(v);
		return NULL;
	}
	v->loop = loop;
	v->cfg = cfg;
	v->endpoint = endpoint;
	place_init(&v->place, endpoint);
	v->first_tag = 1;
	loop_timer_init(&v->timer, on_timer, v);
	if (!endpoint_is_serverless(endpoint))
		return v;
	v->local = local_new(loop, endpoint, &handlers, v, fault);
	v->logged_in = true;
	if (v->local != NULL)
		return v;
	voter_free(v);
	return NULL;
}

void
voter_free(struct voter *v)
{
	if (v == NULL)
		return;
	voter_drop(v);
	local_free(v->local);
	free(v->conn_name);
	place_release(&v->place);
	free(v);
}

void
voter_cancel(struct voter *v)
{
	v->asking = v->accepting = false;
	loop_timer_clear(v->loop, &v->timer);
	if (v->local != NULL)
		local_cancel(v->local);
}

int
voter_fd(const struct voter *v)
{
	return v->local != NULL ? local_fd(v->local) : -1;
}

void
voter_set_owner(struct voter *v, const struct voter_handlers *owner, void *arg)
{
	voter_cancel(v);
	v->handlers = owner;
	v->arg = arg;
}

static const struct tls_options *
tls_of(const struct voter *v)
{
	return v->endpoint->tls ? &v->cfg->tls : NULL;
}

/* -1 and v->start_fault when it can't even begin. */
static int
connect_to(struct voter *v)
{
	const struct conn_plan plan = { .endpoint = v->place.now,
		.tls = tls_of(v),
		.known = &v->place.known,
		.name = v->conn_name,
		.primary = place_by_sentinel(&v->place) };

	v->logged_in = false;
	v->current = conn_new(v->loop, &plan, &handlers, v, &v->start_fault);
	return v->current == NULL ? -1 : 0;
}

/* Send the question on the current connection; -1 and v->start_fault. */
static int
send_question(struct voter *v)
{
	struct request request;
	size_t i;

	for (i = 0; i < v->count; i++) {
		lock_request(&v->lock[i], v->op, &request);
		if (conn_send(v->current, &request, v->tag) == -1)
			break;
	}
	if (i == v->count)
		return 0;
	conn_free(v->current);
	v->current = NULL;
	return fault_set(&v->start_fault, FAULT_SYSTEM, 0, "no memory");
}

/* Connect to where it is said to be, and ask there; -1 and v->start_fault. */
static int
go_there(struct voter *v, const char *host, int port, bool asking)
{
	static const struct request ask = { .argc = 1, .argv = { "ASKING" } };

	if (place_move(&v->place, host, port, &v->start_fault) == -1 ||
	    connect_to(v) == -1)
		return -1;
	/* The tag of its answer counts no more. */
	if (asking && conn_send(v->current, &ask, 0) == -1)
		return fault_set(&v->start_fault, FAULT_SYSTEM, 0, "no memory");
	return send_question(v);
}

/* A node has sent us to another one, with the same question. */
static void
redirect(struct voter *v, const struct redirect *to)
{
	struct fault fault;

	conn_free(v->current);
	v->current = NULL;
	if (++v->hops > HOPS_MAX)
		fault_set(&fault, FAULT_UNAVAILABLE, 0,
		    "%s: its nodes send us round in a circle",
		    v->endpoint->shown);
	else if (go_there(v, to->host, to->port, to->asking) == 0)
		return;
	else
		fault = v->start_fault;
	fail(v, VOTER_UNREACHED, &fault);
}

/* The finder has told, or can't. */
static void
on_found(void *arg, const char *host, int port, const struct fault *why)
{
	struct voter *v = arg;
	struct fault fault;

	v->finder = NULL;
	if (why != NULL)
		fault_set(&fault, why->code, 0, "%s: %s", v->endpoint->shown,
		    why->text);
	else if (go_there(v, host, port, false) == 0)
		return;
	else
		fault = v->start_fault;
	fail(v, VOTER_UNREACHED, &fault);
}

/* 0 when the question is sent, or will be; -1 and v->start_fault. */
static int
start_question(struct voter *v)
{
	int64_t limit = v->cfg->connect_timeout_ms;

	if (v->local != NULL) {
		local_ask(v->local, v->lock, v->count, v->op, v->tag);
		return 0;
	}
	if (v->current != NULL)
		return send_question(v);
	if (!place_is_told(&v->place))
		return connect_to(v) == -1 ? -1 : send_question(v);
	if (v->finder == NULL)
		v->finder = finder_ask(v->loop, v->endpoint,
		    place_in_cluster(&v->place) ? v->lock->keys.lock : NULL,
		    tls_of(v), v->conn_name,
		    limit < FINDER_MAX_MS ? limit : FINDER_MAX_MS, on_found, v,
		    &v->start_fault);
	return v->finder == NULL ? -1 : 0;
}

/* The locks, the op and the tags are set. */
static void
start(struct voter *v, int64_t limit_ms, bool whole)
{
	int64_t limit;

	v->limit_ms = limit_ms;
	v->whole = whole;
	v->owed = v->count;
	v->hops = 0;
	v->asking = v->accepting = true;
	v->start_failed = start_question(v) == -1;
	limit = whole || v->logged_in ? limit_ms : v->cfg->connect_timeout_ms;
	/* Told from the loop, as all failures are. */
	if (v->start_failed)
		limit = 0;
	loop_timer_set(v->loop, &v->timer, clock_add(clock_now(), limit));
}

void
voter_ask(struct voter *v, const struct lock *lock, enum lock_op op,
    int64_t limit_ms, bool whole)
{
	v->tag++;
	if (op != v->op || !v->accepting)
		v->first_tag = v->tag;
	v->lock = lock;
	v->count = 1;
	v->op = op;
	start(v, limit_ms, whole);
}

void
voter_ask_each(struct voter *v, const struct lock *locks, size_t count,
    enum lock_op op, int64_t limit_ms)
{
	v->first_tag = ++v->tag;
	v->lock = locks;
	v->count = count;
	v->op = op;
	start(v, limit_ms, false);
}

void
voter_drop(struct voter *v)
{
	finder_cancel(v->finder);
	v->finder = NULL;
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

	if (v->local != NULL)
		local_give_up(v->local, lock);
	lock_request(lock, op, &request);
	/* Written, not waited for; if even that fails, the lease ends. */
	for (i = 0; i < sizeof(conns) / sizeof(conns[0]); i++)
		if (conns[i] != NULL && conn_has_sent(conns[i]))
			(void)conn_send(conns[i], &request, ++v->tag);
	voter_drop(v);
}
