/* SPDX-License-Identifier: MIT */
/*
 * cmd_look: rlock --status and --list: of locks that are others'.
 */
#ifndef RLOCK_CMD_LOOK_H
#define RLOCK_CMD_LOOK_H

#include "top/cmd_run.h"
#include "words/config.h"

struct ending cmd_look(const struct config *);

#endif
