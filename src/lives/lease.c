/* SPDX-License-Identifier: MIT */
/*
 * lease: see lease.h.  Owns the timers of the lease.  It must not know what
 * runs under the lock, nor what is done about a loss.
 */
#include "lives/lease.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "core/answer.h"

enum state {
	STATE_HELD, /* renewing when it is time to */
	STATE_LOST,
	STATE_RELEASING,
	STATE_OVER
};

struct lease {
	struct loop *loop;
	const struct config *cfg;
	struct quorum *quorum;
	struct lock *lock;
	lease_fn fn;
	void *arg;
	enum state state;
	struct timing_lease points;
	int64_t sent_at;	/* of the last proof */
	struct loop_timer next; /* renewal, try, or end */
	struct loop_timer doubt;
	struct loop_timer last;
	int64_t failures; /* in a row */
	int64_t renewals;
	int64_t margin_ms;
	/* releasing */
	enum lock_op op;
	bool sent_before; /* it may have worked */
	struct loop_timer limit;
	enum lease_event end;
	struct fault fault;
	char holder[TOKEN_MAX];
};

static int64_t
attempt_ms(const struct lease *l)
{
	return timing_attempt_ms(l->cfg->ttl_ms, l->cfg->command_timeout_ms);
}

static void
set_points(struct lease *l, int64_t sent_at)
{
	l->sent_at = sent_at;
	l->points = timing_lease_of(l->cfg, sent_at);
	loop_timer_set(l->loop, &l->next, l->points.renew_at);
	loop_timer_set(l->loop, &l->doubt, l->points.term_at);
	loop_timer_set(l->loop, &l->last, l->points.kill_at);
}

static void
clear_timers(struct lease *l)
{
	loop_timer_clear(l->loop, &l->next);
	loop_timer_clear(l->loop, &l->doubt);
	loop_timer_clear(l->loop, &l->last);
	loop_timer_clear(l->loop, &l->limit);
}

/* The next attempt at a renewal or a release, after one that failed. */
static void
retry_later(struct lease *l, int64_t pause_ms)
{
	loop_timer_set(l->loop, &l->next, clock_add(clock_now(), pause_ms));
}

static void
tell_end(struct lease *l)
{
	l->fn(l->arg, l->end, l->end == LEASE_STUCK ? &l->fault : NULL);
}

static void
stop(struct lease *l, enum lease_event event)
{
	clear_timers(l);
	quorum_cancel(l->quorum);
	l->state = STATE_OVER;
	l->end = event;
}

static void
end(struct lease *l, enum lease_event event)
{
	stop(l, event);
	tell_end(l);
}

/* As end, but the caller is not to be called back from here. */
static void
end_soon(struct lease *l, enum lease_event event)
{
	stop(l, event);
	loop_timer_set(l->loop, &l->next, clock_now());
}

static void
renewal_failed(struct lease *l, const struct fault *fault, bool at_once)
{
	l->failures++;
	retry_later(l,
	    at_once && l->failures == 1 ?
		0 :
		timing_renew_pause_ms(l->cfg->ttl_ms, l->failures));
	l->fn(l->arg, LEASE_RETRYING, fault);
}

static void
note_margin(struct lease *l)
{
	int64_t left = lease_left_ms(l);

	if (left < l->margin_ms)
		l->margin_ms = left;
}

static void
read_renewal(struct lease *l, int64_t sent_at, const struct answer *answer)
{
	switch (answer->verdict) {
	case VERDICT_OURS:
		l->failures = 0;
		l->renewals++;
		note_margin(l);
		if (sent_at > l->sent_at)
			set_points(l, sent_at);
		l->fn(l->arg, LEASE_RENEWED, NULL);
		break;
	case VERDICT_HELD:
	case VERDICT_GONE:
		memcpy(l->holder, answer->holder, sizeof(l->holder));
		clear_timers(l);
		l->state = STATE_LOST;
		l->fn(l->arg, LEASE_LOST, NULL);
		break;
	case VERDICT_FULL:
		lease_prove(l); /* the lock knows now how to ask */
		break;
	case VERDICT_DONE:
	case VERDICT_ERROR:
		renewal_failed(l, &answer->fault, false);
		break;
	}
}

static void
ask_release(struct lease *l)
{
	quorum_ask(l->quorum, l->lock, l->op,
	    timing_release_ms(l->cfg->ttl_ms, l->cfg->command_timeout_ms),
	    true);
}

static void
read_release(struct lease *l, const struct answer *answer)
{
	switch (answer->verdict) {
	case VERDICT_OURS:
		end(l, answer->unheard ? LEASE_UNHEARD : LEASE_RELEASED);
		break;
	case VERDICT_FULL:
		/* Again: "not there" does not mean lost from here on. */
		l->sent_before = l->sent_before || answer->released;
		l->op = LOCK_RELEASE;
		ask_release(l);
		break;
	case VERDICT_HELD:
	case VERDICT_GONE:
		/* One that got no answer may have done it. */
		memcpy(l->holder, answer->holder, sizeof(l->holder));
		end(l, l->sent_before ? LEASE_RELEASED : LEASE_FOUND_LOST);
		break;
	case VERDICT_DONE: /* no release says so: answer_read sees to it */
	case VERDICT_ERROR:
		l->fault = answer->fault;
		if (answer->refusal != REFUSAL_AWAY) {
			end(l, LEASE_STUCK);
			break;
		}
		retry_later(l,
		    timing_renew_pause_ms(l->cfg->ttl_ms, ++l->failures));
		break;
	}
}

