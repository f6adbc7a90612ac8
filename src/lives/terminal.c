/* SPDX-License-Identifier: MIT */
/*
 * terminal: see terminal.h.  TTOU is blocked in rlock, so that tcsetpgrp(3)
 * from the background works and a write never stops us.
 */
#include "lives/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

void
terminal_init(struct terminal *t)
{
	*t = (struct terminal) { .fd = -1 };
}

void
terminal_release(struct terminal *t)
{
	if (t->fd != -1)
		close(t->fd);
	t->fd = -1;
}

bool
terminal_is_ours(struct terminal *t)
{
	if (t->fd == -1)
		t->fd = open("/dev/tty",
		    O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return t->fd != -1 && tcgetpgrp(t->fd) == getpgrp();
}

void
terminal_lend(struct terminal *t, pid_t group)
{
	/* It fails when the terminal is gone: then there is none to lend. */
	t->lent = tcsetpgrp(t->fd, group) == 0;
}

bool
terminal_take_back(struct terminal *t)
{
	bool lent = t->lent;

	if (lent)
		(void)tcsetpgrp(t->fd, getpgrp()); /* gone: as above */
	t->lent = false;
	return lent;
}

bool
terminal_stop_self(int number, bool whole_group)
{
	sigset_t set, pending;

	sigemptyset(&set);
	sigaddset(&set, number);
	kill(whole_group ? 0 : getpid(), number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	/* Stopped here, and continued. */
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigpending(&pending);
	return sigismember(&pending, SIGCONT) == 1;
}
