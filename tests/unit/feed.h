/* SPDX-License-Identifier: MIT */
/*
 * feed: replies for the unit tests, made of RESP text by the very codec that
 * reads the server's.
 */
#ifndef RLOCK_FEED_H
#define RLOCK_FEED_H

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

#include "core/reply.h"

/*
 * The reply in these len bytes, NULL (not a nil) when there is none, or not a
 * whole one.  feed_free frees it.
 */
static inline struct reply *
feed_bytes(const char *text, size_t len)
{
	redisReader *reader = redisReaderCreate();
	void *reply = NULL;

	if (reader == NULL)
		return NULL;
	if (redisReaderFeed(reader, text, len) != REDIS_OK ||
	    redisReaderGetReply(reader, &reply) != REDIS_OK)
		reply = NULL;
	redisReaderFree(reader);
	return reply;
}

static inline struct reply *
feed(const char *text)
{
	return feed_bytes(text, strlen(text));
}

static inline void
feed_free(struct reply *reply)
{
	if (reply != NULL)
		freeReplyObject(reply);
}

#endif
