/* SPDX-License-Identifier: MIT */
/*
 * codec: see codec.h, and core/reply.h, whose accessors are here too.  A
 * struct reply is a redisReply by another name; nothing else may know that.
 */
#include "redis/codec.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

struct codec {
	redisReader *reader;
};

static const redisReply *
inner(const struct reply *reply)
{
	return (const redisReply *)(const void *)reply;
}

struct codec *
codec_new(void)
{
	struct codec *codec = malloc(sizeof(*codec));

	if (codec != NULL && (codec->reader = redisReaderCreate()) == NULL) {
		free(codec);
		codec = NULL;
	}
	return codec;
}

void
codec_free(struct codec *codec)
{
	if (codec != NULL)
		redisReaderFree(codec->reader);
	free(codec);
}

int
codec_put(struct buf *out, int argc, const char *const *argv)
{
	const char *args[CODEC_WORDS_MAX];
	char *text = NULL;
	long long len; /* int in 0.14, long long from 1.0 on */
	int status;

	memcpy(args, argv, (size_t)argc * sizeof(*args));
	len = redisFormatCommandArgv(&text, argc, args, NULL);
	if (len < 0)
		return -1;
	status = buf_put(out, text, (size_t)len);
	redisFreeCommand(text);
	return status;
}

void
codec_feed(struct codec *codec, const char *data, size_t len)
{
	/* An error stays in the reader, and GetReply tells it. */
	(void)redisReaderFeed(codec->reader, data, len);
}

int
codec_next(struct codec *codec, struct reply **reply)
{
	void *r = NULL;

	*reply = NULL;
	if (redisReaderGetReply(codec->reader, &r) != REDIS_OK)
		return -1;
	*reply = r;
	return 0;
}

void
codec_drop(struct reply *reply)
{
	if (reply != NULL)
		freeReplyObject(reply);
}

bool
codec_is_message(const struct reply *reply, const char **text, size_t *len)
{
	const char *kind;
	size_t kind_len;

	if (reply_count(reply) != 3)
		return false;
	kind = reply_text(reply_at(reply, 0), &kind_len);
	*text = reply_text(reply_at(reply, 2), len);
	return kind != NULL && *text != NULL && kind_len == 7 &&
	    memcmp(kind, "message", 7) == 0;
}

const char *
reply_error(const struct reply *reply)
{
	const redisReply *r = inner(reply);

	return r != NULL && r->type == REDIS_REPLY_ERROR ? r->str : NULL;
}

bool
reply_is_array(const struct reply *reply)
{
	return reply != NULL && inner(reply)->type == REDIS_REPLY_ARRAY;
}

size_t
reply_count(const struct reply *reply)
{
	return reply_is_array(reply) ? inner(reply)->elements : 0;
}

const struct reply *
reply_at(const struct reply *reply, size_t i)
{
	if (i >= reply_count(reply))
		return NULL;
	return (const struct reply *)(const void *)inner(reply)->element[i];
}

const char *
reply_text(const struct reply *reply, size_t *len)
{
	const redisReply *r = inner(reply);

	*len = 0;
	if (r == NULL ||
	    (r->type != REDIS_REPLY_STRING && r->type != REDIS_REPLY_STATUS))
		return NULL;
	*len = (size_t)r->len;
	return r->str;
}

int64_t
reply_int(const struct reply *reply, int64_t fallback)
{
	const redisReply *r = inner(reply);
	const char *why;
	int64_t value;
	bool minus;

	if (r != NULL && r->type == REDIS_REPLY_INTEGER)
		return r->integer;
	if (r == NULL || r->type != REDIS_REPLY_STRING)
		return fallback;
	minus = r->str[0] == '-';
	if (parse_count(r->str + minus, 0, INT64_MAX, &value, &why) == -1)
		return fallback;
	return minus ? -value : value;
}
