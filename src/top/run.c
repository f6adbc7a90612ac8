/* SPDX-License-Identifier: MIT */
/*
 * run: see run.h.  Puts waiter, lease, job and supervise in a row, and says
 * which signal goes to which of them.
 */
#include "top/run.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "lives/job.h"
#include "lives/lease.h"
#include "lives/waiter.h"
#include "top/environment.h"
#include "top/report.h"
#include "top/supervise.h"

#define TICK_MS 1000

enum phase {
	PHASE_WAITING,	/* for the lock */
	PHASE_STARTING, /* it is ours; the command is not started */
	PHASE_HOLDING,	/* supervise has it */
	PHASE_OVER
};

struct run {
	const struct run_parts *p;
	struct outcome *outcome;
	enum phase phase;
	struct waiter *waiter;
	struct lease *lease;
	struct job job;
	struct supervise supervise;
	struct loop_timer tick; /* the wait line */
	int64_t started_at;
	int64_t acquired_at;
	int interrupted; /* signal, or 0 */
	bool setup_failed;
};

/* Who is in the way, for the report; token "": nobody that is known. */
static void
note_holder(struct run *r, const char *token)
{
	if (token[0] != '\0')
		token_describe(token, strlen(token), r->outcome->holder,
		    sizeof(r->outcome->holder));
}

static void
over(struct run *r)
{
	r->phase = PHASE_OVER;
	if (r->acquired_at != 0) {
		r->outcome->hold_ms = clock_now() - r->acquired_at;
		r->outcome->renewals = lease_renewals(r->lease);
	}
	note_holder(r, lease_holder(r->lease));
	loop_stop(r->p->loop);
}

static void
found_lost(struct run *r)
{
	struct outcome *o = r->outcome;

	if (o->kind == OUTCOME_LOST || r->supervise.told_lost)
		return;
	report_lost(&o->fault, lease_holder(r->lease), false);
	if (r->p->cfg->on_lost != ON_LOST_WARN && o->kind == OUTCOME_RAN)
		o->kind = OUTCOME_LOST;
}

static void
on_lease(void *arg, enum lease_event event, const struct fault *fault)
{
	struct run *r = arg;

	switch (event) {
	case LEASE_RENEWED:
		supervise_handle(&r->supervise, SUPERVISE_RENEWED);
		return;
	case LEASE_RETRYING:
		report_renewal_failed(fault,
		    lease_points(r->lease).end_at - clock_now());
		return;
	case LEASE_DOUBT:
		supervise_handle(&r->supervise, SUPERVISE_DOUBT);
		return;
	case LEASE_LAST:
		supervise_handle(&r->supervise, SUPERVISE_LAST);
		return;
	case LEASE_LOST:
		supervise_handle(&r->supervise, SUPERVISE_LOST);
		return;
	case LEASE_FOUND_LOST:
		found_lost(r);
		break;
	case LEASE_UNHEARD:
		report_unheard();
		break;
	case LEASE_STUCK:
		report_stuck(fault, r->p->cfg->ttl_ms);
		break;
	case LEASE_RELEASED:
		break;
	}
	over(r);
}

static void
on_job(void *arg, enum job_event event)
{
	struct run *r = arg;

	switch (event) {
	case JOB_ENDED:
		supervise_handle(&r->supervise, SUPERVISE_ENDED);
		break;
	case JOB_GONE:
		supervise_handle(&r->supervise, SUPERVISE_GONE);
		break;
	case JOB_STOPPED:
		supervise_handle(&r->supervise, SUPERVISE_STOPPED);
		break;
	case JOB_KILL:
		supervise_handle(&r->supervise, SUPERVISE_KILLED);
		break;
	case JOB_FORBIDDEN:
		report_forbidden();
		break;
	}
}

static void
start_command(struct run *r)
{
	const struct config *cfg = r->p->cfg;
	const char *token = r->p->lock->token;
	struct child_plan plan = { .argv = cfg->command,
		.mask = loop_old_mask(r->p->loop),
		.ignore_chld = r->p->ignore_chld,
		.closed = r->p->closed };
	char **env = environment_new(environ, cfg->key, token);

	plan.envp = env;
	if (env == NULL) {
		r->outcome->kind = OUTCOME_ERROR;
		fault_set(&r->outcome->fault, FAULT_SYSTEM, 0, "no memory");
		lease_give_back(r->lease);
		return;
	}
	/* It tells on failure: in the outcome. */
	(void)supervise_start(&r->supervise, r->lease, &plan,
	    token + strlen(TOKEN_PREFIX));
	environment_free(env);
}

static void
acquired(struct run *r, int64_t sent_at)
{
	struct outcome *o = r->outcome;

	r->phase = PHASE_STARTING;
	r->acquired_at = clock_now();
	o->wait_ms = r->acquired_at - r->started_at;
	report_acquired(o->wait_ms);
	lease_hold(r->lease, sent_at);
	/* A signal that came before the start means: do not start. */
	loop_read_signals(r->p->loop);
	r->phase = PHASE_HOLDING;
	if (r->interrupted != 0) {
		o->kind = OUTCOME_INTERRUPTED;
		o->signal = r->interrupted;
		lease_give_back(r->lease);
	} else
		start_command(r);
}

