/* SPDX-License-Identifier: MIT */
/*
 * environment: see environment.h.  One block: the vector, then the strings
 * that are new; the inherited ones are pointed to where they are.
 */
#include "top/environment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
is_ours(const char *entry)
{
	static const char *const names[] = {
		"KEY=", "TOKEN=", "TOKENS=", "FENCE=", "SLOT=", "SHARD="
	};
	size_t i;

	if (strncmp(entry, "RLOCK_", 6) != 0)
		return false;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(entry + 6, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

char **
environment_new(char *const *inherited, const char *key, const char *token)
{
	const char *outer = getenv("RLOCK_TOKENS");
	size_t count = 0, room, i, n = 0;
	char **vector, *text;

	if (outer == NULL)
		outer = "";
	while (inherited[count] != NULL)
		count++;
	room = strlen(key) + 2 * strlen(token) + strlen(outer) + 64;
	vector = malloc((count + 4) * sizeof(*vector) + room);
	if (vector == NULL)
		return NULL;
	for (i = 0; i < count; i++)
		if (!is_ours(inherited[i]))
			vector[n++] = inherited[i];
	text = (char *)&vector[count + 4];
	vector[n++] = text;
	text += sprintf(text, "RLOCK_KEY=%s", key) + 1;
	vector[n++] = text;
	text += sprintf(text, "RLOCK_TOKEN=%s", token) + 1;
	vector[n++] = text;
	sprintf(text, "RLOCK_TOKENS=%s%s%s", outer, outer[0] == '\0' ? "" : " ",
	    token);
	vector[n] = NULL;
	return vector;
}

void
environment_free(char **vector)
{
	free(vector);
}
