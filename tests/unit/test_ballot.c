/* SPDX-License-Identifier: MIT */
/* ballot: what votes come to; o open, y ours, h held, g gone, a away,
 * r refused, - not asked. */
#include "core/ballot.h"

#include <string.h>

#include "check.h"

#define MAX 7

static int
read_votes(const char *text, enum vote *votes)
{
	static const char letters[] = "oyhgar-";
	int n;

	for (n = 0; text[n] != '\0'; n++)
		votes[n] = (enum vote)(strchr(letters, text[n]) - letters);
	return n;
}

static void
taking(void)
{
	static const struct {
		const char *votes;
		enum ballot result;
	} rows[] = {
		{ "ooooo", BALLOT_OPEN },
		{ "yyooo", BALLOT_OPEN },
		{ "yyyoo", BALLOT_OURS },
		{ "hhyyy", BALLOT_OURS },
		{ "aayyy", BALLOT_OURS },
		{ "hhooo", BALLOT_OPEN },
		{ "hhhoo", BALLOT_HELD },
		{ "yyhhh", BALLOT_HELD },
		{ "yyhaa", BALLOT_HELD },
		{ "yhhha", BALLOT_HELD },
		/* Two of five can't say that somebody holds it. */
		{ "yhaaa", BALLOT_AWAY },
		{ "yyaaa", BALLOT_AWAY },
		{ "aaaoo", BALLOT_AWAY },
		{ "rrroo", BALLOT_REFUSED },
		{ "yyrrr", BALLOT_REFUSED },
		{ "yyrra", BALLOT_AWAY },
		{ "yyyrr", BALLOT_OURS },
		{ "haaoo", BALLOT_OPEN },
		{ "yy", BALLOT_OURS },
		{ "ya", BALLOT_AWAY },
		{ "yh", BALLOT_HELD },
		{ "yya", BALLOT_OURS },
		{ "yaa", BALLOT_AWAY },
		{ "yyaa", BALLOT_AWAY },
		{ "yyya", BALLOT_OURS },
	};
	enum vote votes[MAX];
	size_t i;
	int n;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		n = read_votes(rows[i].votes, votes);
		check_eq(ballot_of_taking(votes, n), rows[i].result,
		    rows[i].votes, __FILE__, __LINE__);
	}
}

static void
keeping(void)
{
	static const struct {
		const char *votes;
		enum ballot kept, released;
	} rows[] = {
		{ "ooooo", BALLOT_OPEN, BALLOT_OPEN },
		{ "yyyoo", BALLOT_OURS, BALLOT_OPEN },
		{ "yyyyy", BALLOT_OURS, BALLOT_OURS },
		{ "yyyaa", BALLOT_OURS, BALLOT_OURS },
		{ "yyy--", BALLOT_OURS, BALLOT_OURS },
		{ "yyygg", BALLOT_OURS, BALLOT_OURS },
		/* In doubt: they may hold it for us. */
		{ "yyaaa", BALLOT_AWAY, BALLOT_AWAY },
		{ "yyagg", BALLOT_AWAY, BALLOT_OURS },
		{ "yyr--", BALLOT_AWAY, BALLOT_OURS },
		{ "aaaaa", BALLOT_AWAY, BALLOT_AWAY },
		{ "yyoaa", BALLOT_OPEN, BALLOT_OPEN },
		/* Lost, whatever the rest would say. */
		{ "yyggg", BALLOT_GONE, BALLOT_GONE },
		{ "yyg--", BALLOT_GONE, BALLOT_GONE },
		{ "gggoo", BALLOT_GONE, BALLOT_OPEN },
		{ "hhhyy", BALLOT_HELD, BALLOT_HELD },
		{ "hgg-a", BALLOT_HELD, BALLOT_HELD },
		{ "yh", BALLOT_HELD, BALLOT_HELD },
		{ "ya", BALLOT_AWAY, BALLOT_AWAY },
	};
	enum vote votes[MAX];
	size_t i;
	int n;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		n = read_votes(rows[i].votes, votes);
		check_eq(ballot_of_keeping(votes, n), rows[i].kept,
		    rows[i].votes, __FILE__, __LINE__);
		check_eq(ballot_of_release(votes, n), rows[i].released,
		    rows[i].votes, __FILE__, __LINE__);
	}
}

/* Never two: of any votes of any number of servers, those that are ours and
 * those that are somebody else's are not a majority both; and what is decided
 * while some are open stays so, however they vote. */
static void
all_votes(void)
{
	enum vote votes[MAX], later[MAX];
	enum ballot now, then;
	int n, i, code, rest, all, what;

	for (n = 1; n <= 5; n++) {
		for (all = 1, i = 0; i < n; i++)
			all *= 7;
		for (code = 0; code < all; code++) {
			for (rest = code, i = 0; i < n; i++, rest /= 7)
				votes[i] = (enum vote)(rest % 7);
			now = ballot_of_taking(votes, n);
			if (now == BALLOT_OPEN)
				continue;
			for (what = VOTE_OURS; what <= VOTE_REFUSED; what++) {
				for (i = 0; i < n; i++)
					later[i] = votes[i] == VOTE_OPEN ?
					    (enum vote)what :
					    votes[i];
				then = ballot_of_taking(later, n);
				CHECK((now == BALLOT_OURS) ==
				    (then == BALLOT_OURS));
			}
		}
	}
}

int
main(void)
{
	CHECK_RUN(taking);
	CHECK_RUN(keeping);
	CHECK_RUN(all_votes);
	return check_done();
}
