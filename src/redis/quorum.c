/* SPDX-License-Identifier: MIT */
/*
 * quorum: see quorum.h.  Each server has a copy of the lock of its own, since
 * what is known of it (nested, crowded) differs from one to the next.
 */
#include "redis/quorum.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "core/timing.h"
#include "redis/quorum_parts.h"

static void
on_soon(void *arg)
{
	struct quorum *q = arg;

	if (q->asking)
		quorum_decide(q);
}

static void
begin(struct quorum *q, enum round round, enum lock_op op)
{
	q->round = round;
	q->op = op;
	q->asking = true;
	q->sent_at = clock_now();
	q->holder[0] = '\0';
	q->left_ms = -1;
	q->hopeless = false;
	fault_set(&q->fault, FAULT_NONE, 0, "%s", "");
}

static void
start_taking(struct quorum *q, const struct lock *lock, enum lock_op op)
{
	struct member *m;

	for (m = q->members; m < q->members + q->count; m++) {
		m->lock = *lock;
		strcpy(m->lock.ticket, "0"); /* each has another queue */
		m->granted = m->released = false;
		*member_vote(m) = VOTE_OPEN;
		member_ask(m, op == LOCK_TAKE ? LOCK_TAKE : LOCK_ASK, false);
	}
}

/* The lock may be one that another run took: then all are asked. */
static void
know(struct member *m, const struct lock *lock)
{
	if (strcmp(m->lock.token, lock->token) != 0) {
		m->lock = *lock;
		m->granted = true;
		m->released = false;
	}
	m->lock.terms = lock->terms;
}

static void
start_keeping(struct quorum *q, const struct lock *lock)
{
	struct member *m;

	for (m = q->members; m < q->members + q->count; m++) {
		know(m, lock);
		*member_vote(m) =
		    m->granted || m->maybe ? VOTE_OPEN : VOTE_ABSENT;
		if (*member_vote(m) == VOTE_OPEN)
			member_ask(m, LOCK_RENEW, false);
	}
	loop_timer_set(q->loop, &q->soon, q->sent_at);
}

/* Its release is under way already: then it is waited for. */
static bool
is_being_undone(const struct member *m)
{
	return m->aside && (m->op == LOCK_FREE || m->op == LOCK_RELEASE);
}

static void
start_releasing(struct quorum *q, const struct lock *lock)
{
	struct member *m;

	for (m = q->members; m < q->members + q->count; m++) {
		know(m, lock);
		*member_vote(m) = m->granted || is_being_undone(m) ? VOTE_OPEN :
		    m->released					   ? VOTE_OURS :
								     VOTE_ABSENT;
		if (is_being_undone(m))
			m->aside = false;
		else if (m->granted)
			member_ask_release(m, false);
		else if (m->maybe)
			member_undo(m);
	}
	loop_timer_set(q->loop, &q->soon, q->sent_at);
}

static void
start_looking(struct quorum *q, const struct lock *lock)
{
	struct member *m;

	for (m = q->members; m < q->members + q->count; m++) {
		m->lock = *lock;
		*member_vote(m) = VOTE_OPEN;
		member_ask(m, LOCK_STATUS, false);
	}
}

static void
ask_all(struct quorum *q, const struct lock *lock, enum lock_op op,
    int64_t limit_ms)
{
	int i;

	for (i = 0; i < q->count; i++)
		q->members[i].limit_ms = limit_ms;
	switch (op) {
	case LOCK_TAKE:
	case LOCK_JOIN:
	case LOCK_ASK:
	case LOCK_QUEUE:
		begin(q, ROUND_TAKING, op);
		start_taking(q, lock, op);
		break;
	case LOCK_RENEW:
		begin(q, ROUND_KEEPING, op);
		start_keeping(q, lock);
		break;
	case LOCK_FREE:
	case LOCK_RELEASE:
		begin(q, ROUND_RELEASING, op);
		start_releasing(q, lock);
		break;
	case LOCK_STATUS:
		begin(q, ROUND_LOOKING, op);
		start_looking(q, lock);
		break;
	case LOCK_SYNC:
	case LOCK_SCAN:
	case LOCK_CLIENTS:
	case LOCK_KILL:
	case LOCK_PLAIN:
	case LOCK_BREAK:
		break; /* of one server only: config sees to it */
	}
}

