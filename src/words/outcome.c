/* SPDX-License-Identifier: MIT */
/*
 * outcome: owns the exit statuses.  Every status that rlock ends with, but
 * for the command's own, is a number in this file and in no other.  It must
 * not know how a run came to its end.
 */
#include "words/outcome.h"

#define STATUS_USAGE 64
#define STATUS_UNAVAILABLE 69
#define STATUS_BUG 70
#define STATUS_SYSTEM 71
#define STATUS_LOST 76
#define STATUS_REFUSED 77
#define STATUS_UNFIT 78
#define STATUS_TIMEOUT 124
#define STATUS_NOEXEC 126
#define STATUS_NOENT 127
#define STATUS_SIGNAL 128

void
outcome_init(struct outcome *o)
{
	*o = (struct outcome) { .kind = OUTCOME_ERROR,
		.hold_ms = -1,
		.slot = -1,
		.fence = -1,
		.margin_ms = -1 };
}

enum outcome_kind
outcome_kind_of(const struct fault *fault)
{
	switch (fault->code) {
	case FAULT_UNAVAILABLE:
		return OUTCOME_UNAVAILABLE;
	case FAULT_REFUSED:
	case FAULT_UNFIT:
		return OUTCOME_REFUSED;
	case FAULT_NONE:
	case FAULT_USAGE:
	case FAULT_SYSTEM:
	case FAULT_NOEXEC:
	case FAULT_NOENT:
	case FAULT_BUG:
		return OUTCOME_ERROR;
	}
	return OUTCOME_ERROR;
}

static int
status_of_fault(enum fault_code code)
{
	switch (code) {
	case FAULT_USAGE:
		return STATUS_USAGE;
	case FAULT_UNAVAILABLE:
		return STATUS_UNAVAILABLE;
	case FAULT_REFUSED:
		return STATUS_REFUSED;
	case FAULT_UNFIT:
		return STATUS_UNFIT;
	case FAULT_SYSTEM:
		return STATUS_SYSTEM;
	case FAULT_NOEXEC:
		return STATUS_NOEXEC;
	case FAULT_NOENT:
		return STATUS_NOENT;
	case FAULT_NONE:
	case FAULT_BUG:
		return STATUS_BUG;
	}
	return STATUS_BUG;
}

static int
status_of_command(const struct outcome *outcome)
{
	if (outcome->signal > 0)
		return STATUS_SIGNAL + outcome->signal;
	return outcome->status;
}

int
outcome_exit_status(const struct outcome *outcome, const struct config *cfg)
{
	switch (outcome->kind) {
	case OUTCOME_RAN:
		return status_of_command(outcome);
	case OUTCOME_SKIPPED:
		return outcome->unreached ? 0 : cfg->once_status;
	case OUTCOME_BUSY:
		return cfg->conflict_status;
	case OUTCOME_LOST:
		if (cfg->on_lost == ON_LOST_WARN)
			return status_of_command(outcome);
		return STATUS_LOST;
	case OUTCOME_UNAVAILABLE:
		return STATUS_UNAVAILABLE;
	case OUTCOME_REFUSED:
		if (outcome->fault.code == FAULT_UNFIT)
			return STATUS_UNFIT;
		return STATUS_REFUSED;
	case OUTCOME_TIMEOUT:
		return STATUS_TIMEOUT;
	case OUTCOME_INTERRUPTED:
		return STATUS_SIGNAL + outcome->signal;
	case OUTCOME_ERROR:
		return status_of_fault(outcome->fault.code);
	}
	return STATUS_BUG;
}

const char *
outcome_word(enum outcome_kind kind)
{
	switch (kind) {
	case OUTCOME_RAN:
		return "ran";
	case OUTCOME_SKIPPED:
		return "skipped";
	case OUTCOME_BUSY:
		return "busy";
	case OUTCOME_LOST:
		return "lost";
	case OUTCOME_UNAVAILABLE:
		return "unavailable";
	case OUTCOME_REFUSED:
		return "refused";
	case OUTCOME_TIMEOUT:
		return "timeout";
	case OUTCOME_INTERRUPTED:
		return "interrupted";
	case OUTCOME_ERROR:
		return "error";
	}
	return "error";
}
