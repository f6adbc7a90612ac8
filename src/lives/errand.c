/* SPDX-License-Identifier: MIT */
/*
 * errand: see errand.h.
 */
#include "lives/errand.h"

#include "base/clock.h"
#include "base/effect.h"
#include "core/refusal.h"
#include "core/timing.h"

struct errand {
	struct loop *loop;
	const struct config *cfg;
	struct voter *voter;
	const struct lock *lock;
	enum lock_op op;
	errand_fn fn;
	void *arg;
	struct fault *fault;
	struct loop_timer again;
	int64_t deadline;
	int64_t failures;
	int signal;
	int status;
};

static void
over(struct errand *e, int status)
{
	e->status = status;
	loop_timer_clear(e->loop, &e->again);
	voter_cancel(e->voter);
	loop_stop(e->loop);
}

static void
ask(void *arg)
{
	struct errand *e = arg;

	voter_ask(e->voter, e->lock, e->op, e->cfg->command_timeout_ms, false);
}

/* The fault is set. */
static void
try_later(struct errand *e)
{
	int64_t at =
	    clock_add(clock_now(), timing_reach_pause_ms(++e->failures));

	if (at >= e->deadline)
		over(e, -1);
	else
		loop_timer_set(e->loop, &e->again, at);
}

static void
on_answer(void *arg, enum lock_op op, int64_t sent_at,
    const struct reply *reply, bool deaf)
{
	struct errand *e = arg;
	const char *error = reply_error(reply);

	(void)op;
	(void)sent_at;
	(void)deaf;
	if (error == NULL)
		over(e, e->fn(e->arg, reply, e->fault));
	else if (refusal_of(error, e->fault) == REFUSAL_AWAY)
		try_later(e);
	else
		over(e, -1);
}

static void
on_message(void *arg, const char *text, size_t len)
{
	/* Nothing here listens. */
	(void)arg;
	(void)text;
	(void)len;
}

static void
on_failed(void *arg, enum voter_failure why, const struct fault *fault)
{
	struct errand *e = arg;

	*e->fault = *fault;
	voter_drop(e->voter);
	if (why == VOTER_LOGIN && fault->code != FAULT_UNAVAILABLE)
		over(e, -1);
	else
		try_later(e);
}

static void
on_signal(void *arg, const struct signalfd_siginfo *info)
{
	struct errand *e = arg;

	if (effect_of((int)info->ssi_signo) != EFFECT_ENDS)
		return;
	e->signal = (int)info->ssi_signo;
	over(e, -1);
}

int
errand_run(struct loop *loop, const struct config *cfg, struct voter *voter,
    const struct lock *lock, enum lock_op op, errand_fn fn, void *arg,
    int *signal, struct fault *fault)
{
	static const struct voter_handlers handlers = {
		.answer = on_answer, .message = on_message, .failed = on_failed
	};
	struct errand e = { .loop = loop,
		.cfg = cfg,
		.voter = voter,
		.lock = lock,
		.op = op,
		.fn = fn,
		.arg = arg,
		.fault = fault };

	fault_set(fault, FAULT_NONE, 0, "interrupted");
	e.deadline = clock_add(clock_now(), cfg->connect_timeout_ms);
	loop_timer_init(&e.again, ask, &e);
	loop_on_signal(loop, on_signal, &e);
	voter_set_owner(voter, &handlers, &e);
	ask(&e);
	loop_run(loop);
	*signal = e.signal;
	return e.status;
}
