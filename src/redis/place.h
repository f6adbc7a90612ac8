/* SPDX-License-Identifier: MIT */
/*
 * place: where a voter's server is: as the URL says, or as those said who know.
 */
#ifndef RLOCK_PLACE_H
#define RLOCK_PLACE_H

#include <stdbool.h>

#include "base/fault.h"
#include "redis/resolve.h"
#include "words/endpoint.h"

struct place {
	const struct endpoint	*url;
	const struct endpoint	*now;	/* TCP or UNIX, to connect to; NULL:
					   not known */
	struct addresses	 known;	/* of now; see wire.h */
	struct endpoint		 told;	/* its strings are url's, but host */
	char			*host;
};

/* url outlives it. */
void place_init(struct place *, const struct endpoint *url);
void place_release(struct place *);

/* Does somebody have to be asked where it is? */
bool place_is_told(const struct place *);

/* ... the nodes of a cluster, or sentinels? */
bool place_in_cluster(const struct place *);
bool place_by_sentinel(const struct place *);

/* What may be wrong when no connection has ever been of use; sent: although
 * something could be sent.  "" or with a blank before it. */
const char *place_hint(const struct place *, bool sent);

/* It is said to be there; host "": on the host that it was on before.  0, or -1
 * and a fault without memory. */
int place_move(struct place *, const char *host, int port, struct fault *);

#endif
