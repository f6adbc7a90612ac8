/* SPDX-License-Identifier: MIT */
/*
 * rights: see rights.h.  XX never makes a key, and a missing one has nothing to
 * lose; what is checked first is the right.
 */
#include "core/rights.h"

#include <string.h>

/* clang-format off */
const struct right rights_table[RIGHTS_COUNT] = {
	{ "eval", { "EVAL", "return 1", "1", "%L" }, NULL },
	{ "get", { "GET", "%L" }, NULL },
	{ "set", { "SET", "%L", "", "XX" }, NULL },
	{ "del", { "DEL", "%L" }, NULL },
	{ "exists", { "EXISTS", "%L" }, NULL },
	{ "type", { "TYPE", "%L" }, NULL },
	{ "time", { "TIME" }, NULL },
	{ "pttl", { "PTTL", "%L" }, NULL },
	{ "pexpire", { "PEXPIRE", "%L", "1000" }, NULL },
	{ "pexpireat", { "PEXPIREAT", "%Q", "1000" }, NULL },
	{ "persist", { "PERSIST", "%L" }, NULL },
	{ "zadd", { "ZADD", "%Q", "XX", "1", "m" }, NULL },
	{ "zcard", { "ZCARD", "%Q" }, NULL },
	{ "zcount", { "ZCOUNT", "%Q", "0", "1" }, NULL },
	{ "zrange", { "ZRANGE", "%Q", "0", "0" }, NULL },
	{ "zrangebyscore", { "ZRANGEBYSCORE", "%Q", "0", "1" }, NULL },
	{ "zrank", { "ZRANK", "%Q", "m" }, NULL },
	{ "zrem", { "ZREM", "%Q", "m" }, NULL },
	{ "zremrangebyscore", { "ZREMRANGEBYSCORE", "%Q", "0", "1" }, NULL },
	{ "zscore", { "ZSCORE", "%Q", "m" }, NULL },
	{ "publish", { "PUBLISH", "%C", "x" }, NULL },
	{ "pubsub|numsub", { "PUBSUB", "NUMSUB", "%C" }, NULL },
	{ "multi", { "MULTI" }, NULL },
	{ "subscribe", { "SUBSCRIBE", "%C" }, NULL },
	{ "unsubscribe", { "UNSUBSCRIBE", "%C" }, NULL },
	{ "exec", { "EXEC" }, NULL },
	{ "client|setname", { "CLIENT", "SETNAME", "%N" }, NULL },
	{ "select", { "SELECT", "%D" }, NULL },
	{ "scan", { "SCAN", "0", "COUNT", "1" }, "--list" },
	{ "client|list", { "CLIENT", "LIST" }, "--break, to tell the holder" },
	{ "client|kill", { "CLIENT", "KILL", "ID", "0" },
	    "--break, to tell the holder" },
	{ "wait", { "WAIT", "0", "1" }, "--replicas" },
	{ "role", { "ROLE" }, "sentinel://" },
	{ "cluster|slots", { "CLUSTER", "SLOTS" }, "cluster://" },
	{ "asking", { "ASKING" }, "cluster://" },
	{ "info", { "INFO", "server" }, "--doctor" },
	{ "cluster|info", { "CLUSTER", "INFO" }, "--doctor" },
	{ "config|get", { "CONFIG", "GET", "appendfsync" }, "--doctor" },
	{ "slowlog|get", { "SLOWLOG", "GET", "1" }, "--doctor" },
};
/* clang-format on */

/* What only an examination wants, and what lets one read other data. */
static bool
is_wanted(const struct right *right)
{
	return strcmp(right->acl, "config|get") != 0 &&
	    strcmp(right->acl, "slowlog|get") != 0;
}

/* A pattern that is these very bytes, in single quotes of a shell. */
static int
put_pattern(struct buf *out, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'') {
			if (buf_puts(out, "'\\''") == -1)
				return -1;
			continue;
		}
		if (strchr("*?[]\\^", *text) != NULL &&
		    buf_puts(out, "\\") == -1)
			return -1;
		if (buf_put(out, text, 1) == -1)
			return -1;
	}
	return 0;
}

int
rights_acl_line(struct buf *out, const char *prefix)
{
	size_t i;

	if (buf_puts(out, "rlock on resetchannels -@all") == -1)
		return -1;
	for (i = 0; i < RIGHTS_COUNT; i++)
		if (is_wanted(&rights_table[i]) &&
		    buf_printf(out,
			strchr(rights_table[i].acl, '|') != NULL ? " '+%s'" :
								   " +%s",
			rights_table[i].acl) == -1)
			return -1;
	if (buf_puts(out, " '~") == -1 || put_pattern(out, prefix) == -1)
		return -1;
	return buf_puts(out, "*' '~rlock:*' '&rlock:*'");
}
