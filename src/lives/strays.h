/* SPDX-License-Identifier: MIT */
/*
 * strays: processes of the command that left its group but not its session:
 * timeout(1), shells with job control, GNU parallel and nested runs make
 * groups of their own, which a KILL to the command's group does not reach.
 */
#ifndef RLOCK_STRAYS_H
#define RLOCK_STRAYS_H

#include <sys/types.h>

struct strays {
	pid_t	 session;	/* theirs; others are daemons, and spared */
	pid_t	 group;		/* the command's: counted, but not signalled */
	pid_t	 root;		/* they descend from it, ... */
	pid_t	 spared;	/* (it is none of them itself) */
	char	 mark[64];	/* ... or have this in their environment,
				   since a death in between cuts the descent */
};

/*
 * Send signal (0: none) to each.  Returns how many there are, together with
 * the processes of the group, zombies not counted: nobody may ever reap them.
 * -1 without /proc.  See proc(5), "stat" and "environ".
 */
int strays_signal(const struct strays *, int signal);

#endif
