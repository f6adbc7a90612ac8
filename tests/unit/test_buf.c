/* SPDX-License-Identifier: MIT */
/*
 * buf: appending, growing past the first capacity, dropping, and sizes that
 * can't be had.
 */
#include <stdint.h>

#include "base/buf.h"
#include "check.h"

static void
empty(void)
{
	struct buf b = { 0 };

	CHECK_EQ(buf_put(&b, NULL, 0), 0);
	CHECK_EQ(buf_puts(&b, ""), 0);
	buf_drop(&b, 0);
	CHECK_EQ(b.len, 0);
	buf_release(&b);
	buf_release(&b);
	CHECK(b.data == NULL && b.cap == 0);
}

static void
append(void)
{
	struct buf b = { 0 };

	CHECK_EQ(buf_puts(&b, "ab"), 0);
	CHECK_EQ(buf_put(&b, "\0\xff", 2), 0);
	CHECK_EQ(buf_printf(&b, "%d%s", -7, "x"), 0);
	CHECK_EQ(buf_printf(&b, "%s", ""), 0);
	CHECK_EQ(b.len, 7);
	CHECK(memcmp(b.data, "ab\0\xff-7x", 7) == 0);
	buf_release(&b);
}

/* Every length around the powers of two, by each way of appending. */
static void
grow(void)
{
	static char text[5000];
	struct buf b;
	size_t len, i;

	memset(text, 'x', sizeof(text) - 1);
	for (len = 250; len < sizeof(text); len += len % 256 < 250 ? 1 : 3) {
		memset(&b, 0, sizeof(b));
		CHECK_EQ(buf_printf(&b, "%.*s", (int)len, text), 0);
		CHECK_EQ(b.len, len);
		CHECK_EQ(buf_put(&b, text, len), 0);
		CHECK_EQ(b.len, 2 * len);
		CHECK(b.len <= b.cap);
		buf_release(&b);
	}
	memset(&b, 0, sizeof(b));
	for (i = 0; i < 100000; i++)
		buf_put(&b, &"0123456789"[i % 10], 1);
	CHECK_EQ(b.len, 100000);
	for (i = 0; i < b.len; i++)
		if (b.data[i] != "0123456789"[i % 10])
			break;
	CHECK_EQ(i, 100000);
	buf_release(&b);
}

static void
drop(void)
{
	struct buf b = { 0 };

	CHECK_EQ(buf_puts(&b, "hello"), 0);
	buf_drop(&b, 2);
	CHECK_EQ(b.len, 3);
	CHECK(memcmp(b.data, "llo", 3) == 0);
	buf_drop(&b, 3);
	CHECK_EQ(b.len, 0);
	CHECK_EQ(buf_puts(&b, "again"), 0);
	CHECK_EQ(b.len, 5);
	buf_release(&b);
}

static void
too_large(void)
{
	static const size_t sizes[] = { SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 3,
		SIZE_MAX / 2, SIZE_MAX / 2 - 1 };
	struct buf b = { 0 };
	size_t i;

	CHECK_EQ(buf_puts(&b, "abc"), 0);
	for (i = 0; i < CHECK_COUNT(sizes); i++) {
		CHECK_EQ(buf_put(&b, "x", sizes[i]), -1);
		CHECK_EQ(b.len, 3);
		CHECK(memcmp(b.data, "abc", 3) == 0);
	}
	buf_release(&b);
}

int
main(void)
{
	CHECK_RUN(empty);
	CHECK_RUN(append);
	CHECK_RUN(grow);
	CHECK_RUN(drop);
	CHECK_RUN(too_large);
	return check_done();
}
