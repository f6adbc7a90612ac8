/* SPDX-License-Identifier: MIT */
/*
 * cmd_token: rlock --renew and --release, of a lock held under --token.
 */
#ifndef RLOCK_CMD_TOKEN_H
#define RLOCK_CMD_TOKEN_H

#include "top/cmd_run.h"
#include "words/config.h"

struct ending cmd_token(const struct config *);

#endif
