/* SPDX-License-Identifier: MIT */
/*
 * supervise: see supervise.h.  A switch of state by event.  From the start of
 * the command on nothing here gives up: whatever fails is answered within the
 * states, since dying would be worse.  It prints nothing itself.
 */
#include "top/supervise.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "lives/child.h"
#include "lives/lease.h"
#include "lives/waiter.h"
#include "top/environment.h"
#include "top/report.h"

#define GROUP_POLL_MS	20

enum state {
	STATE_WAITING,		/* for the lock */
	STATE_STARTING,		/* it is ours; the command is not started */
	STATE_RUNNING,
	STATE_STOPPING,		/* the command is told to end */
	STATE_RELEASING,	/* nothing of it is left */
	STATE_OVER
};

enum event {
	EVENT_TERMINATE,	/* TERM or INT from a process */
	EVENT_RENEWED,
	EVENT_DOUBT,
	EVENT_LAST,
	EVENT_LOST,
	EVENT_MAX_RUN,
	EVENT_KILL,		/* the time to end politely is over */
	EVENT_ENDED,		/* the command's own process */
	EVENT_POLL		/* look whether its group has ended */
};

struct run {
	const struct supervise_parts	*p;
	struct outcome			*outcome;
	enum state			 state;
	struct waiter			*waiter;
	struct lease			*lease;
	struct guard			 guard;
	struct child			 child;
	int64_t				 started_at;
	int64_t				 acquired_at;
	struct loop_timer		 kill;
	struct loop_timer		 max_run;
	struct loop_timer		 poll;
	int				 interrupted;	/* signal, or 0 */
	bool				 setup_failed;
	bool				 forbidden;	/* told so */
};

static bool
stops_on_loss(const struct run *r)
{
	return r->p->cfg->on_lost == ON_LOST_KILL;
}

static void
send_signal(struct run *r, int signal)
{
	if (child_signal(&r->child, signal) == 0)
		return;
	if (!r->forbidden)
		report_forbidden();
	r->forbidden = true;
}

static void
kill_group(struct run *r)
{
	loop_timer_clear(r->p->loop, &r->kill);
	send_signal(r, SIGKILL);
}

/* Bring the KILL forward to `at`, or set it. */
static void
kill_at(struct run *r, int64_t at)
{
	if (at <= clock_now())
		kill_group(r);
	else if (at < r->kill.at)
		loop_timer_set(r->p->loop, &r->kill, at);
}

static int64_t
after_grace(const struct run *r)
{
	return clock_add(clock_now(), r->p->cfg->kill_after_ms);
}

/* Tell the command to end; CONT, so that a stopped one gets it. */
static void
stop_command(struct run *r, const char *why)
{
	int signal = r->p->cfg->signal;

	r->state = STATE_STOPPING;
	report_stopping(why, signal);
	send_signal(r, signal);
	send_signal(r, SIGCONT);
}

static void
release(struct run *r)
{
	r->state = STATE_RELEASING;
	loop_timer_clear(r->p->loop, &r->kill);
	loop_timer_clear(r->p->loop, &r->max_run);
	loop_timer_clear(r->p->loop, &r->poll);
	guard_dismiss(&r->guard);
	lease_give_back(r->lease);
}

/* The command's own process has ended: what is its group doing? */
static void
poll_group(struct run *r)
{
	if (!child_group_alive(&r->child))
		release(r);
	else
		loop_timer_set(r->p->loop, &r->poll,
		    clock_add(clock_now(), GROUP_POLL_MS));
}

static void
lose(struct run *r)
{
	r->outcome->kind = OUTCOME_LOST;
}

/* Lost or in doubt while it runs. */
static void
lost_running(struct run *r, bool proven)
{
	struct timing_lease points = lease_points(r->lease);
	int64_t at = after_grace(r);
	bool stopping = stops_on_loss(r);

	report_lost(proven ? lease_holder(r->lease) : NULL, stopping);
	if (!stopping)
		return;
	lose(r);
	stop_command(r, proven ? "the lock is lost" : "the lock is in doubt");
	kill_at(r, at < points.kill_at ? at : points.kill_at);
}

static void
tell_guard(struct run *r)
{
	if (stops_on_loss(r))
		guard_until(&r->guard, lease_points(r->lease).kill_at);
}

static void
while_running(struct run *r, enum event event)
{
	switch (event) {
	case EVENT_TERMINATE:
		r->state = STATE_STOPPING;
		kill_at(r, after_grace(r));
		break;
	case EVENT_RENEWED:
		tell_guard(r);
		break;
	case EVENT_DOUBT:
		lost_running(r, false);
		break;
	case EVENT_LOST:
		lost_running(r, true);
		break;
	case EVENT_LAST:
		break; /* with warn; else DOUBT came before */
	case EVENT_MAX_RUN:
		r->outcome->kind = OUTCOME_TIMEOUT;
		stop_command(r, "--max-run is over");
		kill_at(r, after_grace(r));
		break;
	case EVENT_ENDED:
		release(r);
		break;
	case EVENT_KILL:
	case EVENT_POLL:
		break; /* not set here */
	}
}

