/* SPDX-License-Identifier: MIT */
/*
 * parse: numbers and durations as users write them, bounded and exact.  Each
 * function returns 0, or -1 and sets *why to a constant phrase that fits
 * behind "VALUE: " ("is not a duration", "is less than ...").  The locale has
 * no say.
 */
#ifndef RLOCK_PARSE_H
#define RLOCK_PARSE_H

#include <stdint.h>

/*
 * DIGITS[.DIGITS][ms|s|m|h|d]; no unit is seconds; at least one digit (".5"
 * and "5." are accepted, as sleep(1) does).  No sign, exponent, hex or blank.
 * Fractions of a millisecond are rounded up.  What does not fit in 2^53 ms is
 * an error ("is too large").  *ms >= 0.
 */
int parse_duration(const char *text, int64_t *ms, const char **why);

/* Decimal digits only, min <= *value <= max. */
int parse_count(const char *text, int64_t min, int64_t max, int64_t *value,
    const char **why);

/* 0 to 15 for a hex digit of either case, -1 for what is none. */
int parse_hex_digit(char c);

#endif
