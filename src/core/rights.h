/* SPDX-License-Identifier: MIT */
/*
 * rights: what a user of the server has to be allowed, command by command: how
 * to try each without changing anything, and the ACL line that is enough.
 * Source: the scripts in lua/, redis/login, core/lock; a test gives a user just
 * this line and does everything.
 */
#ifndef RLOCK_RIGHTS_H
#define RLOCK_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define RIGHTS_COUNT 39

struct right {
	const char	*acl;		/* "zadd", "client|list", as in an ACL */
	const char	*words[6];	/* the try, NULL-ended; "%L", "%Q": keys
					   of a lock that nobody has, "%C": a
					   channel, "%N": our own name */
	const char	*option;	/* needed only for it; NULL: always */
};

extern const struct right rights_table[RIGHTS_COUNT];

/*
 * A user named rlock with these rights, for locks under prefix: the words
 * behind "ACL SETUSER".  0, or -1 without memory.
 */
int rights_acl_line(struct buf *, const char *prefix);

#endif