static void
while_stopping(struct run *r, enum event event)
{
	switch (event) {
	case EVENT_TERMINATE:
	case EVENT_KILL:
		kill_group(r);
		break;
	case EVENT_RENEWED:
		tell_guard(r);
		break;
	case EVENT_DOUBT:
		if (stops_on_loss(r))
			kill_at(r, lease_points(r->lease).kill_at);
		break;
	case EVENT_LAST:
	case EVENT_LOST:
		/* Somebody else may run already: no more patience. */
		if (stops_on_loss(r))
			kill_group(r);
		break;
	case EVENT_ENDED:
	case EVENT_POLL:
		if (r->child.ended)
			poll_group(r);
		break;
	case EVENT_MAX_RUN:
		break; /* it is being stopped */
	}
}

static void
handle(struct run *r, enum event event)
{
	switch (r->state) {
	case STATE_RUNNING:
		while_running(r, event);
		break;
	case STATE_STOPPING:
		while_stopping(r, event);
		break;
	case STATE_WAITING:
	case STATE_STARTING:
	case STATE_RELEASING:
	case STATE_OVER:
		break; /* there is no command */
	}
}

static void
over(struct run *r)
{
	r->state = STATE_OVER;
	if (r->lease != NULL) {
		r->outcome->hold_ms = clock_now() - r->acquired_at;
		r->outcome->renewals = lease_renewals(r->lease);
	}
	loop_stop(r->p->loop);
}

static void
found_lost(struct run *r)
{
	struct outcome *o = r->outcome;

	if (o->kind == OUTCOME_LOST)
		return; /* told when it was */
	report_lost(lease_holder(r->lease), false);
	if (stops_on_loss(r) && o->kind == OUTCOME_RAN)
		lose(r);
}

static void
on_lease(void *arg, enum lease_event event, const struct fault *fault)
{
	struct run *r = arg;

	switch (event) {
	case LEASE_RENEWED:
		handle(r, EVENT_RENEWED);
		break;
	case LEASE_RETRYING:
		report_renewal_failed(fault,
		    lease_points(r->lease).end_at - clock_now());
		break;
	case LEASE_DOUBT:
		handle(r, EVENT_DOUBT);
		break;
	case LEASE_LAST:
		handle(r, EVENT_LAST);
		break;
	case LEASE_LOST:
		handle(r, EVENT_LOST);
		break;
	case LEASE_FOUND_LOST:
		found_lost(r);
		over(r);
		break;
	case LEASE_UNHEARD:
		report_unheard();
		over(r);
		break;
	case LEASE_RELEASED:
		over(r);
		break;
	case LEASE_STUCK:
		report_stuck(fault, r->p->cfg->ttl_ms);
		over(r);
		break;
	}
}

static int
start_command(struct run *r, struct fault *fault)
{
	const struct config *cfg = r->p->cfg;
	struct child_plan plan = {
		.argv = cfg->command,
		.mask = loop_old_mask(r->p->loop),
		.ignore_chld = r->p->ignore_chld,
		.closed = r->p->closed,
		.guard = &r->guard
	};
	char **env = environment_new(environ, cfg->key, r->p->lock->token);
	int status;

	if (env == NULL)
		return fault_set(fault, FAULT_SYSTEM, 0, "no memory");
	plan.envp = env;
	tell_guard(r);
	status = child_start(&r->child, &plan, fault);
	environment_free(env);
	return status;
}

static void
acquired(struct run *r, int64_t sent_at)
{
	struct outcome *o = r->outcome;

	r->state = STATE_STARTING;
	r->acquired_at = clock_now();
	o->wait_ms = r->acquired_at - r->started_at;
	report_acquired(o->wait_ms);
	r->lease = lease_new(r->p->loop, r->p->cfg, r->p->voter, r->p->lock,
	    sent_at, on_lease, r);
	/* A signal that came before the start means: do not start. */
	loop_read_signals(r->p->loop);
	if (r->interrupted != 0) {
		o->kind = OUTCOME_INTERRUPTED;
		o->signal = r->interrupted;
		release(r);
		return;
	}
	if (start_command(r, &o->fault) == -1) {
		o->kind = OUTCOME_ERROR;
		release(r);
		return;
	}
	r->state = STATE_RUNNING;
	o->kind = OUTCOME_RAN;
	if (r->p->cfg->max_run_ms > 0)
		loop_timer_set(r->p->loop, &r->max_run,
		    clock_add(clock_now(), r->p->cfg->max_run_ms));
}

