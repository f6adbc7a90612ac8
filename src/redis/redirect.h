/* SPDX-License-Identifier: MIT */
/*
 * redirect: where a node of a cluster sends us.
 */
#ifndef RLOCK_REDIRECT_H
#define RLOCK_REDIRECT_H

#include <stdbool.h>

struct redirect {
	char	 host[256];	/* "": the host that was asked */
	int	 port;
	bool	 asking;	/* for this question only, behind ASKING */
};

/*
 * Read "MOVED SLOT HOST:PORT" and "ASK SLOT HOST:PORT" (source: "Redis cluster
 * specification", redirection).  False for any other error, and for NULL.
 */
bool redirect_read(const char *error, struct redirect *);

/* Is it what a replica says to a write, also from inside a script before Redis
 * 7?  Where it was a primary, another one is now.  False for NULL. */
bool redirect_from_replica(const char *error);

#endif
