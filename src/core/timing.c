/* SPDX-License-Identifier: MIT */
/*
 * timing: see timing.h.  Arithmetic only; it reads no clock.
 */
#include "core/timing.h"

#define HEAD_LOOK_MS 1000
#define OTHERS_MIN_MS 5000
#define OTHERS_MAX_MS 30000

static int64_t
min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t
max(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

struct timing_lease
timing_lease(int64_t sent_at, int64_t ttl_ms, int64_t kill_after_ms)
{
	struct timing_lease lease;

	lease.end_at = sent_at + ttl_ms - (ttl_ms / 100 + 2);
	lease.kill_at = lease.end_at - min(max(ttl_ms / 50, 5), 500);
	lease.term_at = lease.kill_at - min(kill_after_ms, ttl_ms / 8);
	lease.renew_at = sent_at + ttl_ms / 3;
	return lease;
}

struct timing_lease
timing_lease_of(const struct config *cfg, int64_t sent_at)
{
	struct timing_lease lease =
	    timing_lease(sent_at, cfg->ttl_ms, config_grace_ms(cfg));

	if (endpoint_is_serverless(&cfg->endpoint))
		lease.end_at = lease.kill_at = lease.term_at = INT64_MAX;
	return lease;
}

int64_t
timing_attempt_ms(int64_t ttl_ms, int64_t command_timeout_ms)
{
	return min(command_timeout_ms, ttl_ms / 6);
}

int64_t
timing_release_ms(int64_t ttl_ms, int64_t command_timeout_ms)
{
	return max(min(command_timeout_ms / 2, ttl_ms / 6), 1);
}

int64_t
timing_vote_ms(int64_t ttl_ms)
{
	return min(max(ttl_ms / 20, 50), 1000);
}

int64_t
timing_backoff_ms(int64_t first_ms, int64_t max_ms, int64_t n)
{
	int64_t pause = first_ms;

	while (n-- > 0 && pause < max_ms)
		pause *= 2;
	return min(pause, max_ms);
}

int64_t
timing_renew_pause_ms(int64_t ttl_ms, int64_t n)
{
	return timing_backoff_ms(min(50, ttl_ms / 20), ttl_ms / 10, n - 1);
}

int64_t
timing_reach_pause_ms(int64_t n)
{
	return timing_backoff_ms(50, 1000, n - 1);
}

int64_t
timing_look_ms(int64_t left_ms, int64_t rank, int64_t ttl_ms, uint32_t jitter,
    bool shared)
{
	/* A key is gone one ms after its PTTL was 0; one more for rounding. */
	int64_t over = left_ms < 0 || left_ms > OTHERS_MAX_MS ? OTHERS_MAX_MS :
								left_ms + 2;

	if (rank <= 0)
		return min(over, HEAD_LOOK_MS);
	if (shared)
		return OTHERS_MIN_MS + (int64_t)jitter * 10;
	over += ttl_ms * (5 + (int64_t)jitter / 10) / 100;
	return min(max(over, OTHERS_MIN_MS), OTHERS_MAX_MS);
}
