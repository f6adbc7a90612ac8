/* SPDX-License-Identifier: MIT */
/*
 * endpoint: owns the grammar of URLs.  No message and no `shown' holds a byte
 * of the URL but its scheme and, once all of it has been understood, host,
 * port, path and DB: in a URL that is wrong, a password may stand anywhere.
 * It must not know how to reach a server.
 */
#include "words/endpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "words/url.h"

#define PORT_DEFAULT 6379
#define SENTINEL_PORT_DEFAULT 26379
#define PATH_LEN_MAX 107 /* sun_path of unix(7) less the NUL */
#define LOCAL "local"	 /* alone goes without the two slashes */

static const struct scheme {
	const char *name;
	bool tls;
	enum endpoint_kind kind;
} schemes[] = {
	{ "redis", false, ENDPOINT_TCP },
	{ "rediss", true, ENDPOINT_TCP },
	{ "unix", false, ENDPOINT_UNIX },
	{ "redis+unix", false, ENDPOINT_UNIX },
	{ "sentinel", false, ENDPOINT_SENTINEL },
	{ "sentinels", true, ENDPOINT_SENTINEL },
	{ LOCAL, false, ENDPOINT_LOCAL },
	{ "cluster", false, ENDPOINT_CLUSTER },
	{ "clusters", true, ENDPOINT_CLUSTER },
};

static int
usage(struct fault *fault, const char *text)
{
	return fault_set(fault, FAULT_USAGE, 0, "%s", text);
}

static int
unknown_scheme(const char *text, size_t len, struct fault *fault)
{
	static const char known[] =
	    "known are redis://, rediss://, unix://, redis+unix://, "
	    "sentinel://, sentinels://, cluster://, clusters://, local: "
	    "and /PATH";

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
	const char *colon;
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
		colon = schemes[i].kind == ENDPOINT_LOCAL ? ":" : "://";
		if (strlen(schemes[i].name) != len ||
		    strncasecmp(text, schemes[i].name, len) != 0 ||
		    strncmp(text + len, colon, strlen(colon)) != 0)
			continue;
		ep->kind = schemes[i].kind;
		ep->tls = schemes[i].tls;
		*rest = span_of(text + len + strlen(colon));
		return 0;
	}
	return unknown_scheme(text, len, fault);
}

/* HOST[:PORT], or a list of them for the sentinels. */
static int
set_hosts(struct endpoint *ep, struct span rest, struct fault *fault)
{
	int port = ep->kind == ENDPOINT_SENTINEL ? SENTINEL_PORT_DEFAULT :
						   PORT_DEFAULT;
	struct endpoint_host one = { NULL, 0 };
	struct span item;
	int status;

	if (ep->kind == ENDPOINT_TCP) {
		status = url_set_host(&one, rest, port, fault);
		/* Also when it is wrong: it is released with the rest. */
		ep->host = one.host;
		ep->port = one.port;
		return status;
	}
	for (;;) {
		item = span_until(rest, ",", &rest);
		if (ep->host_count == ENDPOINT_HOSTS_MAX)
			return fault_set(fault, FAULT_USAGE, 0,
			    "the URL has more than %d hosts",
			    ENDPOINT_HOSTS_MAX);
		if (url_set_host(&ep->hosts[ep->host_count++], item, port,
			fault) == -1)
			return -1;
		if (rest.len == 0)
			return 0;
		rest = span_skip(rest, 1);
	}
}

/* /DB, or /NAME[/DB] for the sentinels; "" is none. */
static int
set_path(struct endpoint *ep, struct span path, struct fault *fault)
{
	struct span name;

	if (ep->kind == ENDPOINT_SENTINEL && path.len > 1) {
		name = span_until(span_skip(path, 1), "/", &path);
		if (name.len > 0 && (ep->name = span_decode(name)) == NULL)
			return fault_set(fault, FAULT_SYSTEM, 0,
			    "out of memory");
	}
	return path.len > 1 ? url_set_db(ep, span_skip(path, 1), fault) : 0;
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
		if (url_set_userinfo(ep, authority, fault) == -1)
			return -1;
		authority.at = at + 1;
		authority.len = (size_t)(path.at - at - 1);
	}
	if (set_hosts(ep, authority, fault) == -1)
		return -1;
	path = span_until(path, "?", &query);
	if (set_path(ep, path, fault) == -1 ||
	    url_set_query(ep, query, fault) == -1)
		return -1;
	if (ep->kind == ENDPOINT_SENTINEL && ep->name == NULL)
		return usage(fault,
		    "the URL names no primary "
		    "(sentinel://HOST[:PORT][,HOST[:PORT]...]/NAME)");
	if (ep->kind == ENDPOINT_CLUSTER && ep->db > 0)
		return usage(fault,
		    "the URL names a database: a cluster has only 0");
	return 0;
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
		if (url_set_userinfo(ep, info, fault) == -1)
			return -1;
	}
	path = span_until(path, "?", &query);
	if ((ep->path = span_decode(path)) == NULL)
		return fault_set(fault, FAULT_SYSTEM, 0, "out of memory");
	if ((len = strlen(ep->path)) > PATH_LEN_MAX)
		return fault_set(fault, FAULT_USAGE, 0,
		    "the path of the "
		    "socket has %zu bytes, the system takes at most %d",
		    len, PATH_LEN_MAX);
	return url_set_query(ep, query, fault);
}

