/* SPDX-License-Identifier: MIT */
/*
 * strays: processes of the command that left its group but not its session:
 * timeout(1), shells with job control, GNU parallel and nested runs make
 * groups of their own, which a KILL to the command's group does not reach.
 */
#ifndef RLOCK_STRAYS_H
#define RLOCK_STRAYS_H

#include <sys/types.h>

#define STRAYS_ELDERS 32

struct strays {
	pid_t	 session;	/* theirs; others are daemons, and spared */
	pid_t	 group;		/* the command's: counted, but not signalled */
	pid_t	 root;		/* they descend from it (it is none of them) or
				   from the group, ... */
	char	 mark[64];	/* ... or from who has this in its environment;
				   "": nobody.  A death in between cuts the
				   descent */
	pid_t	 elders[STRAYS_ELDERS];	/* older children of the root, spared
				   with all that descends from them; 0 ends */
};

/*
 * Fill in session, root and elders, for a command that is to be started by
 * this process: exec(2) may have left it children of another program.
 */
void strays_init(struct strays *);

/*
 * Send signal (0: none) to each.  Returns how many there are, together with
 * the processes of the group, zombies not counted: nobody may ever reap them.
 * -1 without /proc.  See proc(5), "stat" and "environ".
 */
int strays_signal(const struct strays *, int signal);

/*
 * STOP each that is not stopped already, and write which into halted[max], 0
 * at the end.  They may be continued one by one.
 */
void strays_halt(const struct strays *, pid_t *halted, int max);

#endif
