/* SPDX-License-Identifier: MIT */
/*
 * supervise: see supervise.h.  A switch of state by event.  From the start of
 * the command on nothing here gives up: whatever fails is answered within the
 * states, since dying would be worse.  It words nothing itself.
 */
#include "top/supervise.h"

#include <signal.h>

#include "base/clock.h"
#include "top/report.h"

#define AGAIN_MS 200
#define TSTP_MS 2000 /* a stop within that time is for a TSTP's sake */
#define GUARD_AFTER_MS 500

static enum config_on_lost
on_lost(const struct supervise *s)
{
	return s->cfg->on_lost;
}

static int64_t
after_grace(const struct supervise *s)
{
	return clock_add(clock_now(), s->cfg->kill_after_ms);
}

static void
tell_guard(struct supervise *s)
{
	if (on_lost(s) != ON_LOST_WARN)
		guard_until(&s->job->guard, lease_points(s->lease).kill_at);
}

/*
 * What is left behind when the command has run: the place stays taken until
 * --min-hold is over, by this host's clock; a success is remembered for --once.
 */
static struct lock_terms
terms(const struct supervise *s)
{
	const struct config *cfg = s->cfg;
	int64_t held_ms = clock_now() - s->held_at;
	struct lock_terms terms = { .run_ms = held_ms };

	if (s->outcome->kind == OUTCOME_ERROR)
		return terms; /* it did not start */
	if (held_ms < cfg->min_hold_ms)
		terms.cool_ms = cfg->min_hold_ms - held_ms;
	if (s->outcome->kind == OUTCOME_RAN && job_status(s->job) == 0)
		terms.done_ms = cfg->once_ms;
	return terms;
}

static void
release(struct supervise *s)
{
	struct lock_terms left = terms(s);

	s->state = SUPERVISE_RELEASING;
	loop_timer_clear(s->loop, &s->max_run);
	loop_timer_clear(s->loop, &s->pause);
	lease_give_back(s->lease, &left);
}

/* Tell the command to end, by KILL at kill_at at the latest. */
static void
stop_command(struct supervise *s, const char *why, int64_t kill_at)
{
	int signal = s->cfg->signal;

	s->state = SUPERVISE_STOPPING;
	report_stopping(why, signal);
	job_signal(s->job, signal, false);
	job_continue(s->job);
	job_end_by(s->job, kill_at);
}

/* Lost, or not proven in time, beyond doubt: no more patience. */
static void
kill_command(struct supervise *s)
{
	s->outcome->kind = OUTCOME_LOST;
	s->state = SUPERVISE_STOPPING;
	job_kill(s->job);
}

static void
lost_running(struct supervise *s, bool proven)
{
	struct timing_lease points = lease_points(s->lease);
	int64_t at = after_grace(s);

	s->told_lost = proven;
	report_lost(&s->outcome->fault, proven ? lease_holder(s->lease) : NULL,
	    on_lost(s) != ON_LOST_WARN);
	if (on_lost(s) == ON_LOST_WARN)
		return;
	s->outcome->kind = OUTCOME_LOST;
	stop_command(s, proven ? "the lock is lost" : "the lock is in doubt",
	    at < points.kill_at ? at : points.kill_at);
}

/* In doubt, with --on-lost pause. */
static void
pause_command(struct supervise *s)
{
	int64_t until =
	    clock_add(lease_points(s->lease).end_at, s->cfg->kill_after_ms);

	report_paused();
	/* Ours comes first: it can tell why. */
	guard_until(&s->job->guard, clock_add(until, GUARD_AFTER_MS));
	s->state = SUPERVISE_HALTED;
	s->paused = true;
	job_halt(s->job);
	loop_timer_set(s->loop, &s->pause, until);
}

/*
 * Stop as the job that we are would, the command with us, and prove the lock
 * when we are continued, before it is.
 */
static void
suspend(struct supervise *s, int signal, bool lent)
{
	bool whole = lent || signal != SIGTSTP;

	s->tstp_at = 0;
	/* All of it, also what minds no TSTP: nobody renews meanwhile. */
	job_halt(s->job);
	guard_until(&s->job->guard, CLOCK_NEVER);
	s->state = SUPERVISE_HALTED;
	s->paused = false;
	s->lend_again = lent;
	if (!terminal_stop_self(signal, whole) && signal != SIGTSTP) {
		/* Orphaned: nobody can give us the terminal.  It would be
		   stopped again at once: leave it so, until a CONT. */
		report_no_terminal();
		s->state = SUPERVISE_RUNNING;
		tell_guard(s);
		return;
	}
	lease_prove(s->lease);
}

