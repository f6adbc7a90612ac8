/* SPDX-License-Identifier: MIT */
/*
 * examine_rights: see examine_parts.h.  Each is tried for real, as the user
 * that rlock would be: ACL DRYRUN would take a right of its own, and Redis 7.0.
 */
#include <stdio.h>
#include <string.h>

#include "base/token.h"
#include "core/refusal.h"
#include "core/rights.h"
#include "top/examine_parts.h"

static bool
is_refused(const struct reply *reply)
{
	struct fault fault;

	return reply_error(reply) != NULL &&
	    refusal_of(reply_error(reply), &fault) == REFUSAL_RIGHTS;
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

int
examine_rights(struct examination *x, struct fault *fault)
{
	char channel[64], number[16];
	const struct right *right;
	const char *words[7];
	bool in_multi = false;
	int i, status = 0;

	snprintf(channel, sizeof(channel), "rlock:%.32s",
	    x->session.lock.token + strlen(TOKEN_PREFIX));
	snprintf(number, sizeof(number), "%d", x->cfg.endpoint.db);
	for (x->right = 0; status == 0 && x->right < RIGHTS_COUNT; x->right++) {
		right = &rights_table[x->right];
		if (takes_multi(right) && !in_multi)
			continue;
		for (i = 0; right->words[i] != NULL; i++)
			words[i] = word_of(x, right->words[i], channel, number);
		words[i] = NULL;
		status = examine_ask(x, words, on_right, x, fault);
		if (strcmp(right->acl, "multi") == 0)
			in_multi = (x->facts.missing >> x->right & 1) == 0;
	}
	return status;
}
