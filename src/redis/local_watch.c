/* SPDX-License-Identifier: MIT */
/*
 * local_watch: see local_watch.h.
 */
#include "redis/local_watch.h"

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/clock.h"

/* The kernel tells of the last close before it takes the locks away. */
#define AGAIN_MS 3

static void
on_events(void *arg, short revents)
{
	struct local_watch *w = arg;
	char events[4096];

	(void)revents;
	/* What they say is of no interest: something has happened. */
	while (read(w->events.fd, events, sizeof(events)) > 0)
		continue;
	loop_timer_set(w->loop, &w->again, clock_add(clock_now(), AGAIN_MS));
	w->fn(w->arg);
}

static void
on_again(void *arg)
{
	struct local_watch *w = arg;

	w->fn(w->arg);
}

void
local_watch_init(struct local_watch *w, struct loop *loop, void (*fn)(void *),
    void *arg)
{
	*w = (struct local_watch) {
		.loop = loop, .fn = fn, .arg = arg, .watched = -1
	};
	w->events = (struct loop_watch) {
		.fd = -1, .events = POLLIN, .fn = on_events, .arg = w
	};
	loop_timer_init(&w->again, on_again, w);
}

void
local_watch_release(struct local_watch *w)
{
	int fd = w->events.fd;

	loop_timer_clear(w->loop, &w->again);
	loop_watch_drop(w->loop, &w->events);
	if (fd != -1)
		close(fd);
	w->watched = -1;
}

bool
local_watch_start(struct local_watch *w, const char *folder, const char *name)
{
	char path[PATH_MAX];
	int watched;

	if (w->events.fd == -1) {
		w->events.fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
		if (w->events.fd == -1)
			return false;
		loop_watch_add(w->loop, &w->events);
	}
	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >=
	    (int)sizeof(path))
		return false;
	/* For the same file the number is the same, as long as it is there. */
	watched = inotify_add_watch(w->events.fd, path,
	    IN_ATTRIB | IN_CLOSE_WRITE | IN_DONT_FOLLOW);
	if (watched != w->watched && w->watched != -1)
		(void)inotify_rm_watch(w->events.fd, w->watched);
	w->watched = watched;
	return watched != -1;
}
