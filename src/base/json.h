/* SPDX-License-Identifier: MIT */
/*
 * json: write JSON into a buffer, one line, with a blank behind ',' and ':'.
 * Where a comma has to stand is seen from what is there already.
 */
#ifndef RLOCK_JSON_H
#define RLOCK_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * All return 0, or -1 without memory.  name: of a member, NULL for an element
 * of a list or the document itself.
 */
int json_open(struct buf *, const char *name);		/* { */
int json_close(struct buf *);				/* } */
int json_open_list(struct buf *, const char *name);	/* [ */
int json_close_list(struct buf *);			/* ] */

/* A string, null when it is empty; bytes that are no UTF-8 become U+FFFD. */
int json_text(struct buf *, const char *name, const char *text);

/* A number, null when it is negative. */
int json_number(struct buf *, const char *name, int64_t value);

int json_bool(struct buf *, const char *name, bool value);

#endif
