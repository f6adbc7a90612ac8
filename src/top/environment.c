/* SPDX-License-Identifier: MIT */
/*
 * environment: see environment.h.  One block: the vector, then the strings
 * that are new; the inherited ones are pointed to where they are.
 */
#include "top/environment.h"

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
environment_new(char *const *inherited, const struct environment *e)
{
	const char *outer = getenv("RLOCK_TOKENS");
	const struct {
		const char *name;
		const char *value;
	} ours[] = { { "KEY", e->key }, { "TOKEN", e->locked ? e->token : "" },
		{ "SLOT", e->slot }, { "FENCE", e->fence },
		{ "SHARD", e->shard } };
	size_t count = 0, room = 64, i, n = 0;
	const size_t extra = sizeof(ours) / sizeof(ours[0]);
	char **vector, *text;

	if (outer == NULL)
		outer = "";
	while (inherited[count] != NULL)
		count++;
	for (i = 0; i < extra; i++)
		room += strlen(ours[i].value) + 16;
	room += strlen(outer) + strlen(e->token);
	vector = malloc((count + extra + 2) * sizeof(*vector) + room);
	if (vector == NULL)
		return NULL;
	for (i = 0; i < count; i++)
		if (!is_ours(inherited[i]))
			vector[n++] = inherited[i];
	text = (char *)&vector[count + extra + 2];
	for (i = 0; i < extra; i++) {
		if (ours[i].value[0] == '\0')
			continue;
		vector[n++] = text;
		text +=
		    sprintf(text, "RLOCK_%s=%s", ours[i].name, ours[i].value) +
		    1;
	}
	vector[n++] = text;
	sprintf(text, "RLOCK_TOKENS=%s%s%s", outer, outer[0] == '\0' ? "" : " ",
	    e->token);
	vector[n] = NULL;
	return vector;
}

void
environment_free(char **vector)
{
	free(vector);
}
