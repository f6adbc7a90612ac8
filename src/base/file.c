/* SPDX-License-Identifier: MIT */
/*
 * file: see file.h.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int
file_read(int fd, struct buf *out, size_t max)
{
	char chunk[8192];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -1;
		if (out->len + (size_t)n > max) {
			errno = EFBIG;
			return -1;
		}
		if (buf_put(out, chunk, (size_t)n) == -1) {
			errno = ENOMEM;
			return -1;
		}
	}
	return 0;
}

static int
write_all(int fd, const struct buf *text)
{
	size_t done = 0;
	ssize_t n;

	while (done < text->len) {
		n = write(fd, text->data + done, text->len - done);
		if (n == -1 && errno != EINTR)
			return -1;
		if (n > 0)
			done += (size_t)n;
	}
	return 0;
}

/* The mode that open(2) would have given a new file. */
static mode_t
default_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* 0, or -1 and errno; name is the new file's, made by mkostemp. */
static int
fill(int fd, const struct buf *text, const char *name, const char *target)
{
	int saved;

	if (fchmod(fd, default_mode()) == 0 && write_all(fd, text) == 0 &&
	    rename(name, target) == 0)
		return 0;
	saved = errno;
	unlink(name);
	errno = saved;
	return -1;
}

int
file_replace(const char *target, const struct buf *text)
{
	struct stat st;
	char *name;
	int fd, saved, status = -1;

	if (stat(target, &st) == 0 && !S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	name = malloc(strlen(target) + sizeof(".XXXXXX"));
	if (name == NULL)
		return -1;
	sprintf(name, "%s.XXXXXX", target);
	if ((fd = mkostemp(name, O_CLOEXEC | O_NONBLOCK)) != -1) {
		status = fill(fd, text, name, target);
		saved = errno;
		close(fd);
		errno = saved;
	}
	saved = errno;
	free(name);
	errno = saved;
	return status;
}
