/* SPDX-License-Identifier: MIT */
/*
 * quorum_vote: how a server's answer, or its failure, becomes a vote.
 */
#include "redis/quorum_parts.h"

#include <string.h>

enum vote *
member_vote(const struct member *m)
{
	return &m->quorum->votes[m - m->quorum->members];
}

void
member_ask(struct member *m, enum lock_op op, bool aside)
{
	m->op = op;
	m->aside = aside;
	voter_ask(m->voter, &m->lock, op, m->limit_ms, op != LOCK_STATUS);
	if (op == LOCK_TAKE || op == LOCK_ASK) {
		m->maybe = true;
		m->silent = false;
		lock_asked(&m->lock);
	}
}

void
member_ask_release(struct member *m, bool aside)
{
	member_ask(m, lock_frees_fast(&m->lock) ? LOCK_FREE : LOCK_RELEASE,
	    aside);
}

void
member_undo(struct member *m)
{
	if (m->silent)
		voter_abandon(m->voter, &m->lock, LOCK_RELEASE);
	else
		member_ask_release(m, true);
	m->granted = m->maybe = m->silent = false;
}

void
member_note_fault(struct member *m, const struct fault *fault, bool named)
{
	struct quorum *q = m->quorum;

	if (q->fault.code != FAULT_NONE)
		return;
	q->fault = *fault;
	if (!named)
		fault_prefix(&q->fault, "%s", m->endpoint->shown);
}

static void
note_holder(struct member *m, const struct answer *a)
{
	struct quorum *q = m->quorum;

	if (a->holder[0] == '\0')
		return;
	memcpy(q->holder, a->holder, sizeof(q->holder));
}

static void
vote(struct member *m, enum vote vote)
{
	*member_vote(m) = vote;
	if (m->quorum->asking)
		quorum_decide(m->quorum);
}

/* What is wrong with it is wrong with all: the others' votes don't matter. */
static void
give_up(struct member *m, const struct fault *fault)
{
	struct quorum *q = m->quorum;

	if (!q->asking)
		return;
	q->fault.code = FAULT_NONE;
	member_note_fault(m, fault, false);
	q->hopeless = true;
}

/* A fresh token, there already: by another name it is a server that has just
 * granted it. */
static bool
is_twin(const struct member *m, const struct answer *a)
{
	return m->op == LOCK_TAKE && strcmp(a->holder, m->lock.token) == 0;
}

static void
taking(struct member *m, const struct answer *a)
{
	struct fault fault;

	m->granted = a->verdict == VERDICT_OURS;
	switch (a->verdict) {
	case VERDICT_OURS:
		m->maybe = false;
		vote(m, VOTE_OURS);
		break;
	case VERDICT_FULL:
		member_ask(m, LOCK_ASK, !m->quorum->asking);
		break;
	case VERDICT_HELD:
		m->maybe = false;
		if (is_twin(m, a)) {
			fault_set(&fault, FAULT_UNFIT, 0,
			    "it is the same server as another one that was "
			    "given (a quorum is of independent servers)");
			give_up(m, &fault);
			vote(m, VOTE_REFUSED);
			break;
		}
		note_holder(m, a);
		vote(m, VOTE_HELD);
		break;
	case VERDICT_ERROR:
		m->maybe = false;
		member_note_fault(m, &a->fault, false);
		/* It waits for a run above, or is no server of its own. */
		if (a->fault.code == FAULT_USAGE ||
		    strstr(a->fault.text, "READONLY") != NULL)
			give_up(m, &a->fault);
		vote(m, a->refusal == REFUSAL_AWAY ? VOTE_AWAY : VOTE_REFUSED);
		break;
	case VERDICT_GONE:
	case VERDICT_DONE:
		break; /* no acquire of this kind says so */
	}
}

