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

/* Open, run, close: all of one attempt. */
static void
attempt(const struct config *cfg, const struct run_parts *given,
    struct outcome *outcome)
{
	struct run_parts parts = *given;
	struct session session;

	parts.session = &session;
	outcome_init(outcome);
	if (session_open(&session, cfg, &outcome->fault) == 0)
		run(&parts, outcome);
	else
		outcome->kind = outcome_kind_of(&outcome->fault);
	session_close(&session);
}

/* Was no server to be had from the start?  Nobody has told of a holder, and
 * there never was a lock. */
static bool
is_unreached(const struct config *cfg, const struct outcome *o)
{
	return o->kind == OUTCOME_UNAVAILABLE && o->holder[0] == '\0' &&
	    o->token[0] == '\0' && !endpoint_is_serverless(&cfg->endpoint);
}

/* --on-unreachable: what is done instead. */
static void
make_do(const struct config *cfg, const struct run_parts *parts,
    struct outcome *o)
{
	int64_t waited_ms = o->wait_ms;
	struct fault told = o->fault;
	struct config copy;

	report_without_server(&told, cfg->on_unreachable);
	if (cfg->on_unreachable == UNREACHABLE_SKIP)
		o->kind = OUTCOME_SKIPPED;
	else if (config_without_server(cfg, &copy, &o->fault) == 0) {
		attempt(&copy, parts, o);
		endpoint_release(&copy.endpoint);
		o->wait_ms += waited_ms;
	} else
		o->kind = outcome_kind_of(&o->fault);
	o->unreached = true;
	if (o->kind == OUTCOME_SKIPPED || o->kind == OUTCOME_RAN)
		o->fault = told;
}

struct ending
cmd_run(const struct config *cfg, unsigned int closed)
{
	struct run_parts parts = { .closed = closed };
	struct ending ending = { .status = 0 };
	struct outcome outcome;
	sigset_t mask;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	parts.ignore_chld = default_sigchld();
	attempt(cfg, &parts, &outcome);
	if (cfg->on_unreachable != UNREACHABLE_FAIL &&
	    is_unreached(cfg, &outcome)) {
		/* For the command; what came meanwhile ends us here. */
		sigprocmask(SIG_SETMASK, &mask, NULL);
		make_do(cfg, &parts, &outcome);
	}
	ending.status = outcome_exit_status(&outcome, cfg);
	if (outcome.kind == OUTCOME_RAN || outcome.kind == OUTCOME_INTERRUPTED)
		ending.signal = outcome.signal;
	ending.whole_group = outcome.by_key;
	report_outcome(cfg, &outcome, ending.status);
	return ending;
}
