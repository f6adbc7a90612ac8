/* SPDX-License-Identifier: MIT */
/*
 * local: see local.h.  Files don't make one wait, so the answer is found when
 * the loop comes round, not before: what happens until then is seen by it,
 * what happens later wakes who waits.
 */
#include "redis/local.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "host/hostlock.h"
#include "host/hostview.h"
#include "redis/codec.h"
#include "redis/local_watch.h"
#include "redis/say.h"

/* Who is told of a release need not look often. */
#define TOLD_LEFT_MS (60 * 60 * 1000)

struct local {
	struct loop *loop;
	const struct conn_handlers *handlers;
	void *arg;
	bool none;	      /* no lock is to be had, nor wanted */
	struct folder folder; /* else */
	struct hostlock lock;
	struct local_watch watch;
	struct loop_timer answer;
	/* the question */
	const struct lock *locks;
	size_t count;
	enum lock_op op;
	uint32_t tag;
	int64_t sent_at;
};

/* --- the locks ------------------------------------------------------------ */

static int
put_answer(struct buf *out, const struct hostlock_answer *a, bool told)
{
	switch (a->verdict) {
	case HOSTLOCK_OURS:
		return say_ours(out, a->slot);
	case HOSTLOCK_HELD:
		/* There is no queue: all are the first. */
		return say_held(out, a->text,
		    a->left_ms < 0 && told ? TOLD_LEFT_MS : a->left_ms);
	case HOSTLOCK_GONE:
		return say_gone(out);
	case HOSTLOCK_DONE:
		return say_word(out, SCRIPT_DONE, a->text);
	case HOSTLOCK_STUCK:
		return say_word(out, SCRIPT_STUCK, a->text);
	case HOSTLOCK_CLASH:
		return say_word(out, SCRIPT_CLASH, a->text);
	case HOSTLOCK_FAILED:
		break; /* told as a failure */
	}
	return -1;
}

static int
answer_lock(struct local *l, const struct lock *lock, struct buf *out,
    struct fault *fault)
{
	struct hostlock_answer a = { .verdict = HOSTLOCK_OURS, .slot = -1 };
	bool told = false;

	if (l->none)
		;
	else if (l->op == LOCK_RENEW)
		hostlock_prove(&l->lock, lock, &a);
	else if (l->op == LOCK_RELEASE || l->op == LOCK_FREE)
		hostlock_release(&l->lock, lock, &a);
	else {
		/* What happens from here on wakes us. */
		if (l->op == LOCK_JOIN)
			told = local_watch_start(&l->watch, l->folder.path,
			    l->lock.file.name);
		hostlock_acquire(&l->lock, lock, &a);
		/* Its file was removed, and is another now. */
		if (a.verdict == HOSTLOCK_HELD && told)
			told = local_watch_start(&l->watch, l->folder.path,
			    l->lock.file.name);
	}
	if (a.verdict == HOSTLOCK_FAILED) {
		*fault = a.fault;
		return -1;
	}
	return put_answer(out, &a, told) == 0 ?
	    0 :
	    fault_set(fault, FAULT_SYSTEM, 0, "no memory");
}

/* --- to look at them ------------------------------------------------------ */

static int
put_view(struct buf *out, const struct hostview *view)
{
	int64_t left = -1;
	size_t i;

	/* The longest that anything is known to last. */
	for (i = 0; i < view->count; i++)
		if (view->holders[i].left_ms > left)
			left = view->holders[i].left_ms;
	if (buf_puts(out, "*9\r\n") == -1 || say_text(out, view->kind) == -1 ||
	    say_text(out, view->count == 0 ? "none" : "file") == -1 ||
	    say_number(out, left) == -1 ||
	    buf_printf(out, "*%zu\r\n", 3 * view->count) == -1)
		return -1;
	for (i = 0; i < view->count; i++)
		if (say_text(out, view->holders[i].token) == -1 ||
		    say_number(out, view->holders[i].left_ms) == -1 ||
		    say_number(out, view->holders[i].slot) == -1)
			return -1;
	if (buf_puts(out, ":0\r\n*0\r\n") == -1 ||
	    say_text(out, view->done) == -1 ||
	    say_number(out, view->done[0] == '\0' ? -2 : view->done_left_ms) ==
		-1)
		return -1;
	return say_text(out, "");
}

static int
answer_status(struct local *l, const struct lock *lock, struct buf *out,
    struct fault *fault)
{
	struct hostview view;
	int status;

	status = hostview_look(&l->folder, lock->keys.lock, &view, fault);
	if (status == 0 && put_view(out, &view) == -1)
		status = fault_set(fault, FAULT_SYSTEM, 0, "no memory");
	hostview_release(&view);
	return status;
}

/* Put each key that the pattern of SCAN matches; how many, or -1. */
static int
put_keys(const struct folder *folder, const char *pattern, DIR *dir,
    struct buf *out)
{
	struct buf key = { 0 };
	struct dirent *entry;
	int count = 0, status = 0;

