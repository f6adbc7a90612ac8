/* SPDX-License-Identifier: MIT */
/*
 * marker: what --once leaves on the server: "END_MS RUN_MS TOKEN", written by
 * lua/release.lua.
 */
#ifndef RLOCK_MARKER_H
#define RLOCK_MARKER_H

#include <stdint.h>

#include "base/token.h"

struct marker {
	int64_t	 ended_ms;	/* the server's wall clock, ms since 1970 */
	int64_t	 run_ms;	/* how long the command took */
	char	 token[TOKEN_MAX];	/* who did it; maybe cut */
};

/* 0, or -1 when text is not of that form. */
int marker_parse(struct marker *, const char *text);

#endif
