/* SPDX-License-Identifier: MIT */
/*
 * cmd_break: --break, release the lock whoever holds it.
 */
#ifndef RLOCK_CMD_BREAK_H
#define RLOCK_CMD_BREAK_H

#include "top/cmd_run.h"
#include "words/config.h"

struct ending cmd_break(const struct config *);

#endif
