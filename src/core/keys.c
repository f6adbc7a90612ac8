/* SPDX-License-Identifier: MIT */
/*
 * keys: see keys.h.  Pure string work.
 */
#include "core/keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/crc16.h"

/*
 * Redis hashes what is between the first '{' and the first '}' behind it, if
 * that is not empty; see the cluster specification, "Hash tags".
 */
static bool
has_hash_tag(const char *name)
{
	const char *open = strchr(name, '{');
	const char *close = open == NULL ? NULL : strchr(open, '}');

	return close != NULL && close > open + 1;
}

static char *
join(const char *a, const char *b, const char *c)
{
	struct buf out = { 0 };

	if (buf_puts(&out, a) == -1 || buf_puts(&out, b) == -1 ||
	    buf_puts(&out, c) == -1 || buf_put(&out, "", 1) == -1) {
		buf_release(&out);
		return NULL;
	}
	return out.data;
}

static char *
side_key(const char *kind, const char *lock)
{
	char head[32] = "rlock:";
	bool tagged = has_hash_tag(lock);

	strncat(head, kind, 16);
	strcat(head, tagged ? "=" : ":{");
	return join(head, lock, tagged ? "" : "}");
}

int
keys_init(struct keys *keys, const char *prefix, const char *key)
{
	memset(keys, 0, sizeof(*keys));
	if ((keys->lock = join(prefix, key, "")) == NULL ||
	    (keys->queue = side_key("queue", keys->lock)) == NULL ||
	    (keys->holds = side_key("holds", keys->lock)) == NULL ||
	    (keys->done = side_key("done", keys->lock)) == NULL ||
	    (keys->fence = side_key("fence", keys->lock)) == NULL) {
		keys_release(keys);
		return -1;
	}
	return 0;
}

int
keys_slot(const char *key)
{
	size_t len = strlen(key);

	if (has_hash_tag(key)) {
		key = strchr(key, '{') + 1;
		len = strcspn(key, "}");
	}
	return crc16_of(key, len) % 16384;
}

bool
keys_meet(const struct keys *keys)
{
	int slot = keys_slot(keys->lock);

	return keys_slot(keys->queue) == slot &&
	    keys_slot(keys->holds) == slot && keys_slot(keys->done) == slot &&
	    keys_slot(keys->fence) == slot;
}

void
keys_release(struct keys *keys)
{
	free(keys->lock);
	free(keys->queue);
	free(keys->holds);
	free(keys->done);
	free(keys->fence);
	memset(keys, 0, sizeof(*keys));
}
