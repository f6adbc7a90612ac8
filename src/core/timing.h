/* SPDX-License-Identifier: MIT */
/*
 * timing: every length and point that follows from a lease, in one place.
 * The lease is counted on this host from the moment before the request was
 * sent that took or last renewed it.
 */
#ifndef RLOCK_TIMING_H
#define RLOCK_TIMING_H

#include <stdbool.h>
#include <stdint.h>

#include "words/config.h"

/* Points of one lease, on the boottime clock. */
struct timing_lease {
	int64_t	 end_at;	/* nobody may rely on it from here on:
				   sent + TTL - (TTL/100 + 2 ms) */
	int64_t	 kill_at;	/* the last moment for KILL: end - TTL/50, at
				   least 5 ms, at most 500 ms */
	int64_t	 term_at;	/* the first signal in doubt: kill -
				   min(--kill-after, TTL/8) */
	int64_t	 renew_at;	/* the next renewal: sent + TTL/3 */
};

/* ttl_ms >= 100; kill_after_ms >= 0; sent_at from clock_now. */
struct timing_lease timing_lease(int64_t sent_at, int64_t ttl_ms,
    int64_t kill_after_ms);

/*
 * The same by what this run is to do.  A lock of local: is kept by the kernel,
 * however long we are stopped or suspended: it has no end, only renewals.
 */
struct timing_lease timing_lease_of(const struct config *, int64_t sent_at);

/* How long one renewal may take before its connection is presumed
 * dead: min(--command-timeout, TTL/6). */
int64_t timing_attempt_ms(int64_t ttl_ms, int64_t command_timeout_ms);

/* How long one attempt at the release may take: half of what all of them may,
 * should a middlebox have dropped an idle connection. */
int64_t timing_release_ms(int64_t ttl_ms, int64_t command_timeout_ms);

/* How long one of several servers may take to vote: TTL/20, at least 50 ms, at
 * most 1 s. */
int64_t timing_vote_ms(int64_t ttl_ms);

/* The pause before attempt n + 1 at a renewal, n >= 1: min(50 ms, TTL/20),
 * doubled up to TTL/10. */
int64_t timing_renew_pause_ms(int64_t ttl_ms, int64_t n);

/* The pause before attempt n + 1 at reaching a server, n >= 1: 50 ms doubled
 * up to 1 s. */
int64_t timing_reach_pause_ms(int64_t n);

/* first_ms doubled n times, n >= 0, at most max_ms. */
int64_t timing_backoff_ms(int64_t first_ms, int64_t max_ms, int64_t n);

/*
 * When a waiter looks at the lock again though it heard nothing.  left_ms: how
 * long until the lock may change by itself (-1: never); rank: its place, 0 is
 * the head; jitter: 0 to 99, at random; shared: does it want to share the lock?
 * The head looks when the lease is over, and every second; the others 5 to
 * 15 % of the TTL after it, every 5 s at most and every 30 s at least.  A reader
 * that isn't the head looks every 5 to 6 s: what it waits for may be a writer
 * in line, whose death tells nobody while readers hold the lock.
 */
int64_t timing_look_ms(int64_t left_ms, int64_t rank, int64_t ttl_ms,
    uint32_t jitter, bool shared);

#endif
