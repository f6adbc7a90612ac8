/* SPDX-License-Identifier: MIT */
/*
 * cmd_run: see cmd_run.h.  Puts a run together and takes it apart again.
 */
#include "top/cmd_run.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/token.h"
#include "top/report.h"
#include "top/run.h"

/* "rlock:HOST:PID" of what CLIENT SETNAME allows: no blanks, no controls. */
static void
name_connection(const struct token_owner *owner, char *out, size_t cap)
{
	char *p;

	snprintf(out, cap, "rlock:%s:%ld", owner->host, owner->pid);
	for (p = out; *p != '\0'; p++)
		if (*p < '!' || *p > '~')
			*p = '_';
}

/* SIGCHLD inherited as ignored would let children vanish unseen. */
static bool
default_sigchld(void)
{
	struct sigaction fresh = { .sa_handler = SIG_DFL }, old;

	return sigaction(SIGCHLD, &fresh, &old) == 0 &&
	    old.sa_handler == SIG_IGN;
}

static int
set_up(struct run_parts *p, struct lock *lock, const struct token_owner *owner,
    struct fault *fault)
{
	char name[100];

	p->ignore_chld = default_sigchld();
	if ((p->loop = loop_new(fault)) == NULL)
		return -1;
	if (lock_init(lock, p->cfg->prefix, p->cfg->key, p->cfg->ttl_ms,
		fault) == -1)
		return -1;
	name_connection(owner, name, sizeof(name));
	if ((p->voter = voter_new(p->loop, p->cfg, name)) == NULL)
		return fault_set(fault, FAULT_SYSTEM, 0, "no memory");
	return 0;
}

struct ending
cmd_run(const struct config *cfg, unsigned int closed)
{
	struct token_owner owner;
	struct lock lock;
	struct outcome outcome;
	struct run_parts parts = {
		.cfg = cfg, .owner = &owner, .lock = &lock, .closed = closed
	};
	struct ending ending = { .status = 0 };

	memset(&lock, 0, sizeof(lock));
	memset(&outcome, 0, sizeof(outcome));
	outcome.kind = OUTCOME_ERROR;
	outcome.hold_ms = -1;
	token_owner_init(&owner, cfg->note);
	if (set_up(&parts, &lock, &owner, &outcome.fault) == 0)
		run(&parts, &outcome);
	ending.status = outcome_exit_status(&outcome, cfg);
	if (outcome.kind == OUTCOME_RAN || outcome.kind == OUTCOME_INTERRUPTED)
		ending.signal = outcome.signal;
	ending.whole_group = outcome.by_key;
	report_outcome(cfg, &outcome, ending.status);
	voter_free(parts.voter);
	lock_release(&lock);
	loop_free(parts.loop);
	return ending;
}
