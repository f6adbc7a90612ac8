/* SPDX-License-Identifier: MIT */
/*
 * conn: see conn.h.  Owns the wire, the reply reader and the list of what is
 * expected next.  Invariant: one entry in expected for each reply that the
 * server owes; messages owe nothing.  It knows no lock: it moves requests.
 */
#include "redis/conn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "core/refusal.h"
#include "redis/codec.h"
#include "redis/login.h"
#include "redis/wire.h"

enum expect_kind {
	EXPECT_LOGIN, /* tag: enum login_step */
	EXPECT_UNSUBSCRIBE,
	EXPECT_MULTI,
	EXPECT_QUEUED,
	EXPECT_SUBSCRIBE,
	EXPECT_EXEC,
	EXPECT_ANSWER
};

struct expect {
	enum expect_kind kind;
	uint32_t tag;
	int64_t sent_at;
};

#define EXPECTED_MAX 64

/* The login, and what is asked last may be listened for. */
_Static_assert(LOGIN_STEPS_MAX + CONN_PENDING_MAX + 6 <= EXPECTED_MAX,
    "room for what conn_send promises");
_Static_assert(REQUEST_ARGS_MAX <= CODEC_WORDS_MAX, "what codec_put takes");

struct conn {
	struct loop *loop;
	struct wire *wire;
	const struct conn_handlers *handlers;
	void *arg;
	struct codec *codec;
	struct buf out;
	bool has_sent;
	bool listening;
	struct expect expected[EXPECTED_MAX];
	unsigned int head, count;
	/* login */
	bool login_failed;
	struct fault login_fault;
	/* the first error of what goes before an answer, and where it was */
	struct reply *refused;
	enum expect_kind refused_at;
	char stray[160]; /* an error nobody asked */
	int busy;	 /* inside a handler */
	bool dead;	 /* freed when no longer busy */
};

static void
expect(struct conn *c, enum expect_kind kind, uint32_t tag)
{
	c->expected[(c->head + c->count++) % EXPECTED_MAX] = (struct expect) {
		.kind = kind, .tag = tag, .sent_at = clock_now()
	};
}

static void
finish(struct conn *c)
{
	wire_close(c->wire);
	codec_free(c->codec);
	codec_drop(c->refused);
	buf_release(&c->out);
	free(c);
}

void
conn_free(struct conn *c)
{
	if (c == NULL)
		return;
	c->dead = true;
	if (c->busy == 0)
		finish(c);
}

static void
go_down(struct conn *c, const struct fault *why)
{
	struct fault fault = *why;

	if (c->dead)
		return;
	if (c->stray[0] != '\0')
		refusal_of(c->stray, &fault);
	wire_close(c->wire);
	c->wire = NULL;
	c->handlers->down(c->arg, c, &fault);
}

static void
broken(struct conn *c, int error)
{
	struct fault fault;

	if (error == EPROTO && wire_fault(c->wire) != NULL) {
		go_down(c, wire_fault(c->wire));
		return;
	}
	fault_set(&fault, FAULT_UNAVAILABLE, error,
	    error == 0 ? "the server closed the connection" :
			 "the connection broke");
	go_down(c, &fault);
}

/*
 * Send what can be sent now.  0, or the errno of a broken wire.  Nothing was
 * sent while connecting, so that a lease is counted from the first byte on.
 */
static int
push_out(struct conn *c)
{
	int64_t now = c->has_sent ? 0 : clock_now();
	unsigned int i;
	ssize_t n;

	while (c->out.len > 0) {
		n = wire_send(c->wire, c->out.data, c->out.len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno != EAGAIN)
			return errno;
		if (n == -1)
			break;
		for (i = 0; !c->has_sent && i < c->count; i++)
			c->expected[(c->head + i) % EXPECTED_MAX].sent_at = now;
		c->has_sent = true;
		buf_drop(&c->out, (size_t)n);
	}
	wire_want_write(c->wire, c->out.len > 0);
	return 0;
}

