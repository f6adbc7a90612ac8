/* SPDX-License-Identifier: MIT */
/*
 * cmd_look: see cmd_look.h.  Each lock is looked at in one script, so what is
 * said of it was true at one moment; a list is a look after the other.
 */
#include "top/cmd_look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/print.h"
#include "core/script.h"
#include "lives/errand.h"
#include "top/report.h"
#include "top/session.h"
#include "top/show.h"

#define NOTHING_THERE 1

struct look {
	struct session session;
	const struct config *cfg;
	struct outcome outcome;
	struct buf text;
	int signal;
	const char
	    *client;  /* the name of a connection, as CLIENT LIST has it */
	char **names; /* --list: of locks; --break: tokens */
	/* --list */
	const char *key; /* the one being looked at */
	size_t count, cap, width, columns;
};

static int
no_memory(struct fault *fault)
{
	return fault_set(fault, FAULT_SYSTEM, 0, "no memory");
}

static int
run_errand(struct look *l, enum lock_op op, errand_fn fn)
{
	struct session *s = &l->session;

	return errand_run(s->loop, l->cfg, s->voter, &s->lock, op, fn, l,
	    &l->signal, &l->outcome.fault);
}

static int
on_status(void *arg, const struct reply *reply, struct fault *fault)
{
	struct look *l = arg;
	struct snapshot s;
	int status;

	if (snapshot_read(&s, reply, fault) == -1)
		return -1;
	l->outcome.status = s.mode == SNAPSHOT_FREE ? NOTHING_THERE : 0;
	status = l->cfg->json ? show_json(&l->text, l->cfg->key, &s) :
				show_status(&l->text, l->cfg->key, &s);
	return status == -1 ? no_memory(fault) : 0;
}

/* Kept to be told of, and told, when this answer has been read. */
static int
add_broken(struct look *l, const char *token, size_t len)
{
	char **names = realloc(l->names, (l->count + 1) * sizeof(*names));

	if (names == NULL)
		return -1;
	l->names = names;
	l->names[l->count] = strndup(token, len);
	return l->names[l->count] == NULL ? -1 : (l->count++, 0);
}

static int
on_break(void *arg, const struct reply *reply, struct fault *fault)
{
	struct look *l = arg;
	const char *text;
	size_t i, len;

	switch (reply_int(reply_at(reply, 0), -1)) {
	case SCRIPT_OK:
		for (i = 2; i < reply_count(reply); i++)
			if ((text = reply_text(reply_at(reply, i), &len)) !=
				NULL &&
			    add_broken(l, text, len) == -1)
				return no_memory(fault);
		if (reply_int(reply_at(reply, 1), 0) != 0)
			report_unheard();
		return 0;
	case SCRIPT_GONE:
		l->outcome.status = NOTHING_THERE;
		report_not_ours(fault, "");
		return 0;
	case SCRIPT_MISFIT:
		return fault_set(fault, FAULT_UNFIT, 0,
		    "what is there is not a lock, and was not touched");
	}
	return fault_set(fault, FAULT_UNFIT, 0,
	    "the server's answer makes no sense (is it Redis 5.0 or later?)");
}

/* The number of the one connection that has this name, into lock.cursor; "" when
 * there is none, or more than one. */
static int
on_clients(void *arg, const struct reply *reply, struct fault *fault)
{
	struct look *l = arg;
	struct lock *lock = &l->session.lock;
	size_t len, want = strlen(l->client);
	const char *line = reply_text(reply, &len), *end, *name;

	(void)fault;
	lock->cursor[0] = '\0';
	for (; line != NULL && len > 0; line = end) {
		end = memchr(line, '\n', len);
		end = end == NULL ? line + len : end + 1;
		len -= (size_t)(end - line);
		name = memmem(line, (size_t)(end - line), l->client, want);
		if (name == NULL || strncmp(line, "id=", 3) != 0)
			continue;
		if (lock->cursor[0] != '\0') {
			lock->cursor[0] = '\0';
			break;
		}
		snprintf(lock->cursor, sizeof(lock->cursor), "%.*s",
		    (int)strspn(line + 3, "0123456789"), line + 3);
	}
	return 0;
}

static int
on_killed(void *arg, const struct reply *reply, struct fault *fault)
{
	(void)arg;
	(void)fault;
	return reply_int(reply, 0) == 1 ? 0 : -1;
}

/*
 * A connection that breaks makes a holder renew at once, and so find out.  Who
 * may not end it, or can't tell it from another's, leaves it at that.
 */
static bool
tell_holder(struct look *l, const char *token)
{
	struct token_fields f;
	char client[TOKEN_FIELD_MAX + 40];

	token_read(token, strlen(token), false, &f);
	if (!f.ours || f.cooling || f.pid < 0)
		return false;
	snprintf(client, sizeof(client), " name=rlock:%s:%lld ", f.host,
	    (long long)f.pid);
	l->client = client;
	return run_errand(l, LOCK_CLIENTS, on_clients) == 0 &&
	    l->session.lock.cursor[0] != '\0' &&
	    run_errand(l, LOCK_KILL, on_killed) == 0;
}

static int
break_lock(struct look *l)
{
	struct fault kept;
	size_t i;

	if (run_errand(l, LOCK_BREAK, on_break) == -1)
		return -1;
	kept = l->outcome.fault;
	for (i = 0; i < l->count; i++) {
		report_broken(l->names[i], tell_holder(l, l->names[i]));
		free(l->names[i]);
	}
	free(l->names);
	l->outcome.fault = kept;
	return 0;
}

/* --- the list ------------------------------------------------------------- */

