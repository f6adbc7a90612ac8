/* SPDX-License-Identifier: MIT */
/*
 * clock: owns the choice of clocks.  A point never runs backwards and counts
 * the time that the machine was suspended, as the server's clock does.  It
 * must not know what the points are for.
 */
#include "base/clock.h"

#include <time.h>

static int64_t
read_ms(clockid_t id)
{
	struct timespec ts = { 0, 0 };

	/* Fails for an unknown clock only; Linux has both since 2.6.39. */
	(void)clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t
clock_now(void)
{
	return read_ms(CLOCK_BOOTTIME);
}

int64_t
clock_wall_ms(void)
{
	return read_ms(CLOCK_REALTIME);
}

int64_t
clock_add(int64_t at, int64_t ms)
{
	int64_t sum;

	if (__builtin_add_overflow(at, ms, &sum))
		return CLOCK_NEVER;
	return sum;
}
