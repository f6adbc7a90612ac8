/* SPDX-License-Identifier: MIT */
/*
 * waiter: see waiter.h.  One loop: ask, wait for a message or the timer, ask.
 *
 * It must not know what runs under the lock.
 */
#include "lives/waiter.h"

#include <stdlib.h>

#include "base/clock.h"
#include "core/answer.h"
#include "lives/waiter_parts.h"

#define LEAVE_MS 300

static void
stop(struct waiter *w, enum waiter_end end)
{
	w->end = end;
	w->state = STATE_OVER;
	quorum_cancel(w->quorum);
	loop_timer_clear(w->loop, &w->timer);
	loop_timer_clear(w->loop, &w->deadline);
}

void
waiter_finish(struct waiter *w, enum waiter_end end)
{
	stop(w, end);
	w->handlers->ended(w->arg, end, w->sent_at,
	    end == WAITER_FAILED ? &w->fault : NULL);
}

void
waiter_end_with(struct waiter *w, enum waiter_end end)
{
	if (!claim_is_known(&w->claim, w->state == STATE_ASKING)) {
		waiter_finish(w, end);
		return;
	}
	w->end = end;
	w->state = STATE_LEAVING;
	loop_timer_clear(w->loop, &w->timer);
	loop_timer_clear(w->loop, &w->deadline);
	claim_give_back(&w->claim, LEAVE_MS);
}

void
waiter_give_up(struct waiter *w)
{
	waiter_end_with(w, w->patience.seen ? WAITER_BUSY : WAITER_FAILED);
}

static void
on_deadline(void *arg)
{
	struct waiter *w = arg;

	/* What failed before says more. */
	if (w->fault.code == FAULT_NONE)
		fault_set(&w->fault, FAULT_UNAVAILABLE, 0, "%s: %s",
		    w->cfg->shown, quorum_lacks(w->quorum));
	waiter_give_up(w);
}

static void
ask(struct waiter *w, enum lock_op op)
{
	w->state = STATE_ASKING;
	loop_timer_clear(w->loop, &w->timer);
	claim_ask(&w->claim, op);
}

void
waiter_ask_full(struct waiter *w)
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

void
waiter_set_deadline(struct waiter *w, bool polling)
{
	loop_timer_set(w->loop, &w->deadline,
	    patience_deadline(&w->patience, polling));
}

/* The server could not be asked, or can't answer now: later again. */
void
waiter_trouble(struct waiter *w, const struct fault *fault)
{
	w->fault = *fault;
	if (patience_one_try(&w->patience)) {
		waiter_give_up(w);
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
on_answer(void *arg, enum lock_op op, int64_t sent_at,
    const struct reply *reply, bool deaf)
{
	struct waiter *w = arg;

	switch (w->state) {
	case STATE_LEAVING:
		if (claim_given_back(&w->claim, reply, LEAVE_MS))
			waiter_finish(w, w->end);
		break;
	case STATE_CLEANING:
		if (claim_cleaned(&w->claim, &w->fault) == 0)
			try_again(w);
		else
			waiter_finish(w, WAITER_FAILED);
		break;
	case STATE_ASKING:
		if (deaf && !w->claim.deaf) {
			w->claim.deaf = true;
			w->handlers->news(w->arg, WAITER_DEAF, NULL);
		}
		if (reply == NULL)
			waiter_ask_full(w);
		else
			waiter_read(w, op, sent_at, reply);
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
		waiter_stand(w, left_ms, 0);
		break;
	case MESSAGE_GRANT:
		ask(w, LOCK_ASK); /* proven without joining */
		break;
	case MESSAGE_LOOK:
		waiter_ask_full(w);
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
		waiter_finish(w, w->end);
		return;
	}
	if (why == VOTER_LOGIN && fault->code != FAULT_UNAVAILABLE) {
		claim_failed(&w->claim, why);
		w->fault = *fault;
		waiter_end_with(w, WAITER_FAILED);
		return;
	}
	/* A login that failed for now is as good as no answer. */
	claim_failed(&w->claim, why == VOTER_LOGIN ? VOTER_SILENT : why);
	waiter_trouble(w, fault);
}

static void
on_timer(void *arg)
{
	struct waiter *w = arg;

	switch (w->state) {
	case STATE_QUEUED:
		w->retries++;
		waiter_ask_full(w);
		break;
	case STATE_PAUSING:
		try_again(w);
		break;
	case STATE_OVER:
		waiter_finish(w, w->end); /* of a leave that told nobody */
		break;
	case STATE_ASKING:
	case STATE_CLEANING:
	case STATE_LEAVING:
		break; /* the servers have their own timers */
	}
}

struct waiter *
waiter_new(struct loop *loop, const struct config *cfg, struct quorum *quorum,
    struct lock *lock, const struct token_owner *owner,
    const struct waiter_handlers *handlers, void *arg, struct fault *fault)
{
	struct waiter *w = calloc(1, sizeof(*w));

	if (w == NULL) {
		fault_set(fault, FAULT_SYSTEM, 0, "no memory");
		return NULL;
	}
	if (claim_init(&w->claim, cfg, quorum, lock, owner, fault) == -1) {
		free(w);
		return NULL;
	}
	w->loop = loop;
	w->cfg = cfg;
	w->quorum = quorum;
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
	quorum_set_owner(w->quorum, &handlers, w);
	waiter_set_deadline(w, false);
	ask(w, claim_first_op(&w->claim, &w->patience));
}

void
waiter_leave(struct waiter *w)
{
	if (w->state == STATE_OVER || w->state == STATE_LEAVING)
		w->end = WAITER_LEFT;
	else if (claim_is_known(&w->claim, w->state == STATE_ASKING))
		waiter_end_with(w, WAITER_LEFT);
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
