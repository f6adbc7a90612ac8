/* SPDX-License-Identifier: MIT */
/*
 * option_set: the value of one option into struct config.
 */
#ifndef RLOCK_OPTION_SET_H
#define RLOCK_OPTION_SET_H

#include "words/config.h"
#include "words/option_table.h"

/*
 * Parse value (ignored for an option that takes none) as def says and store
 * it.  name is what the user called it, "option --ttl" or "RLOCK_TTL".  A
 * string is not copied.  0, or -1 and a FAULT_USAGE that begins with name.
 */
int option_set(struct config *cfg, const struct option_def *def,
    const char *name, const char *value, struct fault *fault);

#endif
