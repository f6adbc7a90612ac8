/* SPDX-License-Identifier: MIT */
/*
 * quorum_look: what several servers say of a lock, told as one: what a majority
 * says is so, and what none does is a lock that nobody holds.
 */
#include "redis/quorum_parts.h"

#include <string.h>

#include "core/snapshot.h"
#include "redis/codec.h"
#include "redis/say.h"

static void
end_look(struct quorum *q)
{
	int i, told = 0, open = 0, refused = 0;
	struct buf text = { 0 };
	struct reply *reply = NULL;

	for (i = 0; i < q->count; i++) {
		told += q->votes[i] == VOTE_OURS;
		open += q->votes[i] == VOTE_OPEN;
		refused += q->votes[i] == VOTE_REFUSED;
	}
	if (open > 0)
		return;
	q->asking = false;
	if (told >= ballot_majority(q->count) && say_free(&text) == 0)
		reply = say_reply(&text);
	buf_release(&text);
	if (reply != NULL)
		q->handlers->answer(q->arg, q->op, q->sent_at, reply, false);
	else
		quorum_tell_failure(q,
		    q->count - refused < ballot_majority(q->count) ?
			VOTER_LOGIN :
			VOTER_SILENT);
	codec_drop(reply);
}

void
quorum_look(struct member *m, const struct reply *reply)
{
	struct quorum *q = m->quorum;
	struct snapshot_holder holder;
	struct snapshot snapshot;
	struct fault fault;
	int i, same = 0;

	if (!q->asking)
		return;
	if (reply == NULL) {
		end_look(q);
		return;
	}
	if (reply_error(reply) != NULL ||
	    snapshot_read(&snapshot, reply, &fault) == -1) {
		*member_vote(m) = reply_error(reply) != NULL &&
			refusal_of(reply_error(reply), &fault) == REFUSAL_AWAY ?
		    VOTE_AWAY :
		    VOTE_REFUSED;
		member_note_fault(m, &fault, false);
		end_look(q);
		return;
	}
	*member_vote(m) = VOTE_OURS;
	m->seen[0] = '\0';
	if (snapshot.holder_count > 0) {
		snapshot_holder(&snapshot, 0, &holder);
		memcpy(m->seen, holder.token, sizeof(m->seen));
	}
	for (i = 0; i < q->count; i++)
		same += q->votes[i] == VOTE_OURS &&
		    strcmp(q->members[i].seen, m->seen) == 0;
	if (same < ballot_majority(q->count)) {
		end_look(q);
		return;
	}
	q->asking = false;
	q->handlers->answer(q->arg, q->op, q->sent_at, reply, false);
}
