/* SPDX-License-Identifier: MIT */
/*
 * script: the Lua scripts that the build embeds from src/lua, and the codes
 * of their replies {code, ...}.  Each .lua file begins with its contract.
 */
#ifndef RLOCK_SCRIPT_H
#define RLOCK_SCRIPT_H

/* First element of every script's reply. */
enum script_code {
	SCRIPT_OK = 0,		/* taken, proven, renewed, released */
	SCRIPT_HELD = 1,	/* somebody else holds the lock */
	SCRIPT_GONE = 2,	/* nobody does */
	SCRIPT_DONE = 3,	/* done within the time of --once */
	SCRIPT_FULL = 9,	/* ask the full script; release: again */
	SCRIPT_STUCK = 64,	/* it would wait for a lock we run under */
	SCRIPT_MISFIT = 78,	/* a key has another type */
	SCRIPT_CLASH = 79	/* a lock of a kind that ours can't meet */
};

extern const char script_take[];
extern const char script_free[];
extern const char script_renew[];
extern const char script_acquire[];
extern const char script_release[];
extern const char script_extend[];
extern const char script_leave[];
extern const char script_break[];
extern const char script_status[];

#endif
