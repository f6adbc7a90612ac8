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
#include "lives/errand.h"
#include "top/examine_parts.h"

#define SLOW_ENTRIES "128"

static int64_t
now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int
examine_ask(struct examination *x, const char *const *words, errand_fn fn,
    void *arg, struct fault *fault)
{
	struct session *s = &x->session;

	s->lock.words = words;
	return errand_run(s->loop, &x->cfg, s->quorum, &s->lock, LOCK_PLAIN, fn,
	    arg, x->signal, fault);
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

	if (examine_ask(x, words, on_time, &x->facts, fault) == -1)
		return -1;
	before = now_us();
	if (examine_ask(x, words, on_time, &x->facts, fault) == -1)
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
		status = examine_ask(x, words, on_setting, x, fault);
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
look(struct examination *x, struct fault *fault)
{
	static const char *const cluster[] = { "CLUSTER", "INFO", NULL };
	static const char *const info[] = { "INFO", NULL };
	static const char *const slow[] = { "SLOWLOG", "GET", SLOW_ENTRIES,
		NULL };

	if (x->facts.in_cluster &&
	    examine_ask(x, cluster, on_cluster, x, fault) == -1)
		return -1;
	if (look_at_clock(x, fault) == -1 ||
	    examine_ask(x, info, on_info, x, fault) == -1 ||
	    look_at_settings(x, fault) == -1 ||
	    examine_ask(x, slow, on_slow, &x->facts, fault) == -1)
		return -1;
	return examine_rights(x, fault);
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
	x->cfg = *cfg;
	x->signal = signal;
	x->facts.url = ep->shown;
	x->facts.user = ep->user != NULL ? ep->user : "default";
	x->facts.tls = ep->tls;
	x->facts.checked = cfg->tls.insecure == 0;
	x->facts.watched = ep->kind == ENDPOINT_SENTINEL;
	x->facts.in_cluster = ep->kind == ENDPOINT_CLUSTER;
	x->facts.replicas_wanted = cfg->replicas;
}

/*
 * Rights are tried on keys, by DEL, too: of a lock whose name is random, so
 * that it is nobody's.  A fixed one might be somebody's, or data.
 */
static int
open_session(struct examination *x, struct fault *fault)
{
	struct token_owner owner;
	char token[TOKEN_MAX];

	token_owner_init(&owner, NULL);
	if (token_make(&owner, token) == -1)
		return fault_set(fault, FAULT_SYSTEM, 0, "no random numbers");
	snprintf(x->key, sizeof(x->key), "doctor:%.32s",
	    token + strlen(TOKEN_PREFIX));
	x->cfg.key = x->key;
	if (session_open(&x->session, &x->cfg, fault) == -1)
		return -1;
	memcpy(x->session.lock.token, token, sizeof(token));
	return 0;
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
	status = open_session(&x, fault);
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
		examine_sentinels(cfg, out, signal);
	return status;
}
