/* SPDX-License-Identifier: MIT */
/*
 * local_watch: tells when a lock's file was touched, or closed by somebody:
 * then the lock may be free.
 */
#ifndef RLOCK_LOCAL_WATCH_H
#define RLOCK_LOCAL_WATCH_H

#include <stdbool.h>

#include "loop/loop.h"

struct local_watch {
	struct loop		*loop;
	struct loop_watch	 events;	/* inotify(7) */
	struct loop_timer	 again;
	void			(*fn)(void *arg);
	void			*arg;
	int			 watched;	/* its number; -1: none */
};

void local_watch_init(struct local_watch *, struct loop *,
    void (*fn)(void *), void *arg);
void local_watch_release(struct local_watch *);

/*
 * Tell of the file name in folder from now on, instead of any other.  False
 * when the system has no watches left: then it has to be looked at now and
 * then.
 */
bool local_watch_start(struct local_watch *, const char *folder,
    const char *name);

#endif
