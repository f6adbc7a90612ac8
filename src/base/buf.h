/* SPDX-License-Identifier: MIT */
/*
 * buf: growable bytes, owned by the caller.  A zeroed struct is an empty one.
 */
#ifndef RLOCK_BUF_H
#define RLOCK_BUF_H

#include <stddef.h>

struct buf {
	char	*data;		/* len bytes in use, no terminating NUL */
	size_t	 len;
	size_t	 cap;
};

void buf_release(struct buf *);	/* frees and empties it */

/* Append; return 0, or -1 without memory (then *b is as it was). */
int buf_put(struct buf *b, const void *data, size_t len);
int buf_puts(struct buf *b, const char *text);
int buf_printf(struct buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Remove len bytes from the front; 0 <= len <= b->len. */
void buf_drop(struct buf *b, size_t len);

#endif
