/* SPDX-License-Identifier: MIT */
/*
 * loop: poll(2), timers and signals of the one thread that supervises.
 * Watches and timers live in their owners' structs; the loop only links them.
 * All timers hang on one timerfd on CLOCK_BOOTTIME, since poll's own timeout
 * stands still while the machine is suspended.  Signals are blocked and read
 * from a signalfd, so that nothing ever happens between two statements.
 */
#ifndef RLOCK_LOOP_H
#define RLOCK_LOOP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/signalfd.h>

#include "base/fault.h"

struct loop;

typedef void (*loop_fd_fn)(void *arg, short revents);
typedef void (*loop_timer_fn)(void *arg);
typedef void (*loop_signal_fn)(void *arg, const struct signalfd_siginfo *);

struct loop_watch {
	int		   fd;		/* -1 exactly when not watched */
	short		   events;	/* as for poll(2) */
	loop_fd_fn	   fn;
	void		  *arg;
	struct loop_watch *next;
};

struct loop_timer {
	int64_t		   at;		/* CLOCK_NEVER exactly when not set */
	bool		   urgent;	/* due before descriptors are read */
	loop_timer_fn	   fn;
	void		  *arg;
	struct loop_timer *next;
};

/*
 * Block all signals but the synchronous faults and make the descriptors, all
 * close-on-exec.  NULL and a FAULT_SYSTEM when there are none left.
 */
struct loop *loop_new(struct fault *);

/* Close the descriptors; the mask stays as loop_new set it.  NULL is fine. */
void loop_free(struct loop *);

/* The signal mask from before loop_new. */
const sigset_t *loop_old_mask(const struct loop *);

/* Call fn for each signal that arrives. */
void loop_on_signal(struct loop *, loop_signal_fn fn, void *arg);

/* Hand out the signals that have arrived by now, without waiting. */
void loop_read_signals(struct loop *);

/* Watch w->fd for w->events; all fields but next are the caller's. */
void loop_watch_add(struct loop *, struct loop_watch *w);

/* Forget w and set w->fd to -1; harmless when it is not watched. */
void loop_watch_drop(struct loop *, struct loop_watch *w);

/* Prepare a timer once before its first use; it is not set. */
void loop_timer_init(struct loop_timer *, loop_timer_fn fn, void *arg);

/* Let t go off once at the point `at`, replacing what was set before. */
void loop_timer_set(struct loop *, struct loop_timer *t, int64_t at);

/* Unset t; harmless when it is not set. */
void loop_timer_clear(struct loop *, struct loop_timer *t);

/*
 * Run until loop_stop.  Whenever poll returns, the clock is looked at first:
 * urgent timers that are due, then descriptors, then the other timers.
 * It never fails: from the start of the command on nothing may give up.
 */
void loop_run(struct loop *);
void loop_stop(struct loop *);

#endif
