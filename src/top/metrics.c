/* SPDX-License-Identifier: MIT */
/*
 * metrics: see metrics.h.  The lock is on the file itself: who gets it looks
 * whether the name still is that file's, since the one before has replaced it.
 */
#include "top/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/utf8.h"
#include "top/series.h"

#define SIZE_MAX_BYTES (16 * 1024 * 1024)
#define TURN_TRIES 200
#define TURN_PAUSE_NS 10000000

enum metric {
	RUNS,
	CONFLICTS,
	LOST,
	RENEWALS,
	WAIT_BUCKET,
	WAIT_SUM,
	WAIT_COUNT,
	HOLD_BUCKET,
	HOLD_SUM,
	HOLD_COUNT,
	MARGIN,
	LAST_RUN,
	LAST_SUCCESS,
	LAST_STATUS,
	METRICS
};

#define COUNTER(name, help) \
	"rlock_" name, \
	    "# HELP rlock_" name " " help "\n# TYPE rlock_" name " counter\n"
#define GAUGE(name, help) \
	"rlock_" name, \
	    "# HELP rlock_" name " " help "\n# TYPE rlock_" name " gauge\n"
#define HISTOGRAM(name, help) \
	"rlock_" name "_bucket", \
	    "# HELP rlock_" name " " help "\n# TYPE rlock_" name \
	    " histogram\n"

static const struct series_def defs[METRICS] = {
	[RUNS] = { COUNTER("runs_total", "Runs, by how they ended.") },
	[CONFLICTS] = { COUNTER("conflicts_total",
	    "Runs that did not get the lock.") },
	[LOST] = { COUNTER("lost_total",
	    "Runs that lost the lock while the command ran.") },
	[RENEWALS] = { COUNTER("renewals_total", "Leases renewed.") },
	[WAIT_BUCKET] = { HISTOGRAM("wait_seconds",
	    "From the start of a run to its lock, or its end.") },
	[WAIT_SUM] = { "rlock_wait_seconds_sum", NULL },
	[WAIT_COUNT] = { "rlock_wait_seconds_count", NULL },
	[HOLD_BUCKET] = { HISTOGRAM("hold_seconds",
	    "How long the lock was held.") },
	[HOLD_SUM] = { "rlock_hold_seconds_sum", NULL },
	[HOLD_COUNT] = { "rlock_hold_seconds_count", NULL },
	[MARGIN] = { GAUGE("lease_margin_seconds",
	    "Least time that was left of the lease in the last run.") },
	[LAST_RUN] = { GAUGE("last_run_timestamp_seconds",
	    "When the last run ended.") },
	[LAST_SUCCESS] = { GAUGE("last_success_timestamp_seconds",
	    "When the last run ended whose command succeeded.") },
	[LAST_STATUS] = { GAUGE("last_exit_status",
	    "Exit status of the last run.") },
};

/* Upper bounds in ms; beyond the last there is +Inf. */
static const int64_t wait_bounds[] = { 10, 100, 1000, 10000, 60000, 300000,
	1800000, 3600000 };
static const int64_t hold_bounds[] = { 100, 1000, 10000, 60000, 300000, 1800000,
	3600000, 21600000, 86400000 };

/* key="KEY" as a label, escaped; NULL without memory. */
static char *
key_label(const char *key)
{
	struct buf out = { 0 };
	const unsigned char *p = (const unsigned char *)key;
	int status = buf_puts(&out, "key=\"");
	size_t len;

	for (; status == 0 && *p != '\0'; p += len == 0 ? 1 : len) {
		len = utf8_len(p);
		if (len == 0)
			status = buf_puts(&out, "\xef\xbf\xbd");
		else if (*p == '\n')
			status = buf_puts(&out, "\\n");
		else if (*p == '"' || *p == '\\')
			status = buf_printf(&out, "\\%c", *p);
		else
			status = buf_put(&out, p, len);
	}
	if (status == -1 || buf_put(&out, "\"", 2) == -1) {
		buf_release(&out);
		return NULL;
	}
	return out.data;
}

static int
add(struct series *s, enum metric metric, const char *labels, int64_t value)
{
	int64_t *at = series_at(s, metric, labels);

	if (at == NULL)
		return -1;
	*at += value;
	return 0;
}

static int
set(struct series *s, enum metric metric, const char *labels, int64_t value)
{
	int64_t *at = series_at(s, metric, labels);

	if (at == NULL)
		return -1;
	*at = value;
	return 0;
}

/* labels and one more; NULL without memory. */
static char *
with_label(const char *labels, const char *name, const char *value)
{
	char *text;

	return asprintf(&text, "%s,%s=\"%s\"", labels, name, value) == -1 ?
	    NULL :
	    text;
}

