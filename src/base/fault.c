/* SPDX-License-Identifier: MIT */
/*
 * fault: owns how a failure is worded: one sentence, the system's reason
 * behind it.  The text is always terminated.  It must not know what becomes
 * of a failure: neither printing nor exit statuses.
 */
#include "base/fault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void
append(char *text, size_t cap, const char *more)
{
	size_t len = strlen(text), n = strlen(more);

	if (n > cap - 1 - len)
		n = cap - 1 - len;
	memcpy(text + len, more, n);
	text[len + n] = '\0';
}

int
fault_set(struct fault *fault, enum fault_code code, int err, const char *fmt,
    ...)
{
	/* Formatted aside, since an argument may be the old text. */
	char text[sizeof(fault->text)];
	va_list ap;

	if (fault == NULL)
		return -1;
	va_start(ap, fmt);
	if (vsnprintf(text, sizeof(text), fmt, ap) < 0)
		text[0] = '\0';
	va_end(ap);
	if (err != 0) {
		append(text, sizeof(text), ": ");
		append(text, sizeof(text), strerror(err));
	}
	fault->code = code;
	fault->saved_errno = err;
	memcpy(fault->text, text, sizeof(text));
	return -1;
}

int
fault_prefix(struct fault *fault, const char *fmt, ...)
{
	char text[sizeof(fault->text)];
	va_list ap;

	if (fault == NULL)
		return -1;
	va_start(ap, fmt);
	if (vsnprintf(text, sizeof(text), fmt, ap) < 0)
		text[0] = '\0';
	va_end(ap);
	append(text, sizeof(text), ": ");
	append(text, sizeof(text), fault->text);
	memcpy(fault->text, text, sizeof(text));
	return -1;
}
