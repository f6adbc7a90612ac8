/* SPDX-License-Identifier: MIT */
/*
 * signame: every signal there and back, the spellings that kill(1) takes, and
 * what is no signal.
 */
#include <signal.h>

#include "base/signame.h"
#include "check.h"

static void
round_trip(void)
{
	char name[32], long_name[40], digits[16];
	int number;

	for (number = 1; number <= SIGRTMAX; number++) {
		/* The C library's own between the classic and SIGRTMIN. */
		snprintf(digits, sizeof(digits), "%d", number);
		CHECK_EQ(signame_parse(digits), number);
		if (number > 31 && number < SIGRTMIN)
			continue;
		CHECK(signame_of(number, name, sizeof(name)) == name);
		CHECK_LACKS(name, "signal");
		CHECK_EQ(signame_parse(name), number);
		snprintf(long_name, sizeof(long_name), "sig%s", name);
		CHECK_EQ(signame_parse(long_name), number);
	}
}

static void
spellings(void)
{
	const struct {
		const char *text;
		int number;
	} rows[] = {
		{ "TERM", SIGTERM },
		{ "SIGTERM", SIGTERM },
		{ "term", SIGTERM },
		{ "sigterm", SIGTERM },
		{ "SigTerm", SIGTERM },
		{ "15", 15 },
		{ "015", 15 },
		{ "CLD", SIGCHLD },
		{ "IOT", SIGABRT },
		{ "POLL", SIGIO },
		{ "RTMIN", SIGRTMIN },
		{ "SIGRTMIN", SIGRTMIN },
		{ "rtmin+3", SIGRTMIN + 3 },
		{ "RTMIN+0", SIGRTMIN },
		{ "RTMAX", SIGRTMAX },
		{ "RTMAX-2", SIGRTMAX - 2 },
		{ "RTMAX-30", SIGRTMAX - 30 },
		{ "RTMIN+30", SIGRTMIN + 30 },
	};
	static const char *const bad[] = {
		"",
		"0",
		"00",
		"-1",
		"+15",
		"65",
		"4294967311",
		"SIG",
		"SIGSIG",
		"SIGSIGTERM",
		"SIG15",
		"TERM ",
		" TERM",
		"TERMX",
		"TER",
		"RTMIN-1",
		"RTMAX+1",
		"RTMIN+",
		"RTMIN+x",
		"RTMIN+31",
		"RTMIN+99999999999999999999",
		"RTMAX-31",
		"RTMIN +1",
		"RTMINX",
		"15 ",
		"1e1",
		"EXIT",
		"NULL",
		"T\xc3\x89RM",
	};
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++)
		check_eq(signame_parse(rows[i].text), rows[i].number,
		    rows[i].text, __FILE__, __LINE__);
	for (i = 0; i < CHECK_COUNT(bad); i++)
		check_eq(signame_parse(bad[i]), -1, bad[i], __FILE__, __LINE__);
}

static void
names(void)
{
	char out[32], tiny[3];

	CHECK_STR(signame_of(SIGTERM, out, sizeof(out)), "TERM");
	CHECK_STR(signame_of(SIGCHLD, out, sizeof(out)), "CHLD");
	CHECK_STR(signame_of(SIGABRT, out, sizeof(out)), "ABRT");
	CHECK_STR(signame_of(SIGRTMIN, out, sizeof(out)), "RTMIN");
	CHECK_STR(signame_of(SIGRTMIN + 3, out, sizeof(out)), "RTMIN+3");
	CHECK_STR(signame_of(99, out, sizeof(out)), "signal 99");
	CHECK_STR(signame_of(0, out, sizeof(out)), "signal 0");
	CHECK_STR(signame_of(-1, out, sizeof(out)), "signal -1");
	CHECK_STR(signame_of(SIGTERM, tiny, sizeof(tiny)), "TE");
}

int
main(void)
{
	CHECK_RUN(round_trip);
	CHECK_RUN(spellings);
	CHECK_RUN(names);
	return check_done();
}
