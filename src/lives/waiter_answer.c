/* SPDX-License-Identifier: MIT */
/*
 * waiter_answer: what an answer to an acquire means for who waits.
 */
#include <string.h>

#include "base/clock.h"
#include "core/answer.h"
#include "core/timing.h"
#include "lives/waiter_parts.h"

static void
poll_later(struct waiter *w)
{
	int64_t ms = patience_poll_pause_ms(&w->patience);

	if (ms < 0)
		waiter_give_up(w);
	else /* a message cuts it short */
		loop_timer_set(w->loop, &w->timer, clock_add(clock_now(), ms));
}

/* Wait in line; left_ms and rank are what the server said last. */
void
waiter_stand(struct waiter *w, int64_t left_ms, int64_t rank)
{
	w->state = STATE_QUEUED;
	if (w->claim.deaf || (left_ms < 0 && rank == 0)) {
		waiter_set_deadline(w, true);
		poll_later(w);
		return;
	}
	w->patience.polls = 0;
	loop_timer_set(w->loop, &w->timer,
	    clock_add(clock_now(),
		timing_look_ms(left_ms, rank, w->cfg->ttl_ms, token_random(100),
		    w->cfg->slots < 0)));
}

/*
 * Some of several servers have it otherwise.  What others granted is being
 * given back; who is late with that must not hit the next try, so that has a
 * token of its own.  There is no queue: all try again at random.
 */
static void
split(struct waiter *w)
{
	if (patience_one_try(&w->patience)) {
		w->claim.unsure = true;
		waiter_end_with(w, WAITER_BUSY);
		return;
	}
	if (claim_cleaned(&w->claim, &w->fault) == -1) {
		waiter_finish(w, WAITER_FAILED);
		return;
	}
	if (!w->told) {
		w->told = true;
		w->handlers->news(w->arg, WAITER_WAITS, NULL);
	}
	w->state = STATE_QUEUED;
	waiter_set_deadline(w, true);
	poll_later(w);
}

static void
held(struct waiter *w, enum lock_op op, const struct answer *answer)
{
	bool in_line = op == LOCK_JOIN || op == LOCK_QUEUE;

	w->patience.seen = true;
	w->patience.failures = 0; /* not by "ours" that came too late */
	w->claim.unsure = in_line;
	if (answer->holder[0] != '\0')
		memcpy(w->holder, answer->holder, sizeof(w->holder));
	if (w->cfg->servers > 1) {
		split(w);
		return;
	}
	if (patience_one_try(&w->patience)) {
		waiter_finish(w, WAITER_BUSY);
		return;
	}
	waiter_set_deadline(w, false);
	if (!in_line) {
		waiter_ask_full(w);
		return;
	}
	if (!w->patience.queued)
		w->handlers->news(w->arg, WAITER_WAITS, NULL);
	w->patience.queued = true;
	waiter_stand(w, answer->foreign ? -1 : answer->left_ms, answer->rank);
}

static void
ours(struct waiter *w, int64_t sent_at)
{
	struct timing_lease lease = timing_lease_of(w->cfg, sent_at);
	struct fault fault;

	w->claim.unsure = true;
	/* Too late to be of use: prove it, or take it, again. */
	if (clock_now() >= lease.term_at) {
		fault_set(&fault, FAULT_UNAVAILABLE, 0,
		    "%s: the answer came "
		    "too late for a lease of this length (a longer -t may do)",
		    w->cfg->shown);
		waiter_trouble(w, &fault);
		return;
	}
	w->sent_at = sent_at;
	waiter_finish(w, WAITER_ACQUIRED);
}

static void
refused(struct waiter *w, const struct answer *answer)
{
	/* Who had a place waits for a failover or a full disk to pass. */
	if (answer->refusal == REFUSAL_AWAY ||
	    (w->patience.queued && answer->refusal == REFUSAL_UNFIT)) {
		waiter_trouble(w, &answer->fault);
		return;
	}
	/* It may be the right to unsubscribe, without which nothing else can
	   be asked on this connection. */
	if (w->patience.queued)
		quorum_drop(w->quorum);
	w->fault = answer->fault;
	waiter_end_with(w, WAITER_FAILED);
}

void
waiter_read(struct waiter *w, enum lock_op op, int64_t sent_at,
    const struct reply *reply)
{
	struct answer answer;

	answer_read(w->lock, op, reply, &answer);
	if (answer.verdict != VERDICT_ERROR) {
		if (w->away)
			w->handlers->news(w->arg, WAITER_BACK, NULL);
		w->away = false;
	}
	switch (answer.verdict) {
	case VERDICT_OURS:
		ours(w, sent_at);
		break;
	case VERDICT_FULL:
		waiter_ask_full(w);
		break;
	case VERDICT_HELD:
		held(w, op, &answer);
		break;
	case VERDICT_DONE:
		memcpy(w->holder, answer.marker, sizeof(w->holder));
		waiter_finish(w, WAITER_DONE);
		break;
	case VERDICT_ERROR:
		refused(w, &answer);
		break;
	case VERDICT_GONE:
		break; /* no acquire says so: answer_read sees to it */
	}
}
