/* SPDX-License-Identifier: MIT */
/*
 * show: a lock as --status and --list print it, for people and for programs.
 */
#ifndef RLOCK_SHOW_H
#define RLOCK_SHOW_H

#include "base/buf.h"
#include "core/snapshot.h"

/* All return 0, or -1 without memory. */

/* Lines about the lock key, all that is known. */
int show_status(struct buf *, const char *key, const struct snapshot *);

/* The head of a table of locks whose longest key has width bytes, and a line
 * of it; columns: of the terminal, 0 for no limit. */
int show_list_head(struct buf *, size_t width);
int show_list_line(struct buf *, const char *key, size_t width,
    size_t columns, const struct snapshot *);

/* One JSON document, one line. */
int show_json(struct buf *, const char *key, const struct snapshot *);

#endif
