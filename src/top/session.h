/* SPDX-License-Identifier: MIT */
/*
 * session: what every command needs that talks to a server: the loop, the
 * lock, the quorum, and who we are.
 */
#ifndef RLOCK_SESSION_H
#define RLOCK_SESSION_H

#include "base/fault.h"
#include "base/token.h"
#include "core/lock.h"
#include "loop/loop.h"
#include "redis/quorum.h"
#include "words/config.h"

struct session {
	const struct config	*cfg;
	struct token_owner	 owner;
	struct loop		*loop;
	struct lock		 lock;
	struct quorum		*quorum;
};

/*
 * Nothing is sent yet.  cfg outlives it; without a key in it the lock is that
 * of the key "".  0, or -1 and a FAULT_SYSTEM; to be closed in both cases.
 */
int session_open(struct session *, const struct config *cfg, struct fault *);
void session_close(struct session *);

#define CONNECTION_NAME_MAX 100

/* The name that the connections of that rlock have, into out[MAX]: what
 * CLIENT SETNAME allows, without blanks and controls. */
void session_connection_name(const char *host, int64_t pid, char *out);

#endif