/* [DIR], from the root on: cron and a login are not in the same folder. */
static int
parse_local(struct endpoint *ep, struct span rest, struct fault *fault)
{
	if (rest.len == 0)
		return 0;
	if (rest.at[0] != '/')
		return usage(fault,
		    "the folder behind local: does not begin with '/' "
		    "(local:/PATH, or local: for the host's own)");
	if (span_find(rest, '?') != NULL)
		return usage(fault,
		    "local: takes no parameters (a '?' in the folder's name "
		    "is written %3F)");
	if ((ep->path = span_decode(rest)) == NULL)
		return fault_set(fault, FAULT_SYSTEM, 0, "out of memory");
	return 0;
}

static int
parse_rest(struct endpoint *ep, struct span rest, struct fault *fault)
{
	switch (ep->kind) {
	case ENDPOINT_UNIX:
		return parse_unix(ep, rest, fault);
	case ENDPOINT_LOCAL:
		return parse_local(ep, rest, fault);
	case ENDPOINT_TCP:
	case ENDPOINT_SENTINEL:
	case ENDPOINT_CLUSTER:
	case ENDPOINT_NONE:
		break;
	}
	return parse_tcp(ep, rest, fault);
}

static int
put_host(struct buf *out, const char *host, int port)
{
	bool ipv6 = strchr(host, ':') != NULL;

	return buf_printf(out, "%s%s%s:%d", ipv6 ? "[" : "", host,
	    ipv6 ? "]" : "", port);
}

static int
put_shown(struct buf *out, const struct endpoint *ep)
{
	int i;

	if (ep->kind == ENDPOINT_LOCAL)
		return buf_printf(out, LOCAL ":%s",
		    ep->path == NULL ? "" : ep->path);
	if (ep->kind == ENDPOINT_UNIX) {
		if (buf_printf(out, "unix://%s", ep->path) == -1)
			return -1;
		return ep->db == 0 ? 0 : buf_printf(out, "?db=%d", ep->db);
	}
	if (buf_printf(out, "%s%s://",
		ep->kind == ENDPOINT_SENTINEL	 ? "sentinel" :
		    ep->kind == ENDPOINT_CLUSTER ? "cluster" :
						   "redis",
		ep->tls ? "s" : "") == -1)
		return -1;
	if (ep->kind == ENDPOINT_TCP && put_host(out, ep->host, ep->port) == -1)
		return -1;
	for (i = 0; i < ep->host_count; i++)
		if ((i > 0 && buf_puts(out, ",") == -1) ||
		    put_host(out, ep->hosts[i].host, ep->hosts[i].port) == -1)
			return -1;
	if (ep->kind == ENDPOINT_SENTINEL &&
	    buf_printf(out, "/%s", ep->name) == -1)
		return -1;
	return ep->db == 0 ? 0 : buf_printf(out, "/%d", ep->db);
}

static int
make_shown(struct endpoint *ep, struct fault *fault)
{
	struct buf out = { 0 };

	if (put_shown(&out, ep) == -1 || buf_put(&out, "", 1) == -1) {
		buf_release(&out);
		return fault_set(fault, FAULT_SYSTEM, 0, "out of memory");
	}
	ep->shown = out.data;
	return 0;
}

int
endpoint_parse(const char *text, struct endpoint *ep, struct fault *fault)
{
	struct span rest = { NULL, 0 };

	memset(ep, 0, sizeof(*ep));
	ep->db = ENDPOINT_DB_UNSET;
	if (url_check_bytes(text, fault) == -1 ||
	    take_scheme(text, ep, &rest, fault) == -1)
		goto bad;
	if (parse_rest(ep, rest, fault) == -1)
		goto bad;
	if (ep->db == ENDPOINT_DB_UNSET)
		ep->db = 0;
	if (make_shown(ep, fault) == 0)
		return 0;
bad:
	endpoint_release(ep);
	return -1;
}

static void
wipe(char *secret)
{
	if (secret != NULL)
		explicit_bzero(secret, strlen(secret));
	free(secret);
}

void
endpoint_release(struct endpoint *ep)
{
	int i;

	wipe(ep->password);
	wipe(ep->sentinel_password);
	free(ep->user);
	free(ep->sentinel_user);
	free(ep->name);
	for (i = 0; i < ep->host_count; i++)
		free(ep->hosts[i].host);
	free(ep->host);
	free(ep->path);
	free(ep->shown);
	memset(ep, 0, sizeof(*ep));
}

bool
endpoint_is_serverless(const struct endpoint *ep)
{
	return ep->kind == ENDPOINT_LOCAL || ep->kind == ENDPOINT_NONE;
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
