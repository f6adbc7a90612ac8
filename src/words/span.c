/* SPDX-License-Identifier: MIT */
/*
 * span: owns cutting a text into parts without copying it.  No function reads
 * a byte behind the span it was given.  It must not know what the parts mean.
 */
#include "words/span.h"

#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

struct span
span_of(const char *text)
{
	struct span span = { text, strlen(text) };

	return span;
}

struct span
span_until(struct span span, const char *set, struct span *rest)
{
	size_t i = 0;

	while (i < span.len && strchr(set, span.at[i]) == NULL)
		i++;
	*rest = span_skip(span, i);
	span.len = i;
	return span;
}

struct span
span_skip(struct span span, size_t n)
{
	span.at += n;
	span.len -= n;
	return span;
}

const char *
span_find(struct span span, char c)
{
	return span.len == 0 ? NULL : memchr(span.at, c, span.len);
}

bool
span_is(struct span span, const char *text)
{
	return strlen(text) == span.len && memcmp(span.at, text, span.len) == 0;
}

int
span_count(struct span span, int64_t min, int64_t max, int64_t *value)
{
	char digits[24];
	const char *why;

	if (span.len >= sizeof(digits))
		return -1;
	memcpy(digits, span.at, span.len);
	digits[span.len] = '\0';
	return parse_count(digits, min, max, value, &why);
}

char *
span_decode(struct span span)
{
	size_t i, n = 0;
	char *text;

	if ((text = malloc(span.len + 1)) == NULL)
		return NULL;
	for (i = 0; i < span.len; i++) {
		if (span.at[i] != '%') {
			text[n++] = span.at[i];
			continue;
		}
		text[n++] = (char)(parse_hex_digit(span.at[i + 1]) << 4 |
		    parse_hex_digit(span.at[i + 2]));
		i += 2;
	}
	text[n] = '\0';
	return text;
}
