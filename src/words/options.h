/* SPDX-License-Identifier: MIT */
/*
 * options: the option table.  A row is an option: its names, argument, parser,
 * place in struct config and line of help.  getopt_long's arrays, --help and
 * the check against the manual come from it, so adding an option is adding a
 * row.
 */
#ifndef RLOCK_OPTIONS_H
#define RLOCK_OPTIONS_H

#include "base/buf.h"
#include "words/config.h"

/*
 * Read argv and the environment (RLOCK_URL, RLOCK_PREFIX, RLOCK_TTL,
 * REDISCLI_AUTH; options win) into *cfg, which config_init has prepared, and
 * check it.  Strings in *cfg point into argv and the environment; a secret in
 * argv is overwritten as soon as it has been copied.  0, or -1 and a
 * FAULT_USAGE that names the option and the value.
 */
int options_read(struct config *cfg, int argc, char **argv,
    struct fault *fault);

/* The text of --help, from the table; lines of at most 80 columns. */
int options_help(struct buf *out);

#endif
