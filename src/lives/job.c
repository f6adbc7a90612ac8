/* SPDX-License-Identifier: MIT */
/*
 * job: see job.h.  At a normal end what the command left behind is spared;
 * once it is to end, all of it has to, strays included, since the lock must
 * not be free while anything of it still works.
 */
#include "lives/job.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define POLL_MS 20

static void
send_signal(struct job *j, int signal)
{
	if (j->child.group == 0 || child_signal(&j->child, signal) == 0 ||
	    j->forbidden)
		return;
	j->forbidden = true;
	j->fn(j->arg, JOB_FORBIDDEN);
}

/* Has all of it ended?  KILL follows to what came up after the last one. */
static void
check_gone(struct job *j)
{
	bool killed = j->kill.at == CLOCK_NEVER;
	int left = strays_signal(&j->strays, killed ? SIGKILL : 0);

	if (left == 0) /* once more: who forks meanwhile may escape a look */
		left = strays_signal(&j->strays, killed ? SIGKILL : 0);
	/* Without /proc the group is all that can be seen of it. */
	if (left > 0 || (left == -1 && child_group_exists(&j->child))) {
		loop_timer_set(j->loop, &j->poll,
		    clock_add(clock_now(), POLL_MS));
		return;
	}
	loop_timer_clear(j->loop, &j->kill);
	guard_dismiss(&j->guard);
	j->fn(j->arg, JOB_GONE);
}

static void
on_poll(void *arg)
{
	check_gone(arg);
}

static void
on_kill(void *arg)
{
	struct job *j = arg;

	job_kill(j);
	j->fn(j->arg, JOB_KILL);
}

int
job_init(struct job *j, struct loop *loop, job_fn fn, void *arg,
    struct fault *fault)
{
	*j = (struct job) { .loop = loop, .fn = fn, .arg = arg };
	loop_timer_init(&j->kill, on_kill, j);
	loop_timer_init(&j->poll, on_poll, j);
	j->kill.urgent = true;
	terminal_init(&j->terminal);
	strays_init(&j->strays);
	return guard_init(&j->guard, fault);
}

void
job_release(struct job *j)
{
	loop_timer_clear(j->loop, &j->kill);
	loop_timer_clear(j->loop, &j->poll);
	terminal_release(&j->terminal);
	guard_release(&j->guard);
}

int
job_start(struct job *j, struct child_plan *plan, const char *token_id,
    struct fault *fault)
{
	char mark[64];
	int status;

	snprintf(mark, sizeof(mark), "%.32s", token_id);
	guard_mark(&j->guard, mark);
	plan->guard = &j->guard;
	status = child_start(&j->child, plan, fault);
	j->strays.group = j->child.group;
	return status;
}

void
job_reap(struct job *j)
{
	unsigned int changes = child_reap(&j->child, &j->guard);

	if ((changes & CHILD_STOPPED) != 0 && !j->child.ended)
		j->fn(j->arg, JOB_STOPPED);
	if ((changes & CHILD_ENDED) != 0)
		j->had_terminal = terminal_take_back(&j->terminal);
	if (j->ending) {
		if (j->child.ended)
			check_gone(j);
	} else if ((changes & CHILD_ENDED) != 0) {
		/* The group's number may be somebody else's from now on. */
		guard_dismiss(&j->guard);
		j->fn(j->arg, JOB_ENDED);
	}
}

void
job_signal(struct job *j, int signal, bool held)
{
	send_signal(j, signal);
	switch (signal) {
	case SIGHUP:
	case SIGINT:
	case SIGQUIT:
	case SIGTERM:
		if (!held)
			send_signal(j, SIGCONT);
		break;
	}
}

void
job_kill(struct job *j)
{
	loop_timer_clear(j->loop, &j->kill);
	j->ending = true;
	send_signal(j, SIGKILL);
	strays_signal(&j->strays, SIGKILL);
	if (j->child.ended)
		loop_timer_set(j->loop, &j->poll, clock_now());
}

void
job_end_by(struct job *j, int64_t kill_at)
{
	bool killed = j->ending && j->kill.at == CLOCK_NEVER;

	j->ending = true;
	if (kill_at <= clock_now())
		job_kill(j);
	else if (!killed && kill_at < j->kill.at)
		loop_timer_set(j->loop, &j->kill, kill_at);
}

int
job_start_guard(struct job *j, int keep, struct fault *fault)
{
	return guard_start(&j->guard, &j->strays, keep, fault);
}

bool
job_is_stopped(const struct job *j)
{
	return j->child.stopped;
}

void
job_halt(struct job *j)
{
	send_signal(j, SIGSTOP);
	strays_halt(&j->strays, j->halted, JOB_HALTED_MAX);
}

void
job_continue(struct job *j)
{
	int i;

	send_signal(j, SIGCONT);
	for (i = 0; j->halted[i] != 0; i++)
		kill(j->halted[i], SIGCONT);
	j->halted[0] = 0;
}

bool
job_lend_terminal(struct job *j)
{
	if (!terminal_is_ours(&j->terminal))
		return false;
	terminal_lend(&j->terminal, j->child.group);
	if (!j->terminal.lent)
		return false;
	job_continue(j);
	return true;
}

int
job_stopped_by(const struct job *j)
{
	return j->child.stopped_by;
}

bool
job_died_of_key(const struct job *j)
{
	int status = j->child.status;

	return j->had_terminal && WIFSIGNALED(status) &&
	    (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGQUIT);
}

int
job_status(const struct job *j)
{
	return j->child.status;
}
