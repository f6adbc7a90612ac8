/* SPDX-License-Identifier: MIT */
/*
 * marker: see marker.h.
 */
#include "core/marker.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"

/* The number that *text begins with; *text is then behind it and a blank. */
static int
number(const char **text, int64_t *value)
{
	size_t len = strcspn(*text, " ");
	char digits[24];
	const char *why;

	if (len >= sizeof(digits) || (*text)[len] == '\0')
		return -1;
	snprintf(digits, sizeof(digits), "%.*s", (int)len, *text);
	*text += len + 1;
	return parse_count(digits, 0, INT64_MAX, value, &why);
}

int
marker_parse(struct marker *marker, const char *text)
{
	if (number(&text, &marker->ended_ms) == -1 ||
	    number(&text, &marker->run_ms) == -1)
		return -1;
	snprintf(marker->token, sizeof(marker->token), "%s", text);
	return 0;
}
