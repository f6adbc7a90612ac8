/* SPDX-License-Identifier: MIT */
/*
 * endpoint: owns the grammar of URLs.  No message and no `shown' holds a byte
 * of the URL but its scheme and, once all of it has been understood, host,
 * port, path and DB: in a URL that is wrong, a password may stand anywhere.
 * It must not know how to reach a server.
 */
#include "words/endpoint.h"

#include <arpa/inet.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"
#include "words/span.h"

#define PORT_DEFAULT 6379
#define PATH_LEN_MAX 107 /* sun_path of unix(7) less the NUL */
#define DB_UNSET (-1)
#define HOST_BYTES \
	"abcdefghijklmnopqrstuvwxyz" \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"

static const struct scheme {
	const char *name;
	bool supported;
	enum endpoint_kind kind;
} schemes[] = {
	{ "redis", true, ENDPOINT_TCP },
	{ "unix", true, ENDPOINT_UNIX },
	{ "redis+unix", true, ENDPOINT_UNIX },
	{ "rediss", false, ENDPOINT_TCP },
	{ "sentinel", false, ENDPOINT_TCP },
	{ "sentinels", false, ENDPOINT_TCP },
	{ "cluster", false, ENDPOINT_TCP },
	{ "clusters", false, ENDPOINT_TCP },
};

static int
usage(struct fault *fault, const char *text)
{
	return fault_set(fault, FAULT_USAGE, 0, "%s", text);
}

/* A new string; check_bytes has found the escapes valid. */
static int
decode(struct span span, char **out, struct fault *fault)
{
	if ((*out = span_decode(span)) == NULL)
		return fault_set(fault, FAULT_SYSTEM, 0, "out of memory");
	return 0;
}

/* What is wrong in any part of a URL; the place is given, not the byte. */
static int
check_bytes(const char *text, struct fault *fault)
{
	const char *what = NULL;
	unsigned char c = 0;
	size_t i;

	for (i = 0; text[i] != '\0' && what == NULL; i++) {
		c = (unsigned char)text[i];
		if (c == '#')
			what = "is a raw '#'";
		else if (c <= ' ' || c == 0x7f)
			what = "is a space or a control character";
		else if (c == '%' && strncmp(text + i, "%00", 3) == 0)
			return fault_set(fault, FAULT_USAGE, 0,
			    "character "
			    "%zu of the URL is %%00, which nothing in it can "
			    "hold",
			    i + 1);
		else if (c == '%' &&
		    (parse_hex_digit(text[i + 1]) == -1 ||
			parse_hex_digit(text[i + 2]) == -1))
			what = "is a '%' that begins no escape";
	}
	if (what == NULL)
		return 0;
	return fault_set(fault, FAULT_USAGE, 0,
	    "character %zu of the URL %s (write %%%02X)", i, what, c);
}

static int
unknown_scheme(const char *text, size_t len, struct fault *fault)
{
	static const char known[] =
	    "known are redis://, unix://, redis+unix:// and /PATH";

	if (strncasecmp(text, "local:", 6) == 0)
		return usage(fault, "local: is not supported by this version");
	if (*text == '\0')
		return fault_set(fault, FAULT_USAGE, 0, "the URL is empty (%s)",
		    known);
	if (len == 0 || len > 20 || strncmp(text + len, "://", 3) != 0)
		return fault_set(fault, FAULT_USAGE, 0,
		    "the URL has no scheme (%s)", known);
	return fault_set(fault, FAULT_USAGE, 0,
	    "%.*s:// is no scheme that is known (%s)", (int)len, text, known);
}

/* Set ep->kind and *rest, what follows "://". */
static int
take_scheme(const char *text, struct endpoint *ep, struct span *rest,
    struct fault *fault)
{
	size_t i, len;

	if (*text == '/') {
		ep->kind = ENDPOINT_UNIX;
		*rest = span_of(text);
		return 0;
	}
	len = strspn(text,
	    "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");
	for (i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		if (strlen(schemes[i].name) != len ||
		    strncasecmp(text, schemes[i].name, len) != 0 ||
		    strncmp(text + len, "://", 3) != 0)
			continue;
		if (!schemes[i].supported)
			return fault_set(fault, FAULT_USAGE, 0,
			    "%s:// is not supported by this version",
			    schemes[i].name);
		ep->kind = schemes[i].kind;
		*rest = span_of(text + len + 3);
		return 0;
	}
	return unknown_scheme(text, len, fault);
}

