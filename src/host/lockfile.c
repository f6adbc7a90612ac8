/* SPDX-License-Identifier: MIT */
/*
 * lockfile: see lockfile.h.  A head of HEAD_SIZE bytes with the lock's name,
 * then the records.  Others may write in a shared folder: what is read is not
 * trusted, and nothing is written to a file that does not begin as ours do.
 */
#include "host/lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "rlock local 1\n"
#define HEAD_SIZE 4096
#define READ_MAX 3 /* of a record that is just being written */

_Static_assert(sizeof(MAGIC) + FOLDER_KEY_MAX <= HEAD_SIZE, "the key fits");

static off_t
offset_of(int place)
{
	return HEAD_SIZE + (off_t)place * RECORD_SIZE;
}

static int
fault_of(const struct lockfile *f, int error, struct fault *fault)
{
	char what[300];

	snprintf(what, sizeof(what), "the lock's file %.60s/%.200s",
	    f->folder->path, f->name);
	return folder_fault(fault, error, what);
}

static int
not_ours(const struct lockfile *f, const char *why, struct fault *fault)
{
	return fault_set(fault, FAULT_UNFIT, 0,
	    "%.60s/%.200s can't be the file of a lock: %s (it was not "
	    "touched)",
	    f->folder->path, f->name, why);
}

/* Write the head of a new file, and check that of an old one. */
static int
check_head(const struct lockfile *f, const char *key, struct fault *fault)
{
	char head[HEAD_SIZE], want[HEAD_SIZE] = MAGIC;
	struct stat st;
	ssize_t n;

	memcpy(want + strlen(MAGIC), key, strlen(key) + 1);
	if (fstat(f->fd, &st) == -1)
		return fault_of(f, errno, fault);
	if (!S_ISREG(st.st_mode))
		return not_ours(f, "it is no regular file", fault);
	if (st.st_nlink > 1)
		return not_ours(f, "it has other names", fault);
	n = pread(f->fd, head, sizeof(head), 0);
	if (n == 0)
		/* Just made, by us or by who makes it the same way. */
		return pwrite(f->fd, want, sizeof(want), 0) ==
			(ssize_t)sizeof(want) ?
		    0 :
		    fault_of(f, errno, fault);
	if (n == (ssize_t)sizeof(head) && memcmp(head, want, sizeof(head)) == 0)
		return 0;
	return not_ours(f, "something else is in it", fault);
}

/* Others have to be able to open it, whatever our umask is. */
static int
create(struct lockfile *f)
{
	mode_t mode = f->folder->shared ? 0666 : 0600;

	f->fd = openat(f->folder->fd, f->name,
	    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
	    mode);
	if (f->fd == -1)
		return -1;
	(void)fchmod(f->fd, mode); /* else others are told when they try */
	return 0;
}

