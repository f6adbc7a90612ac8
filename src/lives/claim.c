/* SPDX-License-Identifier: MIT */
/*
 * claim: see claim.h.  It must not know when or why there is another try.
 */
#include "lives/claim.h"

#include "core/answer.h"

static int
fresh_token(struct claim *c, struct fault *fault)
{
	c->tried = c->unsure = c->stale = false;
	lock_begin(c->lock);
	if (token_make(c->owner, c->lock->token) == 0)
		return 0;
	return fault_set(fault, FAULT_SYSTEM, 0, "no random numbers");
}

int
claim_init(struct claim *c, const struct config *cfg, struct quorum *quorum,
    struct lock *lock, const struct token_owner *owner, struct fault *fault)
{
	*c = (struct claim) {
		.cfg = cfg, .quorum = quorum, .lock = lock, .owner = owner
	};
	return fresh_token(c, fault);
}

enum lock_op
claim_full_op(const struct claim *c, const struct patience *patience)
{
	/* Independent servers have no common order. */
	if (patience_one_try(patience) || c->cfg->servers > 1)
		return LOCK_ASK;
	return c->deaf ? LOCK_QUEUE : LOCK_JOIN;
}

enum lock_op
claim_first_op(const struct claim *c, const struct patience *patience)
{
	return c->tried || patience->queued ? claim_full_op(c, patience) :
	    lock_takes_fast(c->lock)	    ? LOCK_TAKE :
					      LOCK_ASK;
}

void
claim_ask(struct claim *c, enum lock_op op)
{
	c->tried = true;
	quorum_ask(c->quorum, c->lock, op, c->cfg->command_timeout_ms, false);
	lock_asked(c->lock);
}

bool
claim_is_known(const struct claim *c, bool asking)
{
	return c->unsure || (asking && quorum_has_sent(c->quorum));
}

void
claim_failed(struct claim *c, enum voter_failure why)
{
	switch (why) {
	case VOTER_UNREACHED:
		/* Nothing was sent, and nothing shall be. */
		quorum_drop(c->quorum);
		break;
	case VOTER_BROKEN:
		c->unsure = true;
		break;
	case VOTER_LOGIN:
		/* Executed all the same, and still open: to be undone there. */
		c->unsure = true;
		break;
	case VOTER_SILENT:
		quorum_abandon(c->quorum, c->lock, LOCK_RELEASE);
		c->unsure = c->stale = true;
		break;
	}
}

void
claim_clean(struct claim *c)
{
	quorum_ask(c->quorum, c->lock, LOCK_RELEASE, c->cfg->command_timeout_ms,
	    false);
}

int
claim_cleaned(struct claim *c, struct fault *fault)
{
	return fresh_token(c, fault);
}

void
claim_give_back(struct claim *c, int64_t limit_ms)
{
	quorum_ask(c->quorum, c->lock, LOCK_RELEASE, limit_ms, true);
}

bool
claim_given_back(struct claim *c, const struct reply *reply, int64_t limit_ms)
{
	struct answer answer;

	answer_read(c->lock, LOCK_RELEASE, reply, &answer);
	if (answer.verdict != VERDICT_FULL)
		return true;
	claim_give_back(c, limit_ms);
	return false;
}
