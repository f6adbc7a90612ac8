/* SPDX-License-Identifier: MIT */
/*
 * child: see child.h.  vfork, since it costs a fifth of fork and tells of a
 * failed exec without a pipe; posix_spawn can neither set PDEATHSIG nor join
 * the guard.  Between vfork and exec only what is async-signal-safe runs.
 */
#include "lives/child.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs in the command's process; returns only when exec has failed. */
static void
become(const struct child_plan *plan)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	int fd;

	(void)setpgid(0, 0); /* can't fail in a fresh process */
	guard_join(plan->guard);
	/* A second net, should the guard be gone: prctl(2) says when it
	   works. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (fd = 0; fd <= 2; fd++)
		if (plan->closed & 1U << fd)
			close(fd);
	if (plan->ignore_chld)
		sigaction(SIGCHLD, &ignore, NULL);
	sigprocmask(SIG_SETMASK, plan->mask, NULL);
	execvpe(plan->argv[0], plan->argv, plan->envp);
}

static int
exec_fault(const char *name, int error, struct fault *fault)
{
	switch (error) {
	case ENOENT:
		return fault_set(fault, FAULT_NOENT, error, "can't run %.200s",
		    name);
	case ENOMEM:
	case EAGAIN:
		return fault_set(fault, FAULT_SYSTEM, error, "can't run %.200s",
		    name);
	}
	return fault_set(fault, FAULT_NOEXEC, error, "can't run %.200s", name);
}

int
child_start(struct child *c, const struct child_plan *plan, struct fault *fault)
{
	volatile int error = 0;
	pid_t pid;

	*c = (struct child) { .group = 0 };
	pid = vfork();
	if (pid == -1)
		return fault_set(fault, FAULT_SYSTEM, errno,
		    "can't start a process for the command");
	if (pid == 0) {
		become(plan);
		error = errno;
		_exit(127);
	}
	if (error != 0) {
		while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
			continue;
		return exec_fault(plan->argv[0], error, fault);
	}
	c->group = pid;
	return 0;
}

int
child_signal(const struct child *c, int signal)
{
	return kill(-c->group, signal) == -1 && errno == EPERM ? -1 : 0;
}

bool
child_group_exists(const struct child *c)
{
	return kill(-c->group, 0) == 0 || errno == EPERM;
}

unsigned int
child_reap(struct child *c, struct guard *guard)
{
	unsigned int changes = 0;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) >
	    0) {
		if ((WIFEXITED(status) || WIFSIGNALED(status)) &&
		    guard_reaped(guard, pid))
			continue;
		if (pid != c->group || c->ended)
			continue; /* an orphan, or a guard that was stopped */
		c->stopped = WIFSTOPPED(status);
		if (WIFCONTINUED(status))
			continue;
		if (c->stopped) {
			c->stopped_by = WSTOPSIG(status);
			changes |= CHILD_STOPPED;
		} else {
			c->ended = true;
			c->status = status;
			changes |= CHILD_ENDED;
		}
	}
	return changes;
}
