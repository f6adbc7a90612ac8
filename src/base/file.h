/* SPDX-License-Identifier: MIT */
/*
 * file: whole files, read and replaced.
 */
#ifndef RLOCK_FILE_H
#define RLOCK_FILE_H

#include <stddef.h>

#include "base/buf.h"

/* All of fd, from where it stands.  0, or -1 and errno; EFBIG when it is
 * longer than max bytes. */
int file_read(int fd, struct buf *out, size_t max);

/*
 * Write text to a new file beside path, with the mode that open(2) would have
 * given it, and rename it there: a reader never sees half of it.  0, or -1
 * and errno; EINVAL when path is there and no regular file.
 */
int file_replace(const char *path, const struct buf *text);

#endif
