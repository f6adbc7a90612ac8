/* SPDX-License-Identifier: MIT */
/*
 * effect: see effect.h.
 */
#include "base/effect.h"

#include <signal.h>
#include <stddef.h>

enum effect
effect_of(int signal)
{
	struct sigaction action;

	/* Blocked signals are queued even when they are ignored. */
	if (sigaction(signal, NULL, &action) == 0 &&
	    action.sa_handler == SIG_IGN)
		return EFFECT_IGNORED;
	switch (signal) {
	case SIGCHLD:
	case SIGCONT:
	case SIGURG:
	case SIGWINCH:
		return EFFECT_NONE;
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
		return EFFECT_STOPS;
	}
	return EFFECT_ENDS;
}