static void
resume(struct supervise *s)
{
	tell_guard(s);
	loop_timer_clear(s->loop, &s->pause);
	if (s->terminated_at != 0) {
		s->state = SUPERVISE_STOPPING;
		job_continue(s->job);
		return;
	}
	s->state = SUPERVISE_RUNNING;
	if (!s->lend_again || !job_lend_terminal(s->job))
		job_continue(s->job);
	s->lend_again = false;
}

/*
 * TERM or INT from a process: the command has --kill-after from the first one
 * on; another one ends that.  timeout(1) sends two within microseconds (to its
 * child and to its group), and means one.
 */
static void
terminate(struct supervise *s)
{
	int64_t now = clock_now();

	if (s->terminated_at == 0) {
		s->terminated_at = now;
		job_end_by(s->job, after_grace(s));
	} else if (now - s->terminated_at >= AGAIN_MS)
		job_kill(s->job);
}

static bool
wants_terminal(const struct supervise *s)
{
	int signal = job_stopped_by(s->job);

	return signal == SIGTTIN || signal == SIGTTOU;
}

static void
command_stopped(struct supervise *s)
{
	int signal = job_stopped_by(s->job);
	bool lent = terminal_take_back(&s->job->terminal);

	if (wants_terminal(s) && job_lend_terminal(s->job))
		return;
	if (wants_terminal(s))
		suspend(s, signal, false);
	else if ((signal == SIGTSTP && lent) ||
	    (s->tstp_at != 0 && clock_now() - s->tstp_at < TSTP_MS))
		suspend(s, SIGTSTP, lent);
	/* Else by STOP, from outside: that stops nobody but the command. */
}

static void
while_running(struct supervise *s, enum supervise_event event)
{
	switch (event) {
	case SUPERVISE_TERMINATE:
		s->state = SUPERVISE_STOPPING;
		terminate(s);
		break;
	case SUPERVISE_RENEWED:
		tell_guard(s);
		break;
	case SUPERVISE_DOUBT:
		if (on_lost(s) == ON_LOST_PAUSE)
			pause_command(s);
		else
			lost_running(s, false);
		break;
	case SUPERVISE_LOST:
		lost_running(s, true);
		break;
	case SUPERVISE_LAST:
	case SUPERVISE_KILLED:
	case SUPERVISE_PAUSE_OVER:
		break; /* with warn; else DOUBT came before */
	case SUPERVISE_MAX_RUN:
		s->outcome->kind = OUTCOME_TIMEOUT;
		stop_command(s, "--max-run is over", after_grace(s));
		break;
	case SUPERVISE_ENDED:
	case SUPERVISE_GONE:
		release(s);
		break;
	case SUPERVISE_STOPPED:
		command_stopped(s);
		break;
	}
}

/* The lock may be gone, and nothing of the command runs. */
static void
not_proven(struct supervise *s, bool proven_lost)
{
	s->told_lost = proven_lost;
	report_lost(&s->outcome->fault,
	    proven_lost ? lease_holder(s->lease) : NULL,
	    on_lost(s) != ON_LOST_WARN);
	if (on_lost(s) == ON_LOST_WARN)
		resume(s);
	else
		kill_command(s); /* without CONT: it sees nothing any more */
}

static void
while_halted(struct supervise *s, enum supervise_event event)
{
	switch (event) {
	case SUPERVISE_TERMINATE:
		terminate(s);
		break;
	case SUPERVISE_RENEWED:
		if (s->paused)
			report_resumed();
		resume(s);
		break;
	case SUPERVISE_DOUBT:
		break; /* the proof is under way */
	case SUPERVISE_LAST:
		if (!s->paused)
			not_proven(s, false);
		break;
	case SUPERVISE_LOST:
		not_proven(s, true);
		break;
	case SUPERVISE_PAUSE_OVER:
		not_proven(s, false);
		break;
	case SUPERVISE_MAX_RUN:
		s->outcome->kind = OUTCOME_TIMEOUT;
		s->state = SUPERVISE_STOPPING;
		job_kill(s->job);
		break;
	case SUPERVISE_ENDED:
	case SUPERVISE_GONE:
		/* Paused, it can't have ended by itself: the guard. */
		if (s->paused && s->terminated_at == 0)
			s->outcome->kind = OUTCOME_LOST;
		release(s);
		break;
	case SUPERVISE_KILLED:
		s->state = SUPERVISE_STOPPING;
		break;
	case SUPERVISE_STOPPED:
		break; /* by us */
	}
}

