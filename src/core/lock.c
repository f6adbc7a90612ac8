/* SPDX-License-Identifier: MIT */
/*
 * lock: see lock.h.  Which script an operation is, and with which arguments, is
 * said here and in the scripts' head comments, nowhere else.
 */
#include "core/lock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/script.h"

/* The tokens in text, one blank between them; NULL without memory. */
static char *
only_tokens(const char *text)
{
	char *out = malloc(strlen(text) + 1), *p = out;
	size_t len;

	if (out == NULL)
		return NULL;
	for (; *text != '\0'; text += len) {
		text += strspn(text, " ");
		len = strcspn(text, " ");
		if (!token_is_ours(text, len))
			continue;
		if (p != out)
			*p++ = ' ';
		memcpy(p, text, len);
		p += len;
	}
	*p = '\0';
	return out;
}

int
lock_init(struct lock *lock, const struct lock_spec *spec, struct fault *fault)
{
	memset(lock, 0, sizeof(*lock));
	if (keys_init(&lock->keys, spec->prefix, spec->key) == -1 ||
	    (lock->above = only_tokens(spec->above)) == NULL) {
		keys_release(&lock->keys);
		return fault_set(fault, FAULT_SYSTEM, 0, "no memory");
	}
	lock->ttl_ms = spec->ttl_ms;
	snprintf(lock->ttl_text, sizeof(lock->ttl_text), "%" PRId64,
	    spec->ttl_ms);
	if (spec->slots > 0)
		snprintf(lock->kind, sizeof(lock->kind), "j%d",
		    spec->slots % 10000);
	else
		strcpy(lock->kind, spec->slots == LOCK_SHARED ? "s0" : "x0");
	snprintf(lock->replicas, sizeof(lock->replicas), "%d", spec->replicas);
	snprintf(lock->sync_ms, sizeof(lock->sync_ms), "%" PRId64,
	    spec->sync_ms);
	lock->once = spec->once;
	lock->fence = spec->fence;
	strcpy(lock->ticket, "0");
	lock_begin(lock);
	return 0;
}

void
lock_release(struct lock *lock)
{
	keys_release(&lock->keys);
	free(lock->above);
	lock->above = NULL;
}

void
lock_begin(struct lock *lock)
{
	strcpy(lock->slot, "-1");
	lock->fence_text[0] = '\0';
}

void
lock_asked(struct lock *lock)
{
	if (strcmp(lock->slot, "-1") == 0)
		strcpy(lock->slot, "?");
}

static bool
is_exclusive(const struct lock *lock)
{
	return lock->kind[0] == 'x';
}

bool
lock_takes_fast(const struct lock *lock)
{
	return is_exclusive(lock) && !lock->once && !lock->fence &&
	    lock->above[0] == '\0';
}

bool
lock_frees_fast(const struct lock *lock)
{
	return strcmp(lock->slot, "?") != 0 && !lock->crowded &&
	    !lock->nested && lock->terms.cool_ms == 0 &&
	    lock->terms.done_ms == 0;
}

static void
add(struct request *request, const char *arg)
{
	request->argv[request->argc++] = arg;
}

/* EVAL with the first count of the lock's keys. */
static void
begin(struct request *request, const char *script, int count,
    const struct lock *lock)
{
	static const char *const counts[] = { "0", "1", "2", "3", "4", "5" };
	const struct keys *k = &lock->keys;
	const char *const keys[] = { k->lock, k->queue, k->holds, k->done,
		k->fence };
	int i;

	add(request, "EVAL");
	add(request, script);
	add(request, counts[count]);
	for (i = 0; i < count; i++)
		add(request, keys[i]);
}

static void
begin_fast(struct request *request, const char *script, int count,
    const struct lock *lock)
{
	begin(request, script, count, lock);
	add(request, lock->token);
}

/* With the lock's entry in the queue, which also says who asks for what. */
static void
begin_full(struct request *request, const char *script, const struct lock *lock)
{
	begin(request, script, 5, lock);
	snprintf(request->entry, sizeof(request->entry), "%s:%s:%d:%s",
	    lock->kind, lock->ttl_text, lock->once ? 1 : 0, lock->token);
	add(request, request->entry);
}

