/* SPDX-License-Identifier: MIT */
/*
 * guard: a small process that ends the command when rlock no longer can: at
 * the last moment of the lease when rlock is stopped or starved, at once when
 * rlock is dead.  Dead is a line that was closed: nothing else tells in every
 * PID namespace and below every sub-reaper.
 */
#ifndef RLOCK_GUARD_H
#define RLOCK_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"
#include "lives/strays.h"

/* All that the guard knows, told anew as a whole whenever it changes. */
struct guard_orders {
	pid_t	 group;		/* the command's; 0: not started */
	int64_t	 kill_at;	/* CLOCK_NEVER: when rlock is gone */
	char	 mark[64];	/* see strays.h */
};

struct guard {
	pid_t	 pid;		/* 0: not running */
	int	 fd;		/* our end of the line to it, -1 */
	int	 guard_fd;	/* its end until guard_start, -1 */
	struct guard_orders orders;
};

/*
 * Make the line, so that a lack of descriptors shows before there is a lock.
 * 0, or -1 and a FAULT_SYSTEM.
 */
int guard_init(struct guard *, struct fault *);

/*
 * Fork the guard; strays as strays_init made it: in a session of its own, with
 * none of our descriptors but keep (-1: none at all; else what it stands for
 * lasts until the command has ended, too), all signals blocked (they must be
 * blocked by the caller).  It has nobody to guard until guard_join.  0, or -1
 * and a FAULT_SYSTEM.
 */
int guard_start(struct guard *, const struct strays *, int keep,
    struct fault *);

/*
 * What the command's processes have in their environment, at most 63 bytes;
 * told by guard_join.
 */
void guard_mark(struct guard *, const char *mark);

/*
 * It is to KILL the command's group, and its strays, at kill_at unless it is
 * told anew (CLOCK_NEVER: only when rlock is gone: when the loss is only to be
 * told, or rlock itself is suspended).  Told before the step it allows; before
 * the command has started, by guard_join.
 */
void guard_until(struct guard *, int64_t kill_at);

/*
 * To be called by the command's process between vfork and exec, when it leads
 * its group: from here on it is guarded, until the moment set.  Since vfork
 * shares the memory, rlock's *g knows the group from then on, too.
 * Async-signal-safe.
 */
void guard_join(struct guard *);

/* End the guard without waiting for it: the group's number is free to be
 * used by others from here on. */
void guard_dismiss(struct guard *);

/* Was it this child that ended?  Then it is forgotten. */
bool guard_reaped(struct guard *, pid_t pid);

/* End it and wait until it is gone. */
void guard_release(struct guard *);

#endif