static void
while_stopping(struct supervise *s, enum supervise_event event)
{
	switch (event) {
	case SUPERVISE_TERMINATE:
		terminate(s);
		break;
	case SUPERVISE_RENEWED:
		tell_guard(s);
		break;
	case SUPERVISE_DOUBT:
		if (on_lost(s) != ON_LOST_WARN)
			job_end_by(s->job, lease_points(s->lease).kill_at);
		break;
	case SUPERVISE_LAST:
	case SUPERVISE_LOST:
		/* Somebody else may run already. */
		if (on_lost(s) != ON_LOST_WARN)
			job_kill(s->job);
		break;
	case SUPERVISE_ENDED:
	case SUPERVISE_GONE:
		release(s);
		break;
	case SUPERVISE_STOPPED:
		/* Its last words may need the terminal. */
		terminal_take_back(&s->job->terminal);
		if (wants_terminal(s))
			(void)job_lend_terminal(s->job); /* KILL ends it */
		break;
	case SUPERVISE_MAX_RUN:
	case SUPERVISE_KILLED:
	case SUPERVISE_PAUSE_OVER:
		break; /* it is being stopped */
	}
}

void
supervise_handle(struct supervise *s, enum supervise_event event)
{
	switch (s->state) {
	case SUPERVISE_RUNNING:
		while_running(s, event);
		break;
	case SUPERVISE_HALTED:
		while_halted(s, event);
		break;
	case SUPERVISE_STOPPING:
		while_stopping(s, event);
		break;
	case SUPERVISE_NOTHING:
	case SUPERVISE_RELEASING:
		break; /* there is no command */
	}
}

static void
on_max_run(void *arg)
{
	supervise_handle(arg, SUPERVISE_MAX_RUN);
}

static void
on_pause(void *arg)
{
	supervise_handle(arg, SUPERVISE_PAUSE_OVER);
}

void
supervise_init(struct supervise *s, struct loop *loop, const struct config *cfg,
    struct job *job, struct outcome *outcome)
{
	*s = (struct supervise) {
		.loop = loop, .cfg = cfg, .job = job, .outcome = outcome
	};
	loop_timer_init(&s->max_run, on_max_run, s);
	loop_timer_init(&s->pause, on_pause, s);
	s->pause.urgent = true;
}

int
supervise_start(struct supervise *s, struct lease *lease, int64_t held_at,
    struct child_plan *plan, const char *token_id)
{
	s->lease = lease;
	s->held_at = held_at;
	tell_guard(s);
	if (job_start(s->job, plan, token_id, &s->outcome->fault) == -1) {
		s->outcome->kind = OUTCOME_ERROR;
		release(s);
		return -1;
	}
	s->state = SUPERVISE_RUNNING;
	s->outcome->kind = OUTCOME_RAN;
	if (s->cfg->max_run_ms > 0)
		loop_timer_set(s->loop, &s->max_run,
		    clock_add(clock_now(), s->cfg->max_run_ms));
	return 0;
}

/* The command's signal to rlock, while the lock is held. */
void
supervise_signal(struct supervise *s, int signal, bool asked)
{
	bool held = s->state == SUPERVISE_HALTED;

	if (signal == SIGTSTP) {
		if (s->state != SUPERVISE_RUNNING)
			return; /* stopped already, or about to end */
		s->tstp_at = clock_now();
		if (job_is_stopped(s->job)) {
			/* No news of a stop will come. */
			suspend(s, SIGTSTP,
			    terminal_take_back(&s->job->terminal));
			return;
		}
	}
	/* What continues it is the proof of the lock, nothing else. */
	if (signal == SIGCONT && held)
		return;
	job_signal(s->job, signal, held);
	if (asked && (signal == SIGTERM || signal == SIGINT))
		supervise_handle(s, SUPERVISE_TERMINATE);
}
