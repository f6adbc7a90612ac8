/* SPDX-License-Identifier: MIT */
/*
 * lockfile: the file of one lock.  flock(2) on it keeps one holder, or holders
 * who share, from the others; a lock on the byte where a record begins proves
 * that who wrote the record is alive.  Both belong to the open file, so they
 * end with the last process that has it open, however that ends.
 *
 * The file stays when nobody holds the lock: who removes it while it is held
 * has broken the lock.
 */
#ifndef RLOCK_LOCKFILE_H
#define RLOCK_LOCKFILE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/fault.h"
#include "host/folder.h"
#include "host/record.h"

/* Places of records. */
#define LOCKFILE_SEATS	4096	/* of holders: 0 to LOCKFILE_SEATS - 1 */
#define LOCKFILE_NESTED	LOCKFILE_SEATS	/* as many of nested runs, from here */
#define LOCKFILE_DONE	(2 * LOCKFILE_SEATS)	/* the marker of --once */

struct lockfile {
	const struct folder *folder;
	int	 fd;		/* -1: not open */
	char	 name[FOLDER_NAME_MAX + 1];
};

/*
 * Open the file of key in folder, made if it is missing and make is set.  0,
 * 1 when it is missing, or -1 and a fault: FAULT_REFUSED when it is forbidden,
 * FAULT_UNFIT for what is no file of ours (it is not touched).
 */
int lockfile_open(struct lockfile *, const struct folder *, const char *key,
    bool make, struct fault *);
void lockfile_close(struct lockfile *);

/* Is it still what its name leads to? */
bool lockfile_is_there(const struct lockfile *);

/* flock(2), LOCK_EX or LOCK_SH, without waiting; is it ours now? */
bool lockfile_lock(const struct lockfile *, bool exclusive);
void lockfile_unlock(const struct lockfile *);

/* Take a place, unless somebody has it; leave it. */
bool lockfile_take(const struct lockfile *, int place);
void lockfile_leave(const struct lockfile *, int place);

/* The first place in [from, to) that somebody else has, or -1. */
int lockfile_next_taken(const struct lockfile *, int from, int to);

/* The first place in [from, to) where a record may be, or -1. */
int lockfile_next_written(const struct lockfile *, int from, int to);

/* NULL: none any more.  0, or -1 and a fault. */
int lockfile_write(const struct lockfile *, int place, const struct record *,
    struct fault *);
void lockfile_read(const struct lockfile *, int place, struct record *);

/* Let those know who watch the file (IN_ATTRIB of inotify(7)). */
void lockfile_touch(const struct lockfile *);

/* The key of the lock that the file name in folder is for, NUL-ended; 0, or -1
 * when it is none. */
int lockfile_key(const struct folder *, const char *name, struct buf *key);

#endif
