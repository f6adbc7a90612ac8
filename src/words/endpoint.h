/* SPDX-License-Identifier: MIT */
/*
 * endpoint: a server's URL taken apart.
 *
 *	redis://[USER[:PASSWORD]@]HOST[:PORT][/DB]
 *	rediss://...				(the same over TLS)
 *	unix://[USER[:PASSWORD]@]/PATH[?db=N]	(also redis+unix:// and /PATH)
 *	sentinel://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...]/NAME[/DB]
 *						(sentinels:// is TLS)
 *	cluster://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...]
 *						(clusters:// is TLS)
 *	local:[DIR]				(no server: files of this host)
 *
 * USER and PASSWORD, those of the data servers, are percent-decoded; IPv6 in
 * brackets; query parameters db, user, password, and for sentinels name,
 * sentinel-user and sentinel-password.  It never contacts anything.
 */
#ifndef RLOCK_ENDPOINT_H
#define RLOCK_ENDPOINT_H

#include <stdbool.h>

#include "base/fault.h"

enum endpoint_kind {
	ENDPOINT_TCP, ENDPOINT_UNIX, ENDPOINT_SENTINEL, ENDPOINT_CLUSTER,
	ENDPOINT_LOCAL,		/* files of this host */
	ENDPOINT_NONE		/* no lock at all; has no URL */
};

#define ENDPOINT_HOSTS_MAX 16

struct endpoint_host {
	char	*host;
	int	 port;
};

struct endpoint {
	enum endpoint_kind	 kind;
	char			*host;	/* TCP: name or address, no brackets */
	int			 port;	/* TCP: 1 to 65535 */
	char			*path;	/* unix: at most 107 bytes; local: the
					   folder, NULL: the host's */
	char			*user;	/* NULL: the default user */
	char			*password; /* NULL: none given */
	int			 db;	/* 0 to INT_MAX */
	bool			 tls;
	struct endpoint_host	 hosts[ENDPOINT_HOSTS_MAX]; /* SENTINEL,
					   CLUSTER: any of its nodes */
	int			 host_count;
	char			*name;	/* SENTINEL: of the primary */
	char			*sentinel_user;
	char			*sentinel_password;
	char			*shown;	/* for messages; no secret in it */
};

/*
 * Parse text.  0, or -1 and a FAULT_USAGE whose text names the part at fault
 * and how to write it, and never holds the password.
 */
int endpoint_parse(const char *text, struct endpoint *, struct fault *);

void endpoint_release(struct endpoint *);

/* Is no server behind it: does what is held last without renewals? */
bool endpoint_is_serverless(const struct endpoint *);

/* Overwrite the secrets in text (a part of argv) with '*', in place. */
void endpoint_scrub(char *text);

#endif
