/* SPDX-License-Identifier: MIT */
/*
 * servers: owns what must hold of the servers of a run: their passwords, and
 * which options have a meaning with which of them.
 */
#ifndef RLOCK_SERVERS_H
#define RLOCK_SERVERS_H

#include <stdbool.h>

#include "base/fault.h"
#include "words/config.h"

/*
 * The part of config_check that is about servers: the default one, the
 * password file, and what they can't do.  0, or -1 and a FAULT_USAGE
 * (FAULT_SYSTEM without memory).
 */
int servers_complete(struct config *, struct fault *);

/* Is any of them reached by TLS? */
bool servers_use_tls(const struct config *);

#endif
