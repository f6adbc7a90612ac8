/* SPDX-License-Identifier: MIT */
/*
 * refusal: what a server's error means for a lock.  An error is never "held
 * by somebody else".
 */
#ifndef RLOCK_REFUSAL_H
#define RLOCK_REFUSAL_H

#include "base/fault.h"

enum refusal {
	REFUSAL_NONE,
	REFUSAL_AWAY,		/* loading, busy, ...: worth another try */
	REFUSAL_RIGHTS,		/* password, user, ACL */
	REFUSAL_UNFIT		/* a replica, full, refusing writes, ... */
};

/*
 * Tell the server's error apart by its words, those raised inside a script
 * included ("ERR Error running script ... -READONLY ..." before Redis 7; the
 * ACL's own words, which carry no NOPERM), and word it: fault->text is the
 * server's words with a hint.  Source: server.c, script.c and acl.c of Redis
 * 5 to 8, "createSharedObjects".
 */
enum refusal refusal_of(const char *error, struct fault *fault);

#endif
