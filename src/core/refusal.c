/* SPDX-License-Identifier: MIT */
/*
 * refusal: see refusal.h.  One table, walked in order; the first match wins.
 */
#include "core/refusal.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct row {
	const char *words; /* the error begins with them ... */
	bool anywhere;	   /* ... or has them anywhere */
	enum refusal refusal;
	const char *hint;
};

/* clang-format off */
static const struct row rows[] = {
	{ "NOAUTH", false, REFUSAL_RIGHTS,
	    "give the password by --password-file or REDISCLI_AUTH" },
	{ "WRONGPASS", false, REFUSAL_RIGHTS,
	    "check the user and the password" },
	{ "ERR invalid password", false, REFUSAL_RIGHTS,
	    "check the password" },
	{ "ERR AUTH ", false, REFUSAL_RIGHTS,
	    "the server has no password: give none, or name a user" },
	{ "ERR Client sent AUTH", false, REFUSAL_RIGHTS,
	    "the server has no password: give none" },
	{ "DENIED", false, REFUSAL_RIGHTS,
	    "the server's protected mode admits its own host only" },
	{ "NOPERM", true, REFUSAL_RIGHTS,
	    "the manual, under SERVERS, lists the rights that are enough" },
	{ "can't run this command", true, REFUSAL_RIGHTS,
	    "the manual, under SERVERS, lists the rights that are enough" },
	{ "can't access at least one of the", true, REFUSAL_RIGHTS,
	    "the manual, under SERVERS, lists the rights that are enough" },
	{ "ACL failure in script", true, REFUSAL_RIGHTS,
	    "the manual, under SERVERS, lists the rights that are enough" },
	{ "LOADING", true, REFUSAL_AWAY, "it reads its data: try later" },
	{ "BUSY ", false, REFUSAL_AWAY,
	    "somebody's script blocks it: SCRIPT KILL, or try later" },
	{ " BUSY ", true, REFUSAL_AWAY,
	    "somebody's script blocks it: SCRIPT KILL, or try later" },
	{ "MASTERDOWN", true, REFUSAL_AWAY, "its primary is away" },
	{ "TRYAGAIN", true, REFUSAL_AWAY, "a slot is being moved" },
	{ "CLUSTERDOWN", true, REFUSAL_AWAY, "the cluster is not complete" },
	{ "ERR max number of clients", false, REFUSAL_AWAY,
	    "raise maxclients, or try later" },
	{ "UNBLOCKED", false, REFUSAL_AWAY, "its role changed" },
	{ "READONLY", true, REFUSAL_UNFIT,
	    "it is a replica: name the primary" },
	{ "MISCONF", true, REFUSAL_UNFIT,
	    "it can't save to disk and refuses writes: see its log" },
	{ "OOM ", true, REFUSAL_UNFIT,
	    "it is out of memory: raise maxmemory or free some" },
	{ "NOREPLICAS", true, REFUSAL_UNFIT,
	    "too few replicas for min-replicas-to-write" },
	{ "WRONGTYPE", true, REFUSAL_UNFIT,
	    "a key of the lock has another type: choose another -k" },
	{ "MOVED ", true, REFUSAL_UNFIT,
	    "it is a node of a cluster: give cluster://" },
	{ "ASK ", false, REFUSAL_UNFIT,
	    "it is a node of a cluster: give cluster://" },
	{ "CROSSSLOT", true, REFUSAL_UNFIT,
	    "it is a node of a cluster: give cluster://" },
	{ "ERR DB index", false, REFUSAL_UNFIT,
	    "the server has fewer databases" },
	{ "ERR invalid DB index", false, REFUSAL_UNFIT,
	    "the server has fewer databases" },
	{ "ERR unknown command", true, REFUSAL_UNFIT,
	    "is it Redis 5.0 or later, with no command renamed?" },
	{ "Unknown Redis command", true, REFUSAL_UNFIT,
	    "is it Redis 5.0 or later, with no command renamed?" },
};
/* clang-format on */

static bool
matches(const struct row *row, const char *error)
{
	if (row->anywhere)
		return strstr(error, row->words) != NULL;
	return strncmp(error, row->words, strlen(row->words)) == 0;
}

enum refusal
refusal_of(const char *error, struct fault *fault)
{
	enum refusal refusal = REFUSAL_UNFIT;
	const char *hint = "is it Redis 5.0 or later?";
	enum fault_code code;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (matches(&rows[i], error)) {
			refusal = rows[i].refusal;
			hint = rows[i].hint;
			break;
		}
	}
	code = refusal == REFUSAL_AWAY ? FAULT_UNAVAILABLE :
	    refusal == REFUSAL_RIGHTS  ? FAULT_REFUSED :
					 FAULT_UNFIT;
	fault_set(fault, code, 0, "the server says \"%.160s\" (%s)", error,
	    hint);
	return refusal;
}