static void
on_waiter_ended(void *arg, enum waiter_end end, int64_t sent_at,
    const struct fault *fault)
{
	struct run *r = arg;
	struct outcome *o = r->outcome;

	o->retries = waiter_retries(r->waiter);
	token_describe(waiter_holder(r->waiter),
	    strlen(waiter_holder(r->waiter)), o->holder, sizeof(o->holder));
	if (waiter_holder(r->waiter)[0] == '\0')
		o->holder[0] = '\0';
	switch (end) {
	case WAITER_ACQUIRED:
		acquired(r, sent_at);
		return;
	case WAITER_BUSY:
		o->kind = OUTCOME_BUSY;
		break;
	case WAITER_FAILED:
		o->kind = outcome_kind_of(fault);
		o->fault = *fault;
		break;
	case WAITER_LEFT:
		o->kind = r->setup_failed ? OUTCOME_ERROR :
		    OUTCOME_INTERRUPTED;
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

/* Does the signal end a process that does not mind it? */
static bool
terminates(int signal)
{
	switch (signal) {
	case SIGCHLD:
	case SIGCONT:
	case SIGURG:
	case SIGWINCH:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
		return false;
	}
	return true;
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
forward(struct run *r, const struct signalfd_siginfo *info)
{
	int signal = (int)info->ssi_signo;
	bool asked = info->ssi_code <= 0; /* by a process, not a terminal */

	send_signal(r, signal);
	switch (signal) {
	case SIGHUP:
	case SIGINT:
	case SIGQUIT:
	case SIGTERM:
		send_signal(r, SIGCONT);
		break;
	}
	if (asked && (signal == SIGTERM || signal == SIGINT))
		handle(r, EVENT_TERMINATE);
}

static void
on_signal(void *arg, const struct signalfd_siginfo *info)
{
	struct run *r = arg;
	int signal = (int)info->ssi_signo;

	if (signal == SIGCHLD) {
		if (child_reap(&r->child, &r->guard) || r->child.ended)
			handle(r, EVENT_ENDED);
		return;
	}
	/* The timer behind a message; a pipe that we wrote to ourselves. */
	if (info->ssi_code == SI_TIMER ||
	    (signal == SIGPIPE && info->ssi_code > 0) ||
	    inherited_ignored(signal))
		return;
	switch (r->state) {
	case STATE_WAITING:
		if (terminates(signal) && r->interrupted == 0) {
			r->interrupted = signal;
			waiter_leave(r->waiter);
		}
		break;
	case STATE_STARTING:
		if (terminates(signal))
			r->interrupted = signal;
		break;
	case STATE_RUNNING:
	case STATE_STOPPING:
		forward(r, info);
		break;
	case STATE_RELEASING:
		if (terminates(signal))
			lease_abandon(r->lease);
		break;
	case STATE_OVER:
		break;
	}
}

static void
on_kill(void *arg)
{
	handle(arg, EVENT_KILL);
}

static void
on_max_run(void *arg)
{
	handle(arg, EVENT_MAX_RUN);
}

static void
on_poll(void *arg)
{
	handle(arg, EVENT_POLL);
}

static int
prepare(struct run *r, struct fault *fault)
{
	static const struct waiter_handlers handlers = {
		.ended = on_waiter_ended, .news = on_waiter_news
	};
	const struct supervise_parts *p = r->p;

	loop_timer_init(&r->kill, on_kill, r);
	loop_timer_init(&r->max_run, on_max_run, r);
	loop_timer_init(&r->poll, on_poll, r);
	loop_on_signal(p->loop, on_signal, r);
	if (guard_init(&r->guard, fault) == -1)
		return -1;
	r->waiter = waiter_new(p->loop, p->cfg, p->voter, p->lock, p->owner,
	    &handlers, r, fault);
	return r->waiter == NULL ? -1 : 0;
}

void
supervise_run(const struct supervise_parts *parts, struct outcome *outcome)
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
	if (guard_start(&r->guard, &outcome->fault) == -1) {
		r->setup_failed = true;
		waiter_leave(r->waiter);
	}
	if (loop_run(parts->loop, &outcome->fault) == -1) {
		/* poll(2) itself fails: the guard ends the command. */
		outcome->kind = OUTCOME_ERROR;
		goto out;
	}
	if (outcome->kind == OUTCOME_RAN) {
		if (WIFSIGNALED(r->child.status))
			outcome->signal = WTERMSIG(r->child.status);
		else
			outcome->status = WEXITSTATUS(r->child.status);
	}
out:
	if (parts->lock->token[0] != '\0')
		snprintf(outcome->token, sizeof(outcome->token), "%s",
		    parts->lock->token);
	waiter_free(r->waiter);
	lease_free(r->lease);
	guard_release(&r->guard);
}
