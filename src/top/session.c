/* SPDX-License-Identifier: MIT */
/*
 * session: see session.h.
 */
#include "top/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/timing.h"

/* "rlock:HOST:PID" of what CLIENT SETNAME allows: no blanks, no controls. */
static void
name_connection(const struct token_owner *owner, char *out, size_t cap)
{
	char *p;

	snprintf(out, cap, "rlock:%s:%ld", owner->host, owner->pid);
	for (p = out; *p != '\0'; p++)
		if (*p < '!' || *p > '~')
			*p = '_';
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
	char name[100];

	memset(s, 0, sizeof(*s));
	s->cfg = cfg;
	token_owner_init(&s->owner, cfg->note);
	if ((s->loop = loop_new(fault)) == NULL ||
	    lock_init(&s->lock, &spec, fault) == -1)
		return -1;
	name_connection(&s->owner, name, sizeof(name));
	if ((s->voter = voter_new(s->loop, cfg, name)) == NULL)
		return fault_set(fault, FAULT_SYSTEM, 0, "no memory");
	return 0;
}

void
session_close(struct session *s)
{
	voter_free(s->voter);
	lock_release(&s->lock);
	loop_free(s->loop);
}
