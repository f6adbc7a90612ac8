/* SPDX-License-Identifier: MIT */
/*
 * fault: a failure as a value.  The function that detects a failure words it
 * once; callers pass it on or put the object in front of it; only the top
 * layer prints it, and words/outcome maps it to an exit status.
 */
#ifndef RLOCK_FAULT_H
#define RLOCK_FAULT_H

enum fault_code {
	FAULT_NONE = 0,
	FAULT_USAGE,		/* the command line or the environment */
	FAULT_UNAVAILABLE,	/* no server, or none that answers now */
	FAULT_REFUSED,		/* password, user, rights */
	FAULT_UNFIT,		/* the server can't hold locks as it is */
	FAULT_SYSTEM,		/* fork, memory, descriptors */
	FAULT_NOEXEC,		/* the command can't be executed */
	FAULT_NOENT,		/* the command is not found */
	FAULT_BUG		/* an error in rlock itself */
};

struct fault {
	enum fault_code	code;
	int		saved_errno;	/* 0 when errno has no part in it */
	char		text[400];	/* one sentence, no full stop */
};

/*
 * Fill *fault (may be NULL: then nothing is kept).  When err is not 0,
 * ": " and strerror(err) follow the text.  Text too long is cut.
 * Returns -1, so that a caller can write "return fault_set(...)".
 */
int fault_set(struct fault *fault, enum fault_code code, int err,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Put "prefix: " in front of the text of *fault.  Returns -1. */
int fault_prefix(struct fault *fault, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