static void
add_number(struct request *request, int i, int64_t number)
{
	snprintf(request->numbers[i], sizeof(request->numbers[i]), "%" PRId64,
	    number);
	add(request, request->numbers[i]);
}

static void
request_acquire(const struct lock *lock, struct request *request, bool join)
{
	begin_full(request, script_acquire, lock);
	add(request, join ? "1" : "0");
	add(request, lock->ticket);
	add(request, lock->slot);
	add(request, lock->above);
	add(request, lock->fence ? "1" : "0");
}

static void
request_renew(const struct lock *lock, struct request *request)
{
	if (is_exclusive(lock) && !lock->nested) {
		begin_fast(request, script_renew, 1, lock);
		add(request, lock->ttl_text);
		return;
	}
	begin(request, script_extend, 1, lock);
	if (lock->nested) {
		request->argv[2] = "2";
		add(request, lock->keys.holds);
	}
	add(request, lock->token);
	add(request, lock->ttl_text);
	add(request, lock->slot);
}

/* The member is written into entry, and what stays of its slot behind it. */
static void
request_free(const struct lock *lock, struct request *request)
{
	char *rest;

	if (is_exclusive(lock)) {
		begin_fast(request, script_free, 3, lock);
		return;
	}
	begin(request, script_leave, 2, lock);
	add(request, request->entry);
	if (lock->kind[0] == 's') {
		snprintf(request->entry, sizeof(request->entry), "%s:%s",
		    lock->kind, lock->token);
		add(request, "");
		return;
	}
	snprintf(request->entry, sizeof(request->entry), "%s:%s:%s", lock->kind,
	    lock->slot, lock->token);
	rest = request->numbers[0];
	snprintf(rest, sizeof(request->numbers[0]), "%s:%s:", lock->kind,
	    lock->slot);
	add(request, rest);
}

static void
request_release(const struct lock *lock, struct request *request)
{
	begin_full(request, script_release, lock);
	add(request, lock->slot);
	add_number(request, 0, lock->terms.cool_ms);
	add_number(request, 1, lock->terms.done_ms);
	add_number(request, 2, lock->terms.run_ms);
}

void
lock_request(const struct lock *lock, enum lock_op op, struct request *request)
{
	size_t i;

	request->argc = 0;
	request->listen = false;
	switch (op) {
	case LOCK_TAKE:
		begin_fast(request, script_take, 3, lock);
		add(request, lock->ttl_text);
		break;
	case LOCK_JOIN:
		request->listen = true;
		snprintf(request->channel, sizeof(request->channel),
		    "rlock:%.32s", lock->token + strlen(TOKEN_PREFIX));
		request_acquire(lock, request, true);
		break;
	case LOCK_QUEUE:
		request_acquire(lock, request, true);
		break;
	case LOCK_ASK:
		request_acquire(lock, request, false);
		break;
	case LOCK_RENEW:
		request_renew(lock, request);
		break;
	case LOCK_FREE:
		request_free(lock, request);
		break;
	case LOCK_RELEASE:
		request_release(lock, request);
		break;
	case LOCK_SYNC:
		add(request, "WAIT");
		add(request, lock->replicas);
		add(request, lock->sync_ms);
		break;
	case LOCK_SCAN:
		add(request, "SCAN");
		add(request, lock->cursor);
		add(request, "MATCH");
		add(request, lock->pattern);
		add(request, "COUNT");
		add(request, "1000");
		break;
	case LOCK_CLIENTS:
		add(request, "CLIENT");
		add(request, "LIST");
		break;
	case LOCK_KILL:
		add(request, "CLIENT");
		add(request, "KILL");
		add(request, "ID");
		add(request, lock->cursor);
		break;
	case LOCK_PLAIN:
		for (i = 0; lock->words[i] != NULL; i++)
			add(request, lock->words[i]);
		break;
	case LOCK_STATUS:
		begin(request, script_status, 5, lock);
		break;
	case LOCK_BREAK:
		begin(request, script_break, 5, lock);
		break;
	}
}
