/* SPDX-License-Identifier: MIT */
/*
 * cmd_look: see cmd_look.h.  Each lock is looked at in one script, so what is
 * said of it was true at one moment; a list is a look after the other, many of
 * them under way at once, and printed while it is being made.
 */
#include "top/cmd_look.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/print.h"
#include "lives/errand.h"
#include "top/session.h"
#include "top/show.h"
#include "words/outcome.h"

#define NOTHING_THERE 1
#define PRINTED_AT 65536 /* bytes that are kept until they are printed */

struct name {
	char *text;
	int node;
};

struct node {
	char host[256];
	int port;
};

struct look {
	struct session session;
	struct config cfg; /* of the node that is asked */
	struct outcome outcome;
	struct buf text;
	int signal;
	/* --list */
	struct name *names;
	size_t count, cap, width, columns;
	struct node *nodes;   /* of a cluster; else NULL */
	int node_count, node; /* that is being asked */
	size_t at;	      /* name that is being looked at */
	bool headed;	      /* the table has its head */
	struct lock batch[VOTER_BATCH_MAX];
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

	return errand_run(s->loop, &l->cfg, s->quorum, &s->lock, op, fn, l,
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
	status = l->cfg.json ? show_json(&l->text, l->cfg.key, &s) :
			       show_status(&l->text, l->cfg.key, &s);
	return status == -1 ? no_memory(fault) : 0;
}

/* --- the list ------------------------------------------------------------- */

static int
add_name(struct look *l, const char *name, size_t len)
{
	size_t prefix = strlen(l->cfg.prefix), cap = 2 * l->cap + 64;
	struct name *names;

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
	l->names[l->count].node = l->node;
	l->names[l->count].text = strndup(name + prefix, len - prefix);
	return l->names[l->count].text == NULL ? -1 : (l->count++, 0);
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
	const struct name *one = a, *other = b;

	if (one->node != other->node)
		return one->node < other->node ? -1 : 1;
	return strcmp(one->text, other->text);
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
		if (compare(&l->names[n], &l->names[i]) != 0)
			l->names[++n] = l->names[i];
		else
			free(l->names[i].text);
	l->count = n + 1;
	for (i = 0; i < l->count; i++)
		if (strlen(l->names[i].text) > l->width)
			l->width = strlen(l->names[i].text);
}

/* Among everything that is in a database without a prefix: may it be, or be
 * in the way of, a lock? */
static bool
is_worth_a_line(const struct look *l, const struct snapshot *s)
{
	return s->mode != SNAPSHOT_FREE &&
	    (s->mode != SNAPSHOT_FOREIGN || l->cfg.prefix[0] != '\0' ||
		strcmp(s->type, "string") == 0);
}

static int
on_listed(void *arg, const struct reply *reply, struct fault *fault)
{
	struct look *l = arg;
	const char *key = l->names[l->at++].text;
	struct snapshot s;
	int status = 0;

	if (snapshot_read(&s, reply, fault) == -1)
		return -1;
	if (!is_worth_a_line(l, &s)) /* or gone meanwhile */
		return 0;
	if (l->cfg.json)
		status = show_json(&l->text, key, &s);
	else {
		if (!l->headed)
			status = show_list_head(&l->text, l->width);
		if (status == 0)
			status = show_list_line(&l->text, key, l->width,
			    l->columns, &s);
	}
	l->headed = true;
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
print_if(struct look *l, bool now)
{
	if (!now && l->text.len < PRINTED_AT)
		return 0;
	if (print_all(&l->text, &l->outcome.fault) == -1)
		return -1;
	l->text.len = 0;
	return 0;
}

/* Look at the next names at once. */
static int
look_at_some(struct look *l)
{
	struct session *s = &l->session;
	size_t i, n = 0;
	int status = 0;

	while (n < VOTER_BATCH_MAX && l->at + n < l->count &&
	    l->names[l->at + n].node == l->node)
		n++;
	memset(l->batch, 0, sizeof(l->batch));
	for (i = 0; status == 0 && i < n; i++)
		status = keys_init(&l->batch[i].keys, l->cfg.prefix,
		    l->names[l->at + i].text);
	if (status == -1)
		no_memory(&l->outcome.fault);
	else
		status = errand_run_each(s->loop, &l->cfg, s->quorum, l->batch,
		    n, LOCK_STATUS, on_listed, l, &l->signal,
		    &l->outcome.fault);
	for (i = 0; i < n; i++)
		keys_release(&l->batch[i].keys);
	return status == -1 ? -1 : print_if(l, false);
}

static int
scan(struct look *l)
{
	struct lock *lock = &l->session.lock;
	struct buf pattern = { 0 };
	int status = make_pattern(&l->cfg, &pattern);

	lock->pattern = pattern.data;
	strcpy(lock->cursor, "0");
	if (status == -1)
		no_memory(&l->outcome.fault);
	else
		do
			status = run_errand(l, LOCK_SCAN, on_scan);
		while (status == 0 && strcmp(lock->cursor, "0") != 0);
	buf_release(&pattern);
	return status;
}

/* {{first, last, {host, port, ...}, ...}, ...}: each primary once. */
static int
on_slots(void *arg, const struct reply *reply, struct fault *fault)
{
	struct look *l = arg;
	const struct reply *at;
	struct node node, *more;
	const char *host;
	size_t i, len;
	int k;

	for (i = 0; i < reply_count(reply); i++) {
		at = reply_at(reply_at(reply, i), 2);
		host = reply_text(reply_at(at, 0), &len);
		memset(&node, 0, sizeof(node));
		node.port = (int)reply_int(reply_at(at, 1), 0);
		if (host == NULL || len == 0 || len >= sizeof(node.host) ||
		    node.port <= 0)
			continue;
		memcpy(node.host, host, len);
		for (k = 0; k < l->node_count; k++)
			if (memcmp(&l->nodes[k], &node, sizeof(node)) == 0)
				break;
		if (k < l->node_count)
			continue;
		more = realloc(l->nodes, (size_t)(k + 1) * sizeof(*more));
		if (more == NULL)
			return no_memory(fault);
		l->nodes = more;
		l->nodes[l->node_count++] = node;
	}
	if (l->node_count == 0)
		return fault_set(fault, FAULT_UNFIT, 0,
		    "the cluster's nodes can't be told: %.200s",
		    reply_error(reply) != NULL ? reply_error(reply) :
						 "it has no slots");
	return 0;
}

static int
find_nodes(struct look *l)
{
	static const char *const words[] = { "CLUSTER", "SLOTS", NULL };

	l->session.lock.words = words;
	return run_errand(l, LOCK_PLAIN, on_slots);
}

/* From here on, node i alone is asked. */
static int
go_to_node(struct look *l, int i)
{
	l->node = i;
	if (l->nodes == NULL)
		return 0; /* there is only one */
	l->cfg.endpoint.kind = ENDPOINT_TCP;
	l->cfg.endpoint.host = l->nodes[i].host;
	l->cfg.endpoint.port = l->nodes[i].port;
	session_close(&l->session);
	return session_open(&l->session, &l->cfg, &l->outcome.fault);
}

static int
list_nodes(struct look *l)
{
	int i, status = 0;

	for (i = 0; status == 0 && i < l->node_count; i++) {
		status = go_to_node(l, i);
		if (status == 0)
			status = scan(l);
	}
	if (status == 0)
		sort_names(l);
	while (status == 0 && l->at < l->count) {
		if (l->names[l->at].node != l->node)
			status = go_to_node(l, l->names[l->at].node);
		if (status == 0)
			status = look_at_some(l);
	}
	return status;
}

static int
list(struct look *l)
{
	struct winsize size = { 0 };
	int status = 0;
	size_t i;

	if (isatty(STDOUT_FILENO) &&
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		l->columns = size.ws_col;
	l->node_count = 1;
	if (l->cfg.endpoint.kind == ENDPOINT_CLUSTER) {
		l->node_count = 0;
		status = find_nodes(l);
	}
	if (status == 0)
		status = list_nodes(l);
	for (i = 0; i < l->count; i++)
		free(l->names[i].text);
	free(l->names);
	free(l->nodes);
	return status;
}

/* -------------------------------------------------------------------------- */

static int
look(struct look *l)
{
	if (l->cfg.verb == VERB_LIST)
		return list(l);
	return run_errand(l, LOCK_STATUS, on_status);
}

struct ending
cmd_look(const struct config *cfg)
{
	struct look state, *l = &state;
	struct ending ending = { .status = 0 };
	struct outcome *o = &l->outcome;

	memset(l, 0, sizeof(*l));
	l->cfg = *cfg;
	outcome_init(o);
	if (session_open(&l->session, &l->cfg, &o->fault) == 0 &&
	    look(l) == 0 && print_if(l, true) == 0)
		o->kind = OUTCOME_RAN;
	else if (l->signal != 0) {
		o->kind = OUTCOME_INTERRUPTED;
		o->signal = ending.signal = l->signal;
	} else if (o->fault.saved_errno == EPIPE &&
	    o->fault.code == FAULT_SYSTEM) {
		/* Who read has seen enough: as others end in a pipe. */
		o->kind = OUTCOME_INTERRUPTED;
		o->signal = ending.signal = SIGPIPE;
	} else
		o->kind = outcome_kind_of(&o->fault);
	ending.status = outcome_exit_status(o, cfg);
	if (o->kind != OUTCOME_RAN && o->kind != OUTCOME_INTERRUPTED)
		log_say(LOG_LEVEL_NORMAL, "%s", o->fault.text);
	buf_release(&l->text);
	session_close(&l->session);
	return ending;
}
