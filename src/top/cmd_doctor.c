/* SPDX-License-Identifier: MIT */
/*
 * cmd_doctor: see cmd_doctor.h.  One server after the other, each by itself;
 * then what they are to one another.  What comes from a server is escaped here.
 */
#include "top/cmd_doctor.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/print.h"
#include "core/ballot.h"
#include "core/rights.h"
#include "top/examine.h"
#include "words/outcome.h"

#define CHECK_FAILED 1
#define TEXT_COLUMN 19
#define WIDTH 79

struct doctor {
	const struct config *cfg;
	struct outcome outcome;
	struct buf out;
	struct identity who[CONFIG_SERVERS_MAX];
	size_t failed;
	int away; /* servers that could not be reached */
	int signal;
};

/* --- for people ------------------------------------------------------------ */

/* text, broken at blanks, from column at on. */
static int
put_wrapped(struct buf *out, const char *text, size_t at)
{
	size_t len, column = at;

	for (; *text != '\0'; text += len) {
		text += strspn(text, " ");
		len = strcspn(text, " ");
		if (column > at && column + 1 + len > WIDTH) {
			if (buf_printf(out, "\n%*s", (int)at, "") == -1)
				return -1;
			column = at;
		} else if (column > at) {
			if (buf_puts(out, " ") == -1)
				return -1;
			column++;
		}
		if (buf_put(out, text, len) == -1)
			return -1;
		column += len;
	}
	return buf_puts(out, "\n");
}

static int
put_findings(struct buf *out, const struct findings *f)
{
	char shown[4 * sizeof(f->list->text)];
	const struct finding *one;

	for (one = f->list; one < f->list + f->count; one++) {
		log_escape(shown, sizeof(shown), one->text, strlen(one->text));
		if (buf_printf(out, "%-4s  %-12s ", findings_word(one->level),
			one->check) == -1 ||
		    put_wrapped(out, shown, TEXT_COLUMN) == -1)
			return -1;
	}
	return f->error;
}

static int
put_acl(struct buf *out, const char *prefix)
{
	if (buf_puts(out,
		"\nA user with just the rights for all of this, but what "
		"--doctor reads of the\nsettings (give it a password as "
		"well):\n\n    redis-cli ACL SETUSER ") == -1 ||
	    rights_acl_line(out, prefix) == -1)
		return -1;
	return buf_puts(out, "\n");
}

/* --- for programs ----------------------------------------------------------- */

static int
put_json(struct buf *out, const struct findings *f)
{
	const struct finding *one;

	if (json_open_list(out, "findings") == -1)
		return -1;
	for (one = f->list; one < f->list + f->count; one++)
		if (json_open(out, NULL) == -1 ||
		    json_text(out, "level", findings_word(one->level)) == -1 ||
		    json_text(out, "check", one->check) == -1 ||
		    json_text(out, "text", one->text) == -1 ||
		    json_close(out) == -1)
			return -1;
	return json_close_list(out) == -1 ? -1 : f->error;
}

static int
put_acl_json(struct buf *out, const char *prefix)
{
	struct buf line = { 0 };
	int status = rights_acl_line(&line, prefix) == -1 ||
		buf_put(&line, "", 1) == -1 ||
		json_text(out, "acl", line.data) == -1 ?
	    -1 :
	    0;

	buf_release(&line);
	return status;
}

/* --- servers ----------------------------------------------------------------- */

static int
put_server(struct doctor *d, int i, const struct findings *f)
{
	const char *url = config_server(d->cfg, i)->shown;

	if (d->cfg->json)
		return json_open(&d->out, NULL) == -1 ||
			json_text(&d->out, "url", url) == -1 ||
			put_json(&d->out, f) == -1 ?
		    -1 :
		    json_close(&d->out);
	if (d->cfg->servers > 1 &&
	    buf_printf(&d->out, "%s%s\n", i == 0 ? "" : "\n", url) == -1)
		return -1;
	return put_findings(&d->out, f);
}

static int
examine_one(struct doctor *d, int i)
{
	struct findings findings = { .list = NULL };
	struct config one = *d->cfg;
	int status;

	one.endpoint = *config_server(d->cfg, i);
	one.servers = 1;
	if (examine(&one, d->cfg->servers > 1, &findings, &d->who[i],
		&d->signal, &d->outcome.fault) == -1 &&
	    d->outcome.fault.code == FAULT_UNAVAILABLE)
		d->away++;
	status = d->signal != 0 ? -1 : put_server(d, i, &findings);
	d->failed += findings.failed;
	findings_release(&findings);
	return status;
}

