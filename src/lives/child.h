/* SPDX-License-Identifier: MIT */
/*
 * child: the life of one command: its process group, its start, its signals,
 * its end.
 */
#ifndef RLOCK_CHILD_H
#define RLOCK_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"
#include "lives/guard.h"

struct child {
	pid_t	 group;		/* 0 until it was started */
	bool	 ended;		/* the command's own process was reaped */
	int	 status;	/* as of waitpid(2), once ended */
	bool	 stopped;	/* its own process is, now ... */
	int	 stopped_by;	/* ... by this signal, or was last */
};

/* What child_reap saw of the command's own process; a set. */
enum child_change {
	CHILD_ENDED = 1,
	CHILD_STOPPED = 2
};

/* How the command is to find the world. */
struct child_plan {
	char *const	*argv;
	char *const	*envp;
	const sigset_t	*mask;		/* the caller's */
	bool		 ignore_chld;	/* the caller ignored SIGCHLD */
	unsigned int	 closed;	/* bit n: descriptor n was closed */
	struct guard	*guard;
};

/*
 * Start the command in a group of its own, joined to the guard from its first
 * instruction on; returns when exec(3) has succeeded or failed.  All signals
 * must be blocked.  0, or -1 and a fault: FAULT_NOENT, FAULT_NOEXEC, or
 * FAULT_SYSTEM (no process, no memory); then no process is left.
 */
int child_start(struct child *, const struct child_plan *, struct fault *);

/*
 * Send a signal to the whole group.  0; -1 when the kernel forbids it.
 * Nobody left to send it to is no error.
 */
int child_signal(const struct child *, int signal);

/* Is any process of the group left, were it a zombie? */
bool child_group_exists(const struct child *);

/*
 * Reap every child of ours that has ended: the command, the guard, orphans
 * that became ours as their sub-reaper.  Returns a set of enum child_change.
 */
unsigned int child_reap(struct child *, struct guard *);

#endif
