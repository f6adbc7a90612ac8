/* SPDX-License-Identifier: MIT */
/*
 * report: see report.h.  The words of the program; it decides nothing else.
 */
#include "top/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/signame.h"
#include "base/token.h"
#include "core/marker.h"
#include "top/metrics.h"
#include "top/report_file.h"

#define DESCRIPTION_MAX 400

/* "3.25" for 3250 ms, into out[24]. */
static const char *
seconds(int64_t ms, char *out)
{
	snprintf(out, 24, "%" PRId64 ".%02d", ms / 1000, (int)(ms % 1000 / 10));
	return out;
}

static const char *
describe(const char *holder, char *out)
{
	if (holder[0] == '\0')
		return "others in line";
	token_describe(holder, strlen(holder), out, DESCRIPTION_MAX);
	return out;
}

void
report_insecure(const char *server)
{
	log_say(LOG_LEVEL_NORMAL,
	    "%s: its certificate is not checked: anybody may answer in its "
	    "place (--tls-insecure)",
	    server);
}

void
report_two_servers(void)
{
	log_say(LOG_LEVEL_NORMAL,
	    "two servers: both have to be there for the lock (three are the "
	    "least of which one may fail)");
}

void
report_waiting(const char *holder)
{
	char who[DESCRIPTION_MAX];
	const struct log_event event = { LOG_EVENT("waiting"),
		.holder = describe(holder, who) };

	log_tell(LOG_LEVEL_VERBOSE, &event, "waiting: held by %s",
	    event.holder);
}

void
report_wait_line(const char *holder, int64_t wait_ms)
{
	char who[DESCRIPTION_MAX];

	if (isatty(STDERR_FILENO) && tcgetpgrp(STDERR_FILENO) == getpgrp())
		log_status("waiting %" PRId64 " s: held by %s", wait_ms / 1000,
		    describe(holder, who));
}

void
report_wait_over(void)
{
	log_status_clear();
}

void
report_unreached(const struct fault *fault)
{
	log_say(LOG_LEVEL_VERBOSE, "no lock yet: %s (trying again)",
	    fault->text);
}

void
report_without_server(struct fault *told, enum config_unreachable action)
{
	static const char *const done[] = { [UNREACHABLE_FAIL] = "",
		[UNREACHABLE_SKIP] = "the command is not run",
		[UNREACHABLE_RUN] = "the command runs WITHOUT THE LOCK",
		[UNREACHABLE_LOCAL] =
		    "the command runs under the lock of this host only" };
	static const char *const words[] = { [UNREACHABLE_FAIL] = "fail",
		[UNREACHABLE_SKIP] = "skip",
		[UNREACHABLE_RUN] = "run",
		[UNREACHABLE_LOCAL] = "local" };
	struct log_event event = { LOG_EVENT("error") };
	struct fault why = *told;

	fault_set(told, why.code, 0, "%s (%s: --on-unreachable %s)", why.text,
	    done[action], words[action]);
	log_tell(LOG_LEVEL_NORMAL, &event, "%s", told->text);
}

void
report_away(const struct fault *fault)
{
	log_say(LOG_LEVEL_NORMAL,
	    "waiting: %s (trying again; the place in "
	    "line is kept)",
	    fault->text);
}

void
report_back(void)
{
	log_say(LOG_LEVEL_VERBOSE, "the server answers again");
}

void
report_deaf(void)
{
	log_say(LOG_LEVEL_NORMAL,
	    "waiting by polling: this user may not "
	    "subscribe (grant it subscribe and the channels rlock:*)");
}

void
report_acquired(int64_t wait_ms, int64_t ttl_ms, int64_t fence)
{
	struct log_event event = { LOG_EVENT("acquired") };
	char wait[24];

	event.wait_ms = wait_ms;
	event.ttl_ms = ttl_ms;
	event.fence = fence;
	log_tell(LOG_LEVEL_VERBOSE, &event, "acquired after %s s",
	    seconds(wait_ms, wait));
}

void
report_renewed(int64_t left_ms)
{
	struct log_event event = { LOG_EVENT("renewed"), .detail = true };

	/* Of no interest to a person. */
	event.left_ms = left_ms;
	if (log_is_json())
		log_tell(LOG_LEVEL_VERBOSE, &event, "renewed");
}

void
report_renewal_failed(const struct fault *fault, int64_t left_ms)
{
	struct log_event event = { LOG_EVENT("renew_failed") };
	char left[24];

	event.left_ms = left_ms < 0 ? 0 : left_ms;
	log_tell(LOG_LEVEL_VERBOSE, &event,
	    "not renewed: %s (trying again; %s s "
	    "left)",
	    fault->text, seconds(left_ms < 0 ? 0 : left_ms, left));
}

void
report_lost(struct fault *told, const char *holder, bool stopping)
{
	struct log_event event = { LOG_EVENT("lost") };
	const char *then = stopping ? "the command is being stopped" :
				      "check what else ran meanwhile";
	char who[DESCRIPTION_MAX];

	if (holder == NULL)
		fault_set(told, FAULT_NONE, 0,
		    "lock in doubt: not renewed in time (%s)",
		    stopping ? then : "the command goes on");
	else if (holder[0] == '\0')
		fault_set(told, FAULT_NONE, 0,
		    "lock lost: it is gone from the server, or its time was "
		    "over (%s)",
		    then);
	else
		fault_set(told, FAULT_NONE, 0, "lock lost: now held by %s (%s)",
		    event.holder = describe(holder, who), then);
	log_tell(LOG_LEVEL_NORMAL, &event, "%s", told->text);
}

