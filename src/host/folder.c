/* SPDX-License-Identifier: MIT */
/*
 * folder: see folder.h.  The place depends on the host alone, never on the
 * environment: a job of cron and one of a login must meet.
 */
#include "host/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32.h"

#define NAME_KEPT 200 /* bytes of a long name before its checksum */

int
folder_fault(struct fault *fault, int error, const char *what)
{
	if (error == EACCES || error == EPERM || error == EROFS)
		return fault_set(fault, FAULT_REFUSED, error, "%s", what);
	return fault_set(fault, FAULT_SYSTEM, error, "%s", what);
}

/* May locks be kept in it?  -1 and a fault when it can't be trusted. */
static int
check(const char *path, const struct stat *st, struct fault *fault)
{
	const char *why = NULL;

	if (S_ISLNK(st->st_mode))
		why = "it is a symbolic link";
	else if (!S_ISDIR(st->st_mode))
		why = "it is no folder";
	else if ((st->st_mode & (S_IWGRP | S_IWOTH)) != 0 &&
	    (st->st_mode & S_ISVTX) == 0)
		why = "others may remove what is in it (chmod +t helps)";
	if (why == NULL)
		return 0;
	return fault_set(fault, FAULT_UNAVAILABLE, 0,
	    "the folder %s can't be trusted with locks: %s", path, why);
}

/* 0, 1 when it is not there, or -1 and a fault. */
static int
open_existing(struct folder *f, const char *path, struct fault *fault)
{
	struct stat st;

	f->fd = open(path,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (f->fd == -1 && errno == ENOENT)
		return 1;
	/* What stands there instead is told by name. */
	if (f->fd == -1 && (errno == ELOOP || errno == ENOTDIR) &&
	    lstat(path, &st) == 0)
		return check(path, &st, fault) == -1 ?
		    -1 :
		    folder_fault(fault, ENOTDIR, path);
	if (f->fd == -1 || fstat(f->fd, &st) == -1)
		return folder_fault(fault, errno, path);
	if (check(path, &st, fault) == -1)
		return -1;
	f->shared = (st.st_mode & S_IWOTH) != 0;
	if ((f->path = strdup(path)) == NULL)
		return fault_set(fault, FAULT_SYSTEM, 0, "no memory");
	return 0;
}

/* 0 when it is there now, else -1 and errno. */
static int
make(const char *path, mode_t mode)
{
	int fd, status;

	/* Its own to begin with: nobody is in it before it is sticky. */
	if (mkdir(path, 0700) == -1)
		return errno == EEXIST ? 0 : -1;
	if (mode == 0700)
		return 0;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	status = fd == -1 ? -1 : fchmod(fd, mode);
	if (fd != -1)
		close(fd);
	return status;
}

static int
open_or_make(struct folder *f, const char *path, mode_t mode,
    struct fault *fault)
{
	int status = open_existing(f, path, fault);

	if (status != 1)
		return status;
	if (make(path, mode) == -1)
		return folder_fault(fault, errno, path);
	status = open_existing(f, path, fault);
	return status == 1 ? folder_fault(fault, ENOENT, path) : status;
}

int
folder_open(struct folder *f, const char *path, struct fault *fault)
{
	static const char *const places[] = { "/run/lock/rlock",
		"/var/lock/rlock", "/tmp/rlock" };
	size_t i, last = sizeof(places) / sizeof(places[0]) - 1;
	int status = -1;

	*f = (struct folder) { .fd = -1 };
	if (path != NULL)
		status = open_or_make(f, path, 0700, fault);
	for (i = 0; path == NULL && i <= last; i++) {
		status = open_or_make(f, places[i], 01777, fault);
		/* Passed over only when it is not there and can't be. */
		if (status == 0 ||
		    (f->fd != -1 || access(places[i], F_OK) == 0))
			break;
		if (fault->code == FAULT_UNAVAILABLE)
			break;
	}
	if (status == -1)
		folder_close(f);
	return status;
}

void
folder_close(struct folder *f)
{
	if (f->fd != -1)
		close(f->fd);
	free(f->path);
	*f = (struct folder) { .fd = -1 };
}

/* FNV-1a, 64 bits: beside the checksum, for names that are cut alike. */
static uint64_t
hash(const char *text)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (; *text != '\0'; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return h;
}

void
folder_file_name(const char *key, char *out)
{
	static const char plain[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789:_-@+=,.";
	const char *p;
	size_t n = 0;

	for (p = key; *p != '\0' && n <= NAME_KEPT; p++)
		/* "." and ".." are folders. */
		if (strchr(plain, *p) != NULL && (p != key || *p != '.'))
			out[n++] = *p;
		else
			n += (size_t)sprintf(out + n, "%%%02X",
			    (unsigned char)*p);
	out[n] = '\0';
	if (*p != '\0' || n > NAME_KEPT)
		snprintf(out + NAME_KEPT, FOLDER_NAME_MAX + 1 - NAME_KEPT,
		    "~%016" PRIx64 "%08" PRIx32, hash(key),
		    crc32_of(key, strlen(key)));
}
