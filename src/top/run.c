/* SPDX-License-Identifier: MIT */
/*
 * run: see run.h.  Puts waiter, lease, job and supervise in a row, and says
 * which signal goes to which of them.
 */
#include "top/run.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/effect.h"
#include "lives/job.h"
#include "lives/lease.h"
#include "top/environment.h"
#include "top/report.h"
#include "top/supervise.h"
#include "top/wait.h"

enum phase {
	PHASE_WAITING,	/* for the lock */
	PHASE_STARTING, /* it is ours; the command is not started */
	PHASE_HOLDING,	/* supervise has it */
	PHASE_OVER
};

struct run {
	const struct run_parts *p;
	struct session *s;
	struct outcome *outcome;
	enum phase phase;
	struct wait wait;
	struct lease *lease;
	struct job job;
	struct supervise supervise;
	int64_t acquired_at;
};

/* -1 where there is none, not when there was none left. */
static int64_t
margin_ms(const struct run *r)
{
	int64_t ms = lease_margin_ms(r->lease);

	if (endpoint_is_serverless(&r->s->cfg->endpoint))
		return -1;
	return ms > 0 ? ms : 0;
}

static void
over(struct run *r)
{
	r->phase = PHASE_OVER;
	if (r->acquired_at != 0) {
		r->outcome->hold_ms = clock_now() - r->acquired_at;
		r->outcome->renewals = lease_renewals(r->lease);
		r->outcome->margin_ms = margin_ms(r);
	}
	if (lease_holder(r->lease)[0] != '\0')
		token_describe(lease_holder(r->lease),
		    strlen(lease_holder(r->lease)), r->outcome->holder,
		    sizeof(r->outcome->holder));
	loop_stop(r->s->loop);
}

static void
found_lost(struct run *r)
{
	struct outcome *o = r->outcome;

	if (o->kind == OUTCOME_LOST || r->supervise.told_lost)
		return;
	report_lost(&o->fault, lease_holder(r->lease), false);
	if (r->s->cfg->on_lost != ON_LOST_WARN && o->kind == OUTCOME_RAN)
		o->kind = OUTCOME_LOST;
}

static void
on_lease(void *arg, enum lease_event event, const struct fault *fault)
{
	struct run *r = arg;

	switch (event) {
	case LEASE_RENEWED:
		report_renewed(lease_left_ms(r->lease));
		supervise_handle(&r->supervise, SUPERVISE_RENEWED);
		return;
	case LEASE_RETRYING:
		report_renewal_failed(fault, lease_left_ms(r->lease));
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
		report_stuck(fault, r->s->cfg->ttl_ms);
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
	const struct config *cfg = r->s->cfg;
	const struct lock *lock = &r->s->lock;
	struct environment words = { .key = cfg->given_key,
		.token = lock->token,
		.locked = cfg->endpoint.kind != ENDPOINT_NONE,
		.slot = lock->slot[0] == '-' ? "" : lock->slot,
		.fence = lock->fence_text };
	char shard[16] = "";
	struct child_plan plan = { .argv = cfg->command,
		.mask = loop_old_mask(r->s->loop),
		.ignore_chld = r->p->ignore_chld,
		.closed = r->p->closed };
	char **env;

	if (cfg->shard >= 0)
		snprintf(shard, sizeof(shard), "%d", cfg->shard);
	words.shard = shard;
	plan.envp = env = environment_new(environ, &words);
	if (env == NULL) {
		r->outcome->kind = OUTCOME_ERROR;
		fault_set(&r->outcome->fault, FAULT_SYSTEM, 0, "no memory");
		lease_give_back(r->lease, NULL);
		return;
	}
	/* It tells on failure: in the outcome. */
	(void)supervise_start(&r->supervise, r->lease, r->acquired_at, &plan,
	    lock->token + strlen(TOKEN_PREFIX));
	environment_free(env);
}

static void
on_wait_over(void *arg, bool acquired, int64_t sent_at)
{
	struct run *r = arg;
	struct outcome *o = r->outcome;

	if (!acquired) {
		over(r);
		return;
	}
	r->phase = PHASE_STARTING;
	r->acquired_at = clock_now();
	lease_hold(r->lease, sent_at);
	/* A signal that came before the start means: do not start. */
	loop_read_signals(r->s->loop);
	r->phase = PHASE_HOLDING;
	if (r->wait.interrupted != 0) {
		o->kind = OUTCOME_INTERRUPTED;
		o->signal = r->wait.interrupted;
		lease_give_back(r->lease, NULL);
	} else if (r->wait.unusable)
		lease_give_back(r->lease, NULL);
	else
		start_command(r);
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
	if (info->ssi_code == SI_TIMER)
		return;
	switch (r->phase) {
	case PHASE_WAITING:
	case PHASE_STARTING:
		wait_signal(&r->wait, info, r->phase == PHASE_WAITING);
		break;
	case PHASE_HOLDING:
		if (effect_of(signal) == EFFECT_IGNORED)
			break;
		if (r->supervise.state != SUPERVISE_RELEASING)
			supervise_signal(&r->supervise, signal,
			    info->ssi_code <= 0);
		else if (effect_of(signal) == EFFECT_ENDS)
			lease_abandon(r->lease);
		break;
	case PHASE_OVER:
		break;
	}
}

static int
prepare(struct run *r, struct fault *fault)
{
	struct session *s = r->s;

	loop_on_signal(s->loop, on_signal, r);
	supervise_init(&r->supervise, s->loop, s->cfg, &r->job, r->outcome);
	if (job_init(&r->job, s->loop, on_job, r, fault) == -1)
		return -1;
	if (wait_init(&r->wait, s, r->outcome, on_wait_over, r) == -1)
		return -1;
	r->lease = lease_new(s->loop, s->cfg, s->quorum, &s->lock, on_lease, r);
	if (r->lease == NULL)
		fault_set(fault, FAULT_SYSTEM, 0, "no memory");
	return r->lease == NULL ? -1 : 0;
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
	struct run run = {
		.p = parts, .s = parts->session, .outcome = outcome
	};
	struct run *r = &run;

	if (prepare(r, &outcome->fault) == -1)
		goto out;
	wait_start(&r->wait);
	/* While the server's answer is under way. */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1); /* Linux 3.4 */
	if (job_start_guard(&r->job, quorum_fd(r->s->quorum),
		&outcome->fault) == -1)
		wait_fail(&r->wait);
	loop_run(r->s->loop);
	/* Who got the lock from us goes first: our end can wait. */
	sched_yield();
	read_status(r);
out:
	wait_release(&r->wait);
	lease_free(r->lease);
	job_release(&r->job);
}
