/* SPDX-License-Identifier: MIT */
/*
 * noguard: the functions of lives/guard.h, doing nothing.  rlock linked with
 * it shows, beside rlock as it is, what the guard costs.  For the bench alone.
 */
#include "lives/guard.h"

int
guard_init(struct guard *g, struct fault *fault)
{
	(void)fault;
	*g = (struct guard) { .fd = -1 };
	return 0;
}

int
guard_start(struct guard *g, const struct strays *children, int keep,
    struct fault *fault)
{
	(void)g;
	(void)children;
	(void)keep;
	(void)fault;
	return 0;
}

void
guard_mark(struct guard *g, const char *mark)
{
	(void)g;
	(void)mark;
}

void
guard_until(struct guard *g, int64_t kill_at)
{
	(void)g;
	(void)kill_at;
}

void
guard_join(struct guard *g)
{
	(void)g;
}

void
guard_dismiss(struct guard *g)
{
	(void)g;
}

bool
guard_reaped(struct guard *g, pid_t pid)
{
	(void)g;
	(void)pid;
	return false;
}

void
guard_release(struct guard *g)
{
	(void)g;
}
