/* SPDX-License-Identifier: MIT */
/*
 * print: what was asked for goes to standard output.
 */
#ifndef RLOCK_PRINT_H
#define RLOCK_PRINT_H

#include "base/buf.h"
#include "base/fault.h"

/* All of it.  0, or -1 and a FAULT_SYSTEM: a full disk is an error. */
int print_all(const struct buf *, struct fault *);

#endif
