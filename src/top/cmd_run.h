/* SPDX-License-Identifier: MIT */
/*
 * cmd_run: rlock -k KEY -- COMMAND.
 */
#ifndef RLOCK_CMD_RUN_H
#define RLOCK_CMD_RUN_H

#include <stdbool.h>

#include "words/config.h"

/* How the process is to end. */
struct ending {
	int	 status;
	int	 signal;	/* 0, or the signal to die of, ... */
	bool	 whole_group;	/* with all of our group: a key's */
};

/* closed: bit n is set when descriptor n was closed at the start. */
struct ending cmd_run(const struct config *, unsigned int closed);

#endif