static int
open_fd(struct lockfile *f, bool make)
{
	int tries;

	for (tries = 0; tries < 10; tries++) {
		/* Never O_CREAT for what is there: the kernel may forbid that
		   in a folder of all (protected_regular, proc_sys_fs(5)). */
		f->fd = openat(f->folder->fd, f->name,
		    O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (f->fd != -1 || errno != ENOENT || !make)
			break;
		if (create(f) == 0 || errno != EEXIST)
			break;
	}
	return f->fd == -1 ? -1 : 0;
}

int
lockfile_open(struct lockfile *f, const struct folder *folder, const char *key,
    bool make, struct fault *fault)
{
	*f = (struct lockfile) { .folder = folder, .fd = -1 };
	if (strlen(key) > FOLDER_KEY_MAX)
		return fault_set(fault, FAULT_USAGE, 0,
		    "prefix and name have more than %d bytes together",
		    FOLDER_KEY_MAX);
	folder_file_name(key, f->name);
	if (open_fd(f, make) == -1) {
		if (errno == ENOENT && !make)
			return 1;
		if (errno == ELOOP)
			return not_ours(f, "it is a symbolic link", fault);
		return fault_of(f, errno, fault);
	}
	if (check_head(f, key, fault) == 0)
		return 0;
	lockfile_close(f);
	return -1;
}

void
lockfile_close(struct lockfile *f)
{
	if (f->fd != -1)
		close(f->fd);
	f->fd = -1;
}

bool
lockfile_is_there(const struct lockfile *f)
{
	struct stat ours, there;

	return fstat(f->fd, &ours) == 0 &&
	    fstatat(f->folder->fd, f->name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	    ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

bool
lockfile_lock(const struct lockfile *f, bool exclusive)
{
	return flock(f->fd, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0;
}

void
lockfile_unlock(const struct lockfile *f)
{
	(void)flock(f->fd, LOCK_UN); /* of an open file it can't fail */
}

static bool
lock_byte(const struct lockfile *f, int place, short type)
{
	struct flock range = { .l_type = type,
		.l_whence = SEEK_SET,
		.l_start = offset_of(place),
		.l_len = 1 };

	return fcntl(f->fd, F_OFD_SETLK, &range) == 0; /* Linux 3.15 */
}

bool
lockfile_take(const struct lockfile *f, int place)
{
	return lock_byte(f, place, F_WRLCK);
}

void
lockfile_leave(const struct lockfile *f, int place)
{
	(void)lock_byte(f, place, F_UNLCK);
}

/* The kernel tells one of the locks in a range, any: the first is found by
 * asking again for what lies before it. */
int
lockfile_next_taken(const struct lockfile *f, int from, int to)
{
	struct flock range;
	int found = -1;

	while (from < to) {
		range = (struct flock) { .l_type = F_WRLCK,
			.l_whence = SEEK_SET,
			.l_start = offset_of(from),
			.l_len = offset_of(to) - offset_of(from) };
		if (fcntl(f->fd, F_OFD_GETLK, &range) == -1 ||
		    range.l_type == F_UNLCK || range.l_start < offset_of(from))
			break;
		found = to = (int)((range.l_start - HEAD_SIZE) / RECORD_SIZE);
	}
	return found;
}

int
lockfile_next_written(const struct lockfile *f, int from, int to)
{
	off_t at;
	int place;

	if (from >= to)
		return -1;
	at = lseek(f->fd, offset_of(from), SEEK_DATA); /* over the holes */
	if (at == -1)
		return -1;
	place = (int)((at - HEAD_SIZE) / RECORD_SIZE);
	return place < to ? place : -1;
}

int
lockfile_write(const struct lockfile *f, int place, const struct record *r,
    struct fault *fault)
{
	static const struct record none = { .state = RECORD_NONE };
	char line[RECORD_SIZE];

	record_write(r == NULL ? &none : r, line);
	if (pwrite(f->fd, line, sizeof(line), offset_of(place)) ==
	    (ssize_t)sizeof(line))
		return 0;
	return fault_of(f, errno, fault);
}

void
lockfile_read(const struct lockfile *f, int place, struct record *r)
{
	char line[RECORD_SIZE] = "";
	int tries;

	r->state = RECORD_NONE;
	for (tries = 0; tries < READ_MAX && r->state == RECORD_NONE; tries++) {
		if (pread(f->fd, line, sizeof(line), offset_of(place)) <= 0)
			break;
		record_read(r, line);
		if (line[0] == '\0')
			break;
	}
}

void
lockfile_touch(const struct lockfile *f)
{
	(void)futimens(f->fd, NULL); /* who isn't told looks by himself */
}

int
lockfile_key(const struct folder *folder, const char *name, struct buf *key)
{
	struct lockfile f = { .folder = folder };
	char head[HEAD_SIZE + 1] = "", again[FOLDER_NAME_MAX + 1];
	const char *text = head + strlen(MAGIC);
	ssize_t n = -1;

	f.fd = openat(folder->fd, name,
	    O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (f.fd != -1)
		n = pread(f.fd, head, HEAD_SIZE, 0);
	lockfile_close(&f);
	if (n != HEAD_SIZE || memcmp(head, MAGIC, strlen(MAGIC)) != 0)
		return -1;
	folder_file_name(text, again);
	if (strcmp(again, name) != 0)
		return -1;
	return buf_put(key, text, strlen(text) + 1);
}
