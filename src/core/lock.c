/* SPDX-License-Identifier: MIT */
/*
 * lock: see lock.h.  Which script an operation is and what its reply means
 * is said here and in the scripts' head comments, nowhere else.
 */
#include "core/lock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "core/script.h"

int
lock_init(struct lock *lock, const char *prefix, const char *key,
    int64_t ttl_ms, struct fault *fault)
{
	memset(lock, 0, sizeof(*lock));
	if (keys_init(&lock->keys, prefix, key) == -1)
		return fault_set(fault, FAULT_SYSTEM, 0, "no memory");
	lock->ttl_ms = ttl_ms;
	snprintf(lock->ttl_text, sizeof(lock->ttl_text), "%" PRId64, ttl_ms);
	strcpy(lock->ticket, "0");
	return 0;
}

void
lock_release(struct lock *lock)
{
	keys_release(&lock->keys);
}

static void
add(struct request *request, const char *arg)
{
	request->argv[request->argc++] = arg;
}

/* EVAL with the lock's key alone, or with its side keys too. */
static void
begin(struct request *request, const char *script, bool side_keys,
    const struct lock *lock)
{
	add(request, "EVAL");
	add(request, script);
	add(request, side_keys ? "3" : "1");
	add(request, lock->keys.lock);
	if (side_keys) {
		add(request, lock->keys.queue);
		add(request, lock->keys.holds);
	}
	add(request, lock->token);
}

static void
request_acquire(const struct lock *lock, struct request *request, bool join)
{
	begin(request, script_acquire, true, lock);
	add(request, lock->ttl_text);
	add(request, join ? "1" : "0");
	add(request, lock->ticket);
}

void
lock_request(const struct lock *lock, enum lock_op op, struct request *request)
{
	request->argc = 0;
	request->listen = false;
	switch (op) {
	case LOCK_TAKE:
		begin(request, script_take, true, lock);
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
		begin(request, script_renew, false, lock);
		add(request, lock->ttl_text);
		break;
	case LOCK_FREE:
		begin(request, script_free, true, lock);
		break;
	case LOCK_RELEASE:
		begin(request, script_release, true, lock);
		add(request, lock->ttl_text);
		break;
	}
}

static void
read_error(struct answer *answer, const char *error)
{
	answer->verdict = VERDICT_ERROR;
	answer->refusal = refusal_of(error, &answer->fault);
}

static void
read_text(const struct reply *reply, char *out, size_t cap)
{
	size_t len;
	const char *text = reply_text(reply, &len);

	snprintf(out, cap, "%.*s", (int)(len < cap ? len : cap),
	    text == NULL ? "" : text);
}

static bool
is_acquire(enum lock_op op)
{
	return op == LOCK_JOIN || op == LOCK_QUEUE || op == LOCK_ASK;
}

static bool
is_ticket(const struct reply *reply)
{
	return reply_int(reply, -1) > 0;
}

/* Is it a reply that the script of op gives?  See the head of each. */
static bool
has_form(enum lock_op op, const struct reply *reply)
{
	size_t len;

	switch (reply_int(reply_at(reply, 0), -1)) {
	case SCRIPT_OK:
		return true;
	case SCRIPT_HELD:
		if (reply_text(reply_at(reply, 1), &len) == NULL)
			return false;
		return !is_acquire(op) ||
		    (reply_int(reply_at(reply, 2), -2) >= -1 &&
			reply_int(reply_at(reply, 3), -1) >= 0 &&
			is_ticket(reply_at(reply, 4)));
	case SCRIPT_GONE:
		return op != LOCK_TAKE && !is_acquire(op);
	case SCRIPT_FULL:
		return op == LOCK_TAKE || op == LOCK_FREE ||
		    (op == LOCK_RELEASE &&
			reply_int(reply_at(reply, 1), -1) >= 0);
	case SCRIPT_MISFIT:
		return is_acquire(op);
	}
	return false;
}

/* {1, holder, left, rank, ticket}; the last three of acquire only. */
static void
read_held(struct lock *lock, enum lock_op op, const struct reply *reply,
    struct answer *answer)
{
	const struct reply *holder = reply_at(reply, 1);
	size_t len;
	const char *text = reply_text(holder, &len);

	answer->verdict = VERDICT_HELD;
	read_text(holder, answer->holder, sizeof(answer->holder));
	/* Empty: a queue that is being served; free, but not for us yet. */
	answer->foreign = len > 0 && !token_is_ours(text, len);
	answer->left_ms = reply_int(reply_at(reply, 2), -1);
	answer->rank = reply_int(reply_at(reply, 3), 0);
	if (is_acquire(op))
		read_text(reply_at(reply, 4), lock->ticket,
		    sizeof(lock->ticket));
}

static void
read_ours(struct lock *lock, enum lock_op op, const struct reply *reply,
    struct answer *answer)
{
	answer->verdict = VERDICT_OURS;
	if (is_acquire(op))
		lock->crowded = reply_int(reply_at(reply, 1), 0) > 0;
	else if (op == LOCK_RELEASE)
		answer->unheard = reply_int(reply_at(reply, 1), 0) == 1;
}

void
lock_read(struct lock *lock, enum lock_op op, const struct reply *reply,
    struct answer *answer)
{
	const char *error = reply_error(reply);
	char key[200];

	memset(answer, 0, sizeof(*answer));
	if (error != NULL) {
		read_error(answer, error);
		return;
	}
	switch (has_form(op, reply) ? reply_int(reply_at(reply, 0), -1) : -1) {
	case SCRIPT_OK:
		read_ours(lock, op, reply, answer);
		return;
	case SCRIPT_HELD:
		read_held(lock, op, reply, answer);
		return;
	case SCRIPT_GONE:
		answer->verdict = VERDICT_GONE;
		return;
	case SCRIPT_FULL:
		answer->verdict = VERDICT_FULL;
		answer->released =
		    reply_int(reply_at(reply, 1), -1) == SCRIPT_OK;
		return;
	case SCRIPT_MISFIT:
		answer->verdict = VERDICT_ERROR;
		answer->refusal = REFUSAL_UNFIT;
		read_text(reply_at(reply, 1), key, sizeof(key));
		fault_set(&answer->fault, FAULT_UNFIT, 0,
		    "the key %s on the "
		    "server is not a lock and was not touched (choose another "
		    "-k or --prefix)",
		    key);
		return;
	}
	answer->verdict = VERDICT_ERROR;
	answer->refusal = REFUSAL_UNFIT;
	fault_set(&answer->fault, FAULT_UNFIT, 0,
	    "the server's answer makes no sense (is it Redis 5.0 or later?)");
}

enum message
lock_message(const char *text, size_t len, int64_t *left_ms)
{
	static const char first[] = "first:", grant[] = "grant";
	size_t head = strlen(first);
	char number[24];
	const char *why;

	if (len == strlen(grant) && memcmp(text, grant, len) == 0)
		return MESSAGE_GRANT;
	if (len <= head || len - head >= sizeof(number) ||
	    memcmp(text, first, head) != 0)
		return MESSAGE_LOOK;
	snprintf(number, sizeof(number), "%.*s", (int)(len - head),
	    text + head);
	if (parse_count(number, 0, INT64_MAX, left_ms, &why) == -1)
		*left_ms = -1;
	return MESSAGE_FIRST;
}