static void
login_reply(struct conn *c, enum login_step step, const struct reply *r)
{
	struct fault fault;

	if (reply_error(r) != NULL)
		snprintf(c->stray, sizeof(c->stray), "%s", reply_error(r));
	if (c->login_failed || login_read(step, r, &fault) == 0)
		return;
	c->login_failed = true;
	c->login_fault = fault;
}

static void
exec_reply(struct conn *c, const struct expect *e, const struct reply *r)
{
	const struct reply *answer = r;
	bool deaf = false;

	if (reply_count(r) > 0) {
		answer = reply_at(r, 0);
		deaf = reply_error(reply_at(r, 1)) != NULL;
	} else if (c->refused != NULL) {
		/* Not executed; what was refused while queueing says why. */
		deaf = c->refused_at == EXPECT_SUBSCRIBE &&
		    refusal_of(reply_error(c->refused), NULL) == REFUSAL_RIGHTS;
		answer = deaf ? NULL : c->refused;
	}
	c->handlers->answer(c->arg, c, e->tag, e->sent_at, answer, deaf);
	codec_drop(c->refused);
	c->refused = NULL;
}

/* When UNSUBSCRIBE was refused, so is what follows, in words that mislead. */
static void
answer_reply(struct conn *c, const struct expect *e, const struct reply *r)
{
	c->handlers->answer(c->arg, c, e->tag, e->sent_at,
	    c->refused != NULL ? c->refused : r, false);
	codec_drop(c->refused);
	c->refused = NULL;
}

static void
dispatch(struct conn *c, struct reply *r)
{
	const char *text;
	struct expect e;
	size_t len;

	if (codec_is_message(r, &text, &len)) {
		c->handlers->message(c->arg, c, text, len);
		return;
	}
	if (c->count == 0) {
		/* Said before the connection is closed, most likely. */
		if (reply_error(r) != NULL)
			snprintf(c->stray, sizeof(c->stray), "%s",
			    reply_error(r));
		return;
	}
	e = c->expected[c->head];
	c->head = (c->head + 1) % EXPECTED_MAX;
	c->count--;
	if (e.kind != EXPECT_LOGIN)
		c->stray[0] = '\0';
	switch (e.kind) {
	case EXPECT_LOGIN:
		login_reply(c, (enum login_step)e.tag, r);
		if (c->count == 0 || c->expected[c->head].kind != EXPECT_LOGIN)
			c->handlers->login(c->arg, c,
			    c->login_failed ? &c->login_fault : NULL);
		break;
	case EXPECT_UNSUBSCRIBE:
	case EXPECT_MULTI:
	case EXPECT_QUEUED:
	case EXPECT_SUBSCRIBE:
		if (reply_error(r) != NULL && c->refused == NULL) {
			c->refused = r;
			c->refused_at = e.kind;
			return; /* kept */
		}
		break;
	case EXPECT_EXEC:
		exec_reply(c, &e, r);
		break;
	case EXPECT_ANSWER:
		answer_reply(c, &e, r);
		break;
	}
}

/* Take all whole replies out of the reader; false: told as broken. */
static bool
read_replies(struct conn *c)
{
	struct fault fault;
	struct reply *reply;

	while (!c->dead && c->wire != NULL) {
		if (codec_next(c->codec, &reply) == -1) {
			fault_set(&fault, FAULT_UNAVAILABLE, 0,
			    "the answer "
			    "is not Redis's (a TLS port or another service?)");
			go_down(c, &fault);
			return false;
		}
		if (reply == NULL)
			return true;
		dispatch(c, reply);
		if (reply != c->refused)
			codec_drop(reply);
	}
	return false;
}

static void
receive(struct conn *c)
{
	char chunk[4096];
	ssize_t n;

	do {
		n = wire_recv(c->wire, chunk, sizeof(chunk));
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			return;
		if (n <= 0) {
			broken(c, n == 0 ? 0 : errno);
			return;
		}
		codec_feed(c->codec, chunk, (size_t)n);
		if (!read_replies(c))
			return;
	} while (n == -1 || n == sizeof(chunk));
}

