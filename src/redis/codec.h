/* SPDX-License-Identifier: MIT */
/*
 * codec: commands to bytes, bytes to replies, by hiredis, which never sees a
 * socket here.
 */
#ifndef RLOCK_CODEC_H
#define RLOCK_CODEC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "core/reply.h"

struct codec;

/* NULL without memory. */
struct codec *codec_new(void);
void codec_free(struct codec *);

#define CODEC_WORDS_MAX 16

/* Append a command of 1 to CODEC_WORDS_MAX words to out.  0, or -1 without memory. */
int codec_put(struct buf *out, int argc, const char *const *argv);

/* Feed received bytes; without memory the next codec_next fails. */
void codec_feed(struct codec *, const char *data, size_t len);

/*
 * The next whole reply, to be freed by codec_drop, or NULL when there is none
 * yet.  0, or -1 when the bytes are no RESP.
 */
int codec_next(struct codec *, struct reply **);
void codec_drop(struct reply *);

/*
 * Is it a message on a channel (nobody asked for it)?  Then *text is its
 * payload.
 */
bool codec_is_message(const struct reply *, const char **text, size_t *len);

#endif