static void
keeping(struct member *m, const struct answer *a)
{
	switch (a->verdict) {
	case VERDICT_OURS:
		m->granted = true;
		vote(m, VOTE_OURS);
		break;
	case VERDICT_FULL:
		member_ask(m, LOCK_RENEW,
		    false); /* the lock knows now how to ask */
		break;
	case VERDICT_HELD:
		m->granted = false;
		note_holder(m, a);
		vote(m, VOTE_HELD);
		break;
	case VERDICT_GONE:
		m->granted = false;
		if (m->quorum->asking)
			vote(m, VOTE_GONE);
		else if (quorum_count(m->quorum) == BALLOT_OURS)
			member_regrant(m);
		break;
	case VERDICT_DONE:
	case VERDICT_ERROR:
		member_note_fault(m, &a->fault, false);
		vote(m, VOTE_AWAY);
		break;
	}
}

static void
releasing(struct member *m, const struct answer *a)
{
	switch (a->verdict) {
	case VERDICT_OURS:
		m->granted = false;
		m->released = true;
		vote(m, VOTE_OURS);
		break;
	case VERDICT_FULL:
		/* "Not there" does not mean lost from here on. */
		m->released = m->released || a->released;
		member_ask(m, LOCK_RELEASE, false);
		break;
	case VERDICT_HELD:
	case VERDICT_GONE:
		m->granted = false;
		note_holder(m, a);
		vote(m,
		    m->released			   ? VOTE_OURS :
			a->verdict == VERDICT_HELD ? VOTE_HELD :
						     VOTE_GONE);
		break;
	case VERDICT_DONE:
	case VERDICT_ERROR:
		member_note_fault(m, &a->fault, false);
		vote(m, VOTE_AWAY);
		break;
	}
}

/* The end of what was given back, or given once more. */
static void
answered_aside(struct member *m, const struct answer *a)
{
	m->aside = false;
	if (m->op != LOCK_ASK) {
		if (a->verdict == VERDICT_FULL)
			member_ask(m, LOCK_RELEASE, true);
		else
			m->granted = false;
		return;
	}
	m->maybe = false;
	m->granted = a->verdict == VERDICT_OURS;
}

static void
on_answer(void *arg, enum lock_op op, int64_t sent_at,
    const struct reply *reply, bool deaf)
{
	struct member *m = arg;
	struct answer answer;

	m->sent_at = sent_at;
	(void)deaf; /* nothing here listens */
	if (op == LOCK_STATUS) {
		quorum_look(m, reply);
		return;
	}
	answer_read(&m->lock, op, reply, &answer);
	if (m->aside)
		answered_aside(m, &answer);
	else
		switch (m->quorum->round) {
		case ROUND_TAKING:
			taking(m, &answer);
			break;
		case ROUND_KEEPING:
			keeping(m, &answer);
			break;
		case ROUND_RELEASING:
			releasing(m, &answer);
			break;
		case ROUND_LOOKING:
			break;
		}
}

static void
on_message(void *arg, const char *text, size_t len)
{
	/* Nothing here listens. */
	(void)arg;
	(void)text;
	(void)len;
}

static void
on_failed(void *arg, enum voter_failure why, const struct fault *fault)
{
	struct member *m = arg;
	struct quorum *q = m->quorum;
	bool refused = why == VOTER_LOGIN && fault->code != FAULT_UNAVAILABLE;

	if (why == VOTER_UNREACHED) {
		voter_drop(m->voter); /* nothing was sent, nothing shall be */
		m->maybe = false;
	}
	if (why != VOTER_UNREACHED)
		m->silent = m->maybe;
	if (m->aside || *member_vote(m) != VOTE_OPEN) {
		/* An idle connection: the server may have lost the key. */
		if (!m->aside && !q->asking && m->granted)
			q->handlers->failed(q->arg, why, fault);
		m->aside = false;
		return;
	}
	/* Carried out all the same, as somebody else: it is no vote. */
	if (why == VOTER_LOGIN && m->maybe)
		member_undo(m);
	else if (why == VOTER_LOGIN)
		voter_drop(m->voter);
	if (q->round == ROUND_RELEASING && why != VOTER_UNREACHED)
		m->released = true;
	member_note_fault(m, fault, true);
	*member_vote(m) = refused ? VOTE_REFUSED : VOTE_AWAY;
	if (!q->asking)
		return;
	if (q->round == ROUND_LOOKING)
		quorum_look(m, NULL);
	else
		quorum_decide(q);
}

const struct voter_handlers quorum_voter_handlers = {
	.answer = on_answer, .message = on_message, .failed = on_failed
};
