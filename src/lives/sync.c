/* SPDX-License-Identifier: MIT */
/*
 * sync: see sync.h.  WAIT counts what was written on its own connection, so
 * the lease is renewed first, on the same one: who has that, has the lock.
 */
#include "lives/sync.h"

#include "core/answer.h"
#include "core/timing.h"

static void
ask(struct sync *s, enum lock_op op)
{
	quorum_ask(s->quorum, s->lock, op,
	    timing_attempt_ms(s->cfg->ttl_ms, s->cfg->command_timeout_ms),
	    true);
}

static void
renewed(struct sync *s, const struct reply *reply)
{
	struct answer answer;

	answer_read(s->lock, LOCK_RENEW, reply, &answer);
	switch (answer.verdict) {
	case VERDICT_OURS:
		ask(s, LOCK_SYNC);
		return;
	case VERDICT_FULL:
		ask(s, LOCK_RENEW); /* the lock knows now how to ask */
		return;
	case VERDICT_HELD:
	case VERDICT_GONE:
		fault_set(&answer.fault, FAULT_UNAVAILABLE, 0,
		    "the lock was lost before the replicas had it");
		break;
	case VERDICT_DONE:
	case VERDICT_ERROR:
		break;
	}
	s->fn(s->arg, &answer.fault);
}

static void
counted(struct sync *s, const struct reply *reply)
{
	int64_t have = reply_int(reply, -1);
	struct fault fault;

	if (have >= s->cfg->replicas) {
		s->fn(s->arg, NULL);
		return;
	}
	if (reply_error(reply) != NULL)
		(void)refusal_of(reply_error(reply), &fault);
	else
		fault_set(&fault, FAULT_UNAVAILABLE, 0,
		    "%d of %d replicas have acknowledged the lock in time "
		    "(--replicas; it is given back)",
		    (int)(have < 0 ? 0 : have), s->cfg->replicas);
	s->fn(s->arg, &fault);
}

static void
on_answer(void *arg, enum lock_op op, int64_t sent_at,
    const struct reply *reply, bool deaf)
{
	struct sync *s = arg;

	(void)sent_at;
	(void)deaf;
	if (op == LOCK_RENEW)
		renewed(s, reply);
	else
		counted(s, reply);
}

static void
on_message(void *arg, const char *text, size_t len)
{
	/* Sent while we waited, read since: the lock is ours. */
	(void)arg;
	(void)text;
	(void)len;
}

static void
on_failed(void *arg, enum voter_failure why, const struct fault *fault)
{
	struct sync *s = arg;

	(void)why;
	s->fn(s->arg, fault);
}

void
sync_start(struct sync *s, const struct config *cfg, struct quorum *quorum,
    struct lock *lock, sync_fn fn, void *arg)
{
	static const struct voter_handlers handlers = {
		.answer = on_answer, .message = on_message, .failed = on_failed
	};

	*s = (struct sync) {
		.cfg = cfg, .quorum = quorum, .lock = lock, .fn = fn, .arg = arg
	};
	quorum_set_owner(quorum, &handlers, s);
	ask(s, LOCK_RENEW);
}
