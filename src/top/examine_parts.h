/* SPDX-License-Identifier: MIT */
/*
 * examine_parts: what examine and its parts share: one examination of one
 * server.  Nobody else includes it.
 */
#ifndef RLOCK_EXAMINE_PARTS_H
#define RLOCK_EXAMINE_PARTS_H

#include "core/findings.h"
#include "core/judge.h"
#include "lives/errand.h"
#include "top/session.h"

struct examination {
	struct session session;
	struct config cfg;
	char key[48]; /* of a lock that nobody can have */
	struct facts facts;
	char *info, *cluster;
	int right;   /* that is being tried */
	int setting; /* that is being asked for */
	int *signal;
};

/* Send words (NULL-ended), and tell fn the answer, an error, too.  0, or -1 and
 * a fault when there was none in time. */
int examine_ask(struct examination *, const char *const *words, errand_fn fn,
    void *arg, struct fault *);

/* Try all rights; facts.missing tells those that are not there. */
int examine_rights(struct examination *, struct fault *);

/* Ask the sentinels of cfg's endpoint, and add what it comes to. */
void examine_sentinels(const struct config *cfg, struct findings *,
    int *signal);

#endif
