/* SPDX-License-Identifier: MIT */
/*
 * strays: see strays.h.  One walk over /proc gives parents and sessions of
 * all processes; those found are signalled at once.  What is forked meanwhile
 * is found by the next call: callers repeat until there is none.
 */
#include "lives/strays.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct process {
	pid_t pid;
	pid_t parent;
	pid_t group;
	pid_t session;
	bool zombie;
	bool stopped;
	bool below; /* descends from the root */
};

struct table {
	struct process *at;
	size_t count, room;
};

/* Read /proc/PID/NAME; the text is terminated.  Its length, or -1. */
static ssize_t
read_proc(pid_t pid, const char *name, char *text, size_t cap)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return -1;
	n = read(fd, text, cap - 1);
	close(fd);
	if (n >= 0)
		text[n] = '\0';
	return n;
}

static bool
read_stat(pid_t pid, struct process *p)
{
	int parent, group, session;
	char text[512], state, *end;

	/* The name in parentheses may hold anything, ") Z 1" included. */
	if (read_proc(pid, "stat", text, sizeof(text)) <= 0 ||
	    (end = strrchr(text, ')')) == NULL ||
	    sscanf(end + 1, " %c %d %d %d", &state, &parent, &group,
		&session) != 4)
		return false;
	*p = (struct process) { .pid = pid,
		.parent = parent,
		.group = group,
		.session = session,
		.zombie = state == 'Z' || state == 'X',
		.stopped = state == 'T' || state == 't' };
	return true;
}

static bool
add(struct table *t, const struct process *p)
{
	struct process *more;

	if (t->count == t->room) {
		more = realloc(t->at, (t->room + 256) * sizeof(*t->at));
		if (more == NULL)
			return false;
		t->at = more;
		t->room += 256;
	}
	t->at[t->count++] = *p;
	return true;
}

static bool
read_table(struct table *t)
{
	DIR *dir = opendir("/proc");
	struct process p;
	struct dirent *e;

	if (dir == NULL)
		return false;
	while ((e = readdir(dir)) != NULL)
		if (isdigit((unsigned char)e->d_name[0]) &&
		    read_stat((pid_t)atoi(e->d_name), &p) && !add(t, &p))
			break;
	closedir(dir);
	return t->count > 0; /* not mounted: an empty folder */
}

static bool
is_elder(const struct strays *s, pid_t pid)
{
	int i;

	for (i = 0; i < STRAYS_ELDERS && s->elders[i] != 0; i++)
		if (s->elders[i] == pid)
			return true;
	return false;
}

static bool
is_marked(pid_t pid, const char *mark)
{
	static char text[128 * 1024];
	ssize_t n;

	if (mark[0] == '\0')
		return false;
	n = read_proc(pid, "environ", text, sizeof(text));
	return n > 0 && memmem(text, (size_t)n, mark, strlen(mark)) != NULL;
}

static bool
is_below(const struct table *t, pid_t parent, pid_t root)
{
	size_t i;

	if (root > 0 && parent == root)
		return true;
	for (i = 0; i < t->count; i++)
		if (t->at[i].pid == parent)
			return t->at[i].below;
	return false;
}

static void
mark_descendants(struct table *t, const struct strays *s)
{
	struct process *p;
	bool more = true;
	size_t i;

	for (i = 0; i < t->count; i++) {
		p = &t->at[i];
		p->below = p->group == s->group ||
		    (p->session == s->session && is_marked(p->pid, s->mark));
	}
	while (more) {
		more = false;
		for (i = 0; i < t->count; i++) {
			p = &t->at[i];
			if (p->below || is_elder(s, p->pid) ||
			    !is_below(t, p->parent, s->root))
				continue;
			p->below = more = true;
		}
	}
}

/* Is it one of the command's that has left its group? */
static bool
is_stray(const struct strays *s, const struct process *p)
{
	return !p->zombie && p->below && p->group != s->group &&
	    p->session == s->session && p->pid != s->root && p->pid != getpid();
}

int
strays_signal(const struct strays *s, int signal)
{
	struct table t = { 0 };
	int found = 0;
	size_t i;

	if (!read_table(&t))
		return -1;
	mark_descendants(&t, s);
	for (i = 0; i < t.count; i++) {
		if (!t.at[i].zombie && t.at[i].group == s->group)
			found++;
		if (!is_stray(s, &t.at[i]))
			continue;
		found++;
		if (signal != 0)
			kill(t.at[i].pid, signal);
	}
	free(t.at);
	return found;
}

void
strays_halt(const struct strays *s, pid_t *halted, int max)
{
	struct table t = { 0 };
	int n = 0;
	size_t i;

	if (read_table(&t)) {
		mark_descendants(&t, s);
		for (i = 0; i < t.count && n < max - 1; i++)
			if (is_stray(s, &t.at[i]) && !t.at[i].stopped &&
			    kill(t.at[i].pid, SIGSTOP) == 0)
				halted[n++] = t.at[i].pid;
		free(t.at);
	}
	halted[n] = 0;
}

void
strays_init(struct strays *s)
{
	struct table t = { 0 };
	siginfo_t info;
	int n = 0;
	size_t i;

	*s = (struct strays) { .session = getsid(0), .root = getpid() };
	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == -1)
		return; /* no child at all, as nearly always */
	if (!read_table(&t))
		return;
	for (i = 0; i < t.count && n < STRAYS_ELDERS; i++)
		if (t.at[i].parent == s->root)
			s->elders[n++] = t.at[i].pid;
	free(t.at);
}
