/* SPDX-License-Identifier: MIT */
/*
 * folder: where the locks of this host are files: one that every user and
 * every environment of the host finds, or one that was named.
 */
#ifndef RLOCK_FOLDER_H
#define RLOCK_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"

#define FOLDER_NAME_MAX	255	/* bytes of a file's name */
#define FOLDER_KEY_MAX	4000	/* bytes of a lock's name, prefix and all */

struct folder {
	int	 fd;		/* -1: not open */
	char	*path;
	bool	 shared;	/* others may have locks in it */
};

/*
 * Open path, made with mode 0700 if it is missing; or, when it is NULL, the
 * first of /run/lock/rlock, /var/lock/rlock and /tmp/rlock that is there or
 * can be made (1777, so that all users meet).  What is a link, no folder, or
 * writable by others without the sticky bit is refused, never passed over.
 * 0, or -1 and a fault: FAULT_UNAVAILABLE for what can't be trusted,
 * FAULT_REFUSED for what is forbidden, FAULT_SYSTEM for the rest.
 */
int folder_open(struct folder *, const char *path, struct fault *);
void folder_close(struct folder *);

/*
 * The name of the file for the lock key into out[FOLDER_NAME_MAX + 1]: the key
 * with all but letters, digits and ".:_-@+=," percent-encoded, a long one cut
 * and with a checksum of all of it.
 */
void folder_file_name(const char *key, char *out);

/* Fills in a fault about a system call that failed on what: its code says
 * whether it was forbidden.  Returns -1. */
int folder_fault(struct fault *, int error, const char *what);

#endif
