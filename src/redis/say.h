/* SPDX-License-Identifier: MIT */
/*
 * say: replies in the form of the scripts (the head of each .lua file), for
 * answers that no single server gives.
 */
#ifndef RLOCK_SAY_H
#define RLOCK_SAY_H

#include <stdint.h>

#include "base/buf.h"
#include "core/lock.h"
#include "core/reply.h"
#include "core/script.h"

/* All append to out; 0, or -1 without memory. */
int say_text(struct buf *out, const char *text);
int say_number(struct buf *out, int64_t value);

/* Taken, proven, renewed or released; slot: -1 for none. */
int say_ours(struct buf *out, int slot);

/* Held by that token ("": not known), for left_ms (-1: no end), with nobody
 * before us. */
int say_held(struct buf *out, const char *holder, int64_t left_ms);

int say_gone(struct buf *out);

/* {code, text}: SCRIPT_DONE, SCRIPT_STUCK, SCRIPT_CLASH. */
int say_word(struct buf *out, enum script_code, const char *text);

/* Nobody holds it: as LOCK_STATUS. */
int say_free(struct buf *out);

/*
 * The reply that the bytes are, to be freed by codec_drop; NULL without
 * memory.
 */
struct reply *say_reply(const struct buf *);

#endif
