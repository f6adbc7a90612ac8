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
	struct quorum *quorum;
	const struct lock *lock; /* the next to be answered */
	size_t count;		 /* from there on */
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
	quorum_cancel(e->quorum);
	loop_stop(e->loop);
}

static void
ask(void *arg)
{
	struct errand *e = arg;

	quorum_ask_each(e->quorum, e->lock, e->count, e->op,
	    e->cfg->command_timeout_ms);
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

/* One has been answered. */
static void
next(struct errand *e)
{
	e->lock++;
	e->failures = 0;
	e->deadline = clock_add(clock_now(), e->cfg->connect_timeout_ms);
	if (--e->count == 0)
		over(e, 0);
}

static void
on_answer(void *arg, enum lock_op op, int64_t sent_at,
    const struct reply *reply, bool deaf)
{
	struct errand *e = arg;
	const char *error = reply_error(reply);

	(void)sent_at;
	(void)deaf;
	/* Of a plain command, an error is an answer as any other. */
	if ((error == NULL || op == LOCK_PLAIN) &&
	    e->fn(e->arg, reply, e->fault) == 0)
		next(e);
	else if (error != NULL && op != LOCK_PLAIN &&
	    refusal_of(error, e->fault) == REFUSAL_AWAY) {
		/* What else is under way there would crowd the next try. */
		if (e->count > 1)
			quorum_drop(e->quorum);
		try_later(e);
	} else
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
	quorum_drop(e->quorum);
	if (why == VOTER_LOGIN && fault->code != FAULT_UNAVAILABLE)
		over(e, -1);
	else if (e->op == LOCK_BREAK &&
	    (why == VOTER_BROKEN || why == VOTER_SILENT)) {
		/* Asked again it might hit the next one, who has it rightly. */
		fault_prefix(e->fault,
		    "it is not known whether the lock is broken (see --status)");
		over(e, -1);
	} else
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
errand_run(struct loop *loop, const struct config *cfg, struct quorum *quorum,
    const struct lock *lock, enum lock_op op, errand_fn fn, void *arg,
    int *signal, struct fault *fault)
{
	return errand_run_each(loop, cfg, quorum, lock, 1, op, fn, arg, signal,
	    fault);
}

int
errand_run_each(struct loop *loop, const struct config *cfg,
    struct quorum *quorum, const struct lock *locks, size_t count,
    enum lock_op op, errand_fn fn, void *arg, int *signal, struct fault *fault)
{
	static const struct voter_handlers handlers = {
		.answer = on_answer, .message = on_message, .failed = on_failed
	};
	struct errand e = { .loop = loop,
		.cfg = cfg,
		.quorum = quorum,
		.lock = locks,
		.count = count,
		.op = op,
		.fn = fn,
		.arg = arg,
		.fault = fault };

	fault_set(fault, FAULT_NONE, 0, "interrupted");
	e.deadline = clock_add(clock_now(), cfg->connect_timeout_ms);
	loop_timer_init(&e.again, ask, &e);
	loop_on_signal(loop, on_signal, &e);
	quorum_set_owner(quorum, &handlers, &e);
	ask(&e);
	loop_run(loop);
	*signal = e.signal;
	return e.status;
}
