/* SPDX-License-Identifier: MIT */
/*
 * cmd_break: see cmd_break.h.  Who has lost the lock finds out at the next
 * renewal, up to a third of the lease later.  A connection that breaks is a
 * reason to renew at once, so theirs is closed, where that is allowed: found by
 * its name, rlock:HOST:PID, and only if no other has the same.
 */
#include "top/cmd_break.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/parse.h"
#include "core/refusal.h"
#include "core/ballot.h"
#include "core/script.h"
#include "lives/errand.h"
#include "top/report.h"
#include "top/session.h"
#include "words/outcome.h"

#define NOTHING_THERE 1

/* One who has lost it. */
struct loser {
	char token[TOKEN_MAX]; /* maybe cut */
	char name[CONNECTION_NAME_MAX];
	int server;	/* where it held it */
	int64_t client; /* its connection; -1: not known */
	bool told;
};

struct breaking {
	struct session session;
	struct config cfg; /* with one server */
	struct outcome outcome;
	int signal;
	struct loser *losers;
	size_t count;
	int server; /* that is being asked */
	int gone;   /* servers that have no such lock */
};

static int
no_sense(struct fault *fault)
{
	return fault_set(fault, FAULT_UNFIT, 0,
	    "the server's answer makes no sense (is it Redis 5.0 or later?)");
}

static int
keep_losers(struct breaking *b, const struct reply *reply, struct fault *fault)
{
	size_t i, len, count = reply_count(reply);
	struct token_fields f;
	struct loser *l;
	const char *text;

	if (count < 3)
		return 0; /* all of them had just lapsed */
	l = realloc(b->losers, (b->count + count - 2) * sizeof(*l));
	if (l == NULL)
		return fault_set(fault, FAULT_SYSTEM, 0, "no memory");
	b->losers = l;
	for (i = 2; i < count; i++) {
		text = reply_text(reply_at(reply, i), &len);
		if (text == NULL)
			return no_sense(fault);
		l = &b->losers[b->count++];
		memset(l, 0, sizeof(*l));
		l->client = -1;
		l->server = b->server;
		snprintf(l->token, sizeof(l->token), "%s", text);
		token_read(text, len, true, &f);
		if (f.ours && !f.cooling && f.host[0] != '\0' && f.pid > 0)
			session_connection_name(f.host, f.pid, l->name);
	}
	return 0;
}

static int
on_break(void *arg, const struct reply *reply, struct fault *fault)
{
	struct breaking *b = arg;
	const char *text;
	size_t len;

	switch (reply_int(reply_at(reply, 0), -1)) {
	case SCRIPT_OK:
		if (reply_int(reply_at(reply, 1), 0) != 0)
			report_unheard();
		return keep_losers(b, reply, fault);
	case SCRIPT_GONE:
		b->gone++;
		return 0;
	case SCRIPT_MISFIT:
		text = reply_text(reply_at(reply, 1), &len);
		return fault_set(fault, FAULT_UNFIT, 0,
		    "the key %s on the server is not a lock and was not "
		    "touched",
		    text == NULL ? "" : text);
	}
	return no_sense(fault);
}

/* --- telling them --------------------------------------------------------- */

/* The word of line behind name, up to a blank; NULL when it is not there. */
static const char *
word_of(const char *line, size_t line_len, const char *name, size_t *len)
{
	size_t name_len = strlen(name);
	const char *p = line, *end = line + line_len;

	while (p < end) {
		*len = 0;
		while (p + *len < end && p[*len] != ' ')
			(*len)++;
		if (*len >= name_len && memcmp(p, name, name_len) == 0) {
			*len -= name_len;
			return p + name_len;
		}
		p += *len + 1;
	}
	return NULL;
}

/* A line of CLIENT LIST: "id=3 addr=... name=rlock:web1:4711 ...". */
static void
match_client(struct breaking *b, const char *line, size_t line_len)
{
	const char *name, *id, *why;
	size_t name_len, id_len, i;
	char digits[24];
	int64_t client;

	name = word_of(line, line_len, "name=", &name_len);
	id = word_of(line, line_len, "id=", &id_len);
	if (name == NULL || name_len == 0 || id == NULL ||
	    id_len >= sizeof(digits))
		return;
	snprintf(digits, sizeof(digits), "%.*s", (int)id_len, id);
	if (parse_count(digits, 1, INT64_MAX, &client, &why) == -1)
		return;
	for (i = 0; i < b->count; i++)
		if (b->losers[i].server == b->server &&
		    strlen(b->losers[i].name) == name_len &&
		    memcmp(b->losers[i].name, name, name_len) == 0) {
			if (b->losers[i].client == -1)
				b->losers[i].client = client;
			else
				b->losers[i].name[0] = '\0'; /* two of them */
		}
}