void
quorum_ask(struct quorum *q, const struct lock *lock, enum lock_op op,
    int64_t limit_ms, bool whole)
{
	int64_t each_ms;

	if (q->count == 1) {
		voter_ask(q->members[0].voter, lock, op, limit_ms, whole);
		return;
	}
	each_ms = timing_vote_ms(lock->ttl_ms);
	ask_all(q, lock, op, each_ms < limit_ms ? each_ms : limit_ms);
}

void
quorum_ask_each(struct quorum *q, const struct lock *locks, size_t count,
    enum lock_op op, int64_t limit_ms)
{
	if (q->count == 1)
		voter_ask_each(q->members[0].voter, locks, count, op, limit_ms);
	else
		ask_all(q, locks, op, limit_ms);
}

struct quorum *
quorum_new(struct loop *loop, const struct config *cfg, const char *conn_name,
    struct fault *fault)
{
	struct quorum *q = calloc(1, sizeof(*q));
	struct member *m;

	if (q == NULL) {
		fault_set(fault, FAULT_SYSTEM, 0, "no memory");
		return NULL;
	}
	q->loop = loop;
	q->cfg = cfg;
	loop_timer_init(&q->soon, on_soon, q);
	for (; q->count < cfg->servers; q->count++) {
		m = &q->members[q->count];
		m->quorum = q;
		m->endpoint = config_server(cfg, q->count);
		m->voter = voter_new(loop, cfg, m->endpoint, conn_name, fault);
		if (m->voter == NULL) {
			quorum_free(q);
			return NULL;
		}
		voter_set_owner(m->voter, &quorum_voter_handlers, m);
	}
	return q;
}

void
quorum_free(struct quorum *q)
{
	int i;

	if (q == NULL)
		return;
	loop_timer_clear(q->loop, &q->soon);
	for (i = 0; i < q->count; i++)
		voter_free(q->members[i].voter);
	free(q);
}

void
quorum_set_owner(struct quorum *q, const struct voter_handlers *handlers,
    void *arg)
{
	q->handlers = handlers;
	q->arg = arg;
	q->asking = false;
	if (q->count == 1)
		voter_set_owner(q->members[0].voter, handlers, arg);
}

int
quorum_fd(const struct quorum *q)
{
	return voter_fd(q->members[0].voter);
}

const char *
quorum_lacks(const struct quorum *q)
{
	return q->count == 1 ? voter_lacks(q->members[0].voter) :
			       "no quorum in time";
}

bool
quorum_has_sent(const struct quorum *q)
{
	bool sent = false;
	int i;

	for (i = 0; i < q->count; i++)
		sent = sent || voter_has_sent(q->members[i].voter);
	return sent;
}

void
quorum_abandon(struct quorum *q, const struct lock *lock, enum lock_op op)
{
	struct member *m;

	q->asking = false;
	if (q->count == 1) {
		voter_abandon(q->members[0].voter, lock, op);
		return;
	}
	for (m = q->members; m < q->members + q->count; m++)
		if (m->granted || m->maybe)
			member_undo(m);
}

void
quorum_drop(struct quorum *q)
{
	int i;

	q->asking = false;
	for (i = 0; i < q->count; i++)
		voter_drop(q->members[i].voter);
}

void
quorum_cancel(struct quorum *q)
{
	/* What is on its way is still taken note of. */
	q->asking = false;
	loop_timer_clear(q->loop, &q->soon);
	if (q->count == 1)
		voter_cancel(q->members[0].voter);
}