static int
add_name(struct look *l, const char *name, size_t len)
{
	size_t prefix = strlen(l->cfg->prefix), cap = 2 * l->cap + 64;
	char **names;

	/* A lock's name has no NUL; "rlock:" is kept for the side keys. */
	if (len <= prefix || memchr(name, '\0', len) != NULL ||
	    (len >= 6 && memcmp(name, "rlock:", 6) == 0))
		return 0;
	if (l->count == l->cap) {
		names = realloc(l->names, cap * sizeof(*names));
		if (names == NULL)
			return -1;
		l->names = names;
		l->cap = cap;
	}
	l->names[l->count] = strndup(name + prefix, len - prefix);
	return l->names[l->count] == NULL ? -1 : (l->count++, 0);
}

static int
on_scan(void *arg, const struct reply *reply, struct fault *fault)
{
	struct look *l = arg;
	struct lock *lock = &l->session.lock;
	const struct reply *names = reply_at(reply, 1);
	const char *text;
	size_t i, len;

	text = reply_text(reply_at(reply, 0), &len);
	if (text == NULL || len >= sizeof(lock->cursor) ||
	    !reply_is_array(names))
		return fault_set(fault, FAULT_UNFIT, 0,
		    "the server's answer to SCAN makes no sense");
	memcpy(lock->cursor, text, len);
	lock->cursor[len] = '\0';
	for (i = 0; i < reply_count(names); i++) {
		text = reply_text(reply_at(names, i), &len);
		if (text != NULL && add_name(l, text, len) == -1)
			return no_memory(fault);
	}
	return 0;
}

static int
compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* SCAN may tell a name more than once. */
static void
sort_names(struct look *l)
{
	size_t i, n = 0;

	if (l->count == 0)
		return;
	qsort(l->names, l->count, sizeof(*l->names), compare);
	for (i = 1; i < l->count; i++)
		if (strcmp(l->names[n], l->names[i]) != 0)
			l->names[++n] = l->names[i];
		else
			free(l->names[i]);
	l->count = n + 1;
	for (i = 0; i < l->count; i++)
		if (strlen(l->names[i]) > l->width)
			l->width = strlen(l->names[i]);
}

static int
on_listed(void *arg, const struct reply *reply, struct fault *fault)
{
	struct look *l = arg;
	struct snapshot s;
	int status = 0;

	if (snapshot_read(&s, reply, fault) == -1)
		return -1;
	if (s.mode == SNAPSHOT_FREE)
		return 0; /* gone meanwhile */
	if (l->text.len == 0 && !l->cfg->json)
		status = show_list_head(&l->text, l->width);
	if (status == 0)
		status = l->cfg->json ?
		    show_json(&l->text, l->key, &s) :
		    show_list_line(&l->text, l->key, l->width, l->columns, &s);
	return status == -1 ? no_memory(fault) : 0;
}

/* The characters of the prefix are themselves, those of the pattern are not. */
static int
make_pattern(const struct config *cfg, struct buf *out)
{
	const char *p;

	for (p = cfg->prefix; *p != '\0'; p++)
		if ((strchr("*?[]\\^", *p) != NULL &&
			buf_puts(out, "\\") == -1) ||
		    buf_put(out, p, 1) == -1)
			return -1;
	if (buf_puts(out, cfg->pattern != NULL ? cfg->pattern : "*") == -1)
		return -1;
	return buf_put(out, "", 1);
}

static int
look_at(struct look *l, const char *key)
{
	struct lock *lock = &l->session.lock;

	l->key = key;
	keys_release(&lock->keys);
	if (keys_init(&lock->keys, l->cfg->prefix, key) == -1)
		return no_memory(&l->outcome.fault);
	return run_errand(l, LOCK_STATUS, on_listed);
}

static int
list(struct look *l)
{
	struct lock *lock = &l->session.lock;
	struct winsize size = { 0 };
	struct buf pattern = { 0 };
	int status = make_pattern(l->cfg, &pattern);
	size_t i;

	if (isatty(STDOUT_FILENO) &&
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		l->columns = size.ws_col;
	lock->pattern = pattern.data;
	strcpy(lock->cursor, "0");
	if (status == -1)
		no_memory(&l->outcome.fault);
	else
		do
			status = run_errand(l, LOCK_SCAN, on_scan);
		while (status == 0 && strcmp(lock->cursor, "0") != 0);
	if (status == 0)
		sort_names(l);
	for (i = 0; status == 0 && i < l->count; i++)
		status = look_at(l, l->names[i]);
	for (i = 0; i < l->count; i++)
		free(l->names[i]);
	free(l->names);
	buf_release(&pattern);
	return status;
}

/* -------------------------------------------------------------------------- */

static int
look(struct look *l)
{
	if (l->cfg->verb == VERB_LIST)
		return list(l);
	if (l->cfg->verb == VERB_BREAK)
		return break_lock(l);
	return run_errand(l, LOCK_STATUS, on_status);
}

struct ending
cmd_look(const struct config *cfg)
{
	struct look state, *l = &state;
	struct ending ending = { .status = 0 };
	struct outcome *o = &l->outcome;

	memset(l, 0, sizeof(*l));
	l->cfg = cfg;
	outcome_init(o);
	if (session_open(&l->session, cfg, &o->fault) == 0 && look(l) == 0 &&
	    print_all(&l->text, &o->fault) == 0)
		o->kind = OUTCOME_RAN;
	else if (l->signal != 0) {
		o->kind = OUTCOME_INTERRUPTED;
		o->signal = ending.signal = l->signal;
	} else
		o->kind = outcome_kind_of(&o->fault);
	ending.status = outcome_exit_status(o, cfg);
	if (o->kind != OUTCOME_RAN && o->kind != OUTCOME_INTERRUPTED)
		log_say(LOG_LEVEL_NORMAL, "%s", o->fault.text);
	buf_release(&l->text);
	session_close(&l->session);
	return ending;
}
