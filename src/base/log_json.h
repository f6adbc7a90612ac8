/* SPDX-License-Identifier: MIT */
/*
 * log_json: an event of log.h as one line of JSON.
 */
#ifndef RLOCK_LOG_JSON_H
#define RLOCK_LOG_JSON_H

#include "base/buf.h"
#include "base/log.h"

/* key may be NULL.  0, or -1 without memory. */
int log_json_put(struct buf *, const struct log_event *, const char *key,
    const char *message);

#endif