static int
observe_below(struct series *s, enum metric metric, const char *labels,
    const char *bound, bool counts)
{
	char *all = with_label(labels, "le", bound);
	int status = all == NULL ? -1 : add(s, metric, all, counts ? 1000 : 0);

	free(all);
	return status;
}

/* The buckets of metric, its sum and its count follow one another. */
static int
observe(struct series *s, enum metric metric, const char *labels,
    const int64_t *bounds, size_t count, int64_t ms)
{
	char bound[32];
	size_t i;

	for (i = 0; i < count; i++) {
		snprintf(bound, sizeof(bound), "%" PRId64 "%s",
		    bounds[i] / 1000,
		    bounds[i] == 10	 ? ".01" :
			bounds[i] == 100 ? ".1" :
					   "");
		if (observe_below(s, metric, labels, bound, ms <= bounds[i]) ==
		    -1)
			return -1;
	}
	if (observe_below(s, metric, labels, "+Inf", true) == -1 ||
	    add(s, metric + 1, labels, ms) == -1)
		return -1;
	return add(s, metric + 2, labels, 1000);
}

static int
add_run(struct series *s, const char *key, const struct outcome *o, int status,
    int64_t now_ms)
{
	char *run = with_label(key, "outcome", outcome_word(o->kind));
	int error = run == NULL ? -1 : add(s, RUNS, run, 1000);

	free(run);
	if (error == -1 ||
	    add(s, CONFLICTS, key, o->kind == OUTCOME_BUSY ? 1000 : 0) == -1 ||
	    add(s, LOST, key, o->kind == OUTCOME_LOST ? 1000 : 0) == -1 ||
	    add(s, RENEWALS, key, o->renewals * 1000) == -1 ||
	    observe(s, WAIT_BUCKET, key, wait_bounds,
		sizeof(wait_bounds) / sizeof(wait_bounds[0]), o->wait_ms) == -1)
		return -1;
	if (o->hold_ms >= 0 &&
	    observe(s, HOLD_BUCKET, key, hold_bounds,
		sizeof(hold_bounds) / sizeof(hold_bounds[0]), o->hold_ms) == -1)
		return -1;
	if (o->margin_ms >= 0 && set(s, MARGIN, key, o->margin_ms) == -1)
		return -1;
	if (o->kind == OUTCOME_RAN && status == 0 &&
	    set(s, LAST_SUCCESS, key, now_ms) == -1)
		return -1;
	if (set(s, LAST_RUN, key, now_ms) == -1)
		return -1;
	return set(s, LAST_STATUS, key, status * 1000LL);
}

/* Our turn on the file that has this name now: its descriptor, or -1. */
static int
take_turn(const char *path, const char **why)
{
	const struct timespec pause = { .tv_nsec = TURN_PAUSE_NS };
	struct stat ours, named;
	int fd, tries;

	*why = NULL;
	for (tries = 0; tries < TURN_TRIES; tries++) {
		fd = open(path,
		    O_RDONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		    0666);
		if (fd == -1)
			return -1;
		if (fstat(fd, &ours) == 0 && !S_ISREG(ours.st_mode)) {
			*why = "it is not a regular file";
			close(fd);
			return -1;
		}
		if (flock(fd, LOCK_EX | LOCK_NB) == 0 &&
		    stat(path, &named) == 0 && named.st_ino == ours.st_ino &&
		    named.st_dev == ours.st_dev)
			return fd;
		close(fd);
		nanosleep(&pause, NULL);
	}
	*why = "others have it all the time";
	return -1;
}

static int
update(int fd, const struct config *cfg, const struct outcome *o, int status,
    int64_t now_ms, const char **why)
{
	struct buf text = { 0 }, out = { 0 };
	char *key = key_label(cfg->key);
	struct series s;
	int error = -1;

	series_init(&s, defs, METRICS);
	*why = NULL;
	if (key == NULL || file_read(fd, &text, SIZE_MAX_BYTES) == -1)
		goto out;
	if (series_read(&s, text.data, text.len, why) == -1)
		goto out;
	*why = NULL;
	errno = ENOMEM;
	if (add_run(&s, key, o, status, now_ms) == -1 ||
	    series_write(&s, &out) == -1)
		goto out;
	error = file_replace(cfg->metrics, &out);
out:
	free(key);
	series_release(&s);
	buf_release(&text);
	buf_release(&out);
	return error;
}

void
metrics_write(const struct config *cfg, const struct outcome *o, int status,
    int64_t now_ms)
{
	const char *why;
	int fd = take_turn(cfg->metrics, &why), error = -1;

	if (fd != -1) {
		error = update(fd, cfg, o, status, now_ms, &why);
		if (error == -1 && why == NULL)
			why = strerror(errno);
		close(fd);
	}
	if (error == -1)
		log_say(LOG_LEVEL_NORMAL,
		    "no metrics written to %s: %s (it was left as it is)",
		    cfg->metrics, why != NULL ? why : strerror(errno));
}
