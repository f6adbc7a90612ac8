/* SPDX-License-Identifier: MIT */
/* record: what is written is read, and nothing else is. */
#include "host/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "check.h"

static void
there_and_back(void)
{
	char line[RECORD_SIZE], text[RECORD_TEXT_MAX];
	struct record r, again;

	record_make(&r, RECORD_HELD, "j4096", "rlock:1:0:h ost:%", 0);
	record_write(&r, line);
	record_read(&again, line);
	CHECK_EQ(again.state, RECORD_HELD);
	CHECK_STR(again.kind, "j4096");
	CHECK_STR(again.text, "rlock:1:0:h ost:%");
	CHECK_EQ(record_left_ms(&again), 0);

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	record_make(&r, RECORD_DONE, "-", text, 60000);
	record_write(&r, line);
	record_read(&again, line);
	CHECK_EQ(again.state, RECORD_DONE);
	CHECK_STR(again.text, text);
	CHECK(record_left_ms(&again) > 50000);
	CHECK(record_left_ms(&again) <= 60000);
}

static void
nothing(void)
{
	static const struct record none = { .state = RECORD_NONE };
	char line[RECORD_SIZE];
	struct record r;
	size_t i;

	record_write(&none, line);
	for (i = 0; i < sizeof(line); i++)
		CHECK_EQ(line[i], 0);
	record_read(&r, line);
	CHECK_EQ(r.state, RECORD_NONE);
	memset(line, 'a', sizeof(line));
	record_read(&r, line);
	CHECK_EQ(r.state, RECORD_NONE);
	line[0] = '\n';
	record_read(&r, line);
	CHECK_EQ(r.state, RECORD_NONE);
}

/* Any byte that is another makes it none. */
static void
damaged(void)
{
	char line[RECORD_SIZE], copy[RECORD_SIZE];
	struct record r;
	size_t i, len;

	record_make(&r, RECORD_COOLING, "x0", "rlock:1:cooling:h:u:1:2:", 5);
	record_write(&r, line);
	len = strlen(line);
	for (i = 0; i < len; i++) {
		memcpy(copy, line, sizeof(copy));
		copy[i] ^= 1;
		record_read(&r, copy);
		CHECK_EQ(r.state, RECORD_NONE);
		memcpy(copy, line, sizeof(copy));
		memset(copy + i, 0, sizeof(copy) - i); /* cut off */
		record_read(&r, copy);
		CHECK_EQ(r.state, RECORD_NONE);
	}
}

static void
times(void)
{
	struct record r;

	record_make(&r, RECORD_COOLING, "x0", "t", INT64_MAX);
	CHECK(record_left_ms(&r) > 0);
	r.until_at = INT64_MIN;
	CHECK_EQ(record_left_ms(&r), 0);
	/* Another boot: the wall clock. */
	strcpy(r.boot, "other");
	r.until_wall_ms = clock_wall_ms() + 60000;
	CHECK(record_left_ms(&r) > 50000);
	r.until_wall_ms = INT64_MIN;
	CHECK_EQ(record_left_ms(&r), 0);
}

int
main(void)
{
	CHECK_RUN(there_and_back);
	CHECK_RUN(nothing);
	CHECK_RUN(damaged);
	CHECK_RUN(times);
	return check_done();
}
