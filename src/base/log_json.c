/* SPDX-License-Identifier: MIT */
/*
 * log_json: see log_json.h.
 */
#include "base/log_json.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"

/* RFC 3339, ms, UTC. */
static const char *
time_text(int64_t ms, char *out, size_t cap)
{
	time_t s = (time_t)(ms / 1000);
	struct tm tm;
	char day[32];

	if (gmtime_r(&s, &tm) == NULL ||
	    strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
		return "";
	snprintf(out, cap, "%s.%03dZ", day, (int)(ms % 1000));
	return out;
}

static int
put_optional(struct buf *out, const char *name, int64_t value)
{
	return value < 0 ? 0 : json_number(out, name, value);
}

int
log_json_put(struct buf *out, const struct log_event *e, const char *key,
    const char *message)
{
	char ts[48];

	if (json_open(out, NULL) == -1 ||
	    json_text(out, "ts", time_text(clock_wall_ms(), ts, sizeof(ts))) ==
		-1 ||
	    json_text(out, "event", e->name) == -1 ||
	    json_text(out, "key", key == NULL ? "" : key) == -1 ||
	    put_optional(out, "wait_ms", e->wait_ms) == -1 ||
	    put_optional(out, "hold_ms", e->hold_ms) == -1 ||
	    put_optional(out, "ttl_ms", e->ttl_ms) == -1 ||
	    put_optional(out, "left_ms", e->left_ms) == -1 ||
	    put_optional(out, "fence", e->fence) == -1)
		return -1;
	if (e->holder != NULL && *e->holder != '\0' &&
	    json_text(out, "holder", e->holder) == -1)
		return -1;
	if (json_text(out, "message", message) == -1 || json_close(out) == -1)
		return -1;
	return buf_puts(out, "\n");
}
