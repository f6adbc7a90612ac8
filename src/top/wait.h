/* SPDX-License-Identifier: MIT */
/*
 * wait: the part of a run, or of --acquire, until the lock is ours or given
 * up: the waiter, what is told meanwhile, and the signals that end it.
 */
#ifndef RLOCK_WAIT_H
#define RLOCK_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/signalfd.h>

#include "lives/sync.h"
#include "lives/waiter.h"
#include "top/session.h"
#include "words/outcome.h"

/*
 * acquired: the lock is ours, from a proof that was sent at sent_at; else the
 * outcome says why not.  With interrupted or unusable set, it is to be given
 * back at once.
 */
typedef void (*wait_fn)(void *arg, bool acquired, int64_t sent_at);

struct wait {
	struct session		*session;
	struct outcome		*outcome;
	wait_fn			 fn;
	void			*arg;
	struct waiter		*waiter;
	struct loop_timer	 tick;		/* the wait line */
	int64_t			 started_at;
	int			 interrupted;	/* by this signal, or 0 */
	bool			 failed;	/* the outcome is known */
	bool			 unusable;	/* too few replicas have it */
	int64_t			 sent_at;
	struct sync		 sync;
};

/* Nothing is sent yet; fn is called once, from the loop.  0, or -1 and a
 * fault in the outcome; to be released in both cases. */
int wait_init(struct wait *, struct session *, struct outcome *, wait_fn fn,
    void *arg);
void wait_release(struct wait *);

/* Send the first request. */
void wait_start(struct wait *);

/* Give up for a reason that is in the outcome already. */
void wait_fail(struct wait *);

/*
 * A signal came.  What would end a process is noted, and ends the wait if
 * waiting; what would stop it does, if waiting.
 */
void wait_signal(struct wait *, const struct signalfd_siginfo *,
    bool waiting);

#endif
