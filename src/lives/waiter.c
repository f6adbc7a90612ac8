/* SPDX-License-Identifier: MIT */
/*
 * waiter: see waiter.h.  One loop: ask, wait for a message or the timer, ask.
 *
 * It must not know what runs under the lock.
 */
#include "lives/waiter.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "core/answer.h"
#include "core/patience.h"
#include "core/timing.h"
#include "lives/claim.h"

#define LEAVE_MS 300

enum state {
	STATE_ASKING,	/* an acquire is under way */
	STATE_QUEUED,	/* in line; a message or the timer is next */
	STATE_PAUSING,	/* before the next try */
	STATE_CLEANING, /* the release of an abandoned token is */
	STATE_LEAVING,	/* the release that ends it is under way */
	STATE_OVER
};

struct waiter {
	struct loop *loop;
	const struct config *cfg;
	struct voter *voter;
	struct lock *lock;
	const struct waiter_handlers *handlers;
	void *arg;
	enum state state;
	struct patience patience;
	struct loop_timer timer; /* look, pause, or end */
	struct loop_timer deadline;
	struct claim claim;
	bool away; /* told so */
	int64_t retries;
	char holder[TOKEN_MAX];
	struct fault fault; /* the last one */
	/* how it will end */
	enum waiter_end end;
	int64_t sent_at;
};

static void
stop(struct waiter *w, enum waiter_end end)
{
	w->end = end;
	w->state = STATE_OVER;
	voter_cancel(w->voter);
	loop_timer_clear(w->loop, &w->timer);
	loop_timer_clear(w->loop, &w->deadline);
}

static void
finish(struct waiter *w, enum waiter_end end)
{
	stop(w, end);
	w->handlers->ended(w->arg, end, w->sent_at,
	    end == WAITER_FAILED ? &w->fault : NULL);
}

static void
leave(struct waiter *w, enum waiter_end end)
{
	if (!claim_is_known(&w->claim, w->state == STATE_ASKING)) {
		finish(w, end);
		return;
	}
	w->end = end;
	w->state = STATE_LEAVING;
	loop_timer_clear(w->loop, &w->timer);
	loop_timer_clear(w->loop, &w->deadline);
	claim_give_back(&w->claim, LEAVE_MS);
}

static void
give_up(struct waiter *w)
{
	leave(w, w->patience.seen ? WAITER_BUSY : WAITER_FAILED);
}

static void
on_deadline(void *arg)
{
	struct waiter *w = arg;

	/* What failed before says more. */
	if (w->fault.code == FAULT_NONE)
		fault_set(&w->fault, FAULT_UNAVAILABLE, 0, "%s: %s",
		    w->cfg->endpoint.shown, voter_lacks(w->voter));
	give_up(w);
}

static void
ask(struct waiter *w, enum lock_op op)
{
	w->state = STATE_ASKING;
	loop_timer_clear(w->loop, &w->timer);
	claim_ask(&w->claim, op);
}

static void
ask_full(struct waiter *w)
{
	ask(w, claim_full_op(&w->claim, &w->patience));
}

/* Ask anew, with whatever has to come first. */
static void
try_again(struct waiter *w)
{
	w->retries++;
	if (w->claim.stale) {
		w->state = STATE_CLEANING;
		claim_clean(&w->claim);
	} else
		ask(w, claim_first_op(&w->claim, &w->patience));
}

static void
set_deadline(struct waiter *w, bool polling)
{
	loop_timer_set(w->loop, &w->deadline,
	    patience_deadline(&w->patience, polling));
}

/* The server could not be asked, or can't answer now: later again. */
static void
trouble(struct waiter *w, const struct fault *fault)
{
	w->fault = *fault;
	if (patience_one_try(&w->patience)) {
		give_up(w);
		return;
	}
	if (!w->away) {
		w->away = true;
		w->handlers->news(w->arg,
		    w->patience.queued ? WAITER_AWAY : WAITER_UNREACHED, fault);
	}
	w->state = STATE_PAUSING;
	loop_timer_set(w->loop, &w->timer,
	    clock_add(clock_now(), patience_fault_pause_ms(&w->patience)));
}

static void
poll_later(struct waiter *w)
{
	int64_t ms = patience_poll_pause_ms(&w->patience);

	if (ms < 0)
		give_up(w);
	else /* a message cuts it short */
		loop_timer_set(w->loop, &w->timer, clock_add(clock_now(), ms));
}

/* Wait in line; left_ms and rank are what the server said last. */
static void
stand(struct waiter *w, int64_t left_ms, int64_t rank)
{
	w->state = STATE_QUEUED;
	if (w->claim.deaf || (left_ms < 0 && rank == 0)) {
		set_deadline(w, true);
		poll_later(w);
		return;
	}
	w->patience.polls = 0;
	loop_timer_set(w->loop, &w->timer,
	    clock_add(clock_now(),
		timing_look_ms(left_ms, rank, w->cfg->ttl_ms, token_random(100),
		    w->cfg->slots < 0)));
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
	if (patience_one_try(&w->patience)) {
		finish(w, WAITER_BUSY);
		return;
	}
	set_deadline(w, false);
	if (!in_line) {
		ask_full(w);
		return;
	}
	if (!w->patience.queued)
		w->handlers->news(w->arg, WAITER_WAITS, NULL);
	w->patience.queued = true;
	stand(w, answer->foreign ? -1 : answer->left_ms, answer->rank);
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
		    w->cfg->endpoint.shown);
		trouble(w, &fault);
		return;
	}
	w->sent_at = sent_at;
	finish(w, WAITER_ACQUIRED);
}

