/* SPDX-License-Identifier: MIT */
/*
 * waiter_parts: what the files of waiter share, and nobody else may know.
 */
#ifndef RLOCK_WAITER_PARTS_H
#define RLOCK_WAITER_PARTS_H

#include "core/patience.h"
#include "lives/claim.h"
#include "lives/waiter.h"

enum state {
	STATE_ASKING,	/* an acquire is under way */
	STATE_QUEUED,	/* in line; a message or the timer is next */
	STATE_PAUSING,	/* before the next try */
	STATE_CLEANING, /* the release of an abandoned token is */
	STATE_LEAVING,	/* the release that ends it is under way */
	STATE_OVER
};

struct waiter {
	struct loop *loop;
	const struct config *cfg;
	struct quorum *quorum;
	struct lock *lock;
	const struct waiter_handlers *handlers;
	void *arg;
	enum state state;
	struct patience patience;
	struct loop_timer timer; /* look, pause, or end */
	struct loop_timer deadline;
	struct claim claim;
	bool away; /* told so */
	bool told; /* that we wait, of several servers */
	int64_t retries;
	char holder[TOKEN_MAX];
	struct fault fault; /* the last one */
	/* how it will end */
	enum waiter_end end;
	int64_t sent_at;
};

/* The end; by waiter_end_with, what the server may know of us is undone
 * before, by waiter_give_up as what was seen says. */
void waiter_finish(struct waiter *, enum waiter_end);
void waiter_end_with(struct waiter *, enum waiter_end);
void waiter_give_up(struct waiter *);

/* Ask for a place in line, or whatever there is instead of one. */
void waiter_ask_full(struct waiter *);

void waiter_set_deadline(struct waiter *, bool polling);

/* The server could not be asked, or can't answer now: later again. */
void waiter_trouble(struct waiter *, const struct fault *);

/* waiter_answer: read the reply to an acquire. */
void waiter_read(struct waiter *, enum lock_op, int64_t sent_at,
    const struct reply *);

/* Wait in line; left_ms and rank are what the server said last. */
void waiter_stand(struct waiter *, int64_t left_ms, int64_t rank);

#endif
