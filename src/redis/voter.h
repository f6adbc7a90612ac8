/* SPDX-License-Identifier: MIT */
/*
 * voter: one server that has a vote on the lock (a single server is a quorum
 * of one).  It keeps one connection, replaces one that is presumed dead, and
 * asks one question at a time; when to ask again is the owner's to say.
 */
#ifndef RLOCK_VOTER_H
#define RLOCK_VOTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "core/lock.h"
#include "core/reply.h"
#include "loop/loop.h"
#include "words/config.h"

struct voter;

#define VOTER_BATCH_MAX	32

enum voter_failure {
	VOTER_UNREACHED,	/* not connected, nothing sent; it may still
				   come about */
	VOTER_BROKEN,		/* the connection broke, asked or idle */
	VOTER_SILENT,		/* no answer in time: it may still come */
	VOTER_LOGIN		/* the login was refused, and what was asked
				   was executed all the same; still open.  Of
				   local:, the lock's file is of no use */
};

struct voter_handlers {
	/* As for conn.  After VOTER_SILENT the answer may still come. */
	void	(*answer)(void *arg, enum lock_op op, int64_t sent_at,
		    const struct reply *, bool deaf);
	void	(*message)(void *arg, const char *text, size_t len); /* or ""
				   of local:, when the lock may be free */
	/* The question was not answered, or an idle connection broke. */
	void	(*failed)(void *arg, enum voter_failure,
		    const struct fault *);
};

/* cfg and endpoint, which of it all says where, outlive it.  NULL and a fault
 * without memory, or when the folder of local: is of no use. */
struct voter *voter_new(struct loop *, const struct config *cfg,
    const struct endpoint *endpoint, const char *conn_name,
    struct fault *);
void voter_free(struct voter *);

/* Whom to tell from now on; answers to earlier questions are dropped. */
void voter_set_owner(struct voter *, const struct voter_handlers *,
    void *arg);

/*
 * Ask: run op of lock on the server, connecting first if need be.  Handlers
 * are called from the loop only.  It ends in answer or failed, unless another
 * question follows first; answers to older questions of the same op count.
 * limit_ms: how long the answer may take once logged in (--connect-timeout
 * covers what comes before), or, with whole, all of it.
 */
void voter_ask(struct voter *, const struct lock *, enum lock_op op,
    int64_t limit_ms, bool whole);

/*
 * The same of count locks at once, 1 to VOTER_BATCH_MAX: sent in one go.  Each
 * answer is told, in the order of the locks, and has limit_ms from the one
 * before on; it ends with the last of them, or in failed.  No answer to an
 * older question counts.
 */
void voter_ask_each(struct voter *, const struct lock *locks, size_t count,
    enum lock_op op, int64_t limit_ms);

/*
 * The descriptor that keeps a lock of local: taken as long as any process has
 * it open; -1 for servers.
 */
int voter_fd(const struct voter *);

/* What has not come about, "... in time", of a question with no answer. */
const char *voter_lacks(const struct voter *);

/* Whether the current connection has sent anything yet. */
bool voter_has_sent(const struct voter *);

/*
 * Write op behind what was asked on the connections that may still carry it
 * out, and close them without waiting: the next question opens a new one.
 */
void voter_abandon(struct voter *, const struct lock *, enum lock_op op);

/* Close the connections; the next question opens a new one. */
void voter_drop(struct voter *);

/* Forget the question; its answer, if it comes, is dropped. */
void voter_cancel(struct voter *);

#endif
