/* SPDX-License-Identifier: MIT */
/*
 * examine: see examine.h.
 */
#include "top/examine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/token.h"
#include "core/info.h"
#include "core/judge.h"
#include "core/refusal.h"
#include "lives/errand.h"
#include "top/session.h"

#define SLOW_ENTRIES "128"

struct examination {
	struct session session;
	const struct config *cfg;
	struct facts facts;
	char *info, *cluster;
	int right;   /* that is being tried */
	int setting; /* that is being asked for */
	int *signal;
};

static int64_t
now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int
ask(struct examination *x, const char *const *words, errand_fn fn, void *arg,
    struct fault *fault)
{
	struct session *s = &x->session;

	s->lock.words = words;
	return errand_run(s->loop, x->cfg, s->quorum, &s->lock, LOCK_PLAIN, fn,
	    arg, x->signal, fault);
}

static bool
is_refused(const struct reply *reply)
{
	struct fault fault;

	return reply_error(reply) != NULL &&
	    refusal_of(reply_error(reply), &fault) == REFUSAL_RIGHTS;
}

/* --- facts ----------------------------------------------------------------- */

static int
on_time(void *arg, const struct reply *reply, struct fault *fault)
{
	struct facts *f = arg;
	int64_t s = reply_int(reply_at(reply, 0), -1);
	int64_t us = reply_int(reply_at(reply, 1), -1);

	(void)fault;
	f->has_clock = s >= 0 && us >= 0 && s < INT64_MAX / 2000;
	if (f->has_clock)
		f->ahead_ms = s * 1000 + us / 1000 - clock_wall_ms();
	return 0;
}

/* Once to connect, once to be measured. */
static int
look_at_clock(struct examination *x, struct fault *fault)
{
	static const char *const words[] = { "TIME", NULL };
	int64_t before;

	if (ask(x, words, on_time, &x->facts, fault) == -1)
		return -1;
	before = now_us();
	if (ask(x, words, on_time, &x->facts, fault) == -1)
		return -1;
	x->facts.round_trip_us = now_us() - before;
	return 0;
}

static int
on_info(void *arg, const struct reply *reply, struct fault *fault)
{
	struct examination *x = arg;
	size_t len;
	const char *text = reply_text(reply, &len);

	(void)fault;
	if (text != NULL)
		x->facts.info = x->info = strndup(text, len);
	return 0;
}

static int
on_cluster(void *arg, const struct reply *reply, struct fault *fault)
{
	struct examination *x = arg;
	size_t len;
	const char *text = reply_text(reply, &len);

	(void)fault;
	if (text != NULL)
		x->facts.cluster = x->cluster = strndup(text, len);
	return 0;
}

static int
on_setting(void *arg, const struct reply *reply, struct fault *fault)
{
	struct examination *x = arg;
	char *out = x->facts.setting[x->setting];
	size_t len;
	const char *text = reply_text(reply_at(reply, 1), &len);

	(void)fault;
	x->facts.has_setting[x->setting] = text != NULL;
	if (text != NULL)
		snprintf(out, sizeof(x->facts.setting[0]), "%.*s", (int)len,
		    text);
	return 0;
}

static int
look_at_settings(struct examination *x, struct fault *fault)
{
	static const char *const names[FACTS_SETTINGS] = { [FACTS_SAVE] =
							       "save",
		[FACTS_APPENDFSYNC] = "appendfsync",
		[FACTS_MIN_REPLICAS] = "min-replicas-to-write",
		/* The name from before 7.0, which all know. */
		[FACTS_BUSY] = "lua-time-limit" };
	const char *words[] = { "CONFIG", "GET", NULL, NULL };
	int status = 0;

	for (x->setting = 0; status == 0 && x->setting < FACTS_SETTINGS;
	     x->setting++) {
		words[2] = names[x->setting];
		status = ask(x, words, on_setting, x, fault);
	}
	return status;
}

/* {id, time, microseconds, {word...}, ...}: is it a script on our keys? */
static bool
is_ours(const struct reply *entry)
{
	static const char queue[] = "rlock:queue:";
	const struct reply *words = reply_at(entry, 3);
	const char *text;
	size_t i, len;

	for (i = 0; i < reply_count(words); i++) {
		text = reply_text(reply_at(words, i), &len);
		if (text != NULL && len >= strlen(queue) &&
		    memcmp(text, queue, strlen(queue)) == 0)
			return true;
	}
	return false;
}

static int
on_slow(void *arg, const struct reply *reply, struct fault *fault)
{
	struct facts *f = arg;
	int64_t us;
	size_t i;

	(void)fault;
	f->has_slow = reply_is_array(reply);
	for (i = 0; i < reply_count(reply); i++) {
		if (!is_ours(reply_at(reply, i)))
			continue;
		f->slow++;
		us = reply_int(reply_at(reply_at(reply, i), 2), 0);
		if (us > f->slowest_us)
			f->slowest_us = us;
	}
	return 0;
}

static int
on_right(void *arg, const struct reply *reply, struct fault *fault)
{
	struct examination *x = arg;

	(void)fault;
	if (is_refused(reply))
		x->facts.missing |= UINT64_C(1) << x->right;
	return 0;
}

