/* SPDX-License-Identifier: MIT */
/*
 * reply: a server's reply as the lock core sees it, whatever codec read it.
 * The core asks through these; redis/reply.c answers over hiredis.
 */
#ifndef RLOCK_REPLY_H
#define RLOCK_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reply;

/* The text of an error reply, else NULL. */
const char *reply_error(const struct reply *);

bool reply_is_array(const struct reply *);

/* Elements of an array; 0 for all else. */
size_t reply_count(const struct reply *);

/* Element i of an array, NULL when there is none. */
const struct reply *reply_at(const struct reply *, size_t i);

/*
 * The bytes of a string or status and their number; NULL and 0 for all else,
 * a NULL reply included.
 */
const char *reply_text(const struct reply *, size_t *len);

/*
 * The value of an integer, or of a string of digits with an optional '-';
 * otherwise (a NULL reply included) fallback.
 */
int64_t reply_int(const struct reply *, int64_t fallback);

#endif