/* A user or a password from either place; empty is none. */
static int
set_once(struct span value, char **out, const char *what, struct fault *fault)
{
	if (value.len == 0)
		return 0;
	if (*out != NULL)
		return fault_set(fault, FAULT_USAGE, 0,
		    "the URL gives the %s twice", what);
	return decode(value, out, fault);
}

static int
set_userinfo(struct endpoint *ep, struct span info, struct fault *fault)
{
	struct span user, rest;

	user = span_until(info, ":", &rest);
	if (set_once(user, &ep->user, "user", fault) == -1)
		return -1;
	if (rest.len == 0)
		return 0;
	rest = span_skip(rest, 1);
	/* "USER:@" says that this user's password is empty. */
	if (rest.len == 0 && ep->user != NULL)
		return decode(rest, &ep->password, fault);
	return set_once(rest, &ep->password, "password", fault);
}

static int
set_port(struct endpoint *ep, struct span port, struct fault *fault)
{
	int64_t n;

	ep->port = PORT_DEFAULT;
	if (port.len == 0)
		return 0;
	if (*port.at != ':' ||
	    span_count(span_skip(port, 1), 1, 65535, &n) == -1)
		return usage(fault,
		    "the port of the URL is not a number from "
		    "1 to 65535 (redis://HOST:PORT)");
	ep->port = (int)n;
	return 0;
}

static int
set_ipv6(struct endpoint *ep, struct span rest, struct fault *fault)
{
	struct in6_addr address;
	struct span host, port;
	char *zone;
	int valid;

	host = span_until(span_skip(rest, 1), "]", &port);
	if (port.len == 0)
		return usage(fault, "the URL's IPv6 address lacks its ']'");
	if (decode(host, &ep->host, fault) == -1)
		return -1;
	/* RFC 4007: the zone behind '%' (in a URL %25) names an interface. */
	if ((zone = strchr(ep->host, '%')) != NULL)
		*zone = '\0';
	valid = inet_pton(AF_INET6, ep->host, &address);
	if (zone != NULL)
		*zone = '%';
	if (valid != 1 ||
	    (zone != NULL &&
		(zone[1] == '\0' ||
		    zone[1 + strspn(zone + 1, HOST_BYTES)] != '\0')))
		return usage(fault,
		    "what the URL has in brackets is no IPv6 "
		    "address");
	return set_port(ep, span_skip(port, 1), fault);
}

static int
set_host(struct endpoint *ep, struct span rest, struct fault *fault)
{
	struct span host, port;

	if (rest.len > 0 && *rest.at == '[')
		return set_ipv6(ep, rest, fault);
	host = span_until(rest, ":", &port);
	if (port.len > 1 && span_find(span_skip(port, 1), ':') != NULL)
		return usage(fault,
		    "an IPv6 address stands in brackets: "
		    "redis://[::1]:6379");
	if (host.len == 0)
		return usage(fault,
		    "the URL has no host (redis://HOST[:PORT])");
	if (decode(host, &ep->host, fault) == -1)
		return -1;
	if (ep->host[strspn(ep->host, HOST_BYTES)] != '\0')
		return usage(fault,
		    "the URL's host has a character that no "
		    "host name has");
	return set_port(ep, port, fault);
}

static int
set_db(struct endpoint *ep, struct span value, struct fault *fault)
{
	int64_t n;

	if (ep->db != DB_UNSET)
		return usage(fault, "the URL gives the database twice");
	if (span_count(value, 0, INT_MAX, &n) == -1)
		return usage(fault,
		    "the URL's database is not a number from "
		    "0 to 2147483647");
	ep->db = (int)n;
	return 0;
}

/* query is "" or begins with '?'. */
static int
set_query(struct endpoint *ep, struct span query, struct fault *fault)
{
	struct span name, value;
	int error;

	while (query.len > 0) {
		value = span_until(span_skip(query, 1), "&", &query);
		name = span_until(value, "=", &value);
		if (value.len > 0)
			value = span_skip(value, 1);
		if (span_is(name, "db"))
			error = set_db(ep, value, fault);
		else if (span_is(name, "user"))
			error = set_once(value, &ep->user, "user", fault);
		else if (span_is(name, "password"))
			error =
			    set_once(value, &ep->password, "password", fault);
		else
			error = usage(fault,
			    "the URL has a query parameter "
			    "that is not known (known are db, user and "
			    "password)");
		if (error == -1)
			return -1;
	}
	return 0;
}

