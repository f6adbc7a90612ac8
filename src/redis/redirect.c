/* SPDX-License-Identifier: MIT */
/*
 * redirect: see redirect.h.
 */
#include "redis/redirect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

bool
redirect_read(const char *error, struct redirect *to)
{
	const char *at, *colon, *why;
	int64_t number;
	size_t len;

	if (error == NULL)
		return false;
	to->asking = strncmp(error, "ASK ", 4) == 0;
	if (!to->asking && strncmp(error, "MOVED ", 6) != 0)
		return false;
	at = strchr(error, ' ') + 1;
	at += strspn(at, "0123456789");
	if (*at++ != ' ' || (colon = strrchr(at, ':')) == NULL ||
	    parse_count(colon + 1, 1, 65535, &number, &why) == -1)
		return false;
	len = (size_t)(colon - at);
	if (len >= sizeof(to->host))
		return false;
	snprintf(to->host, sizeof(to->host), "%.*s", (int)len, at);
	if (strcmp(to->host, "?") == 0)
		to->host[0] = '\0';
	to->port = (int)number;
	return true;
}

bool
redirect_from_replica(const char *error)
{
	return error != NULL && strstr(error, "READONLY ") != NULL;
}
