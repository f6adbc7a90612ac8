/* SPDX-License-Identifier: MIT */
/*
 * loop: see loop.h.  Owns the signalfd and the timerfd.  Invariant: the
 * timerfd is armed no later than the earliest timer (an early wake-up is
 * harmless and saves a system call).  It knows nothing of who uses it.
 */
#include "loop/loop.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define WATCHES_MAX 32
#define POLL_AGAIN_NS 10000000

struct loop {
	int signal_fd;
	int timer_fd;
	int64_t armed_at; /* CLOCK_NEVER: not armed */
	bool stopped;
	struct loop_watch *watches;
	struct loop_timer *timers;
	loop_signal_fn on_signal;
	void *on_signal_arg;
	sigset_t old_mask;
	/* while descriptors are handed out: what each slot belongs to */
	struct loop_watch *active[WATCHES_MAX];
	int nactive;
};

struct loop *
loop_new(struct fault *fault)
{
	/* These say that rlock itself is broken: it is to die of them. */
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT,
		SIGTRAP, SIGSYS };
	struct loop *loop;
	sigset_t mask;
	size_t i;

	if ((loop = calloc(1, sizeof(*loop))) == NULL) {
		fault_set(fault, FAULT_SYSTEM, errno, "no memory");
		return NULL;
	}
	sigfillset(&mask);
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&mask, faults[i]);
	sigprocmask(SIG_BLOCK, &mask, &loop->old_mask);
	loop->armed_at = CLOCK_NEVER;
	loop->timer_fd = -1;
	loop->signal_fd = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
	if (loop->signal_fd != -1)
		loop->timer_fd =
		    timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	if (loop->timer_fd == -1) {
		fault_set(fault, FAULT_SYSTEM, errno,
		    "can't open the descriptors for signals and timers");
		loop_free(loop);
		return NULL;
	}
	return loop;
}

void
loop_free(struct loop *loop)
{
	if (loop == NULL)
		return;
	if (loop->signal_fd != -1)
		close(loop->signal_fd);
	if (loop->timer_fd != -1)
		close(loop->timer_fd);
	free(loop);
}

const sigset_t *
loop_old_mask(const struct loop *loop)
{
	return &loop->old_mask;
}

void
loop_on_signal(struct loop *loop, loop_signal_fn fn, void *arg)
{
	loop->on_signal = fn;
	loop->on_signal_arg = arg;
}

void
loop_read_signals(struct loop *loop)
{
	struct signalfd_siginfo info;

	while (read(loop->signal_fd, &info, sizeof(info)) == sizeof(info))
		if (loop->on_signal != NULL)
			loop->on_signal(loop->on_signal_arg, &info);
}

void
loop_watch_add(struct loop *loop, struct loop_watch *w)
{
	w->next = loop->watches;
	loop->watches = w;
}

void
loop_watch_drop(struct loop *loop, struct loop_watch *w)
{
	struct loop_watch **p;
	int i;

	for (p = &loop->watches; *p != NULL; p = &(*p)->next) {
		if (*p == w) {
			*p = w->next;
			break;
		}
	}
	for (i = 0; i < loop->nactive; i++)
		if (loop->active[i] == w)
			loop->active[i] = NULL;
	w->fd = -1;
}

void
loop_timer_init(struct loop_timer *t, loop_timer_fn fn, void *arg)
{
	*t = (struct loop_timer) { .at = CLOCK_NEVER, .fn = fn, .arg = arg };
}

void
loop_timer_set(struct loop *loop, struct loop_timer *t, int64_t at)
{
	loop_timer_clear(loop, t);
	if (at == CLOCK_NEVER)
		return;
	t->at = at;
	t->next = loop->timers;
	loop->timers = t;
}

void
loop_timer_clear(struct loop *loop, struct loop_timer *t)
{
	struct loop_timer **p;

	if (t->at == CLOCK_NEVER)
		return;
	for (p = &loop->timers; *p != NULL; p = &(*p)->next) {
		if (*p == t) {
			*p = t->next;
			break;
		}
	}
	t->at = CLOCK_NEVER;
}

static void
run_timers(struct loop *loop, bool urgent_only)
{
	int64_t now = clock_now();
	struct loop_timer *t, *first;

	do {
		first = NULL;
		for (t = loop->timers; t != NULL; t = t->next)
			if (t->at <= now && (t->urgent || !urgent_only) &&
			    (first == NULL || t->at < first->at))
				first = t;
		if (first != NULL) {
			loop_timer_clear(loop, first);
			first->fn(first->arg);
		}
	} while (first != NULL && !loop->stopped);
}

static void
arm(struct loop *loop)
{
	struct itimerspec when = { 0 };
	int64_t at = CLOCK_NEVER;
	struct loop_timer *t;

	for (t = loop->timers; t != NULL; t = t->next)
		if (t->at < at)
			at = t->at;
	if (at >= loop->armed_at)
		return;
	/* All zero would disarm it; a point before the first ms is past. */
	if (at < 1)
		at = 1;
	when.it_value.tv_sec = at / 1000;
	when.it_value.tv_nsec = at % 1000 * 1000000;
	/* With such arguments it can't fail: see timerfd_create(2). */
	(void)timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
	loop->armed_at = at;
}

/*
 * poll(2), but it never fails: without memory in the kernel it is a pause,
 * since timers and signals must be seen to whatever happens.
 */
static void
wait_for(struct loop *loop, struct pollfd *fds, int n)
{
	static const struct timespec pause = { 0, POLL_AGAIN_NS };
	int i;

	arm(loop);
	if (poll(fds, (nfds_t)n, -1) != -1)
		return;
	if (errno != EINTR)
		nanosleep(&pause, NULL);
	for (i = 0; i < n; i++)
		fds[i].revents = fds[i].fd == loop->signal_fd ? POLLIN : 0;
}

/* Wait for something, look at the clock, then hand out what came. */
static void
turn(struct loop *loop)
{
	struct pollfd fds[WATCHES_MAX + 2];
	struct loop_watch *w;
	uint64_t count;
	int i, n = 0;

	for (w = loop->watches; w != NULL && n < WATCHES_MAX; w = w->next) {
		loop->active[n] = w;
		fds[n++] = (struct pollfd) { .fd = w->fd, .events = w->events };
	}
	loop->nactive = n;
	fds[n] = (struct pollfd) { .fd = loop->signal_fd, .events = POLLIN };
	fds[n + 1] = (struct pollfd) { .fd = loop->timer_fd, .events = POLLIN };
	wait_for(loop, fds, n + 2);
	if (fds[n + 1].revents != 0) {
		/* Empty when something else has read it; then no matter. */
		if (read(loop->timer_fd, &count, sizeof(count)) > 0)
			loop->armed_at = CLOCK_NEVER;
	}
	run_timers(loop, true);
	for (i = 0; i < n && !loop->stopped; i++) {
		w = loop->active[i];
		if (w != NULL && fds[i].revents != 0)
			w->fn(w->arg, fds[i].revents);
	}
	loop->nactive = 0;
	if (!loop->stopped && fds[n].revents != 0)
		loop_read_signals(loop);
	if (!loop->stopped)
		run_timers(loop, false);
}

void
loop_run(struct loop *loop)
{
	loop->stopped = false;
	while (!loop->stopped)
		turn(loop);
}

void
loop_stop(struct loop *loop)
{
	loop->stopped = true;
}
