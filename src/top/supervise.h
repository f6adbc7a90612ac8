/* SPDX-License-Identifier: MIT */
/*
 * supervise: the command under the lock.  The only place where the life of the
 * lock and the life of the command meet.
 */
#ifndef RLOCK_SUPERVISE_H
#define RLOCK_SUPERVISE_H

#include <stdbool.h>

#include "lives/job.h"
#include "lives/lease.h"
#include "loop/loop.h"
#include "words/config.h"
#include "words/outcome.h"

enum supervise_state {
	SUPERVISE_NOTHING,	/* no command yet */
	SUPERVISE_RUNNING,
	SUPERVISE_HALTED,	/* the command is stopped by us, until the
				   lock is proven: after Ctrl-Z, or in doubt
				   with --on-lost pause */
	SUPERVISE_STOPPING,	/* the command is told to end */
	SUPERVISE_RELEASING	/* nothing of it is left; the lease is told to
				   give the lock back */
};

enum supervise_event {
	SUPERVISE_TERMINATE,	/* TERM or INT from a process */
	SUPERVISE_RENEWED,	/* these four as in lease.h */
	SUPERVISE_DOUBT,
	SUPERVISE_LAST,
	SUPERVISE_LOST,
	SUPERVISE_MAX_RUN,
	SUPERVISE_PAUSE_OVER,	/* --kill-after beyond the lease */
	SUPERVISE_ENDED,	/* the command, by itself */
	SUPERVISE_GONE,		/* the command, told to */
	SUPERVISE_STOPPED,	/* by a signal */
	SUPERVISE_KILLED	/* the time to end politely was over */
};

struct supervise {
	struct loop		*loop;
	const struct config	*cfg;
	struct job		*job;
	struct lease		*lease;
	struct outcome		*outcome;	/* kind and fault are set */
	enum supervise_state	 state;
	struct loop_timer	 max_run;
	struct loop_timer	 pause;
	int64_t			 held_at;	/* the lock, since then */
	bool			 told_lost;	/* proven, and said so */
	int64_t			 tstp_at;	/* a TSTP came; 0: none */
	int64_t			 terminated_at;	/* TERM or INT came; 0: none */
	/* while halted */
	bool			 paused;	/* by --on-lost pause */
	bool			 lend_again;	/* the terminal */
};

/* All pointers outlive it. */
void supervise_init(struct supervise *, struct loop *,
    const struct config *, struct job *, struct outcome *);

/*
 * Start the command under a lease, held since held_at.  0, or -1: it could not be started, the
 * outcome says why, and the lock is being given back.
 */
int supervise_start(struct supervise *, struct lease *, int64_t held_at,
    struct child_plan *, const char *token_id);

/* A signal that was sent to rlock; asked: by a process, not a terminal. */
void supervise_signal(struct supervise *, int signal, bool asked);

/* Something happened; see the switch. */
void supervise_handle(struct supervise *, enum supervise_event);

#endif
