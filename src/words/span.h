/* SPDX-License-Identifier: MIT */
/*
 * span: a part of a text that is being taken apart.  The bytes belong to
 * somebody else and are not terminated.
 */
#ifndef RLOCK_SPAN_H
#define RLOCK_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span {
	const char	*at;
	size_t		 len;
};

struct span span_of(const char *text);

/* What comes before the first byte of set; *rest begins with that byte. */
struct span span_until(struct span, const char *set, struct span *rest);

/* Without its first n bytes; n <= len. */
struct span span_skip(struct span, size_t n);

/* The first c in it, or NULL. */
const char *span_find(struct span, char c);

bool span_is(struct span, const char *text);

/* Decimal digits only, min <= *value <= max; 0 or -1. */
int span_count(struct span, int64_t min, int64_t max, int64_t *value);

/*
 * A new string with the %XX decoded, which must be valid and not %00; NULL
 * without memory.
 */
char *span_decode(struct span);

#endif
