/* SPDX-License-Identifier: MIT */
/*
 * login: see login.h.
 */
#include "redis/login.h"

#include <stdio.h>
#include <string.h>

#include "core/refusal.h"
#include "redis/codec.h"

int
login_put(struct buf *out, const struct endpoint *e, const char *name,
    bool primary, enum login_step steps[LOGIN_STEPS_MAX])
{
	static const char *const role[] = { "ROLE" };
	const char *auth[3] = { "AUTH" }, *select[2] = { "SELECT" };
	const char *setname[3] = { "CLIENT", "SETNAME", name };
	char db[16];
	int words = 1, n = 0;

	if (e->password != NULL) {
		if (e->user != NULL)
			auth[words++] = e->user;
		auth[words++] = e->password;
		if (codec_put(out, words, auth) == -1)
			return -1;
		steps[n++] = LOGIN_AUTH;
	}
	if (e->db != 0) {
		snprintf(db, sizeof(db), "%d", e->db);
		select[1] = db;
		if (codec_put(out, 2, select) == -1)
			return -1;
		steps[n++] = LOGIN_SELECT;
	}
	if (codec_put(out, 3, setname) == -1)
		return -1;
	steps[n++] = LOGIN_NAME;
	if (!primary)
		return n;
	if (codec_put(out, 1, role) == -1)
		return -1;
	steps[n++] = LOGIN_ROLE;
	return n;
}

int
login_read(enum login_step step, const struct reply *r, struct fault *fault)
{
	const char *error = reply_error(r), *role;
	enum refusal refusal;
	size_t len;

	switch (step) {
	case LOGIN_AUTH:
	case LOGIN_SELECT:
		if (error == NULL)
			return 0;
		refusal = refusal_of(error, fault);
		if (step == LOGIN_AUTH && refusal != REFUSAL_AWAY)
			fault->code = FAULT_REFUSED;
		return -1;
	case LOGIN_ROLE:
		role = reply_text(reply_at(r, 0), &len);
		if (role == NULL ||
		    (len == 6 && memcmp(role, "master", 6) == 0))
			return 0; /* it is, or the right to ask is missing */
		return fault_set(fault, FAULT_UNAVAILABLE, 0,
		    "not the primary (yet, or any more)");
	case LOGIN_NAME:
		break; /* not needed */
	}
	return 0;
}
