/* SPDX-License-Identifier: MIT */
/*
 * metrics: the file of --metrics, in the Prometheus text format, for
 * node_exporter's textfile collector: what all runs on this host have come to,
 * by key.
 */
#ifndef RLOCK_METRICS_H
#define RLOCK_METRICS_H

#include "words/config.h"
#include "words/outcome.h"

/*
 * Add this run to cfg->metrics.  Runs at once take turns, by flock(2) on the
 * file; it is replaced by rename(2), so a reader never sees half of it.  What
 * rlock has not written, or is damaged, is left alone.  A failure is one line
 * on stderr and costs the run nothing; waiting for others is bounded by 2 s.
 * now_ms: wall clock, ms since 1970.
 */
void metrics_write(const struct config *, const struct outcome *, int status,
    int64_t now_ms);

#endif
