/* SPDX-License-Identifier: MIT */
/*
 * effect: what a signal would do to us, had we done nothing about it.
 */
#ifndef RLOCK_EFFECT_H
#define RLOCK_EFFECT_H

enum effect {
	EFFECT_IGNORED,	/* our caller has ignored it */
	EFFECT_NONE,
	EFFECT_STOPS,
	EFFECT_ENDS
};

/* Source: signal(7). */
enum effect effect_of(int signal);

#endif
