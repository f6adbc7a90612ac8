/* SPDX-License-Identifier: MIT */
/*
 * print: see print.h.
 */
#include "base/print.h"

#include <errno.h>
#include <unistd.h>

int
print_all(const struct buf *text, struct fault *fault)
{
	size_t done = 0;
	ssize_t n;

	while (done < text->len) {
		n = write(STDOUT_FILENO, text->data + done, text->len - done);
		if (n == -1 && errno != EINTR)
			return fault_set(fault, FAULT_SYSTEM, errno,
			    "can't write to stdout");
		if (n > 0)
			done += (size_t)n;
	}
	return 0;
}
