/* SPDX-License-Identifier: MIT */
/*
 * cmd_acquire: see cmd_acquire.h.  When the token can't be printed, or a
 * signal came before it was, the lock is given back: nobody could.
 */
#include "top/cmd_acquire.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/log.h"
#include "base/print.h"
#include "lives/lease.h"
#include "top/report.h"
#include "top/session.h"
#include "top/wait.h"

struct acquire {
	struct session session;
	struct outcome outcome;
	struct wait wait;
	struct lease *lease;
};

static int
write_token(const struct acquire *a, struct buf *out)
{
	const struct config *cfg = a->session.cfg;
	const struct outcome *o = &a->outcome;

	if (!cfg->json)
		return buf_printf(out, "%s\n", o->token);
	if (json_open(out, NULL) == -1 ||
	    json_text(out, "key", cfg->key) == -1 ||
	    json_text(out, "token", o->token) == -1 ||
	    json_number(out, "slot", o->slot) == -1 ||
	    json_number(out, "fence", o->fence) == -1 ||
	    json_number(out, "ttl_ms", cfg->ttl_ms) == -1 ||
	    json_number(out, "wait_ms", o->wait_ms) == -1)
		return -1;
	return json_close(out) == -1 ? -1 : buf_puts(out, "\n");
}

/* Print it; -1 and a fault when nobody has read it. */
static int
hand_out(struct acquire *a)
{
	struct buf text = { 0 };
	int status = write_token(a, &text) == -1 ?
	    fault_set(&a->outcome.fault, FAULT_SYSTEM, 0, "no memory") :
	    print_all(&text, &a->outcome.fault);

	buf_release(&text);
	return status;
}

static void
on_lease(void *arg, enum lease_event event, const struct fault *fault)
{
	struct acquire *a = arg;

	switch (event) {
	case LEASE_UNHEARD:
		report_unheard();
		break;
	case LEASE_STUCK:
		report_stuck(fault, a->session.cfg->ttl_ms);
		break;
	case LEASE_RENEWED:
	case LEASE_RETRYING:
	case LEASE_DOUBT:
	case LEASE_LAST:
		return;
	case LEASE_LOST:
	case LEASE_RELEASED:
	case LEASE_FOUND_LOST:
		break;
	}
	loop_stop(a->session.loop);
}

static void
on_wait_over(void *arg, bool acquired, int64_t sent_at)
{
	struct acquire *a = arg;
	struct outcome *o = &a->outcome;

	if (!acquired) {
		loop_stop(a->session.loop);
		return;
	}
	loop_read_signals(a->session.loop);
	if (a->wait.interrupted != 0) {
		o->kind = OUTCOME_INTERRUPTED;
		o->signal = a->wait.interrupted;
	} else if (!a->wait.unusable && hand_out(a) == 0) {
		o->kind = OUTCOME_RAN;
		loop_stop(a->session.loop);
		return;
	}
	lease_hold(a->lease, sent_at);
	lease_give_back(a->lease, NULL);
}

static void
on_signal(void *arg, const struct signalfd_siginfo *info)
{
	struct acquire *a = arg;

	wait_signal(&a->wait, info, a->outcome.token[0] == '\0');
}

static int
prepare(struct acquire *a, const struct config *cfg)
{
	struct session *s = &a->session;
	struct fault *fault = &a->outcome.fault;

	if (session_open(s, cfg, fault) == -1 ||
	    wait_init(&a->wait, s, &a->outcome, on_wait_over, a) == -1)
		return -1;
	a->lease = lease_new(s->loop, cfg, s->quorum, &s->lock, on_lease, a);
	if (a->lease == NULL)
		return fault_set(fault, FAULT_SYSTEM, 0, "no memory");
	loop_on_signal(s->loop, on_signal, a);
	return 0;
}

struct ending
cmd_acquire(const struct config *cfg)
{
	struct acquire acquire, *a = &acquire;
	struct ending ending = { .status = 0 };

	memset(a, 0, sizeof(*a));
	outcome_init(&a->outcome);
	if (prepare(a, cfg) == 0) {
		wait_start(&a->wait);
		loop_run(a->session.loop);
	}
	ending.status = outcome_exit_status(&a->outcome, cfg);
	if (a->outcome.kind == OUTCOME_INTERRUPTED)
		ending.signal = a->outcome.signal;
	if (a->outcome.kind != OUTCOME_RAN)
		report_outcome(cfg, &a->outcome, ending.status);
	wait_release(&a->wait);
	lease_free(a->lease);
	session_close(&a->session);
	return ending;
}