static int
parse_tcp(struct endpoint *ep, struct span rest, struct fault *fault)
{
	struct span authority, path, query;
	const char *at, *end = rest.at + rest.len;

	at = span_find(rest, '@');
	authority = span_until(rest, "/?", &path);
	if (at != NULL &&
	    (at >= path.at ||
		memchr(at + 1, '@', (size_t)(end - at - 1)) != NULL))
		return usage(fault,
		    "the URL has an '@' that does not end "
		    "USER:PASSWORD (in them write '@' as %40, '/' as %2F, "
		    "'?' as %3F)");
	if (at != NULL) {
		authority.len = (size_t)(at - authority.at);
		if (set_userinfo(ep, authority, fault) == -1)
			return -1;
		authority.at = at + 1;
		authority.len = (size_t)(path.at - at - 1);
	}
	if (set_host(ep, authority, fault) == -1)
		return -1;
	path = span_until(path, "?", &query);
	if (path.len > 1 && set_db(ep, span_skip(path, 1), fault) == -1)
		return -1;
	return set_query(ep, query, fault);
}

static int
parse_unix(struct endpoint *ep, struct span rest, struct fault *fault)
{
	struct span info, path, query;
	size_t len;

	info = span_until(rest, "/", &path);
	if (path.len == 0 || (info.len > 0 && info.at[info.len - 1] != '@'))
		return usage(fault,
		    "the path of a socket does not begin with "
		    "'/' (unix:///PATH; a '/' in a password is written %2F)");
	if (info.len > 0) {
		info.len--;
		if (span_find(info, '@') != NULL)
			return usage(fault,
			    "the URL has a second '@' (in "
			    "user and password it is written %40)");
		if (set_userinfo(ep, info, fault) == -1)
			return -1;
	}
	path = span_until(path, "?", &query);
	if (decode(path, &ep->path, fault) == -1)
		return -1;
	if ((len = strlen(ep->path)) > PATH_LEN_MAX)
		return fault_set(fault, FAULT_USAGE, 0,
		    "the path of the "
		    "socket has %zu bytes, the system takes at most %d",
		    len, PATH_LEN_MAX);
	return set_query(ep, query, fault);
}

static int
make_shown(struct endpoint *ep, struct fault *fault)
{
	char db[32] = "";
	bool ipv6 = ep->host != NULL && strchr(ep->host, ':') != NULL;
	int n;

	if (ep->kind == ENDPOINT_UNIX) {
		if (ep->db != 0)
			snprintf(db, sizeof(db), "?db=%d", ep->db);
		n = asprintf(&ep->shown, "unix://%s%s", ep->path, db);
	} else {
		if (ep->db != 0)
			snprintf(db, sizeof(db), "/%d", ep->db);
		n = asprintf(&ep->shown, "redis://%s%s%s:%d%s", ipv6 ? "[" : "",
		    ep->host, ipv6 ? "]" : "", ep->port, db);
	}
	if (n == -1) {
		ep->shown = NULL;
		return fault_set(fault, FAULT_SYSTEM, 0, "out of memory");
	}
	return 0;
}

int
endpoint_parse(const char *text, struct endpoint *ep, struct fault *fault)
{
	struct span rest = { NULL, 0 };

	memset(ep, 0, sizeof(*ep));
	ep->db = DB_UNSET;
	if (check_bytes(text, fault) == -1 ||
	    take_scheme(text, ep, &rest, fault) == -1)
		goto bad;
	if ((ep->kind == ENDPOINT_UNIX ? parse_unix(ep, rest, fault) :
					 parse_tcp(ep, rest, fault)) == -1)
		goto bad;
	if (ep->db == DB_UNSET)
		ep->db = 0;
	if (make_shown(ep, fault) == 0)
		return 0;
bad:
	endpoint_release(ep);
	return -1;
}

void
endpoint_release(struct endpoint *ep)
{
	if (ep->password != NULL)
		explicit_bzero(ep->password, strlen(ep->password));
	free(ep->password);
	free(ep->user);
	free(ep->host);
	free(ep->path);
	free(ep->shown);
	memset(ep, 0, sizeof(*ep));
}

void
endpoint_scrub(char *text)
{
	static const char name[] = "password=";
	char *from = text, *at, *colon, *query;

	if ((at = strstr(text, "://")) != NULL)
		from = at + 3;
	colon = strchr(from, ':');
	/* To the last '@': one in the password may lack its escape. */
	at = *from == '/' ? NULL : strrchr(from, '@');
	if ((query = strchr(from, '?')) == NULL)
		query = from + strlen(from);
	while ((query = strstr(query, name)) != NULL) {
		query += sizeof(name) - 1;
		while (*query != '\0' && *query != '&')
			*query++ = '*';
	}
	if (at != NULL && colon != NULL && colon < at)
		memset(colon + 1, '*', (size_t)(at - colon - 1));
}