static void
on_ready(void *arg)
{
	struct conn *c = arg;

	int error;

	c->busy++;
	error = push_out(c);
	/* Also when it is broken: the server may have said why. */
	receive(c);
	if (error != 0 && !c->dead && c->wire != NULL)
		broken(c, error);
	c->busy--;
	if (c->dead && c->busy == 0)
		finish(c);
}

static void
on_failed(void *arg, const struct fault *fault)
{
	struct conn *c = arg;

	c->busy++;
	go_down(c, fault);
	c->busy--;
	if (c->dead && c->busy == 0)
		finish(c);
}

static int
put_login(struct conn *c, const struct conn_plan *plan)
{
	enum login_step steps[LOGIN_STEPS_MAX];
	int i,
	    count = login_put(&c->out, plan->endpoint, plan->name,
		plan->primary, steps);

	for (i = 0; i < count; i++)
		expect(c, EXPECT_LOGIN, steps[i]);
	return count == -1 ? -1 : 0;
}

struct conn *
conn_new(struct loop *loop, const struct conn_plan *plan,
    const struct conn_handlers *handlers, void *arg, struct fault *fault)
{
	static const struct wire_handlers wire_handlers = { .ready = on_ready,
		.failed = on_failed };
	struct conn *c = calloc(1, sizeof(*c));

	if (c == NULL || (c->codec = codec_new()) == NULL ||
	    put_login(c, plan) == -1) {
		fault_set(fault, FAULT_SYSTEM, 0, "no memory");
		goto out;
	}
	c->loop = loop;
	c->handlers = handlers;
	c->arg = arg;
	c->wire = wire_open(loop, plan->endpoint, plan->tls, plan->known,
	    &wire_handlers, c, fault);
	if (c->wire != NULL)
		return c;
out:
	if (c != NULL) {
		codec_free(c->codec);
		buf_release(&c->out);
	}
	free(c);
	return NULL;
}

static int
put_request(struct conn *c, const struct request *request, uint32_t tag)
{
	static const char *const multi[] = { "MULTI" },
				 *const exec[] = { "EXEC" },
				 *const unsubscribe[] = { "UNSUBSCRIBE" };
	const char *const subscribe[] = { "SUBSCRIBE", request->channel };

	if (c->listening) {
		if (codec_put(&c->out, 1, unsubscribe) == -1)
			return -1;
		expect(c, EXPECT_UNSUBSCRIBE, tag);
		c->listening = false;
	}
	if (!request->listen) {
		if (codec_put(&c->out, request->argc, request->argv) == -1)
			return -1;
		expect(c, EXPECT_ANSWER, tag);
		return 0;
	}
	if (codec_put(&c->out, 1, multi) == -1 ||
	    codec_put(&c->out, request->argc, request->argv) == -1 ||
	    codec_put(&c->out, 2, subscribe) == -1 ||
	    codec_put(&c->out, 1, exec) == -1)
		return -1;
	expect(c, EXPECT_MULTI, tag);
	expect(c, EXPECT_QUEUED, tag);
	expect(c, EXPECT_SUBSCRIBE, tag);
	expect(c, EXPECT_EXEC, tag);
	/* Also when EXEC fails: some servers have subscribed all the same. */
	c->listening = true;
	return 0;
}

int
conn_send(struct conn *c, const struct request *request, uint32_t tag)
{
	if (c->wire == NULL || c->count + 6 > EXPECTED_MAX ||
	    put_request(c, request, tag) == -1)
		return -1;
	/* A broken wire is found, and told, from the loop. */
	(void)push_out(c);
	return 0;
}

bool
conn_has_sent(const struct conn *c)
{
	return c->has_sent;
}

const char *
conn_lacks(const struct conn *c)
{
	return c->wire == NULL ? "not connected in time" : wire_lacks(c->wire);
}