/* The words of a try, with the names that belong in it. */
static const char *
word_of(const struct examination *x, const char *word, const char *channel,
    const char *number)
{
	if (strcmp(word, "%L") == 0)
		return x->session.lock.keys.lock;
	if (strcmp(word, "%Q") == 0)
		return x->session.lock.keys.queue;
	if (strcmp(word, "%C") == 0)
		return channel;
	if (strcmp(word, "%N") == 0)
		return "rlock-doctor";
	return strcmp(word, "%D") == 0 ? number : word;
}

/* Outside MULTI, SUBSCRIBE would turn the connection into something else. */
static bool
takes_multi(const struct right *right)
{
	return strstr(right->acl, "subscribe") != NULL ||
	    strcmp(right->acl, "exec") == 0;
}

static int
try_rights(struct examination *x, struct fault *fault)
{
	char channel[64], number[16];
	const struct right *right;
	const char *words[7];
	bool in_multi = false;
	int i, status = 0;

	snprintf(channel, sizeof(channel), "rlock:%.32s",
	    x->session.lock.token + strlen(TOKEN_PREFIX));
	snprintf(number, sizeof(number), "%d", x->cfg->endpoint.db);
	for (x->right = 0; status == 0 && x->right < RIGHTS_COUNT; x->right++) {
		right = &rights_table[x->right];
		if (takes_multi(right) && !in_multi)
			continue;
		for (i = 0; right->words[i] != NULL; i++)
			words[i] = word_of(x, right->words[i], channel, number);
		words[i] = NULL;
		status = ask(x, words, on_right, x, fault);
		if (strcmp(right->acl, "multi") == 0)
			in_multi = (x->facts.missing >> x->right & 1) == 0;
	}
	return status;
}

static int
look(struct examination *x, struct fault *fault)
{
	static const char *const cluster[] = { "CLUSTER", "INFO", NULL };
	static const char *const info[] = { "INFO", NULL };
	static const char *const slow[] = { "SLOWLOG", "GET", SLOW_ENTRIES,
		NULL };

	if (x->facts.in_cluster && ask(x, cluster, on_cluster, x, fault) == -1)
		return -1;
	if (look_at_clock(x, fault) == -1 ||
	    ask(x, info, on_info, x, fault) == -1 ||
	    look_at_settings(x, fault) == -1 ||
	    ask(x, slow, on_slow, &x->facts, fault) == -1)
		return -1;
	return try_rights(x, fault);
}

/* --- sentinels -------------------------------------------------------------- */

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
	struct config copy = *cfg;
	struct examination x = { .cfg = &copy, .signal = signal };
	struct fault fault;
	int status;

	memset(view, 0, sizeof(*view));
	copy.endpoint.kind = ENDPOINT_TCP;
	copy.endpoint.host = ep->hosts[i].host;
	copy.endpoint.port = ep->hosts[i].port;
	copy.endpoint.user = ep->sentinel_user;
	copy.endpoint.password = ep->sentinel_password;
	copy.endpoint.db = 0;
	status = session_open(&x.session, &copy, &fault);
	if (status == 0)
		status = ask(&x, master, on_master, view, &fault);
	if (status == 0)
		status = ask(&x, replicas, on_replicas, view, &fault);
	session_close(&x.session);
	return status;
}

static void
look_at_sentinels(const struct config *cfg, struct findings *out, int *signal)
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

/* -------------------------------------------------------------------------- */

static void
identify(const char *info, struct identity *who)
{
	char role[16];

	info_text(info, "run_id", who->run_id, sizeof(who->run_id));
	who->replica = info_text(info, "role", role, sizeof(role)) &&
	    strcmp(role, "master") != 0;
}

static void
init(struct examination *x, const struct config *cfg, int *signal)
{
	const struct endpoint *ep = &cfg->endpoint;

	memset(x, 0, sizeof(*x));
	x->cfg = cfg;
	x->signal = signal;
	x->facts.url = ep->shown;
	x->facts.user = ep->user != NULL ? ep->user : "default";
	x->facts.tls = ep->tls;
	x->facts.checked = cfg->tls.insecure == 0;
	x->facts.watched = ep->kind == ENDPOINT_SENTINEL;
	x->facts.in_cluster = ep->kind == ENDPOINT_CLUSTER;
	x->facts.replicas_wanted = cfg->replicas;
}

int
examine(const struct config *cfg, bool quorum, struct findings *out,
    struct identity *who, int *signal, struct fault *fault)
{
	struct examination x;
	int status;

	memset(who, 0, sizeof(*who));
	init(&x, cfg, signal);
	x.facts.in_quorum = quorum;
	status = session_open(&x.session, cfg, fault);
	if (status == 0 &&
	    token_make(&x.session.owner, x.session.lock.token) == -1)
		status = fault_set(fault, FAULT_SYSTEM, 0, "no random numbers");
	if (status == 0)
		status = look(&x, fault);
	session_close(&x.session);
	if (status == 0) {
		judge_server(&x.facts, out);
		identify(x.info, who);
	} else if (*signal == 0)
		findings_add(out, FINDING_FAIL, "reached", "%s", fault->text);
	free(x.info);
	free(x.cluster);
	if (cfg->endpoint.kind == ENDPOINT_SENTINEL && *signal == 0)
		look_at_sentinels(cfg, out, signal);
	return status;
}
