/* SPDX-License-Identifier: MIT */
/*
 * timing: the points of a lease over all lengths of it, pauses, and looks.
 */
#include <stdint.h>

#include "check.h"
#include "core/timing.h"

#define YEAR_MS INT64_C(31622400000) /* 366 days: the longest */
#define LONG_MS (INT64_C(1) << 53)   /* the longest duration */

static int64_t
min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* 100 ms to a year: each of the first 3000, then 1 % more each time. */
static int64_t
next_ttl(int64_t ttl)
{
	if (ttl < 3000)
		return ttl + 1;
	if (ttl < YEAR_MS && ttl + ttl / 100 > YEAR_MS)
		return YEAR_MS;
	return ttl + ttl / 100;
}

static void
lease_of(int64_t sent_at, int64_t ttl, int64_t kill_after)
{
	struct timing_lease l = timing_lease(sent_at, ttl, kill_after);
	int64_t room = l.end_at - l.kill_at;

	CHECK_EQ(l.end_at, sent_at + ttl - (ttl / 100 + 2));
	CHECK(l.end_at < sent_at + ttl);
	CHECK(l.kill_at < l.end_at);
	CHECK(room >= 5 && room <= 500);
	if (ttl >= 250 && ttl <= 25000)
		CHECK_EQ(room, ttl / 50);
	CHECK(l.term_at <= l.kill_at);
	CHECK(l.kill_at - l.term_at <= ttl / 8);
	CHECK_EQ(l.kill_at - l.term_at, min(kill_after, ttl / 8));
	/* A renewal and a second attempt at it fit in before the signal. */
	CHECK(sent_at < l.renew_at);
	CHECK_EQ(l.renew_at, sent_at + ttl / 3);
	CHECK(l.renew_at + 2 * timing_attempt_ms(ttl, 2000) < l.term_at);
	CHECK(l.term_at - l.renew_at >= ttl / 3);
}

static void
all_leases(void)
{
	static const int64_t kill_after[] = { 0, 1, 100, 5000, 600000,
		LONG_MS };
	static const int64_t sent_at[] = { 0, 1, 1000000007,
		INT64_C(100) * YEAR_MS };
	int64_t ttl;
	size_t i, j;

	for (ttl = 100; ttl <= YEAR_MS; ttl = next_ttl(ttl))
		for (i = 0; i < CHECK_COUNT(kill_after); i++)
			for (j = 0; j < CHECK_COUNT(sent_at); j++)
				lease_of(sent_at[j], ttl, kill_after[i]);
}

/* The table of the manual, THE COMMAND. */
static void
manual(void)
{
	static const struct {
		int64_t ttl, renew, term, kill, end;
	} rows[] = {
		{ 3000, 1000, 2533, 2908, 2968 },
		{ 30000, 10000, 25448, 29198, 29698 },
		{ 600000, 200000, 588498, 593498, 593998 },
	};
	struct timing_lease l;
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		l = timing_lease(0, rows[i].ttl, 5000);
		CHECK_EQ(l.renew_at, rows[i].renew);
		CHECK_EQ(l.term_at, rows[i].term);
		CHECK_EQ(l.kill_at, rows[i].kill);
		CHECK_EQ(l.end_at, rows[i].end);
	}
}

/* A longer lease never ends earlier (to the rounding of the last KILL), nor
 * does one sent later. */
static void
monotone(void)
{
	struct timing_lease a, b;
	int64_t ttl;

	for (ttl = 100; next_ttl(ttl) <= YEAR_MS; ttl = next_ttl(ttl)) {
		a = timing_lease(1000, ttl, 5000);
		b = timing_lease(1000, next_ttl(ttl), 5000);
		CHECK(a.end_at <= b.end_at && a.kill_at <= b.kill_at + 1 &&
		    a.renew_at <= b.renew_at);
		b = timing_lease(1001, ttl, 5000);
		CHECK(a.end_at + 1 == b.end_at && a.kill_at + 1 == b.kill_at &&
		    a.term_at + 1 == b.term_at && a.renew_at + 1 == b.renew_at);
	}
}

