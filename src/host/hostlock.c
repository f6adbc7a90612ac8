/* SPDX-License-Identifier: MIT */
/*
 * hostlock: see hostlock.h.  Who comes writes its record first and looks at
 * the others' then; who goes takes its record out before its place: so of two
 * at once, one at least sees the other.
 */
#include "host/hostlock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define LAST LOCKFILE_DONE /* behind the last place of a holder */
#define REMOVED_MAX 10	   /* how often the file may vanish under us */

void
hostlock_init(struct hostlock *h, const struct folder *folder)
{
	*h = (struct hostlock) { .folder = folder, .file.fd = -1 };
}

void
hostlock_close(struct hostlock *h)
{
	lockfile_close(&h->file);
	h->held = false;
}

int
hostlock_open(struct hostlock *h, const struct lock *lock, struct fault *fault)
{
	/* Removed while we wait for it: the newcomers have another. */
	if (h->file.fd != -1 && !h->held && !lockfile_is_there(&h->file))
		hostlock_close(h);
	if (h->file.fd != -1)
		return 0;
	return lockfile_open(&h->file, h->folder, lock->keys.lock, true, fault);
}

static bool
is_exclusive(const char *kind)
{
	return kind[0] == 'x';
}

static int
slot_of(const struct hostlock *h)
{
	return h->kind[0] == 'j' ? h->place : -1;
}

static void
answer_held(struct hostlock_answer *a, const struct record *r, int64_t left_ms)
{
	a->verdict = HOSTLOCK_HELD;
	a->left_ms = left_ms;
	snprintf(a->text, sizeof(a->text), "%s",
	    r->state == RECORD_NONE ? "" : r->text);
}

static void
give_up(struct hostlock *h)
{
	if (h->held) {
		(void)lockfile_write(&h->file, h->place, NULL, NULL);
		lockfile_leave(&h->file, h->place);
	}
	h->held = false;
	lockfile_unlock(&h->file);
}

/* Take this place and sign; -1 and an answer when the disk is full. */
static int
sign(struct hostlock *h, int place, struct hostlock_answer *a)
{
	struct record r;

	h->held = true;
	h->place = place;
	record_make(&r, RECORD_HELD, h->kind, h->token, 0);
	if (lockfile_write(&h->file, place, &r, &a->fault) == 0)
		return 0;
	give_up(h);
	a->verdict = HOSTLOCK_FAILED;
	return -1;
}

/* Is what --min-hold left at place still in the way? */
static bool
is_cooling(const struct hostlock *h, int place, struct record *r)
{
	lockfile_read(&h->file, place, r);
	return r->state == RECORD_COOLING && record_left_ms(r) > 0;
}

/*
 * The first in [from, to) that cools down and is in the way of our kind; what
 * is left of slots is so only for who wants all of them, or this one.
 */
static bool
find_cooling(const struct hostlock *h, int from, int to,
    struct hostlock_answer *a)
{
	struct record r;
	int place = from;

	while ((place = lockfile_next_written(&h->file, place, to)) != -1) {
		if (is_cooling(h, place, &r) &&
		    (is_exclusive(h->kind) || strcmp(r.kind, h->kind) != 0)) {
			answer_held(a, &r, record_left_ms(&r));
			return true;
		}
		place++;
	}
	return false;
}

/* Is there a nested run whose outer one has gone, or what is left of one? */
static bool
find_nested(const struct hostlock *h, struct hostlock_answer *a)
{
	int place = lockfile_next_taken(&h->file, LOCKFILE_NESTED, LAST);
	struct record r;

	if (place == -1)
		return find_cooling(h, LOCKFILE_NESTED, LAST, a);
	lockfile_read(&h->file, place, &r);
	answer_held(a, &r, -1);
	return true;
}

/* Who is in the way, by any that is there; a bare lock when none is. */
static void
tell_holder(const struct hostlock *h, struct hostlock_answer *a)
{
	int place = lockfile_next_taken(&h->file, 0, LAST);
	struct record r = { .state = RECORD_NONE };

	if (place != -1)
		lockfile_read(&h->file, place, &r);
	answer_held(a, &r, -1);
}

/* Do we run under this token? */
static bool
is_above(const struct lock *lock, const char *token)
{
	size_t len = strlen(token);
	const char *p = lock->above;

	for (; len > 0 && (p = strstr(p, token)) != NULL; p += len)
		if ((p == lock->above || p[-1] == ' ') &&
		    (p[len] == ' ' || p[len] == '\0'))
			return true;
	return false;
}

