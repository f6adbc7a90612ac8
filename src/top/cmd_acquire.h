/* SPDX-License-Identifier: MIT */
/*
 * cmd_acquire: rlock --acquire: take the lock, print its token, leave it taken.
 */
#ifndef RLOCK_CMD_ACQUIRE_H
#define RLOCK_CMD_ACQUIRE_H

#include "top/cmd_run.h"
#include "words/config.h"

struct ending cmd_acquire(const struct config *);

#endif
