/* SPDX-License-Identifier: MIT */
/*
 * examine: ask one server for the facts that --doctor judges.  Nothing that is
 * asked changes anything.
 */
#ifndef RLOCK_EXAMINE_H
#define RLOCK_EXAMINE_H

#include <stdbool.h>

#include "base/fault.h"
#include "core/findings.h"
#include "words/config.h"

/* What a quorum has to know of each server. */
struct identity {
	char	 run_id[64];	/* "" when it is not told */
	bool	 replica;
};

/*
 * Examine the one server of cfg (quorum: one of several), and the sentinels by
 * which it is found, and add what they come to.  0; or -1 and a fault (and a finding) when it could
 * not be reached or refuses to let us in; *signal is what ended it, or 0.
 */
int examine(const struct config *cfg, bool quorum, struct findings *,
    struct identity *, int *signal, struct fault *);

#endif
