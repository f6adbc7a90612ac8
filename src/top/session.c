/* SPDX-License-Identifier: MIT */
/*
 * session: see session.h.
 */
#include "top/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/timing.h"
#include "redis/tls.h"
#include "top/report.h"
#include "words/servers.h"

void
session_connection_name(const char *host, int64_t pid, char *out)
{
	char *p;

	snprintf(out, CONNECTION_NAME_MAX, "rlock:%.64s:%" PRId64, host, pid);
	for (p = out; *p != '\0'; p++)
		if (*p < '!' || *p > '~')
			*p = '_';
}

/* What can be known to fail before anything is tried. */
static int
check_tls(const struct config *cfg, struct fault *fault)
{
	struct tls *tls = tls_new(&cfg->tls, "localhost", fault);

	tls_free(tls);
	if (tls != NULL && cfg->tls.insecure)
		report_insecure(cfg->shown);
	return tls == NULL ? -1 : 0;
}

int
session_open(struct session *s, const struct config *cfg, struct fault *fault)
{
	const char *above = getenv("RLOCK_TOKENS");
	struct lock_spec spec = { .prefix = cfg->prefix,
		.key = cfg->key == NULL ? "" : cfg->key,
		.ttl_ms = cfg->ttl_ms,
		.slots = cfg->slots,
		.replicas = cfg->replicas,
		.sync_ms =
		    timing_attempt_ms(cfg->ttl_ms, cfg->command_timeout_ms) *
		    3 / 4,
		.once = cfg->once_ms > 0,
		.fence = cfg->fence != 0,
		.above = above == NULL ? "" : above };
	char name[CONNECTION_NAME_MAX];

	memset(s, 0, sizeof(*s));
	s->cfg = cfg;
	if (servers_use_tls(cfg) && check_tls(cfg, fault) == -1)
		return -1;
	if (cfg->servers == 2)
		report_two_servers();
	token_owner_init(&s->owner, cfg->note);
	if ((s->loop = loop_new(fault)) == NULL ||
	    lock_init(&s->lock, &spec, fault) == -1)
		return -1;
	if (cfg->endpoint.kind == ENDPOINT_CLUSTER && !keys_meet(&s->lock.keys))
		return fault_set(fault, FAULT_USAGE, 0,
		    "in a cluster, a lock whose name has a '}' needs a hash "
		    "tag, '{...}', before it: all its keys have to be in one "
		    "slot");
	session_connection_name(s->owner.host, s->owner.pid, name);
	s->quorum = quorum_new(s->loop, cfg, name, fault);
	return s->quorum == NULL ? -1 : 0;
}

void
session_close(struct session *s)
{
	quorum_free(s->quorum);
	lock_release(&s->lock);
	loop_free(s->loop);
}