static void
on_waiter_ended(void *arg, enum waiter_end end, int64_t sent_at,
    const struct fault *fault)
{
	struct run *r = arg;
	struct outcome *o = r->outcome;
	const char *holder = waiter_holder(r->waiter);

	loop_timer_clear(r->p->loop, &r->tick);
	report_wait_over();
	o->retries = waiter_retries(r->waiter);
	note_holder(r, holder);
	switch (end) {
	case WAITER_ACQUIRED:
		acquired(r, sent_at);
		return;
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
		o->kind = r->setup_failed ? OUTCOME_ERROR : OUTCOME_INTERRUPTED;
		o->signal = r->interrupted;
		break;
	}
	o->wait_ms = clock_now() - r->started_at;
	over(r);
}

static void
on_waiter_news(void *arg, enum waiter_news news, const struct fault *fault)
{
	struct run *r = arg;

	switch (news) {
	case WAITER_WAITS:
		report_waiting(waiter_holder(r->waiter));
		loop_timer_set(r->p->loop, &r->tick,
		    clock_add(r->started_at, TICK_MS));
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
	struct run *r = arg;
	int64_t now = clock_now();

	report_wait_line(waiter_holder(r->waiter), now - r->started_at);
	loop_timer_set(r->p->loop, &r->tick, clock_add(now, TICK_MS));
}

enum effect { EFFECT_NONE, EFFECT_STOPS, EFFECT_ENDS };

/* What the signal does to a process that does nothing about it. */
static enum effect
default_effect(int signal)
{
	switch (signal) {
	case SIGCHLD:
	case SIGCONT:
	case SIGURG:
	case SIGWINCH:
		return EFFECT_NONE;
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
		return EFFECT_STOPS;
	}
	return EFFECT_ENDS;
}

static bool
inherited_ignored(int signal)
{
	struct sigaction action;

	/* Blocked signals are queued even when they are ignored. */
	return sigaction(signal, NULL, &action) == 0 &&
	    action.sa_handler == SIG_IGN;
}

static void
interrupt(struct run *r, int signal)
{
	enum effect effect = default_effect(signal);

	if (effect == EFFECT_ENDS && r->interrupted == 0) {
		r->interrupted = signal;
		if (r->phase == PHASE_WAITING)
			waiter_leave(r->waiter);
	} else if (effect == EFFECT_STOPS && r->phase == PHASE_WAITING) {
		/* What was missed meanwhile, the timers make up for. */
		report_wait_over();
		(void)terminal_stop_self(signal, false);
	}
}

static void
on_signal(void *arg, const struct signalfd_siginfo *info)
{
	struct run *r = arg;
	int signal = (int)info->ssi_signo;

	if (signal == SIGCHLD) {
		job_reap(&r->job);
		return;
	}
	/* The timer behind a message is ours. */
	if (info->ssi_code == SI_TIMER || inherited_ignored(signal))
		return;
	switch (r->phase) {
	case PHASE_WAITING:
	case PHASE_STARTING:
		interrupt(r, signal);
		break;
	case PHASE_HOLDING:
		if (r->supervise.state != SUPERVISE_RELEASING)
			supervise_signal(&r->supervise, signal,
			    info->ssi_code <= 0);
		else if (default_effect(signal) == EFFECT_ENDS)
			lease_abandon(r->lease);
		break;
	case PHASE_OVER:
		break;
	}
}

static int
prepare(struct run *r, struct fault *fault)
{
	static const struct waiter_handlers handlers = {
		.ended = on_waiter_ended, .news = on_waiter_news
	};
	const struct run_parts *p = r->p;

	loop_timer_init(&r->tick, on_tick, r);
	loop_on_signal(p->loop, on_signal, r);
	supervise_init(&r->supervise, p->loop, p->cfg, &r->job, r->outcome);
	if (job_init(&r->job, p->loop, on_job, r, fault) == -1)
		return -1;
	r->waiter = waiter_new(p->loop, p->cfg, p->voter, p->lock, p->owner,
	    &handlers, r, fault);
	r->lease = lease_new(p->loop, p->cfg, p->voter, p->lock, on_lease, r);
	if (r->lease == NULL)
		fault_set(fault, FAULT_SYSTEM, 0, "no memory");
	return r->waiter == NULL || r->lease == NULL ? -1 : 0;
}

/* The command's own end, where that is how the run ended. */
static void
read_status(const struct run *r)
{
	int status = job_status(&r->job);

	if (r->outcome->kind != OUTCOME_RAN)
		return;
	r->outcome->by_key = job_died_of_key(&r->job);
	if (WIFSIGNALED(status))
		r->outcome->signal = WTERMSIG(status);
	else
		r->outcome->status = WEXITSTATUS(status);
}

void
run(const struct run_parts *parts, struct outcome *outcome)
{
	struct run run = { .p = parts, .outcome = outcome }, *r = &run;

	r->started_at = clock_now();
	outcome->kind = OUTCOME_ERROR;
	outcome->hold_ms = -1;
	if (prepare(r, &outcome->fault) == -1)
		goto out;
	waiter_start(r->waiter);
	/* While the server's answer is under way. */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1); /* Linux 3.4 */
	if (job_start_guard(&r->job, &outcome->fault) == -1) {
		r->setup_failed = true;
		waiter_leave(r->waiter);
	}
	loop_run(parts->loop);
	/* Who got the lock from us goes first: our end can wait. */
	sched_yield();
	read_status(r);
out:
	if (r->acquired_at != 0)
		snprintf(outcome->token, sizeof(outcome->token), "%s",
		    parts->lock->token);
	waiter_free(r->waiter);
	lease_free(r->lease);
	job_release(&r->job);
}
