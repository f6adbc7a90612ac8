/* SPDX-License-Identifier: MIT */
/*
 * ballot: see ballot.h.
 */
#include "core/ballot.h"

struct counts {
	int open, ours, held, gone, away, refused, absent;
};

static struct counts
count_votes(const enum vote *votes, int count)
{
	struct counts c = { .open = 0 };
	int i;

	for (i = 0; i < count; i++)
		switch (votes[i]) {
		case VOTE_OPEN:
			c.open++;
			break;
		case VOTE_OURS:
			c.ours++;
			break;
		case VOTE_HELD:
			c.held++;
			break;
		case VOTE_GONE:
			c.gone++;
			break;
		case VOTE_AWAY:
			c.away++;
			break;
		case VOTE_REFUSED:
			c.refused++;
			break;
		case VOTE_ABSENT:
			c.absent++;
			break;
		}
	return c;
}

int
ballot_majority(int count)
{
	return count / 2 + 1;
}

enum ballot
ballot_of_taking(const enum vote *votes, int count)
{
	struct counts c = count_votes(votes, count);
	int majority = ballot_majority(count);

	if (c.ours >= majority)
		return BALLOT_OURS;
	if (c.ours + c.open >= majority)
		return BALLOT_OPEN;
	/* Too few to have a say at all is no holder in the way. */
	if (c.held > 0 && c.ours + c.held >= majority)
		return BALLOT_HELD;
	if (c.held > 0 && c.ours + c.held + c.open >= majority)
		return BALLOT_OPEN;
	return count - c.refused < majority ? BALLOT_REFUSED : BALLOT_AWAY;
}

enum ballot
ballot_of_keeping(const enum vote *votes, int count)
{
	struct counts c = count_votes(votes, count);
	int majority = ballot_majority(count);

	if (c.ours >= majority)
		return BALLOT_OURS;
	if (c.ours + c.open + c.away + c.refused < majority)
		return c.held > 0 ? BALLOT_HELD : BALLOT_GONE;
	return c.open > 0 ? BALLOT_OPEN : BALLOT_AWAY;
}

enum ballot
ballot_of_release(const enum vote *votes, int count)
{
	struct counts c = count_votes(votes, count);
	enum ballot kept = ballot_of_keeping(votes, count);

	if (c.open > 0)
		return BALLOT_OPEN;
	if (kept == BALLOT_AWAY &&
	    count - c.away - c.refused >= ballot_majority(count))
		return BALLOT_OURS;
	return kept;
}
