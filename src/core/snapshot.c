/* SPDX-License-Identifier: MIT */
/*
 * snapshot: see snapshot.h, and the head of lua/status.lua.
 */
#include "core/snapshot.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "core/refusal.h"

#define PER_HOLDER 3
#define PER_WAITER 4
#define SLOTS_MAX 1000000

static void
copy_text(const struct reply *reply, char *out, size_t cap)
{
	size_t len;
	const char *text = reply_text(reply, &len);

	snprintf(out, cap, "%.*s", (int)(len < cap ? len : cap),
	    text == NULL ? "" : text);
}

static bool
is_text(const struct reply *reply)
{
	size_t len;

	return reply_text(reply, &len) != NULL;
}

/* A number, and low at least. */
static bool
is_number(const struct reply *reply, int64_t low)
{
	return reply_int(reply, low - 1) >= low;
}

static int
read_mode(struct snapshot *s, const char *kind)
{
	const char *why;
	int64_t slots;

	if (kind[0] == '\0')
		s->mode = SNAPSHOT_FREE;
	else if (strcmp(kind, "x0") == 0)
		s->mode = SNAPSHOT_EXCLUSIVE;
	else if (strcmp(kind, "s0") == 0)
		s->mode = SNAPSHOT_SHARED;
	else if (strcmp(kind, "odd") == 0)
		s->mode = SNAPSHOT_FOREIGN;
	else if (kind[0] == 'j' &&
	    parse_count(kind + 1, 1, SLOTS_MAX, &slots, &why) == 0) {
		s->mode = SNAPSHOT_SLOTS;
		s->slots = (int)slots;
	} else
		return -1;
	return 0;
}

/* token, ms left (-1: no end), slot (-1: none) of each */
static bool
are_holders(const struct reply *list)
{
	size_t i, count = reply_count(list);

	for (i = 0; i + PER_HOLDER <= count; i += PER_HOLDER)
		if (!is_text(reply_at(list, i)) ||
		    !is_number(reply_at(list, i + 1), -2) ||
		    !is_number(reply_at(list, i + 2), -1))
			return false;
	return reply_is_array(list) && i == count;
}

/* kind, TTL, token, whether it listens, of each */
static bool
are_waiters(const struct reply *list)
{
	size_t i, count = reply_count(list);

	for (i = 0; i + PER_WAITER <= count; i += PER_WAITER)
		if (!is_text(reply_at(list, i)) ||
		    !is_number(reply_at(list, i + 1), 0) ||
		    !is_text(reply_at(list, i + 2)) ||
		    !is_number(reply_at(list, i + 3), 0))
			return false;
	return reply_is_array(list) && i == count;
}

/* See the head of lua/status.lua. */
static bool
has_form(const struct reply *r)
{
	if (reply_count(r) != 9 || !is_text(reply_at(r, 0)) ||
	    !is_text(reply_at(r, 1)) || !is_number(reply_at(r, 2), -2) ||
	    !are_holders(reply_at(r, 3)) || !is_number(reply_at(r, 4), 0) ||
	    !are_waiters(reply_at(r, 5)) || !is_text(reply_at(r, 6)) ||
	    !is_number(reply_at(r, 7), -2))
		return false;
	/* No fence is an empty text; so what is no number is none, too. */
	return is_text(reply_at(r, 8)) || is_number(reply_at(r, 8), 0);
}

/* A string at the key that is no token of ours is somebody else's lock. */
static void
find_foreign(struct snapshot *s)
{
	struct snapshot_holder h;

	if (s->mode != SNAPSHOT_EXCLUSIVE || s->holder_count != 1)
		return;
	snapshot_holder(s, 0, &h);
	if (!token_is_ours(h.token, strlen(h.token)) &&
	    !token_is_cooling(h.token, strlen(h.token)))
		s->mode = SNAPSHOT_FOREIGN;
}

int
snapshot_read(struct snapshot *s, const struct reply *r, struct fault *fault)
{
	char kind[16], text[TOKEN_MAX];

	memset(s, 0, sizeof(*s));
	if (reply_error(r) != NULL) {
		(void)refusal_of(reply_error(r), fault);
		return -1;
	}
	copy_text(reply_at(r, 0), kind, sizeof(kind));
	if (!has_form(r) || read_mode(s, kind) == -1)
		return fault_set(fault, FAULT_UNFIT, 0,
		    "the server's answer makes no sense (is it Redis 5.0 or "
		    "later?)");
	s->holders = reply_at(r, 3);
	s->waiters = reply_at(r, 5);
	copy_text(reply_at(r, 1), s->type, sizeof(s->type));
	s->left_ms = reply_int(reply_at(r, 2), -1);
	s->holder_count = reply_count(s->holders) / PER_HOLDER;
	s->waiting = reply_int(reply_at(r, 4), 0);
	s->waiter_count = reply_count(s->waiters) / PER_WAITER;
	copy_text(reply_at(r, 6), text, sizeof(text));
	s->done = text[0] != '\0' && marker_parse(&s->marker, text) == 0;
	s->marker_left_ms = reply_int(reply_at(r, 7), -1);
	s->fence = reply_int(reply_at(r, 8), -1);
	find_foreign(s);
	return 0;
}

void
snapshot_holder(const struct snapshot *s, size_t i, struct snapshot_holder *h)
{
	size_t at = i * PER_HOLDER;

	copy_text(reply_at(s->holders, at), h->token, sizeof(h->token));
	h->left_ms = reply_int(reply_at(s->holders, at + 1), -1);
	h->slot = reply_int(reply_at(s->holders, at + 2), -1);
}

void
snapshot_waiter(const struct snapshot *s, size_t i, struct snapshot_waiter *w)
{
	size_t at = i * PER_WAITER;

	copy_text(reply_at(s->waiters, at), w->kind, sizeof(w->kind));
	copy_text(reply_at(s->waiters, at + 2), w->token, sizeof(w->token));
	w->listens = reply_int(reply_at(s->waiters, at + 3), 0) != 0;
}

bool
snapshot_is_cooling(const struct snapshot *s)
{
	struct snapshot_holder h;
	size_t i;

	for (i = 0; i < s->holder_count; i++) {
		snapshot_holder(s, i, &h);
		if (!token_is_cooling(h.token, strlen(h.token)))
			return false;
	}
	return s->holder_count > 0;
}
