/* SPDX-License-Identifier: MIT */
/*
 * url: the parts of a server's URL, each read into its place in struct
 * endpoint.  All return 0, or -1 and a FAULT_USAGE (FAULT_SYSTEM without
 * memory).
 */
#ifndef RLOCK_URL_H
#define RLOCK_URL_H

#include "base/fault.h"
#include "words/endpoint.h"
#include "words/span.h"

#define ENDPOINT_DB_UNSET (-1)

/* What is wrong in any part; the others may rely on its escapes being valid. */
int url_check_bytes(const char *text, struct fault *);

/* USER[:PASSWORD] */
int url_set_userinfo(struct endpoint *, struct span, struct fault *);

/* HOST[:PORT] */
int url_set_host(struct endpoint_host *, struct span, int port_default,
    struct fault *);

/* A database's number; once. */
int url_set_db(struct endpoint *, struct span, struct fault *);

/* "" or what begins with '?'. */
int url_set_query(struct endpoint *, struct span, struct fault *);

#endif