/* The place of a run that holds the lock and that we are below of, or -1. */
static int
find_above(const struct hostlock *h, const struct lock *lock, struct record *r)
{
	int place = 0;

	while (lock->above[0] != '\0' &&
	    (place = lockfile_next_taken(&h->file, place, LAST)) != -1) {
		lockfile_read(&h->file, place, r);
		if (r->state == RECORD_HELD && is_above(lock, r->text))
			return place;
		place++;
	}
	return -1;
}

/*
 * Enter by the right of the run at place, whose record was *r.  False when it
 * has gone meanwhile.
 */
static bool
enter(struct hostlock *h, int place, const struct record *r,
    struct hostlock_answer *a)
{
	struct record again;
	int at = LOCKFILE_NESTED;

	while (at < LAST && !lockfile_take(&h->file, at))
		at++;
	if (at == LAST)
		return false;
	h->nested = true;
	if (sign(h, at, a) == -1)
		return true;
	/* Ours stands: who comes now sees it.  Is the other still there? */
	lockfile_read(&h->file, place, &again);
	if (lockfile_next_taken(&h->file, place, place + 1) == place &&
	    again.state == RECORD_HELD && strcmp(again.text, r->text) == 0) {
		a->verdict = HOSTLOCK_OURS;
		return true;
	}
	(void)lockfile_write(&h->file, at, NULL, NULL);
	lockfile_leave(&h->file, at);
	h->held = h->nested = false;
	return false;
}

/* Below an exclusive one: in.  Exclusive below another kind: never. */
static bool
acquire_below(struct hostlock *h, const struct lock *lock,
    struct hostlock_answer *a)
{
	struct record r;
	int place = find_above(h, lock, &r);

	if (place == -1)
		return false;
	if (is_exclusive(r.kind) && h->kind[0] != 'j')
		return enter(h, place, &r, a);
	if (strcmp(r.kind, h->kind) == 0)
		return false;
	a->verdict =
	    strchr(r.kind, 'j') != NULL || strchr(h->kind, 'j') != NULL ?
	    HOSTLOCK_CLASH :
	    HOSTLOCK_STUCK;
	snprintf(a->text, sizeof(a->text), "%s", r.kind);
	return true;
}

/* Of those who share: is one there who shares otherwise? */
static bool
find_clash(const struct hostlock *h, struct hostlock_answer *a)
{
	struct record r;
	int place = 0;

	while ((place = lockfile_next_taken(&h->file, place, LOCKFILE_SEATS)) !=
	    -1) {
		lockfile_read(&h->file, place, &r);
		if (r.state == RECORD_HELD && strcmp(r.kind, h->kind) != 0) {
			a->verdict = HOSTLOCK_CLASH;
			snprintf(a->text, sizeof(a->text), "%s", r.kind);
			return true;
		}
		place++;
	}
	return false;
}

/* All slots are taken: by runs that we are below of, all of them? */
static void
no_seat(const struct hostlock *h, const struct lock *lock, int count,
    struct hostlock_answer *a)
{
	bool all_above = lock->above[0] != '\0';
	struct record r;
	int place;

	for (place = 0; all_above && place < count; place++) {
		lockfile_read(&h->file, place, &r);
		all_above = r.state == RECORD_HELD && is_above(lock, r.text);
	}
	if (all_above) {
		a->verdict = HOSTLOCK_STUCK;
		snprintf(a->text, sizeof(a->text), "%s", h->kind);
		return;
	}
	tell_holder(h, a);
	/* Who cools down leaves at a known time. */
	for (place = 0; place < count; place++)
		if (is_cooling(h, place, &r) &&
		    (a->left_ms < 0 || record_left_ms(&r) < a->left_ms))
			answer_held(a, &r, record_left_ms(&r));
}

/* A seat, once the file is locked; how many there are depends on the kind. */
static bool
sit_down(struct hostlock *h, const struct lock *lock, struct hostlock_answer *a)
{
	int place, count = LOCKFILE_SEATS;
	struct record r;

	if (is_exclusive(h->kind))
		count = 1;
	else if (h->kind[0] == 'j')
		count = (int)strtol(h->kind + 1, NULL, 10);
	for (place = 0; place < count; place++) {
		if (!lockfile_take(&h->file, place))
			continue;
		if (!is_cooling(h, place, &r))
			return sign(h, place, a) == 0;
		lockfile_leave(&h->file, place);
	}
	no_seat(h, lock, count, a);
	return false;
}

