/* SPDX-License-Identifier: MIT */
/*
 * parse: owns what a number and a duration look like.  Every result is exact:
 * integers only, since a double would turn 0.1 s into a little more than
 * 100 ms.  It must not know which option it parses for.
 */
#include "base/parse.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define DURATION_MAX_MS (INT64_C(1) << 53)

static const struct {
	const char *name;
	int64_t ms;
} units[] = {
	{ "", 1000 },
	{ "ms", 1 },
	{ "s", 1000 },
	{ "m", 60 * 1000 },
	{ "h", 3600 * 1000 },
	{ "d", 86400 * 1000 },
};

static size_t
digits(const char *text)
{
	size_t n = 0;

	while (text[n] >= '0' && text[n] <= '9')
		n++;
	return n;
}

/* Milliseconds of one unit; 0 for an unknown one. */
static int64_t
unit_ms(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].name, name) == 0)
			return units[i].ms;
	return 0;
}

/* Digits to a number that is at most max; false when it is more. */
static bool
whole(const char *text, size_t len, int64_t max, int64_t *value)
{
	int64_t n = 0, digit;
	size_t i;

	for (i = 0; i < len; i++) {
		digit = text[i] - '0';
		if (digit > max || n > (max - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	*value = n;
	return true;
}

/*
 * 0.DIGITS units in ms, rounded up.  From the last digit to the first, so
 * that any number of digits is exact: what is below a millisecond matters
 * only as being there.
 */
static int64_t
fraction(const char *text, size_t len, int64_t unit)
{
	bool below = false;
	int64_t ms = 0;

	while (len-- > 0) {
		ms += (text[len] - '0') * unit;
		below = below || ms % 10 != 0;
		ms /= 10;
	}
	return ms + (below ? 1 : 0);
}

int
parse_duration(const char *text, int64_t *ms, const char **why)
{
	const char *rest, *part = "";
	size_t len, part_len = 0;
	int64_t unit, n, part_ms;

	len = digits(text);
	rest = text + len;
	if (*rest == '.') {
		part = rest + 1;
		part_len = digits(part);
		rest = part + part_len;
	}
	unit = unit_ms(rest);
	if (len + part_len == 0 || unit == 0) {
		*why = "is not a duration";
		return -1;
	}
	part_ms = fraction(part, part_len, unit);
	if (!whole(text, len, DURATION_MAX_MS / unit, &n) ||
	    n * unit > DURATION_MAX_MS - part_ms) {
		*why = "is too large";
		return -1;
	}
	*ms = n * unit + part_ms;
	return 0;
}

int
parse_count(const char *text, int64_t min, int64_t max, int64_t *value,
    const char **why)
{
	size_t len = digits(text);
	int64_t n;

	if (len == 0 || text[len] != '\0') {
		*why = "is not a number";
		return -1;
	}
	if (!whole(text, len, INT64_MAX, &n) || n > max) {
		*why = "is too large";
		return -1;
	}
	if (n < min) {
		*why = "is too small";
		return -1;
	}
	*value = n;
	return 0;
}

int
parse_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}
