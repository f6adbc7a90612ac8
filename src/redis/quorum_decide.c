/* SPDX-License-Identifier: MIT */
/*
 * quorum_decide: what a round comes to, and what follows from it for the
 * servers that voted otherwise, or not at all.
 */
#include "redis/quorum_parts.h"

#include "redis/codec.h"
#include "redis/say.h"

/* Not got: who granted it, or may have, gets it back. */
static void
clean_up(struct quorum *q)
{
	struct member *m;

	for (m = q->members; m < q->members + q->count; m++)
		if (m->granted || m->maybe)
			member_undo(m);
}

void
member_regrant(struct member *m)
{
	m->lock.nested = false;
	member_ask(m, LOCK_ASK, true);
}

static void
regrant_all(struct quorum *q)
{
	struct member *m;

	for (m = q->members; m < q->members + q->count; m++)
		if (*member_vote(m) == VOTE_GONE ||
		    *member_vote(m) == VOTE_ABSENT)
			member_regrant(m);
}

void
quorum_tell_failure(struct quorum *q, enum voter_failure why)
{
	struct fault fault;
	int i, ours = 0;

	for (i = 0; i < q->count; i++)
		ours += q->votes[i] == VOTE_OURS;
	fault_set(&fault, q->fault.code, 0, "no quorum: %d of %d servers, %s%s",
	    ours, q->count,
	    q->round == ROUND_TAKING ? "not enough for the lock: " : "",
	    q->fault.text);
	q->handlers->failed(q->arg, why, q->hopeless ? &q->fault : &fault);
}

static void
tell_answer(struct quorum *q, enum ballot result)
{
	enum lock_op op = q->round == ROUND_TAKING ? LOCK_ASK :
	    q->round == ROUND_KEEPING		   ? LOCK_RENEW :
						     LOCK_RELEASE;
	struct buf text = { 0 };
	struct reply *reply = NULL;
	struct fault fault;
	int64_t sent_at = q->sent_at;
	int status, i;

	/* An answer may be to an earlier question of the same kind. */
	for (i = 0; i < q->count; i++)
		if (q->votes[i] == VOTE_OURS && q->members[i].sent_at < sent_at)
			sent_at = q->members[i].sent_at;
	if (result == BALLOT_OURS)
		status = say_ours(&text, -1);
	else if (result == BALLOT_HELD)
		status = say_held(&text, q->holder, q->left_ms);
	else
		status = say_gone(&text);
	if (status == 0)
		reply = say_reply(&text);
	buf_release(&text);
	if (reply == NULL) {
		fault_set(&fault, FAULT_UNAVAILABLE, 0, "no memory");
		q->handlers->failed(q->arg, VOTER_SILENT, &fault);
		return;
	}
	q->handlers->answer(q->arg, op, sent_at, reply, false);
	codec_drop(reply);
}

enum ballot
quorum_count(const struct quorum *q)
{
	switch (q->round) {
	case ROUND_TAKING:
		return q->hopeless ? BALLOT_REFUSED :
				     ballot_of_taking(q->votes, q->count);
	case ROUND_KEEPING:
		return ballot_of_keeping(q->votes, q->count);
	case ROUND_RELEASING:
		return ballot_of_release(q->votes, q->count);
	case ROUND_LOOKING:
		break;
	}
	return BALLOT_OPEN;
}

void
quorum_decide(struct quorum *q)
{
	enum ballot result = quorum_count(q);

	if (result == BALLOT_OPEN)
		return;
	q->asking = false;
	switch (result) {
	case BALLOT_OURS:
		if (q->round == ROUND_KEEPING)
			regrant_all(q);
		break;
	case BALLOT_HELD:
		if (q->round == ROUND_TAKING)
			clean_up(q);
		break;
	case BALLOT_GONE:
		break;
	case BALLOT_REFUSED:
		quorum_tell_failure(q, VOTER_LOGIN);
		return;
	case BALLOT_AWAY:
		quorum_tell_failure(q, VOTER_SILENT);
		return;
	case BALLOT_OPEN:
		return;
	}
	tell_answer(q, result);
}
