/* SPDX-License-Identifier: MIT */
/*
 * answer: see answer.h.  What a reply means is said here and in the scripts'
 * head comments, nowhere else.
 */
#include "core/answer.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "core/script.h"

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
has_form(const struct lock *lock, enum lock_op op, const struct reply *reply)
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
		    (op == LOCK_RENEW && !lock->nested) ||
		    (op == LOCK_RELEASE &&
			reply_int(reply_at(reply, 1), -1) >= 0);
	case SCRIPT_DONE:
	case SCRIPT_STUCK:
	case SCRIPT_MISFIT:
	case SCRIPT_CLASH:
		return is_acquire(op) &&
		    reply_text(reply_at(reply, 1), &len) != NULL;
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
	answer->foreign = len > 0 && !token_is_ours(text, len) &&
	    !token_is_cooling(text, len);
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
	if (op == LOCK_TAKE)
		lock_begin(lock); /* no slot */
	else if (is_acquire(op)) {
		lock->crowded = reply_int(reply_at(reply, 1), 0) > 0;
		snprintf(lock->slot, sizeof(lock->slot), "%d",
		    (int)reply_int(reply_at(reply, 2), -1));
		read_text(reply_at(reply, 3), lock->fence_text,
		    sizeof(lock->fence_text));
	} else if (op == LOCK_RELEASE)
		answer->unheard = reply_int(reply_at(reply, 1), 0) == 1;
}

/* kind is what a script says. */
static void
kind_in_words(const char *kind, char *out, size_t cap)
{
	if (kind[0] == 'j')
		snprintf(out, cap, "one of %.10s slots (-j %.10s)", kind + 1,
		    kind + 1);
	else
		snprintf(out, cap, "%s",
		    kind[0] == 's' ? "shared (-s)" : "exclusive");
}

/* {64, kind}, {78, key} and {79, kind}: it can't be had. */
static void
read_refusal(const struct lock *lock, const struct reply *reply,
    struct answer *answer)
{
	char text[200], theirs[40], ours[40];

	answer->verdict = VERDICT_ERROR;
	answer->refusal = REFUSAL_UNFIT;
	read_text(reply_at(reply, 1), text, sizeof(text));
	kind_in_words(text, theirs, sizeof(theirs));
	kind_in_words(lock->kind, ours, sizeof(ours));
	switch (reply_int(reply_at(reply, 0), -1)) {
	case SCRIPT_MISFIT:
		fault_set(&answer->fault, FAULT_UNFIT, 0,
		    "the key %s on the "
		    "server is not a lock and was not touched (choose another "
		    "-k or --prefix)",
		    text);
		break;
	case SCRIPT_CLASH:
		fault_set(&answer->fault, FAULT_UNFIT, 0,
		    "the lock is there as %s, and asked for as %s (use the "
		    "same kind, or another -k)",
		    theirs, ours);
		break;
	default:
		answer->refusal = REFUSAL_NONE;
		fault_set(&answer->fault, FAULT_USAGE, 0,
		    "it would wait for itself: it runs under this lock, taken "
		    "as %s, and asks for it as %s (use another -k, or take it "
		    "once)",
		    theirs, ours);
		break;
	}
}

void
answer_read(struct lock *lock, enum lock_op op, const struct reply *reply,
    struct answer *answer)
{
	const char *error = reply_error(reply);

	memset(answer, 0, sizeof(*answer));
	if (error != NULL) {
		read_error(answer, error);
		return;
	}
	switch (has_form(lock, op, reply) ? reply_int(reply_at(reply, 0), -1) :
					    -1) {
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
		lock->nested = lock->nested || op == LOCK_RENEW;
		answer->released =
		    reply_int(reply_at(reply, 1), -1) == SCRIPT_OK;
		return;
	case SCRIPT_DONE:
		answer->verdict = VERDICT_DONE;
		read_text(reply_at(reply, 1), answer->marker,
		    sizeof(answer->marker));
		return;
	case SCRIPT_STUCK:
	case SCRIPT_MISFIT:
	case SCRIPT_CLASH:
		read_refusal(lock, reply, answer);
		return;
	}
	answer->verdict = VERDICT_ERROR;
	answer->refusal = REFUSAL_UNFIT;
	fault_set(&answer->fault, FAULT_UNFIT, 0,
	    "the server's answer makes no sense (is it Redis 5.0 or later?)");
}

/* The number behind head, all of text[len], or -1. */
static int64_t
number_behind(const char *head, const char *text, size_t len)
{
	size_t skip = strlen(head);
	char number[24];
	const char *why;
	int64_t value;

	if (len <= skip || len - skip >= sizeof(number) ||
	    memcmp(text, head, skip) != 0)
		return -1;
	snprintf(number, sizeof(number), "%.*s", (int)(len - skip),
	    text + skip);
	return parse_count(number, 0, INT64_MAX, &value, &why) == -1 ? -1 :
								       value;
}

enum message
answer_message(struct lock *lock, const char *text, size_t len,
    int64_t *left_ms)
{
	static const char first[] = "first:", grant[] = "grant";
	size_t skip = strlen(first);
	int64_t slot;

	if (len >= strlen(grant) && memcmp(text, grant, strlen(grant)) == 0) {
		slot = number_behind("grant:", text, len);
		if (slot >= 0 && slot < 10000)
			snprintf(lock->slot, sizeof(lock->slot), "%d",
			    (int)slot);
		return MESSAGE_GRANT;
	}
	if (len <= skip || memcmp(text, first, skip) != 0)
		return MESSAGE_LOOK;
	*left_ms = number_behind(first, text, len);
	return MESSAGE_FIRST;
}
