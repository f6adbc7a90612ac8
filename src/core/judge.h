/* SPDX-License-Identifier: MIT */
/*
 * judge: what the facts about a server mean for locks on it.  Pure: facts in,
 * findings out.
 */
#ifndef RLOCK_JUDGE_H
#define RLOCK_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/findings.h"
#include "core/rights.h"

/* What CONFIG GET was asked for. */
enum facts_setting {
	FACTS_SAVE,
	FACTS_APPENDFSYNC,
	FACTS_MIN_REPLICAS,
	FACTS_BUSY,		/* ms after which a script counts as busy */
	FACTS_SETTINGS
};

struct facts {
	/* what is wanted of it */
	const char	*url;		/* as shown */
	const char	*user;		/* "default" when none was given */
	bool		 tls;
	bool		 checked;	/* its certificate */
	bool		 watched;	/* found by sentinels */
	bool		 in_quorum;	/* one of several */
	int64_t		 replicas_wanted;
	/* what was seen */
	int64_t		 round_trip_us;
	const char	*info;		/* INFO's text; NULL: refused */
	uint64_t	 missing;	/* bit n: of rights_table[n] */
	bool		 has_setting[FACTS_SETTINGS];	/* else refused */
	char		 setting[FACTS_SETTINGS][64];
	const char	*cluster;	/* CLUSTER INFO's text; NULL: refused */
	bool		 in_cluster;	/* found by cluster:// */
	bool		 has_clock;
	int64_t		 ahead_ms;	/* its wall clock before ours */
	bool		 has_slow;	/* the slow log was read */
	int64_t		 slow;		/* of our scripts in it */
	int64_t		 slowest_us;
};

/* What the sentinels said of the primary. */
struct facts_sentinels {
	int	 given;		/* in the URL */
	int	 reached;
	int	 agree;		/* on the primary, with the one that is used */
	int	 known;		/* so many there are, as they say */
	int	 quorum;
	int	 replicas;	/* good for a failover */
};

void judge_server(const struct facts *, struct findings *);
void judge_sentinels(const struct facts_sentinels *, struct findings *);

#endif
