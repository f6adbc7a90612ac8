/* SPDX-License-Identifier: MIT */
/*
 * reply: core/reply.h over hiredis.  A struct reply is a redisReply by
 * another name; nothing else may know that.
 */
#include "core/reply.h"

#include <hiredis/hiredis.h>

#include "base/parse.h"

static const redisReply *
inner(const struct reply *reply)
{
	return (const redisReply *)(const void *)reply;
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
	if (r == NULL || (r->type != REDIS_REPLY_STRING &&
	    r->type != REDIS_REPLY_STATUS))
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
