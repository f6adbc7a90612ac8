/* SPDX-License-Identifier: MIT */
/*
 * job: the command as a job that is supervised: all its processes, the
 * signals they get, the patience with them, the terminal they borrow.
 */
#ifndef RLOCK_JOB_H
#define RLOCK_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "lives/child.h"
#include "lives/guard.h"
#include "lives/strays.h"
#include "lives/terminal.h"
#include "loop/loop.h"

enum job_event {
	JOB_ENDED,	/* its own process has ended, by itself */
	JOB_GONE,	/* it was to end, and no process of it is left */
	JOB_STOPPED,	/* its own process was stopped; job_stopped_by */
	JOB_KILL,	/* the time to end politely is over: KILL was sent */
	JOB_FORBIDDEN	/* the kernel forbids to signal it; told once */
};

typedef void (*job_fn)(void *arg, enum job_event);

#define JOB_HALTED_MAX 64

struct job {
	struct loop		*loop;
	struct child		 child;
	struct guard		 guard;
	struct terminal		 terminal;
	job_fn			 fn;
	void			*arg;
	struct strays		 strays;
	pid_t			 halted[JOB_HALTED_MAX]; /* strays; 0 ends */
	struct loop_timer	 kill;
	struct loop_timer	 poll;
	bool			 ending;
	bool			 forbidden;
	bool			 had_terminal;	/* when it ended */
};

/*
 * Prepare: nothing is started, but the line to the guard is there.  fn is called
 * from the loop and from job_reap, JOB_FORBIDDEN from any call that sends a
 * signal.  0, or -1 and a FAULT_SYSTEM.
 */
int job_init(struct job *, struct loop *, job_fn fn, void *arg,
    struct fault *);

/* End the guard, close what is open.  The command must have ended. */
void job_release(struct job *);

/*
 * Start the command; plan->guard is filled in here.  token_id: 32 bytes that
 * are in the environment in plan.  Errors as child_start.
 */
int job_start(struct job *, struct child_plan *plan, const char *token_id,
    struct fault *);

/* Look what has become of our children; to be called on SIGCHLD. */
void job_reap(struct job *);

/* Pass a signal on to its group; terminating ones are followed by CONT, so
 * that a stopped process gets them, unless held is set. */
void job_signal(struct job *, int signal, bool held);

/*
 * It is to end: from now on its end is that of all its processes (JOB_GONE),
 * and KILL is sent at kill_at at the latest.  Later calls bring that forward.
 */
void job_end_by(struct job *, int64_t kill_at);

/* KILL, now, to the group and its strays. */
void job_kill(struct job *);

/* Start the guard, before the command; keep: as of guard_start. */
int job_start_guard(struct job *, int keep, struct fault *);

/* Is its own process stopped, by whatever? */
bool job_is_stopped(const struct job *);

/* STOP, and CONT, to its group and to those of its strays that were not
 * stopped before. */
void job_halt(struct job *);
void job_continue(struct job *);

/* Lend it the terminal, if that is ours to lend, and continue it. */
bool job_lend_terminal(struct job *);

/* The signal that its own process was stopped by. */
int job_stopped_by(const struct job *);

/*
 * Did it die of a key (INT, QUIT) that the terminal would have sent to our
 * group, had the terminal not been lent?
 */
bool job_died_of_key(const struct job *);

/* Its status as of waitpid(2), after JOB_ENDED or JOB_GONE. */
int job_status(const struct job *);

#endif
