/* SPDX-License-Identifier: MIT */
/*
 * cmd_token: see cmd_token.h.  Which kind of lock it is, is not asked for: the
 * token finds its own.
 */
#include "top/cmd_token.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "core/answer.h"
#include "lives/errand.h"
#include "top/report.h"
#include "top/session.h"

struct errand_state {
	struct session session;
	enum lock_op op;
	struct answer answer;
};

static int
on_reply(void *arg, const struct reply *reply, struct fault *fault)
{
	struct errand_state *s = arg;

	answer_read(&s->session.lock, s->op, reply, &s->answer);
	if (s->answer.verdict != VERDICT_ERROR)
		return 0;
	*fault = s->answer.fault;
	return -1;
}

/* What the answer makes of the outcome. */
static void
conclude(const struct errand_state *s, struct outcome *o)
{
	const char *holder = s->answer.holder;

	o->kind = OUTCOME_RAN;
	switch (s->answer.verdict) {
	case VERDICT_OURS:
	case VERDICT_FULL: /* released; others in line look for themselves */
		if (s->answer.unheard)
			report_unheard();
		break;
	case VERDICT_HELD:
		o->kind = OUTCOME_LOST;
		report_not_ours(&o->fault, holder);
		break;
	case VERDICT_GONE:
		o->status = 1;
		report_not_ours(&o->fault, "");
		break;
	case VERDICT_DONE:
	case VERDICT_ERROR:
		break; /* not an answer to these */
	}
}

struct ending
cmd_token(const struct config *cfg)
{
	struct errand_state state, *s = &state;
	struct ending ending = { .status = 0 };
	struct outcome outcome;
	int signal = 0;

	memset(s, 0, sizeof(*s));
	outcome_init(&outcome);
	if (session_open(&s->session, cfg, &outcome.fault) == 0) {
		struct lock *lock = &s->session.lock;

		s->op = cfg->verb == VERB_RENEW ? LOCK_RENEW : LOCK_RELEASE;
		snprintf(lock->token, sizeof(lock->token), "%s", cfg->token);
		lock_asked(lock);
		lock->nested = true;
		if (errand_run(s->session.loop, cfg, s->session.quorum, lock,
			s->op, on_reply, s, &signal, &outcome.fault) == 0)
			conclude(s, &outcome);
		else if (signal != 0) {
			outcome.kind = OUTCOME_INTERRUPTED;
			outcome.signal = ending.signal = signal;
		} else
			outcome.kind = outcome_kind_of(&outcome.fault);
	}
	ending.status = outcome_exit_status(&outcome, cfg);
	if (outcome.kind == OUTCOME_REFUSED || outcome.kind == OUTCOME_ERROR ||
	    outcome.kind == OUTCOME_UNAVAILABLE)
		log_say(LOG_LEVEL_NORMAL, "%s", outcome.fault.text);
	session_close(&s->session);
	return ending;
}
