/* SPDX-License-Identifier: MIT */
/*
 * info: see info.h.
 */
#include "core/info.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"

/* The value behind name and sep, at the beginning of text or behind an end. */
static bool
find(const char *text, const char *name, char sep, const char *ends, char *out,
    size_t cap)
{
	size_t len = strlen(name), value;

	while (text != NULL && *text != '\0') {
		if (strncmp(text, name, len) == 0 && text[len] == sep) {
			value = strcspn(text + len + 1, ends);
			snprintf(out, cap, "%.*s", (int)value, text + len + 1);
			return true;
		}
		text += strcspn(text, ends);
		text += strspn(text, ends);
	}
	out[0] = '\0';
	return false;
}

bool
info_text(const char *text, const char *name, char *out, size_t cap)
{
	return find(text, name, ':', "\r\n", out, cap);
}

int64_t
info_number(const char *text, const char *name, int64_t fallback)
{
	char value[32];
	const char *why;
	int64_t number;

	if (!info_text(text, name, value, sizeof(value)) ||
	    parse_count(value, 0, INT64_MAX, &number, &why) == -1)
		return fallback;
	return number;
}

bool
info_part(const char *value, const char *name, char *out, size_t cap)
{
	return find(value, name, '=', ",", out, cap);
}
