/* SPDX-License-Identifier: MIT */
/*
 * place: see place.h.
 */
#include "redis/place.h"

#include <stdlib.h>
#include <string.h>

bool
place_by_sentinel(const struct place *p)
{
	return p->url->kind == ENDPOINT_SENTINEL;
}

bool
place_is_told(const struct place *p)
{
	return place_by_sentinel(p) || place_in_cluster(p);
}

const char *
place_hint(const struct place *p, bool sent)
{
	if (p->url->tls || place_is_told(p))
		return "";
	if (!sent)
		return " (does the server run, and is the URL right?)";
	return p->url->kind == ENDPOINT_TCP ?
	    " (does it expect TLS: rediss://?)" :
	    "";
}

bool
place_in_cluster(const struct place *p)
{
	return p->url->kind == ENDPOINT_CLUSTER;
}

void
place_init(struct place *p, const struct endpoint *url)
{
	*p = (struct place) { .url = url };
	p->now = place_is_told(p) ? NULL : url;
}

void
place_release(struct place *p)
{
	free(p->host);
	p->host = NULL;
}

int
place_move(struct place *p, const char *host, int port, struct fault *fault)
{
	char *copy;

	if (host[0] == '\0' && p->host != NULL)
		host = p->host;
	if ((copy = strdup(host)) == NULL)
		return fault_set(fault, FAULT_SYSTEM, 0, "no memory");
	free(p->host);
	p->host = copy;
	/* What was known are the addresses of another host. */
	p->known.count = 0;
	p->told = *p->url;
	p->told.kind = ENDPOINT_TCP;
	p->told.host = copy;
	p->told.port = port;
	p->now = &p->told;
	return 0;
}