	while (status == 0 && (entry = readdir(dir)) != NULL) {
		key.len = 0;
		if (lockfile_key(folder, entry->d_name, &key) == -1 ||
		    fnmatch(pattern, key.data, 0) != 0)
			continue;
		status = say_text(out, key.data);
		count++;
	}
	buf_release(&key);
	return status == -1 ? -1 : count;
}

/* All at once: the cursor is 0 again. */
static int
answer_scan(struct local *l, const struct lock *lock, struct buf *out,
    struct fault *fault)
{
	int fd = openat(l->folder.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd == -1 ? NULL : fdopendir(fd);
	struct buf keys = { 0 };
	int count = -1, status = -1;

	if (dir == NULL) {
		folder_fault(fault, errno, l->folder.path);
		if (fd != -1)
			close(fd);
		return -1;
	}
	count = put_keys(&l->folder, lock->pattern, dir, &keys);
	if (count >= 0 &&
	    buf_printf(out, "*2\r\n$1\r\n0\r\n*%d\r\n", count) == 0)
		status = buf_put(out, keys.data, keys.len);
	closedir(dir);
	buf_release(&keys);
	return status == 0 ? 0 : fault_set(fault, FAULT_SYSTEM, 0, "no memory");
}

/* --- questions ------------------------------------------------------------ */

static int
answer_one(struct local *l, const struct lock *lock, struct buf *out,
    struct fault *fault)
{
	switch (l->op) {
	case LOCK_TAKE:
	case LOCK_JOIN:
	case LOCK_ASK:
	case LOCK_QUEUE:
	case LOCK_RENEW:
	case LOCK_FREE:
	case LOCK_RELEASE:
		return answer_lock(l, lock, out, fault);
	case LOCK_STATUS:
		return answer_status(l, lock, out, fault);
	case LOCK_SCAN:
		return answer_scan(l, lock, out, fault);
	case LOCK_SYNC:
	case LOCK_CLIENTS:
	case LOCK_KILL:
	case LOCK_PLAIN:
	case LOCK_BREAK:
		break;
	}
	return fault_set(fault, FAULT_BUG, 0, "not to be asked of local:");
}

static void
on_answer(void *arg)
{
	struct local *l = arg;
	struct buf text = { 0 };
	struct reply *reply;
	struct fault fault;
	uint32_t tag = l->tag;
	size_t i;
	int status = 0;

	for (i = 0; status == 0 && i < l->count && l->tag == tag; i++) {
		text.len = 0;
		reply = NULL;
		status = answer_one(l, &l->locks[i], &text, &fault);
		if (status == 0 && (reply = say_reply(&text)) == NULL)
			status =
			    fault_set(&fault, FAULT_SYSTEM, 0, "no memory");
		if (status == 0)
			l->handlers->answer(l->arg, NULL, tag, l->sent_at,
			    reply, false);
		codec_drop(reply);
	}
	buf_release(&text);
	if (status == -1)
		l->handlers->login(l->arg, NULL, &fault);
}

static void
on_wake(void *arg)
{
	struct local *l = arg;

	l->handlers->message(l->arg, NULL, "", 0);
}

struct local *
local_new(struct loop *loop, const struct endpoint *endpoint,
    const struct conn_handlers *handlers, void *arg, struct fault *fault)
{
	struct local *l = calloc(1, sizeof(*l));

	if (l == NULL) {
		fault_set(fault, FAULT_SYSTEM, 0, "no memory");
		return NULL;
	}
	l->none = endpoint->kind == ENDPOINT_NONE;
	l->folder.fd = -1;
	if (!l->none && folder_open(&l->folder, endpoint->path, fault) == -1) {
		free(l);
		return NULL;
	}
	l->loop = loop;
	l->handlers = handlers;
	l->arg = arg;
	hostlock_init(&l->lock, &l->folder);
	local_watch_init(&l->watch, loop, on_wake, l);
	loop_timer_init(&l->answer, on_answer, l);
	return l;
}

void
local_free(struct local *l)
{
	if (l == NULL)
		return;
	local_cancel(l);
	local_watch_release(&l->watch);
	hostlock_close(&l->lock);
	folder_close(&l->folder);
	free(l);
}

static bool
is_about_ours(enum lock_op op)
{
	return op != LOCK_STATUS && op != LOCK_SCAN;
}

void
local_ask(struct local *l, const struct lock *locks, size_t count,
    enum lock_op op, uint32_t tag)
{
	struct fault fault;

	l->locks = locks;
	l->count = count;
	l->op = op;
	l->tag = tag;
	l->sent_at = clock_now();
	if (is_about_ours(op) && !l->none)
		(void)hostlock_open(&l->lock, locks, &fault); /* tried again */
	loop_timer_set(l->loop, &l->answer, l->sent_at);
}

void
local_cancel(struct local *l)
{
	loop_timer_clear(l->loop, &l->answer);
	l->count = 0;
}

void
local_give_up(struct local *l, const struct lock *lock)
{
	struct hostlock_answer a;

	local_cancel(l);
	/* What isn't ours needs no release. */
	if (!l->none)
		hostlock_release(&l->lock, lock, &a);
}

int
local_fd(const struct local *l)
{
	return l->lock.file.fd;
}
