/* SPDX-License-Identifier: MIT */
/*
 * examine_sentinels: see examine_parts.h.  Each sentinel of the URL is asked by
 * itself, as the server that it is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "top/examine_parts.h"

struct sentinel_view {
	char primary[160]; /* "ADDRESS PORT" */
	int quorum, others, replicas;
};

/* Of {name, value, name, value ...}. */
static const char *
value_of(const struct reply *pairs, const char *name, size_t *len)
{
	const char *text;
	size_t i;

	for (i = 0; i + 1 < reply_count(pairs); i += 2) {
		text = reply_text(reply_at(pairs, i), len);
		if (text != NULL && *len == strlen(name) &&
		    memcmp(text, name, *len) == 0)
			return reply_text(reply_at(pairs, i + 1), len);
	}
	*len = 0;
	return NULL;
}

static int
number_of(const struct reply *pairs, const char *name)
{
	size_t len;
	const char *text = value_of(pairs, name, &len);

	return text == NULL ? 0 : (int)strtol(text, NULL, 10);
}

static int
on_master(void *arg, const struct reply *reply, struct fault *fault)
{
	struct sentinel_view *view = arg;
	size_t ip_len, port_len;
	const char *ip = value_of(reply, "ip", &ip_len);
	const char *port = value_of(reply, "port", &port_len);

	if (ip == NULL || port == NULL)
		return fault_set(fault, FAULT_UNFIT, 0,
		    "the sentinel knows no primary of that name");
	snprintf(view->primary, sizeof(view->primary), "%.*s %.*s", (int)ip_len,
	    ip, (int)port_len, port);
	view->quorum = number_of(reply, "quorum");
	view->others = number_of(reply, "num-other-sentinels");
	return 0;
}

static int
on_replicas(void *arg, const struct reply *reply, struct fault *fault)
{
	struct sentinel_view *view = arg;
	const char *flags;
	size_t i, len;

	(void)fault;
	for (i = 0; i < reply_count(reply); i++) {
		flags = value_of(reply_at(reply, i), "flags", &len);
		view->replicas += flags != NULL &&
		    strstr(flags, "down") == NULL &&
		    strstr(flags, "disconnected") == NULL;
	}
	return 0;
}

/* One of them, as the server that it is.  -1 when it is of no use. */
static int
ask_sentinel(const struct config *cfg, int i, struct sentinel_view *view,
    int *signal)
{
	const struct endpoint *ep = &cfg->endpoint;
	const char *master[] = { "SENTINEL", "MASTER", ep->name, NULL };
	const char *replicas[] = { "SENTINEL", "REPLICAS", ep->name, NULL };
	struct examination x = { .cfg = *cfg, .signal = signal };
	struct endpoint *to = &x.cfg.endpoint;
	struct fault fault;
	int status;

	memset(view, 0, sizeof(*view));
	to->kind = ENDPOINT_TCP;
	to->host = ep->hosts[i].host;
	to->port = ep->hosts[i].port;
	to->user = ep->sentinel_user;
	to->password = ep->sentinel_password;
	to->db = 0;
	status = session_open(&x.session, &x.cfg, &fault);
	if (status == 0)
		status = examine_ask(&x, master, on_master, view, &fault);
	if (status == 0)
		status = examine_ask(&x, replicas, on_replicas, view, &fault);
	session_close(&x.session);
	return status;
}

void
examine_sentinels(const struct config *cfg, struct findings *out, int *signal)
{
	struct facts_sentinels facts = { .given = cfg->endpoint.host_count };
	struct sentinel_view first = { .primary = "" }, view;
	int i;

	for (i = 0; i < facts.given && *signal == 0; i++) {
		if (ask_sentinel(cfg, i, &view, signal) == -1)
			continue;
		if (facts.reached++ == 0)
			first = view;
		facts.agree += strcmp(view.primary, first.primary) == 0;
	}
	facts.known = first.others + 1;
	facts.quorum = first.quorum;
	facts.replicas = first.replicas;
	judge_sentinels(&facts, out);
}