static void
attempts(void)
{
	int64_t ttl;

	CHECK_EQ(timing_attempt_ms(30000, 2000), 2000);
	CHECK_EQ(timing_attempt_ms(3000, 2000), 500);
	CHECK_EQ(timing_attempt_ms(100, 2000), 16);
	CHECK_EQ(timing_attempt_ms(YEAR_MS, 1), 1);
	for (ttl = 100; ttl <= YEAR_MS; ttl = next_ttl(ttl)) {
		CHECK(timing_attempt_ms(ttl, LONG_MS) == ttl / 6);
		CHECK(timing_attempt_ms(ttl, 2000) > 0);
	}
}

static void
backoff(void)
{
	static const int64_t want[] = { 100, 200, 400, 800, 1000, 1000 };
	int64_t n;

	for (n = 0; n < 6; n++)
		CHECK_EQ(timing_backoff_ms(100, 1000, n), want[n]);
	CHECK_EQ(timing_backoff_ms(1000, 1000, 0), 1000);
	CHECK_EQ(timing_backoff_ms(1000, 1000, 50), 1000);
	/* The first is longer than the longest: the longest counts. */
	CHECK_EQ(timing_backoff_ms(5000, 1000, 0), 1000);
	CHECK_EQ(timing_backoff_ms(5000, 1000, 9), 1000);
	/* No overflow, and no long loop. */
	CHECK_EQ(timing_backoff_ms(1, LONG_MS, 63), LONG_MS);
	CHECK_EQ(timing_backoff_ms(1, LONG_MS, INT64_MAX), LONG_MS);
	CHECK_EQ(timing_backoff_ms(LONG_MS, LONG_MS, INT64_MAX), LONG_MS);
	for (n = 0; n < 60; n++)
		CHECK(timing_backoff_ms(3, LONG_MS, n) <=
		    timing_backoff_ms(3, LONG_MS, n + 1));
}

static void
pauses(void)
{
	int64_t ttl, n, sum;

	CHECK_EQ(timing_renew_pause_ms(30000, 1), 50);
	CHECK_EQ(timing_renew_pause_ms(30000, 2), 100);
	CHECK_EQ(timing_renew_pause_ms(30000, 20), 3000);
	CHECK_EQ(timing_renew_pause_ms(200, 1), 10);
	CHECK_EQ(timing_renew_pause_ms(200, 9), 20);
	CHECK_EQ(timing_reach_pause_ms(1), 50);
	CHECK_EQ(timing_reach_pause_ms(5), 800);
	CHECK_EQ(timing_reach_pause_ms(6), 1000);
	CHECK_EQ(timing_reach_pause_ms(INT64_MAX), 1000);
	for (ttl = 100; ttl <= YEAR_MS; ttl = next_ttl(ttl)) {
		sum = 0;
		for (n = 1; n < 50; n++) {
			CHECK(timing_renew_pause_ms(ttl, n) > 0);
			CHECK(timing_renew_pause_ms(ttl, n) <= ttl / 10);
			sum += timing_renew_pause_ms(ttl, n);
			/* Never a busy loop: a few times a lease at most. */
			if (n == 16)
				CHECK(sum >= min(ttl, 50000) / 2);
		}
	}
}

static void
look_of_head(void)
{
	/* A key is gone one ms after its PTTL was 0. */
	CHECK(timing_look_ms(0, 0, 30000, 0, false) >= 1);
	CHECK(timing_look_ms(0, 0, 30000, 0, false) <= 5);
	CHECK(timing_look_ms(300, 0, 30000, 99, false) > 300);
	CHECK(timing_look_ms(300, 0, 30000, 99, false) <= 305);
	CHECK_EQ(timing_look_ms(999, 0, 30000, 0, false), 1000);
	CHECK_EQ(timing_look_ms(5000, 0, 30000, 0, false), 1000);
	CHECK_EQ(timing_look_ms(-1, 0, 30000, 0, false), 1000);
	CHECK_EQ(timing_look_ms(YEAR_MS, 0, YEAR_MS, 99, false), 1000);
}

