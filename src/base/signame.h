/* SPDX-License-Identifier: MIT */
/*
 * signame: signal names and numbers, one table.
 */
#ifndef RLOCK_SIGNAME_H
#define RLOCK_SIGNAME_H

#include <stddef.h>

/*
 * "TERM", "SIGTERM", "term", "15", "RTMIN", "RTMIN+3", "RTMAX-2" -> number,
 * 1 to SIGRTMAX; -1 if it is none (0 is none: it sends nothing).
 */
int signame_parse(const char *text);

/* "TERM"; "RTMIN+3"; "signal 99" for what has no name.  Writes into out. */
const char *signame_of(int number, char *out, size_t cap);

#endif
