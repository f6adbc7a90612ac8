/* SPDX-License-Identifier: MIT */
/*
 * ballot: what the votes of several independent servers come to.  A lock is
 * held when a majority of all has granted it, whoever is dead or silent.
 * Source: the Redlock algorithm, "Distributed Locks with Redis".
 */
#ifndef RLOCK_BALLOT_H
#define RLOCK_BALLOT_H

enum vote {
	VOTE_OPEN,	/* asked, not answered */
	VOTE_OURS,	/* granted, proven, released */
	VOTE_HELD,	/* somebody else's */
	VOTE_GONE,	/* nobody's */
	VOTE_AWAY,	/* no answer: it may be ours */
	VOTE_REFUSED,	/* it can't be asked, or won't: it never is */
	VOTE_ABSENT	/* not asked: it is not ours */
};

enum ballot {
	BALLOT_OPEN,	/* more votes are needed */
	BALLOT_OURS,
	BALLOT_HELD,	/* no majority for us, and somebody has votes */
	BALLOT_GONE,	/* no majority for us */
	BALLOT_REFUSED,	/* ... since too many refuse */
	BALLOT_AWAY	/* can't be told: too many are silent */
};

/* Votes for a majority of count. */
int ballot_majority(int count);

/* Has a lock been got?  Decided as soon as what is open can't change it. */
enum ballot ballot_of_taking(const enum vote *, int count);

/*
 * Is a lock ours still?  Lost is only what can't be ours: those who are silent
 * may hold it for us.
 */
enum ballot ballot_of_keeping(const enum vote *, int count);

/*
 * Has it been released (BALLOT_OURS), or found lost?  Not before each has
 * voted; who is silent does not matter as long as the others are a majority,
 * which somebody else can have.
 */
enum ballot ballot_of_release(const enum vote *, int count);

#endif