static void
look_of_others(void)
{
	int64_t ttl, left, ms, rank;
	uint32_t jitter;

	for (ttl = 100; ttl <= YEAR_MS; ttl = next_ttl(ttl) * 2)
		for (left = -1; left <= YEAR_MS;
		     left = left < 0 ? 0 : left * 3 + 2)
			for (rank = 1; rank < 1000000; rank *= 31)
				for (jitter = 0; jitter < 100; jitter += 33) {
					ms = timing_look_ms(left, rank, ttl,
					    jitter, false);
					CHECK(ms >= 5000 && ms <= 30000);
				}
	/* 5 to 15 % of the TTL after the lease, where there is room. */
	CHECK_EQ(timing_look_ms(10000, 1, 30000, 0, false) / 10, 11500 / 10);
	ms = timing_look_ms(10000, 1, 30000, 99, false);
	CHECK(ms > 14000 && ms <= 14510);
	CHECK_EQ(timing_look_ms(-1, 1, 100, 0, false), 30000);
}

/* What a reader waits for may be a writer that has died. */
static void
look_of_readers(void)
{
	CHECK_EQ(timing_look_ms(10000, 1, 30000, 0, true), 5000);
	CHECK_EQ(timing_look_ms(-1, 1, YEAR_MS, 0, true), 5000);
	CHECK_EQ(timing_look_ms(YEAR_MS, 70, YEAR_MS, 99, true), 5990);
	CHECK_EQ(timing_look_ms(300, 0, 30000, 99, true), 302);
	CHECK_EQ(timing_look_ms(-1, 0, 30000, 99, true), 1000);
}

/* A message or a foreign server may say any number. */
static void
look_at_odd_numbers(void)
{
	CHECK_EQ(timing_look_ms(INT64_MAX, 0, 30000, 0, false), 1000);
	CHECK_EQ(timing_look_ms(INT64_MAX - 2, 0, 30000, 0, false), 1000);
	CHECK_EQ(timing_look_ms(INT64_MAX, 5, YEAR_MS, 99, false), 30000);
	CHECK_EQ(timing_look_ms(INT64_MIN, 0, 30000, 0, false), 1000);
	CHECK_EQ(timing_look_ms(10, -1, 30000, 0, false), 12);
	CHECK_EQ(timing_look_ms(10, INT64_MAX, 100, 0, false), 5000);
}

/* Nobody but its holder ends a lock of the host. */
static void
without_server(void)
{
	struct config cfg = { .ttl_ms = 30000, .kill_after_ms = 5000 };
	struct timing_lease lease = timing_lease_of(&cfg, 1000);

	CHECK_EQ(lease.end_at, timing_lease(1000, 30000, 5000).end_at);
	CHECK_EQ(lease.term_at, timing_lease(1000, 30000, 5000).term_at);
	cfg.endpoint.kind = ENDPOINT_LOCAL;
	lease = timing_lease_of(&cfg, 1000);
	CHECK_EQ(lease.end_at, INT64_MAX);
	CHECK_EQ(lease.kill_at, INT64_MAX);
	CHECK_EQ(lease.term_at, INT64_MAX);
	CHECK_EQ(lease.renew_at, 11000);
}

int
main(void)
{
	CHECK_RUN(all_leases);
	CHECK_RUN(manual);
	CHECK_RUN(monotone);
	CHECK_RUN(without_server);
	CHECK_RUN(attempts);
	CHECK_RUN(backoff);
	CHECK_RUN(pauses);
	CHECK_RUN(look_of_head);
	CHECK_RUN(look_of_others);
	CHECK_RUN(look_of_readers);
	CHECK_RUN(look_at_odd_numbers);
	return check_done();
}
