/* SPDX-License-Identifier: MIT */
/*
 * login: what goes before the first request on a connection, and what its
 * replies mean.
 */
#ifndef RLOCK_LOGIN_H
#define RLOCK_LOGIN_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/fault.h"
#include "core/reply.h"
#include "words/endpoint.h"

enum login_step { LOGIN_AUTH, LOGIN_SELECT, LOGIN_NAME, LOGIN_ROLE };

#define LOGIN_STEPS_MAX 4

/*
 * Append the commands to out: user and password, database, name, and, when it
 * must be a primary, the question for its role.  steps[] says which, in order.
 * Their number, or -1 without memory.
 */
int login_put(struct buf *out, const struct endpoint *, const char *name,
    bool primary, enum login_step steps[LOGIN_STEPS_MAX]);

/* 0, or -1 and a fault: this reply says that the connection is of no use.
 * FAULT_UNAVAILABLE when that may pass. */
int login_read(enum login_step, const struct reply *, struct fault *);

#endif
