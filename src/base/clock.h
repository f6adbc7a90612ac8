/* SPDX-License-Identifier: MIT */
/*
 * clock: points in time and lengths.  A point (NAME_at) is milliseconds on
 * CLOCK_BOOTTIME, which goes on while the machine is suspended; a length is
 * NAME_ms.  The wall clock is read for show only, never to decide.
 */
#ifndef RLOCK_CLOCK_H
#define RLOCK_CLOCK_H

#include <stdint.h>

#define CLOCK_NEVER INT64_MAX	/* a point that does not come */

/* Now, rounded down to a millisecond.  See clock_gettime(2). */
int64_t clock_now(void);

/* The wall clock, ms since 1970 UTC; for tokens and reports. */
int64_t clock_wall_ms(void);

/* at + ms, held at CLOCK_NEVER instead of overflowing; ms >= 0. */
int64_t clock_add(int64_t at, int64_t ms);

#endif
