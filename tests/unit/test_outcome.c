/* SPDX-License-Identifier: MIT */
/*
 * outcome: every kind of end and every fault has the status that cli.md gives
 * it.
 */
#include <signal.h>

#include "check.h"
#include "words/outcome.h"

static void
statuses(void)
{
	static const struct {
		enum outcome_kind kind;
		int status, signal;
		enum fault_code code;
		int want;
	} rows[] = {
		{ OUTCOME_RAN, 0, 0, FAULT_NONE, 0 },
		{ OUTCOME_RAN, 1, 0, FAULT_NONE, 1 },
		{ OUTCOME_RAN, 255, 0, FAULT_NONE, 255 },
		{ OUTCOME_RAN, 0, SIGTERM, FAULT_NONE, 143 },
		{ OUTCOME_RAN, 0, SIGKILL, FAULT_NONE, 137 },
		{ OUTCOME_RAN, 0, 64, FAULT_NONE, 192 },
		{ OUTCOME_BUSY, 0, 0, FAULT_NONE, 75 },
		{ OUTCOME_LOST, 0, 0, FAULT_NONE, 76 },
		{ OUTCOME_LOST, 3, SIGTERM, FAULT_UNAVAILABLE, 76 },
		{ OUTCOME_UNAVAILABLE, 0, 0, FAULT_UNAVAILABLE, 69 },
		{ OUTCOME_REFUSED, 0, 0, FAULT_REFUSED, 77 },
		{ OUTCOME_REFUSED, 0, 0, FAULT_UNFIT, 78 },
		{ OUTCOME_TIMEOUT, 0, 0, FAULT_NONE, 124 },
		{ OUTCOME_TIMEOUT, 0, SIGKILL, FAULT_NONE, 124 },
		{ OUTCOME_INTERRUPTED, 0, SIGINT, FAULT_NONE, 130 },
		{ OUTCOME_INTERRUPTED, 0, SIGHUP, FAULT_NONE, 129 },
		{ OUTCOME_ERROR, 0, 0, FAULT_USAGE, 64 },
		{ OUTCOME_ERROR, 0, 0, FAULT_UNAVAILABLE, 69 },
		{ OUTCOME_ERROR, 0, 0, FAULT_REFUSED, 77 },
		{ OUTCOME_ERROR, 0, 0, FAULT_UNFIT, 78 },
		{ OUTCOME_ERROR, 0, 0, FAULT_SYSTEM, 71 },
		{ OUTCOME_ERROR, 0, 0, FAULT_NOEXEC, 126 },
		{ OUTCOME_ERROR, 0, 0, FAULT_NOENT, 127 },
		{ OUTCOME_ERROR, 0, 0, FAULT_BUG, 70 },
		{ OUTCOME_ERROR, 0, 0, FAULT_NONE, 70 },
	};
	struct outcome outcome;
	struct config cfg;
	size_t i;

	config_init(&cfg);
	for (i = 0; i < CHECK_COUNT(rows); i++) {
		memset(&outcome, 0, sizeof(outcome));
		outcome.kind = rows[i].kind;
		outcome.status = rows[i].status;
		outcome.signal = rows[i].signal;
		outcome.fault.code = rows[i].code;
		CHECK_EQ(outcome_exit_status(&outcome, &cfg), rows[i].want);
	}
}

static void
statuses_by_option(void)
{
	struct outcome outcome = { .kind = OUTCOME_BUSY };
	struct config cfg;

	config_init(&cfg);
	cfg.conflict_status = 0;
	CHECK_EQ(outcome_exit_status(&outcome, &cfg), 0);
	cfg.conflict_status = 255;
	CHECK_EQ(outcome_exit_status(&outcome, &cfg), 255);
	/* -E is for busy alone. */
	outcome.kind = OUTCOME_UNAVAILABLE;
	CHECK_EQ(outcome_exit_status(&outcome, &cfg), 69);
	outcome.kind = OUTCOME_LOST;
	outcome.status = 3;
	CHECK_EQ(outcome_exit_status(&outcome, &cfg), 76);
	cfg.on_lost = ON_LOST_WARN;
	CHECK_EQ(outcome_exit_status(&outcome, &cfg), 3);
	outcome.signal = SIGSEGV;
	CHECK_EQ(outcome_exit_status(&outcome, &cfg), 128 + SIGSEGV);
}

static void
kinds(void)
{
	static const struct {
		enum fault_code code;
		enum outcome_kind kind;
	} rows[] = {
		{ FAULT_NONE, OUTCOME_ERROR },
		{ FAULT_USAGE, OUTCOME_ERROR },
		{ FAULT_UNAVAILABLE, OUTCOME_UNAVAILABLE },
		{ FAULT_REFUSED, OUTCOME_REFUSED },
		{ FAULT_UNFIT, OUTCOME_REFUSED },
		{ FAULT_SYSTEM, OUTCOME_ERROR },
		{ FAULT_NOEXEC, OUTCOME_ERROR },
		{ FAULT_NOENT, OUTCOME_ERROR },
		{ FAULT_BUG, OUTCOME_ERROR },
	};
	struct fault fault = { 0 };
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		fault.code = rows[i].code;
		CHECK_EQ(outcome_kind_of(&fault), rows[i].kind);
	}
}

static void
words(void)
{
	CHECK_STR(outcome_word(OUTCOME_RAN), "ran");
	CHECK_STR(outcome_word(OUTCOME_BUSY), "busy");
	CHECK_STR(outcome_word(OUTCOME_LOST), "lost");
	CHECK_STR(outcome_word(OUTCOME_UNAVAILABLE), "unavailable");
	CHECK_STR(outcome_word(OUTCOME_REFUSED), "refused");
	CHECK_STR(outcome_word(OUTCOME_TIMEOUT), "timeout");
	CHECK_STR(outcome_word(OUTCOME_INTERRUPTED), "interrupted");
	CHECK_STR(outcome_word(OUTCOME_ERROR), "error");
}

int
main(void)
{
	CHECK_RUN(statuses);
	CHECK_RUN(statuses_by_option);
	CHECK_RUN(kinds);
	CHECK_RUN(words);
	return check_done();
}
