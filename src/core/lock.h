/* SPDX-License-Identifier: MIT */
/*
 * lock: the rules of one lock: which script to run with which arguments.  What
 * the server answers is read by answer.  No I/O, no clock.
 */
#ifndef RLOCK_LOCK_H
#define RLOCK_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/token.h"
#include "core/keys.h"

/* What can be asked of the server. */
enum lock_op {
	LOCK_TAKE,	/* take it if nobody holds it or waits */
	LOCK_JOIN,	/* take it, or stay in the queue and listen */
	LOCK_ASK,	/* take it or prove that it is ours; not queued */
	LOCK_QUEUE,	/* as LOCK_JOIN, but without listening */
	LOCK_RENEW,
	LOCK_FREE,	/* release it, if nobody waits */
	LOCK_RELEASE,	/* release it or leave the queue; serve who waits */
	LOCK_SYNC,	/* wait for the replicas to have what was written */
	LOCK_SCAN,	/* names of keys, by pattern, from cursor on */
	LOCK_CLIENTS,	/* the server's connections */
	LOCK_KILL,	/* end the connection whose number is cursor */
	LOCK_PLAIN,	/* a command that is no script: words */
	LOCK_STATUS,	/* read by core/snapshot, as BREAK is */
	LOCK_BREAK
};

#define LOCK_SHARED	(-1)	/* slots: any number, but nobody exclusively */

/* What kind of lock is wanted. */
struct lock_spec {
	const char	*prefix;
	const char	*key;
	int64_t		 ttl_ms;
	int		 slots;		/* 0: exclusive; LOCK_SHARED; N at most,
					   1 to 4096 */
	int		 replicas;	/* that LOCK_SYNC waits for, ... */
	int64_t		 sync_ms;	/* ... for so long */
	bool		 once;		/* not if it was done before */
	bool		 fence;		/* number the acquisition */
	const char	*above;		/* the tokens that we run under, blanks
					   between; what is none is left out */
};

/* How the lock is given back. */
struct lock_terms {
	int64_t		 cool_ms;	/* the place stays taken so long */
	int64_t		 done_ms;	/* "done" is remembered so long; 0: not */
	int64_t		 run_ms;	/* for the marker: how long it took */
};

struct lock {
	struct keys	 keys;
	int64_t		 ttl_ms;
	char		 ttl_text[24];
	char		 kind[8];	/* "x0", "s0" or "jN" */
	char		 replicas[12];
	char		 sync_ms[24];
	bool		 once;
	bool		 fence;
	char		*above;		/* "" when none */
	char		 token[TOKEN_MAX];
	char		 slot[8];	/* ours; "-1": none; "?": not known */
	char		 fence_text[24]; /* number of the acquisition, or "" */
	char		 ticket[24];	/* place in the queue; "0": none yet */
	bool		 crowded;	/* somebody waited at our last proof */
	bool		 nested;	/* others may be in it by nesting */
	struct lock_terms terms;
	/* SCAN and KILL only */
	char		 cursor[24];
	const char	*pattern;
	/* PLAIN only: NULL-ended, at most REQUEST_ARGS_MAX */
	const char	*const *words;
};

#define REQUEST_ARGS_MAX 16

/*
 * One script to run: EVAL's arguments.  The pointers are into the lock, the
 * request itself and static text, valid until one of them changes.
 */
struct request {
	int		 argc;
	const char	*argv[REQUEST_ARGS_MAX];
	char		 entry[TOKEN_MAX + 40];
	char		 numbers[3][24];
	bool		 listen;	/* subscribe to channel in the same
					   step (MULTI ... EXEC) */
	char		 channel[6 + TOKEN_ID_LEN + 1];
};

/*
 * 0, or -1 and a FAULT_SYSTEM without memory.  It has no token yet.
 * lock_release frees what it holds (not the lock).
 */
int lock_init(struct lock *, const struct lock_spec *, struct fault *);
void lock_release(struct lock *);

/* A new token is in place: forget what was known of the former. */
void lock_begin(struct lock *);

/* An acquire was sent: it may hold a slot, and which is not known. */
void lock_asked(struct lock *);

/* May the fast scripts be asked: one holder, and nothing to be settled when it
 * is taken (LOCK_TAKE); nothing when it is given back (LOCK_FREE)? */
bool lock_takes_fast(const struct lock *);
bool lock_frees_fast(const struct lock *);

/* Fill *request with what to send for op. */
void lock_request(const struct lock *, enum lock_op op, struct request *);

#endif
