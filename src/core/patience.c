/* SPDX-License-Identifier: MIT */
/*
 * patience: see patience.h.  It reads no clock; chance comes from token.
 */
#include "core/patience.h"

#include "base/token.h"
#include "core/timing.h"

#define RECONNECT_MS 100 /* a holder is to be back before us */

void
patience_init(struct patience *p, const struct config *cfg, int64_t started_at)
{
	*p = (struct patience) { .cfg = cfg, .started_at = started_at };
}

bool
patience_one_try(const struct patience *p)
{
	return config_wait_limit_ms(p->cfg) == 0;
}

int64_t
patience_deadline(const struct patience *p, bool polling)
{
	int64_t limit = polling || !p->seen ? p->cfg->wait_ms :
					      config_wait_limit_ms(p->cfg);

	if (limit == CONFIG_FOREVER && !p->seen)
		limit = p->cfg->connect_timeout_ms;
	if (limit == CONFIG_FOREVER || patience_one_try(p))
		return INT64_MAX;
	return p->started_at + limit;
}

/* Jittered by half, so that many never strike together. */
static int64_t
jittered(int64_t ms)
{
	int64_t half = ms / 2 < UINT32_MAX ? ms / 2 : UINT32_MAX - 1;

	return ms - token_random((uint32_t)half + 1);
}

int64_t
patience_fault_pause_ms(struct patience *p)
{
	p->failures++;
	return jittered(p->queued && p->failures == 1 ?
		RECONNECT_MS :
		timing_reach_pause_ms(p->failures));
}

int64_t
patience_poll_pause_ms(struct patience *p)
{
	if (p->cfg->retries != CONFIG_FOREVER && p->polled >= p->cfg->retries)
		return -1;
	p->polled++;
	return jittered(timing_backoff_ms(p->cfg->retry_delay_ms,
	    p->cfg->retry_max_ms, p->polls++));
}
