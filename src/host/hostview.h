/* SPDX-License-Identifier: MIT */
/*
 * hostview: all that is to be known of a lock of this host, read from its
 * file, which is not changed by it.
 */
#ifndef RLOCK_HOSTVIEW_H
#define RLOCK_HOSTVIEW_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "host/folder.h"
#include "host/record.h"

struct hostview_holder {
	char	 token[RECORD_TEXT_MAX];
	int64_t	 left_ms;	/* -1: no end */
	int	 slot;		/* -1: none */
};

struct hostview {
	char			 kind[8];	/* "": free */
	struct hostview_holder	*holders;
	size_t			 count;
	char			 done[RECORD_TEXT_MAX];	/* marker, or "" */
	int64_t			 done_left_ms;
};

/* All that is to be known of the lock called name (prefix and all).  0, or -1
 * and a fault; view is to be released in both cases. */
int hostview_look(const struct folder *, const char *name,
    struct hostview *, struct fault *);
void hostview_release(struct hostview *);

#endif