static void
on_answer(void *arg, enum lock_op op, int64_t sent_at,
    const struct reply *reply, bool deaf)
{
	struct lease *l = arg;
	struct answer answer;

	(void)deaf; /* nothing here listens */
	answer_read(l->lock, op, reply, &answer);
	if (l->state == STATE_HELD)
		read_renewal(l, sent_at, &answer);
	else if (l->state == STATE_RELEASING)
		read_release(l, &answer);
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
	struct lease *l = arg;

	/* What is sent there would run as another user, or in another
	   database, and "not there" would look like a loss. */
	if (why == VOTER_LOGIN)
		quorum_drop(l->quorum);
	if (l->state == STATE_HELD) {
		/* After a restart of the server somebody else may take the
		   lock next: be there first. */
		renewal_failed(l, fault, why == VOTER_BROKEN);
	} else if (l->state == STATE_RELEASING) {
		l->fault = *fault;
		if (why != VOTER_UNREACHED)
			l->sent_before = true;
		retry_later(l,
		    l->failures++ == 0 ?
			0 :
			timing_renew_pause_ms(l->cfg->ttl_ms, l->failures));
	}
}

static void
on_next(void *arg)
{
	struct lease *l = arg;

	switch (l->state) {
	case STATE_HELD:
		/* If it fails, what comes then sets the timer again. */
		quorum_ask(l->quorum, l->lock, LOCK_RENEW, attempt_ms(l), true);
		break;
	case STATE_RELEASING:
		ask_release(l);
		break;
	case STATE_OVER:
		tell_end(l);
		break;
	case STATE_LOST:
		break;
	}
}

static void
on_doubt(void *arg)
{
	struct lease *l = arg;

	l->fn(l->arg, LEASE_DOUBT, NULL);
}

static void
on_last(void *arg)
{
	struct lease *l = arg;

	l->fn(l->arg, LEASE_LAST, NULL);
}

static void
on_limit(void *arg)
{
	lease_abandon(arg);
}

struct lease *
lease_new(struct loop *loop, const struct config *cfg, struct quorum *quorum,
    struct lock *lock, lease_fn fn, void *arg)
{
	struct lease *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->loop = loop;
	l->cfg = cfg;
	l->quorum = quorum;
	l->lock = lock;
	l->fn = fn;
	l->arg = arg;
	loop_timer_init(&l->next, on_next, l);
	loop_timer_init(&l->doubt, on_doubt, l);
	loop_timer_init(&l->last, on_last, l);
	loop_timer_init(&l->limit, on_limit, l);
	l->doubt.urgent = l->last.urgent = true;
	return l;
}

void
lease_hold(struct lease *l, int64_t sent_at)
{
	static const struct voter_handlers handlers = {
		.answer = on_answer, .message = on_message, .failed = on_failed
	};

	quorum_set_owner(l->quorum, &handlers, l);
	set_points(l, sent_at);
	l->margin_ms = lease_left_ms(l);
}

void
lease_free(struct lease *l)
{
	if (l == NULL)
		return;
	clear_timers(l);
	free(l);
}

void
lease_prove(struct lease *l)
{
	if (l->state == STATE_HELD)
		loop_timer_set(l->loop, &l->next, clock_now());
}

void
lease_give_back(struct lease *l, const struct lock_terms *terms)
{
	int64_t now = clock_now(), limit_at;

	note_margin(l);
	clear_timers(l);
	quorum_cancel(l->quorum);
	l->failures = 0;
	if (l->state == STATE_LOST || now >= l->points.end_at) {
		end_soon(l, LEASE_FOUND_LOST);
		return;
	}
	l->state = STATE_RELEASING;
	if (terms != NULL)
		l->lock->terms = *terms;
	l->op = lock_frees_fast(l->lock) ? LOCK_FREE : LOCK_RELEASE;
	limit_at = clock_add(now, l->cfg->command_timeout_ms);
	loop_timer_set(l->loop, &l->limit,
	    limit_at < l->points.end_at ? limit_at : l->points.end_at);
	fault_set(&l->fault, FAULT_UNAVAILABLE, 0, "no answer in time");
	ask_release(l);
}

void
lease_abandon(struct lease *l)
{
	if (l->state != STATE_RELEASING)
		return;
	/* The full one, whatever the answer to the fast one would have been;
	   written, not waited for. */
	quorum_abandon(l->quorum, l->lock, LOCK_RELEASE);
	end_soon(l, LEASE_STUCK);
}

struct timing_lease
lease_points(const struct lease *l)
{
	return l->points;
}

int64_t
lease_left_ms(const struct lease *l)
{
	return l->points.end_at == CLOCK_NEVER ? -1 :
						 l->points.end_at - clock_now();
}

const char *
lease_holder(const struct lease *l)
{
	return l->holder;
}

int64_t
lease_renewals(const struct lease *l)
{
	return l->renewals;
}

int64_t
lease_margin_ms(const struct lease *l)
{
	return l->margin_ms;
}
