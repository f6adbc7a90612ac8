/* SPDX-License-Identifier: MIT */
/*
 * buf: owns growth.  len <= cap always holds, and a failed append leaves the
 * buffer as it was.  It must not know what the bytes mean.
 */
#include "base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAP 256

static int
reserve(struct buf *b, size_t more)
{
	size_t cap = b->cap < FIRST_CAP ? FIRST_CAP : b->cap;
	char *data;

	if (more > SIZE_MAX / 2 - b->len)
		return -1;
	while (cap < b->len + more)
		cap *= 2;
	if (cap == b->cap)
		return 0;
	if ((data = realloc(b->data, cap)) == NULL)
		return -1;
	b->data = data;
	b->cap = cap;
	return 0;
}

void
buf_release(struct buf *b)
{
	free(b->data);
	b->data = NULL;
	b->len = b->cap = 0;
}

int
buf_put(struct buf *b, const void *data, size_t len)
{
	if (len == 0)
		return 0;
	if (reserve(b, len) == -1)
		return -1;
	memcpy(b->data + b->len, data, len);
	b->len += len;
	return 0;
}

int
buf_puts(struct buf *b, const char *text)
{
	return buf_put(b, text, strlen(text));
}

int
buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	/* One more for the NUL that vsnprintf insists on. */
	if (len < 0 || reserve(b, (size_t)len + 1) == -1)
		return -1;
	va_start(ap, fmt);
	(void)vsnprintf(b->data + b->len, (size_t)len + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)len;
	return 0;
}

void
buf_drop(struct buf *b, size_t len)
{
	if (len == 0)
		return;
	b->len -= len;
	memmove(b->data, b->data + len, b->len);
}
