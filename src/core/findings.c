/* SPDX-License-Identifier: MIT */
/*
 * findings: see findings.h.
 */
#include "core/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void
findings_add(struct findings *f, enum finding_level level, const char *check,
    const char *fmt, ...)
{
	struct finding *more;
	va_list ap;

	more = realloc(f->list, (f->count + 1) * sizeof(*more));
	if (more == NULL) {
		f->error = -1;
		return;
	}
	f->list = more;
	more += f->count++;
	more->level = level;
	snprintf(more->check, sizeof(more->check), "%s", check);
	va_start(ap, fmt);
	vsnprintf(more->text, sizeof(more->text), fmt, ap);
	va_end(ap);
	f->failed += level == FINDING_FAIL;
}

void
findings_release(struct findings *f)
{
	free(f->list);
	*f = (struct findings) { .list = NULL };
}

const char *
findings_word(enum finding_level level)
{
	static const char *const words[] = { [FINDING_OK] = "ok",
		[FINDING_WARN] = "warn",
		[FINDING_FAIL] = "fail" };

	return words[level];
}
