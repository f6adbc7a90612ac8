/* SPDX-License-Identifier: MIT */
/*
 * wait: see wait.h.  It must not know what the lock is wanted for.
 */
#include "top/wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/effect.h"
#include "lives/terminal.h"
#include "top/report.h"

#define TICK_MS 1000

/* What the report and the command are told of a lock that is ours. */
static void
note_lock(struct wait *w)
{
	const struct lock *lock = &w->session->lock;
	struct outcome *o = w->outcome;

	o->slot = (int)strtol(lock->slot, NULL, 10);
	if (lock->fence_text[0] != '\0')
		o->fence = strtoll(lock->fence_text, NULL, 10);
	snprintf(o->token, sizeof(o->token), "%s", lock->token);
}

static void
on_synced(void *arg, const struct fault *fault)
{
	struct wait *w = arg;

	if (fault != NULL) {
		w->unusable = true;
		w->outcome->kind = outcome_kind_of(fault);
		w->outcome->fault = *fault;
	}
	w->fn(w->arg, true, w->sent_at);
}

static void
on_ended(void *arg, enum waiter_end end, int64_t sent_at,
    const struct fault *fault)
{
	struct wait *w = arg;
	struct outcome *o = w->outcome;
	const char *holder = waiter_holder(w->waiter);

	loop_timer_clear(w->session->loop, &w->tick);
	report_wait_over();
	o->retries = waiter_retries(w->waiter);
	o->wait_ms = clock_now() - w->started_at;
	if (end != WAITER_DONE && holder[0] != '\0')
		token_describe(holder, strlen(holder), o->holder,
		    sizeof(o->holder));
	switch (end) {
	case WAITER_ACQUIRED:
		if (w->session->cfg->endpoint.kind == ENDPOINT_NONE)
			break;
		note_lock(w);
		report_acquired(o->wait_ms, w->session->cfg->ttl_ms, o->fence);
		break;
	case WAITER_DONE:
		o->kind = OUTCOME_SKIPPED;
		report_marker(&o->fault, holder);
		break;
	case WAITER_BUSY:
		o->kind = OUTCOME_BUSY;
		fault_set(&o->fault, FAULT_NONE, 0, "busy: held by %s",
		    holder[0] != '\0' ? o->holder : "others in line");
		break;
	case WAITER_FAILED:
		o->kind = outcome_kind_of(fault);
		o->fault = *fault;
		break;
	case WAITER_LEFT:
		o->kind = w->failed ? OUTCOME_ERROR : OUTCOME_INTERRUPTED;
		o->signal = w->interrupted;
		break;
	}
	w->sent_at = sent_at;
	if (end == WAITER_ACQUIRED && w->session->cfg->replicas > 0)
		sync_start(&w->sync, w->session->cfg, w->session->quorum,
		    &w->session->lock, on_synced, w);
	else
		w->fn(w->arg, end == WAITER_ACQUIRED, sent_at);
}

static void
on_news(void *arg, enum waiter_news news, const struct fault *fault)
{
	struct wait *w = arg;

	switch (news) {
	case WAITER_WAITS:
		report_waiting(waiter_holder(w->waiter));
		loop_timer_set(w->session->loop, &w->tick,
		    clock_add(w->started_at, TICK_MS));
		break;
	case WAITER_UNREACHED:
		report_unreached(fault);
		break;
	case WAITER_AWAY:
		report_away(fault);
		break;
	case WAITER_BACK:
		report_back();
		break;
	case WAITER_DEAF:
		report_deaf();
		break;
	}
}

static void
on_tick(void *arg)
{
	struct wait *w = arg;
	int64_t now = clock_now();

	report_wait_line(waiter_holder(w->waiter), now - w->started_at);
	loop_timer_set(w->session->loop, &w->tick, clock_add(now, TICK_MS));
}

int
wait_init(struct wait *w, struct session *session, struct outcome *outcome,
    wait_fn fn, void *arg)
{
	static const struct waiter_handlers handlers = { .ended = on_ended,
		.news = on_news };

	*w = (struct wait) {
		.session = session, .outcome = outcome, .fn = fn, .arg = arg
	};
	loop_timer_init(&w->tick, on_tick, w);
	w->waiter = waiter_new(session->loop, session->cfg, session->quorum,
	    &session->lock, &session->owner, &handlers, w, &outcome->fault);
	return w->waiter == NULL ? -1 : 0;
}

void
wait_release(struct wait *w)
{
	waiter_free(w->waiter);
}

void
wait_start(struct wait *w)
{
	w->started_at = clock_now();
	waiter_start(w->waiter);
}

void
wait_fail(struct wait *w)
{
	w->failed = true;
	waiter_leave(w->waiter);
}

void
wait_signal(struct wait *w, const struct signalfd_siginfo *info, bool waiting)
{
	int signal = (int)info->ssi_signo;
	enum effect effect = effect_of(signal);

	if (effect == EFFECT_ENDS && w->interrupted == 0) {
		w->interrupted = signal;
		if (waiting)
			waiter_leave(w->waiter);
	} else if (effect == EFFECT_STOPS && waiting) {
		/* What was missed meanwhile, the timers make up for. */
		report_wait_over();
		(void)terminal_stop_self(signal, false);
	}
}
