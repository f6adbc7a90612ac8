/* SPDX-License-Identifier: MIT */
/* redirect: what a node of a cluster may say. */
#include "redis/redirect.h"

#include <stdlib.h>

#include "check.h"

static void
rows(void)
{
	static const struct {
		const char *error, *host;
		int port;
		bool is, asking;
	} rows[] = {
		{ "MOVED 3999 127.0.0.1:6381", "127.0.0.1", 6381, true, false },
		{ "ASK 3999 127.0.0.1:6381", "127.0.0.1", 6381, true, true },
		{ "MOVED 0 ::1:7000", "::1", 7000, true, false },
		{ "MOVED 3999 h.example:6381", "h.example", 6381, true, false },
		{ "MOVED 3999 :6381", "", 6381, true, false },
		{ "MOVED 3999 ?:6381", "", 6381, true, false },
		{ "MOVED 3999 h", NULL, 0, false, false },
		{ "MOVED 3999 h:", NULL, 0, false, false },
		{ "MOVED 3999 h:0", NULL, 0, false, false },
		{ "MOVED 3999 h:65536", NULL, 0, false, false },
		{ "MOVED 3999 h:6x", NULL, 0, false, false },
		{ "MOVED", NULL, 0, false, false },
		{ "MOVED ", NULL, 0, false, false },
		{ "MOVED x h:1", NULL, 0, false, false },
		{ "ASK 1", NULL, 0, false, false },
		{ "ASKING h:1", NULL, 0, false, false },
		{ "ERR MOVED 3999 h:1", NULL, 0, false, false },
		{ "TRYAGAIN Multiple keys request", NULL, 0, false, false },
		{ "", NULL, 0, false, false },
		{ NULL, NULL, 0, false, false },
	};
	struct redirect to;
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		check_eq(redirect_read(rows[i].error, &to), rows[i].is,
		    rows[i].error, __FILE__, __LINE__);
		if (!rows[i].is)
			continue;
		CHECK_STR(to.host, rows[i].host);
		CHECK_EQ(to.port, rows[i].port);
		CHECK_EQ(to.asking, rows[i].asking);
	}
}

static void
long_host(void)
{
	char error[400] = "MOVED 1 ";
	struct redirect to;

	memset(error + 8, 'h', 300);
	strcpy(error + 308, ":1");
	CHECK(!redirect_read(error, &to));
	memset(error + 8, 0, sizeof(error) - 8);
	memset(error + 8, 'h', 255);
	strcpy(error + 263, ":1");
	CHECK(redirect_read(error, &to));
	CHECK_EQ(strlen(to.host), 255);
}

static void
replicas(void)
{
	CHECK(redirect_from_replica("READONLY You can't write"));
	CHECK(redirect_from_replica("ERR Error running script: -READONLY You"));
	CHECK(!redirect_from_replica("ERR"));
	CHECK(!redirect_from_replica(NULL));
}

int
main(void)
{
	CHECK_RUN(rows);
	CHECK_RUN(long_host);
	CHECK_RUN(replicas);
	return check_done();
}