/* Which of the servers before is the same; -1: none. */
static int
twin_of(const struct doctor *d, int i)
{
	int k;

	for (k = 0; k < i; k++)
		if (d->who[i].run_id[0] != '\0' &&
		    strcmp(d->who[i].run_id, d->who[k].run_id) == 0)
			return k;
	return -1;
}

static int
judge_quorum(struct doctor *d)
{
	struct findings f = { .list = NULL };
	int i, twin, known = 0, count = d->cfg->servers, status;

	for (i = 0; i < count; i++) {
		known += d->who[i].run_id[0] != '\0';
		if ((twin = twin_of(d, i)) != -1)
			findings_add(&f, FINDING_FAIL, "quorum",
			    "%s is the same server as %s: it has one vote",
			    config_server(d->cfg, i)->shown,
			    config_server(d->cfg, twin)->shown);
	}
	if (count % 2 == 0)
		findings_add(&f, FINDING_WARN, "quorum",
		    "%d servers: no more may fail than of %d", count,
		    count - 1);
	if (d->away > count - ballot_majority(count))
		findings_add(&f, FINDING_FAIL, "quorum",
		    "%d of %d can't be reached: no majority, no lock", d->away,
		    count);
	else if (known < count - d->away)
		findings_add(&f, FINDING_WARN, "quorum",
		    "can't tell whether they are independent: INFO is refused");
	else
		findings_add(&f, FINDING_OK, "quorum",
		    "%d of %d have to grant a lock", ballot_majority(count),
		    count);
	if (d->cfg->json)
		status = json_open(&d->out, "quorum") == -1 ||
			put_json(&d->out, &f) == -1 ?
		    -1 :
		    json_close(&d->out);
	else
		status = buf_puts(&d->out, "\nthe quorum\n") == -1 ?
		    -1 :
		    put_findings(&d->out, &f);
	d->failed += f.failed;
	findings_release(&f);
	return status;
}

static int
put_end(struct doctor *d)
{
	if (!d->cfg->json)
		return put_acl(&d->out, d->cfg->prefix);
	if (put_acl_json(&d->out, d->cfg->prefix) == -1 ||
	    json_number(&d->out, "failed", (int64_t)d->failed) == -1 ||
	    json_close(&d->out) == -1)
		return -1;
	return buf_puts(&d->out, "\n");
}

static int
run_checks(struct doctor *d)
{
	bool json = d->cfg->json != 0;
	int i;

	if (json &&
	    (json_open(&d->out, NULL) == -1 ||
		json_open_list(&d->out, "servers") == -1))
		return -1;
	for (i = 0; i < d->cfg->servers; i++)
		if (examine_one(d, i) == -1)
			return -1;
	if (json && json_close_list(&d->out) == -1)
		return -1;
	if (d->cfg->servers > 1 && judge_quorum(d) == -1)
		return -1;
	return put_end(d);
}

struct ending
cmd_doctor(const struct config *cfg)
{
	struct doctor state, *d = &state;
	struct ending ending = { .status = 0 };
	struct outcome *o = &d->outcome;

	memset(d, 0, sizeof(*d));
	d->cfg = cfg;
	outcome_init(o);
	if (run_checks(d) == -1) {
		if (d->signal == 0)
			fault_set(&o->fault, FAULT_SYSTEM, 0, "no memory");
	} else if (print_all(&d->out, &o->fault) == 0)
		o->kind = OUTCOME_RAN;
	if (d->signal != 0) {
		o->kind = OUTCOME_INTERRUPTED;
		o->signal = ending.signal = d->signal;
	}
	/* Told, as a finding; nothing else could be looked at. */
	if (o->kind == OUTCOME_RAN && d->away == cfg->servers)
		o->kind = OUTCOME_UNAVAILABLE;
	else if (o->kind == OUTCOME_RAN && d->failed > 0)
		o->status = CHECK_FAILED;
	ending.status = outcome_exit_status(o, cfg);
	if (o->kind == OUTCOME_ERROR)
		log_say(LOG_LEVEL_NORMAL, "%s", o->fault.text);
	buf_release(&d->out);
	return ending;
}
