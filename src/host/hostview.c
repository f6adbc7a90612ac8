/* SPDX-License-Identifier: MIT */
/*
 * hostview: see hostview.h.
 */
#include "host/hostview.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/lockfile.h"

static int
add_holder(struct hostview *view, const struct record *r, int place,
    int64_t left_ms)
{
	struct hostview_holder *more;

	more = realloc(view->holders, (view->count + 1) * sizeof(*more));
	if (more == NULL)
		return -1;
	view->holders = more;
	more += view->count++;
	snprintf(more->token, sizeof(more->token), "%s", r->text);
	more->left_ms = left_ms;
	more->slot = r->kind[0] == 'j' ? place : -1;
	snprintf(view->kind, sizeof(view->kind), "%s", r->kind);
	return 0;
}

static int
look_at(const struct lockfile *f, struct hostview *view)
{
	struct record r;
	bool taken;
	int place = 0;

	while ((place = lockfile_next_written(f, place, LOCKFILE_DONE)) != -1) {
		lockfile_read(f, place, &r);
		taken = r.state == RECORD_HELD &&
		    lockfile_next_taken(f, place, place + 1) == place;
		if (taken && add_holder(view, &r, place, -1) == -1)
			return -1;
		if (r.state == RECORD_COOLING && record_left_ms(&r) > 0 &&
		    add_holder(view, &r, place, record_left_ms(&r)) == -1)
			return -1;
		place++;
	}
	lockfile_read(f, LOCKFILE_DONE, &r);
	if (r.state == RECORD_DONE && record_left_ms(&r) > 0) {
		snprintf(view->done, sizeof(view->done), "%s", r.text);
		view->done_left_ms = record_left_ms(&r);
	}
	return 0;
}

int
hostview_look(const struct folder *folder, const char *name,
    struct hostview *view, struct fault *fault)
{
	struct lockfile f;
	int status;

	memset(view, 0, sizeof(*view));
	status = lockfile_open(&f, folder, name, false, fault);
	if (status != 0)
		return status == 1 ? 0 : -1;
	status = look_at(&f, view);
	lockfile_close(&f);
	return status == 0 ? 0 : fault_set(fault, FAULT_SYSTEM, 0, "no memory");
}

void
hostview_release(struct hostview *view)
{
	free(view->holders);
	view->holders = NULL;
}
