/* SPDX-License-Identifier: MIT */
/*
 * quorum_parts: what the files of quorum share, and nobody else may know.
 */
#ifndef RLOCK_QUORUM_PARTS_H
#define RLOCK_QUORUM_PARTS_H

#include "core/answer.h"
#include "core/ballot.h"
#include "redis/quorum.h"

enum round {
	ROUND_TAKING,
	ROUND_KEEPING,
	ROUND_RELEASING,
	ROUND_LOOKING
};

struct member {
	struct quorum *quorum;
	struct voter *voter;
	const struct endpoint *endpoint;
	struct lock lock; /* as this server knows it */
	bool granted;	  /* the last it said is that it is ours */
	bool maybe;	  /* an acquire may have been, or be yet, carried out */
	bool silent;	  /* ... on a connection that is given up */
	bool released;	  /* a release may have been, or part of one */
	bool aside;	  /* what it is asked has no part in the round */
	enum lock_op op;  /* it is asked */
	int64_t sent_at;  /* what it has answered last */
	int64_t limit_ms;
	char seen[TOKEN_MAX]; /* the holder, when it was looked at */
};

struct quorum {
	struct loop *loop;
	const struct config *cfg;
	const struct voter_handlers *handlers;
	void *arg;
	int count;
	struct member members[CONFIG_SERVERS_MAX];
	/* the round */
	bool asking;
	enum round round;
	enum lock_op op;
	int64_t sent_at;
	enum vote votes[CONFIG_SERVERS_MAX];
	char holder[TOKEN_MAX];
	int64_t left_ms;
	struct fault fault;	/* the first, of a server */
	bool hopeless;		/* it is for all of them */
	struct loop_timer soon; /* decide, with nobody to be asked */
};

/* Its vote in this round. */
enum vote *member_vote(const struct member *);

/* Ask it; aside: its answer has no part in the round. */
void member_ask(struct member *, enum lock_op op, bool aside);
void member_ask_release(struct member *, bool aside);

/*
 * Undo what it may have granted: the release goes out behind the acquire on the
 * same connection, and has no part in the round.  Not by closing that, too,
 * unless it is given up: a server that can't write the first answer reads no
 * more.
 */
void member_undo(struct member *);

/* The majority stands: it has lost the key, or never had it, and gets it. */
void member_regrant(struct member *);

/* Keep the first fault of a round; named: it says which server it is of. */
void member_note_fault(struct member *, const struct fault *, bool named);

/* quorum_vote: what voters call; arg is the member. */
extern const struct voter_handlers quorum_voter_handlers;

/* quorum_decide: end the round when it can be ended. */
void quorum_decide(struct quorum *);
enum ballot quorum_count(const struct quorum *);
void quorum_tell_failure(struct quorum *, enum voter_failure);

/* quorum_look: an answer to LOCK_STATUS; NULL: its failure is noted. */
void quorum_look(struct member *, const struct reply *);

#endif