void
report_server(const char *why)
{
	log_say(LOG_LEVEL_NORMAL, "%s (left out)", why);
}

void
report_broken(const char *token, bool told)
{
	char who[DESCRIPTION_MAX];
	size_t len = strlen(token);

	token_describe(token, len, who, sizeof(who));
	log_say(LOG_LEVEL_NORMAL, "broken: it was held by %s%s", who,
	    !token_is_ours(token, len) ? "" :
		told		       ? " (who has been told)" :
					 " (who finds out at the next renewal)");
}

void
report_not_ours(struct fault *told, const char *holder)
{
	char who[DESCRIPTION_MAX];

	if (holder[0] == '\0')
		fault_set(told, FAULT_NONE, 0,
		    "not held: it was released, or its time was over");
	else
		fault_set(told, FAULT_NONE, 0,
		    "not held under this token, but by %s (left untouched)",
		    describe(holder, who));
	log_say(LOG_LEVEL_NORMAL, "%s", told->text);
}

void
report_marker(struct fault *told, const char *text)
{
	char who[DESCRIPTION_MAX], when[32], took[24];
	struct marker marker;

	if (marker_parse(&marker, text) == -1) {
		fault_set(told, FAULT_NONE, 0, "skipped: done before (--once)");
		return;
	}
	fault_set(told, FAULT_NONE, 0,
	    "skipped: done at %s, in %s s, by %s (--once)",
	    token_time(marker.ended_ms, when, sizeof(when)),
	    seconds(marker.run_ms, took), describe(marker.token, who));
}

void
report_stopping(const char *why, int signal)
{
	const struct log_event event = { LOG_EVENT("stopping") };
	char name[32];

	log_tell(LOG_LEVEL_VERBOSE, &event, "%s: sending %s to the command",
	    why, signame_of(signal, name, sizeof(name)));
}

void
report_paused(void)
{
	log_say(LOG_LEVEL_NORMAL,
	    "lock in doubt: not renewed in time (the "
	    "command is paused until it is)");
}

void
report_resumed(void)
{
	log_say(LOG_LEVEL_NORMAL, "lock proven: the command goes on");
}

void
report_no_terminal(void)
{
	log_say(LOG_LEVEL_NORMAL,
	    "the command waits for a terminal that "
	    "rlock does not have (run it in the foreground)");
}

void
report_forbidden(void)
{
	log_say(LOG_LEVEL_NORMAL,
	    "the command can't be signalled: it runs as "
	    "another user (run rlock under sudo, not sudo under rlock)");
}

void
report_stuck(const struct fault *fault, int64_t ttl_ms)
{
	char ttl[24];

	log_say(LOG_LEVEL_NORMAL,
	    "not released: %s (it ends by itself within "
	    "%s s)",
	    fault->text, seconds(ttl_ms, ttl));
}

void
report_unheard(void)
{
	log_say(LOG_LEVEL_NORMAL,
	    "released, but who waits could not be told: "
	    "this user may not publish (grant it publish and the channels "
	    "rlock:*)");
}

/* cron mails every line; a person at a terminal wants to know. */
static void
say_to_person(const struct log_event *event, const char *text, const char *hint)
{
	enum log_level level = LOG_LEVEL_VERBOSE;

	if (!log_wants(level) && isatty(STDERR_FILENO))
		level = LOG_LEVEL_NORMAL;
	log_tell(level, event, "%s%s", text, hint);
}

static void
say_ran(const struct outcome *o)
{
	struct log_event event = { LOG_EVENT("released") };
	char hold[24], name[32];

	event.hold_ms = o->hold_ms;
	if (o->signal != 0)
		log_tell(LOG_LEVEL_VERBOSE, &event,
		    "done after %s s: the command died "
		    "of %s",
		    seconds(o->hold_ms, hold),
		    signame_of(o->signal, name, sizeof(name)));
	else
		log_tell(LOG_LEVEL_VERBOSE, &event,
		    "done after %s s: the command's "
		    "status is %d",
		    seconds(o->hold_ms, hold), o->status);
}

void
report_outcome(const struct config *cfg, const struct outcome *o, int status)
{
	struct log_event event = { LOG_EVENT("error") };
	char name[32];

	switch (o->kind) {
	case OUTCOME_RAN:
		say_ran(o);
		break;
	case OUTCOME_SKIPPED:
		event.name = "skipped";
		if (o->unreached) /* told */
			break;
		say_to_person(&event, o->fault.text, "");
		break;
	case OUTCOME_BUSY:
		event.name = "busy";
		event.wait_ms = o->wait_ms;
		event.holder = o->holder;
		say_to_person(&event, o->fault.text,
		    cfg->wait_ms == 0 ? " (-w DUR waits)" : "");
		break;
	case OUTCOME_LOST:
		break; /* told when it happened */
	case OUTCOME_TIMEOUT:
		log_say(LOG_LEVEL_VERBOSE, "stopped: --max-run was over");
		break;
	case OUTCOME_INTERRUPTED:
		log_say(LOG_LEVEL_VERBOSE,
		    "interrupted by %s: the command "
		    "was not run",
		    signame_of(o->signal, name, sizeof(name)));
		break;
	case OUTCOME_UNAVAILABLE:
	case OUTCOME_REFUSED:
	case OUTCOME_ERROR:
		log_say(LOG_LEVEL_NORMAL, "%s", o->fault.text);
		break;
	}
	if (cfg->report != NULL)
		report_file_write(cfg, o, status);
	if (cfg->metrics != NULL)
		metrics_write(cfg, o, status, clock_wall_ms());
}
