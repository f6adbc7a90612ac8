/* SPDX-License-Identifier: MIT */
/*
 * parse: durations to the millisecond, the largest one, and what is none;
 * counts; hex digits.
 */
#include <stdint.h>

#include "base/parse.h"
#include "check.h"

static void
durations(void)
{
	static const struct {
		const char *text;
		int64_t ms;
	} good[] = {
		{ "0", 0 },
		{ "00", 0 },
		{ "0.0", 0 },
		{ "30", 30000 },
		{ "0030", 30000 },
		{ "0.5", 500 },
		{ ".5", 500 },
		{ "5.", 5000 },
		{ "5.s", 5000 },
		{ "1ms", 1 },
		{ "1.5ms", 2 },
		{ "0.0001ms", 1 },
		{ "1.000ms", 1 },
		{ "0.001", 1 },
		{ "0.0001", 1 },
		{ "0.0010001", 2 },
		{ "0.1", 100 },
		{ "0.3", 300 },
		{ "1.1s", 1100 },
		{ "4.35", 4350 },
		{ "8.2", 8200 },
		{ "1m", 60000 },
		{ "1.5m", 90000 },
		{ "0.00001m", 1 },
		{ "2h", 7200000 },
		{ "1d", 86400000 },
		{ "366d", 31622400000 },
		{ "0.999999999999999999999999999999s", 1000 },
		{ "0.000000000000000000000000000001d", 1 },
		{ "0.000000000000000000000000000000d", 0 },
		{ "9007199254740992ms", 9007199254740992 },
		{ "9007199254740991.5ms", 9007199254740992 },
		{ "9007199254740.992", 9007199254740992 },
		{ "00000000000000000000000000000000001", 1000 },
		{ "104249991d", 9007199222400000 },
	};
	const char *why = NULL;
	int64_t ms;
	size_t i;

	for (i = 0; i < CHECK_COUNT(good); i++) {
		ms = -1;
		check_eq(parse_duration(good[i].text, &ms, &why), 0,
		    good[i].text, __FILE__, __LINE__);
		check_eq(ms, good[i].ms, good[i].text, __FILE__, __LINE__);
	}
}

static void
no_durations(void)
{
	static const char *const bad[] = {
		"",
		".",
		"s",
		"ms",
		".s",
		"-1",
		"+1",
		" 1",
		"1 ",
		"1 s",
		"1e3",
		"0x10",
		"1S",
		"1M",
		"1w",
		"1min",
		"1sec",
		"1,5",
		"1.5.5",
		"1..5",
		"1s1",
		"1m30s",
		"inf",
		"nan",
		"1\n",
		"1\t",
		"--1",
		"\xd9\xa1",
		"1\xc2\xa0",
		"1ms ",
		"1mss",
		"99999999999999999999x",
	};
	static const char *const large[] = {
		"9007199254740993ms",
		"9007199254740992.1ms",
		"9007199254740.9921",
		"9007199254741",
		"104249992d",
		"9223372036854775807",
		"9223372036854775808",
		"18446744073709551616ms",
		"18446744073709551617",
		"99999999999999999999999999999999999999d",
		"100000000000000000000000000.5ms",
	};
	const char *why;
	int64_t ms = 42;
	size_t i;

	for (i = 0; i < CHECK_COUNT(bad); i++) {
		why = NULL;
		check_eq(parse_duration(bad[i], &ms, &why), -1, bad[i],
		    __FILE__, __LINE__);
		CHECK_STR(why, "is not a duration");
	}
	for (i = 0; i < CHECK_COUNT(large); i++) {
		why = NULL;
		check_eq(parse_duration(large[i], &ms, &why), -1, large[i],
		    __FILE__, __LINE__);
		CHECK_STR(why, "is too large");
	}
	CHECK_EQ(ms, 42);
}

/* Every thousandth from 0.000 to 99.999 is exact. */
static void
every_millisecond(void)
{
	const char *why;
	char text[32];
	int64_t ms, i, wrong = 0;

	for (i = 0; i < 100000; i++) {
		snprintf(text, sizeof(text), "%d.%03d", (int)(i / 1000),
		    (int)(i % 1000));
		if (parse_duration(text, &ms, &why) == -1 || ms != i)
			wrong++;
	}
	CHECK_EQ(wrong, 0);
}

static void
counts(void)
{
	static const struct {
		const char *text;
		int64_t min, max, value;
		const char *why;
	} rows[] = {
		{ "0", 0, 255, 0, NULL },
		{ "255", 0, 255, 255, NULL },
		{ "000255", 0, 255, 255, NULL },
		{ "256", 0, 255, 0, "is too large" },
		{ "0", 1, 9, 0, "is too small" },
		{ "9223372036854775807", 0, INT64_MAX, INT64_MAX, NULL },
		{ "9223372036854775808", 0, INT64_MAX, 0, "is too large" },
		{ "18446744073709551616", 0, 9, 0, "is too large" },
		{ "18446744073709551617", 0, 9, 0, "is too large" },
		{ "", 0, 9, 0, "is not a number" },
		{ "-1", 0, 9, 0, "is not a number" },
		{ "+1", 0, 9, 0, "is not a number" },
		{ " 1", 0, 9, 0, "is not a number" },
		{ "1 ", 0, 9, 0, "is not a number" },
		{ "1.0", 0, 9, 0, "is not a number" },
		{ "0x1", 0, 9, 0, "is not a number" },
		{ "1e1", 0, 99, 0, "is not a number" },
		{ "1\n", 0, 9, 0, "is not a number" },
		{ "99999999999999999999x", 0, 9, 0, "is not a number" },
	};
	const char *why;
	int64_t value;
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		why = NULL;
		value = -1;
		check_eq(parse_count(rows[i].text, rows[i].min, rows[i].max,
			     &value, &why),
		    rows[i].why == NULL ? 0 : -1, rows[i].text, __FILE__,
		    __LINE__);
		check_str(why, rows[i].why, rows[i].text, __FILE__, __LINE__);
		if (rows[i].why == NULL)
			CHECK_EQ(value, rows[i].value);
	}
}

static void
hex_digits(void)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *at;
	int c, want;

	for (c = -128; c < 128; c++) {
		at = c == 0 ? NULL : strchr(digits, (unsigned char)c);
		want = at == NULL ? -1 : (int)(at - digits) % 16;
		CHECK_EQ(parse_hex_digit((char)c), want);
	}
}

int
main(void)
{
	CHECK_RUN(durations);
	CHECK_RUN(no_durations);
	CHECK_RUN(every_millisecond);
	CHECK_RUN(counts);
	CHECK_RUN(hex_digits);
	return check_done();
}