static void
refused(struct waiter *w, const struct answer *answer)
{
	/* Who had a place waits for a failover or a full disk to pass. */
	if (answer->refusal == REFUSAL_AWAY ||
	    (w->patience.queued && answer->refusal == REFUSAL_UNFIT)) {
		trouble(w, &answer->fault);
		return;
	}
	/* It may be the right to unsubscribe, without which nothing else can
	   be asked on this connection. */
	if (w->patience.queued)
		voter_drop(w->voter);
	w->fault = answer->fault;
	leave(w, WAITER_FAILED);
}

static void
read_answer(struct waiter *w, enum lock_op op, int64_t sent_at,
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
		ask_full(w);
		break;
	case VERDICT_HELD:
		held(w, op, &answer);
		break;
	case VERDICT_DONE:
		memcpy(w->holder, answer.marker, sizeof(w->holder));
		finish(w, WAITER_DONE);
		break;
	case VERDICT_ERROR:
		refused(w, &answer);
		break;
	case VERDICT_GONE:
		break; /* no acquire says so: answer_read sees to it */
	}
}

static void
on_answer(void *arg, enum lock_op op, int64_t sent_at,
    const struct reply *reply, bool deaf)
{
	struct waiter *w = arg;

	switch (w->state) {
	case STATE_LEAVING:
		if (claim_given_back(&w->claim, reply, LEAVE_MS))
			finish(w, w->end);
		break;
	case STATE_CLEANING:
		if (claim_cleaned(&w->claim, &w->fault) == 0)
			try_again(w);
		else
			finish(w, WAITER_FAILED);
		break;
	case STATE_ASKING:
		if (deaf && !w->claim.deaf) {
			w->claim.deaf = true;
			w->handlers->news(w->arg, WAITER_DEAF, NULL);
		}
		if (reply == NULL)
			ask_full(w);
		else
			read_answer(w, op, sent_at, reply);
		break;
	case STATE_QUEUED:
	case STATE_PAUSING:
	case STATE_OVER:
		break; /* nothing was asked */
	}
}

static void
on_message(void *arg, const char *text, size_t len)
{
	struct waiter *w = arg;
	int64_t left_ms;

	if (w->state != STATE_QUEUED)
		return; /* what is under way will tell */
	switch (answer_message(w->lock, text, len, &left_ms)) {
	case MESSAGE_FIRST:
		stand(w, left_ms, 0);
		break;
	case MESSAGE_GRANT:
		ask(w, LOCK_ASK); /* proven without joining */
		break;
	case MESSAGE_LOOK:
		ask_full(w);
		break;
	}
}

static void
on_failed(void *arg, enum voter_failure why, const struct fault *fault)
{
	struct waiter *w = arg;

	if (w->state == STATE_OVER)
		return;
	if (w->state == STATE_LEAVING) {
		finish(w, w->end);
		return;
	}
	if (why == VOTER_LOGIN && fault->code != FAULT_UNAVAILABLE) {
		claim_failed(&w->claim, why);
		w->fault = *fault;
		leave(w, WAITER_FAILED);
		return;
	}
	/* A login that failed for now is as good as no answer. */
	claim_failed(&w->claim, why == VOTER_LOGIN ? VOTER_SILENT : why);
	trouble(w, fault);
}

static void
on_timer(void *arg)
{
	struct waiter *w = arg;

	switch (w->state) {
	case STATE_QUEUED:
		w->retries++;
		ask_full(w);
		break;
	case STATE_PAUSING:
		try_again(w);
		break;
	case STATE_OVER:
		finish(w, w->end); /* of a leave that told nobody */
		break;
	case STATE_ASKING:
	case STATE_CLEANING:
	case STATE_LEAVING:
		break; /* the voter has its own timer */
	}
}

struct waiter *
waiter_new(struct loop *loop, const struct config *cfg, struct voter *voter,
    struct lock *lock, const struct token_owner *owner,
    const struct waiter_handlers *handlers, void *arg, struct fault *fault)
{
	struct waiter *w = calloc(1, sizeof(*w));

	if (w == NULL) {
		fault_set(fault, FAULT_SYSTEM, 0, "no memory");
		return NULL;
	}
	if (claim_init(&w->claim, cfg, voter, lock, owner, fault) == -1) {
		free(w);
		return NULL;
	}
	w->loop = loop;
	w->cfg = cfg;
	w->voter = voter;
	w->lock = lock;
	w->handlers = handlers;
	w->arg = arg;
	w->state = STATE_PAUSING;
	loop_timer_init(&w->timer, on_timer, w);
	loop_timer_init(&w->deadline, on_deadline, w);
	return w;
}

void
waiter_free(struct waiter *w)
{
	if (w == NULL)
		return;
	loop_timer_clear(w->loop, &w->timer);
	loop_timer_clear(w->loop, &w->deadline);
	free(w);
}

void
waiter_start(struct waiter *w)
{
	static const struct voter_handlers handlers = {
		.answer = on_answer, .message = on_message, .failed = on_failed
	};

	patience_init(&w->patience, w->cfg, clock_now());
	voter_set_owner(w->voter, &handlers, w);
	set_deadline(w, false);
	ask(w, claim_first_op(&w->claim, &w->patience));
}

void
waiter_leave(struct waiter *w)
{
	if (w->state == STATE_OVER || w->state == STATE_LEAVING)
		w->end = WAITER_LEFT;
	else if (claim_is_known(&w->claim, w->state == STATE_ASKING))
		leave(w, WAITER_LEFT);
	else {
		/* The caller is not to be called back from here. */
		stop(w, WAITER_LEFT);
		loop_timer_set(w->loop, &w->timer, clock_now());
	}
}

const char *
waiter_holder(const struct waiter *w)
{
	return w->holder;
}

int64_t
waiter_retries(const struct waiter *w)
{
	return w->retries;
}
