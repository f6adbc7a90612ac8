/* SPDX-License-Identifier: MIT */
/*
 * cmd_run: see cmd_run.h.  Puts a run together and takes it apart again.
 */
#include "top/cmd_run.h"

#include <signal.h>

#include "top/report.h"
#include "top/run.h"

/* SIGCHLD inherited as ignored would let children vanish unseen. */
static bool
default_sigchld(void)
{
	struct sigaction fresh = { .sa_handler = SIG_DFL }, old;

	return sigaction(SIGCHLD, &fresh, &old) == 0 &&
	    old.sa_handler == SIG_IGN;
}

struct ending
cmd_run(const struct config *cfg, unsigned int closed)
{
	struct session session;
	struct outcome outcome;
	struct run_parts parts = { .session = &session, .closed = closed };
	struct ending ending = { .status = 0 };

	outcome_init(&outcome);
	parts.ignore_chld = default_sigchld();
	if (session_open(&session, cfg, &outcome.fault) == 0)
		run(&parts, &outcome);
	ending.status = outcome_exit_status(&outcome, cfg);
	if (outcome.kind == OUTCOME_RAN || outcome.kind == OUTCOME_INTERRUPTED)
		ending.signal = outcome.signal;
	ending.whole_group = outcome.by_key;
	report_outcome(cfg, &outcome, ending.status);
	session_close(&session);
	return ending;
}