static int
on_clients(void *arg, const struct reply *reply, struct fault *fault)
{
	struct breaking *b = arg;
	const char *text, *end, *lf;
	size_t len;

	(void)fault;
	if ((text = reply_text(reply, &len)) == NULL)
		return -1;
	for (end = text + len; text < end; text = lf + 1) {
		if ((lf = memchr(text, '\n', (size_t)(end - text))) == NULL)
			lf = end;
		match_client(b, text, (size_t)(lf - text));
	}
	return 0;
}

static int
on_killed(void *arg, const struct reply *reply, struct fault *fault)
{
	struct loser *l = arg;

	(void)fault;
	l->told = reply_int(reply, 0) > 0;
	return 0;
}

/* What is refused here, or has no answer, is left: they find out themselves. */
static void
tell(struct breaking *b)
{
	struct session *s = &b->session;
	struct lock *lock = &s->lock;
	struct fault fault;
	int status;
	size_t i;

	status = errand_run(s->loop, &b->cfg, s->quorum, lock, LOCK_CLIENTS,
	    on_clients, b, &b->signal, &fault);
	for (i = 0; status == 0 && i < b->count; i++) {
		if (b->losers[i].server != b->server ||
		    b->losers[i].name[0] == '\0' || b->losers[i].client == -1)
			continue;
		snprintf(lock->cursor, sizeof(lock->cursor), "%" PRId64,
		    b->losers[i].client);
		status = errand_run(s->loop, &b->cfg, s->quorum, lock,
		    LOCK_KILL, on_killed, &b->losers[i], &b->signal, &fault);
	}
}

/* -------------------------------------------------------------------------- */

static int
break_there(struct breaking *b)
{
	struct session *s = &b->session;

	return errand_run(s->loop, &b->cfg, s->quorum, &s->lock, LOCK_BREAK,
	    on_break, b, &b->signal, &b->outcome.fault);
}

/* Is there anybody on this server whom a connection may belong to? */
static bool
has_losers(const struct breaking *b)
{
	size_t i;

	for (i = 0; i < b->count; i++)
		if (b->losers[i].server == b->server &&
		    b->losers[i].name[0] != '\0')
			return true;
	return false;
}

static int
tell_there(struct breaking *b)
{
	if (has_losers(b))
		tell(b);
	return 0;
}

/* Each server, one after the other; returns how many it was done on. */
static int
on_each(struct breaking *b, const struct config *cfg,
    int (*fn)(struct breaking *))
{
	int done = 0, status;

	b->cfg = *cfg;
	b->cfg.servers = 1;
	for (b->server = 0; b->server < cfg->servers && b->signal == 0;
	     b->server++) {
		b->cfg.endpoint = *config_server(cfg, b->server);
		status = session_open(&b->session, &b->cfg, &b->outcome.fault);
		if (status == 0)
			status = fn(b);
		session_close(&b->session);
		done += status == 0;
		if (status == -1 && cfg->servers > 1)
			report_server(b->outcome.fault.text);
	}
	return done;
}

/* The lock is broken, whatever came after it.  Several servers name the same
 * holder. */
static void
report_losers(const struct breaking *b)
{
	size_t i, k;

	for (i = 0; i < b->count; i++) {
		for (k = 0; k < i; k++)
			if (strcmp(b->losers[i].token, b->losers[k].token) == 0)
				break;
		if (k == i)
			report_broken(b->losers[i].token, b->losers[i].told);
	}
}

/*
 * A majority has to answer.  Who holds it is told when it is broken on all: to
 * the first that has lost it, the holder would give it again.
 */
static int
break_it(struct breaking *b, const struct config *cfg)
{
	int done = on_each(b, cfg, break_there);

	if (b->count > 0 && b->signal == 0)
		(void)on_each(b, cfg, tell_there);
	report_losers(b);
	if (done < ballot_majority(cfg->servers))
		return -1;
	if (b->gone == done) {
		b->outcome.status = NOTHING_THERE;
		report_not_ours(&b->outcome.fault, "");
	}
	return 0;
}

struct ending
cmd_break(const struct config *cfg)
{
	struct breaking state, *b = &state;
	struct ending ending = { .status = 0 };
	struct outcome *o = &b->outcome;
	int status;

	memset(b, 0, sizeof(*b));
	outcome_init(o);
	status = break_it(b, cfg);
	if (b->signal != 0) {
		o->kind = OUTCOME_INTERRUPTED;
		o->signal = ending.signal = b->signal;
	} else
		o->kind =
		    status == 0 ? OUTCOME_RAN : outcome_kind_of(&o->fault);
	ending.status = outcome_exit_status(o, cfg);
	if (o->kind != OUTCOME_RAN && o->kind != OUTCOME_INTERRUPTED)
		log_say(LOG_LEVEL_NORMAL, "%s", o->fault.text);
	free(b->losers);
	return ending;
}