static bool
find_done(const struct hostlock *h, struct hostlock_answer *a)
{
	struct record r;

	lockfile_read(&h->file, LOCKFILE_DONE, &r);
	if (r.state != RECORD_DONE || record_left_ms(&r) == 0)
		return false;
	a->verdict = HOSTLOCK_DONE;
	snprintf(a->text, sizeof(a->text), "%s", r.text);
	return true;
}

static void
try_to_take(struct hostlock *h, const struct lock *lock,
    struct hostlock_answer *a)
{
	if (acquire_below(h, lock, a))
		return;
	if (!lockfile_lock(&h->file, is_exclusive(h->kind))) {
		tell_holder(h, a);
		return;
	}
	if (!lockfile_is_there(&h->file))
		a->verdict = HOSTLOCK_GONE; /* others lock another file */
	else if (sit_down(h, lock, a) && !find_nested(h, a) &&
	    !find_cooling(h, 0, LOCKFILE_SEATS, a) &&
	    (is_exclusive(h->kind) || !find_clash(h, a))) {
		a->verdict = HOSTLOCK_OURS;
		return;
	}
	give_up(h);
}

static void
acquire_once(struct hostlock *h, const struct lock *lock,
    struct hostlock_answer *a)
{
	memset(a, 0, sizeof(*a));
	a->slot = -1;
	if (hostlock_open(h, lock, &a->fault) == -1) {
		a->verdict = HOSTLOCK_FAILED;
		return;
	}
	if (lock->once && find_done(h, a)) {
		give_up(h);
		return;
	}
	if (!h->held) {
		h->nested = false;
		snprintf(h->kind, sizeof(h->kind), "%s", lock->kind);
		snprintf(h->token, sizeof(h->token), "%s", lock->token);
		try_to_take(h, lock, a);
	}
	if (h->held) {
		a->verdict = HOSTLOCK_OURS;
		a->slot = slot_of(h);
	}
}

void
hostlock_acquire(struct hostlock *h, const struct lock *lock,
    struct hostlock_answer *a)
{
	int tries = 0;

	do
		acquire_once(h, lock, a);
	while (a->verdict == HOSTLOCK_GONE && ++tries < REMOVED_MAX);
	if (a->verdict == HOSTLOCK_GONE) { /* again and again */
		a->verdict = HOSTLOCK_HELD;
		a->left_ms = -1;
	}
}

void
hostlock_prove(struct hostlock *h, const struct lock *lock,
    struct hostlock_answer *a)
{
	memset(a, 0, sizeof(*a));
	a->slot = -1;
	a->verdict = HOSTLOCK_GONE;
	if (h->held && strcmp(h->token, lock->token) == 0 &&
	    lockfile_is_there(&h->file))
		a->verdict = HOSTLOCK_OURS;
}

/* What is left behind at the place: its cooling down, or nothing. */
static void
clear_up(struct hostlock *h, const struct lock_terms *terms)
{
	char token[RECORD_TEXT_MAX];
	struct record r;

	if (terms->cool_ms == 0) {
		(void)lockfile_write(&h->file, h->place, NULL, NULL);
		return;
	}
	snprintf(token, sizeof(token), TOKEN_PREFIX "cooling%s",
	    h->token + strlen(TOKEN_PREFIX) + TOKEN_ID_LEN);
	record_make(&r, RECORD_COOLING, h->kind, token, terms->cool_ms);
	/* It overwrites what is there: no disk is too full for that. */
	(void)lockfile_write(&h->file, h->place, &r, NULL);
}

/* -1 and a fault when the success can't be remembered. */
static int
mark_done(struct hostlock *h, const struct lock_terms *terms,
    struct fault *fault)
{
	char text[RECORD_TEXT_MAX];
	struct record r;

	if (terms->done_ms == 0)
		return 0;
	snprintf(text, sizeof(text), "%lld %lld %s", (long long)clock_wall_ms(),
	    (long long)terms->run_ms, h->token);
	record_make(&r, RECORD_DONE, "-", text, terms->done_ms);
	return lockfile_write(&h->file, LOCKFILE_DONE, &r, fault);
}

void
hostlock_release(struct hostlock *h, const struct lock *lock,
    struct hostlock_answer *a)
{
	int status;

	hostlock_prove(h, lock, a);
	if (a->verdict != HOSTLOCK_OURS)
		return;
	status = mark_done(h, &lock->terms, &a->fault);
	clear_up(h, &lock->terms);
	lockfile_leave(&h->file, h->place);
	h->held = false;
	lockfile_unlock(&h->file);
	lockfile_touch(&h->file);
	if (status == -1)
		a->verdict = HOSTLOCK_FAILED;
}
