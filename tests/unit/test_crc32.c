/* SPDX-License-Identifier: MIT */
/*
 * test_crc32: the checksum that spreads the ids of --shard.
 */
#include <stdio.h>
#include <string.h>

#include "base/crc32.h"
#include "check.h"

#define IDS 100000
#define SHARDS 10

static void
check_text(const char *text, uint32_t want)
{
	CHECK_EQ(crc32_of(text, strlen(text)), want);
}

/* CRC-32/ISO-HDLC, as of zlib, PNG and Ethernet: its check value, and others
 * that gzip(1) writes. */
static void
known_values(void)
{
	check_text("123456789", UINT32_C(0xcbf43926));
	check_text("", 0);
	check_text("a", UINT32_C(0xe8b7be43));
	CHECK_EQ(crc32_of("\0\0\0\0", 4), UINT32_C(0x2144df1c));
	CHECK_EQ(crc32_of("\xff\xff\xff\xff", 4), UINT32_MAX);
}

/* The numbers of ids that look alike, as those of users and files do. */
static void
check_spread(const char *before, const char *after)
{
	int counts[SHARDS] = { 0 }, i;
	char id[64];

	for (i = 0; i < IDS; i++) {
		snprintf(id, sizeof(id), "%s%d%s", before, i, after);
		counts[crc32_of(id, strlen(id)) % SHARDS]++;
	}
	for (i = 0; i < SHARDS; i++)
		CHECK(counts[i] > IDS / SHARDS * 97 / 100 &&
		    counts[i] < IDS / SHARDS * 103 / 100);
}

static void
spread(void)
{
	check_spread("", "");
	check_spread("user-", "");
	check_spread("/data/in/", ".csv");
}

int
main(void)
{
	CHECK_RUN(known_values);
	CHECK_RUN(spread);
	return check_done();
}
