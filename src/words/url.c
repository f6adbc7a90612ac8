/* SPDX-License-Identifier: MIT */
/*
 * url: see url.h.  As in endpoint.c, no message holds a byte of the URL.
 */
#include "words/url.h"

#include <arpa/inet.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

#define HOST_BYTES \
	"abcdefghijklmnopqrstuvwxyz" \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"

static int
usage(struct fault *fault, const char *text)
{
	return fault_set(fault, FAULT_USAGE, 0, "%s", text);
}

/* A new string; url_check_bytes has found the escapes valid. */
static int
decode(struct span span, char **out, struct fault *fault)
{
	if ((*out = span_decode(span)) == NULL)
		return fault_set(fault, FAULT_SYSTEM, 0, "out of memory");
	return 0;
}

/* What is wrong in any part of a URL; the place is given, not the byte. */
int
url_check_bytes(const char *text, struct fault *fault)
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

int
url_set_userinfo(struct endpoint *ep, struct span info, struct fault *fault)
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
set_port(struct endpoint_host *h, struct span port, struct fault *fault)
{
	int64_t n;

	if (port.len == 0)
		return 0;
	if (*port.at != ':' ||
	    span_count(span_skip(port, 1), 1, 65535, &n) == -1)
		return usage(fault,
		    "the port of the URL is not a number from "
		    "1 to 65535 (HOST:PORT)");
	h->port = (int)n;
	return 0;
}

static int
set_ipv6(struct endpoint_host *h, struct span rest, struct fault *fault)
{
	struct in6_addr address;
	struct span host, port;
	char *zone;
	int valid;

	host = span_until(span_skip(rest, 1), "]", &port);
	if (port.len == 0)
		return usage(fault,
		    "the URL's IPv6 address lacks its ']' ([::1]:PORT)");
	if (decode(host, &h->host, fault) == -1)
		return -1;
	/* RFC 4007: the zone behind '%' (in a URL %25) names an interface. */
	if ((zone = strchr(h->host, '%')) != NULL)
		*zone = '\0';
	valid = inet_pton(AF_INET6, h->host, &address);
	if (zone != NULL)
		*zone = '%';
	if (valid != 1 ||
	    (zone != NULL &&
		(zone[1] == '\0' ||
		    zone[1 + strspn(zone + 1, HOST_BYTES)] != '\0')))
		return usage(fault,
		    "what the URL has in brackets is no IPv6 "
		    "address ([::1], with a zone [fe80::1%25eth0])");
	return set_port(h, span_skip(port, 1), fault);
}

int
url_set_host(struct endpoint_host *h, struct span rest, int port_default,
    struct fault *fault)
{
	struct span host, port;

	h->port = port_default;
	if (rest.len > 0 && *rest.at == '[')
		return set_ipv6(h, rest, fault);
	host = span_until(rest, ":", &port);
	if (port.len > 1 && span_find(span_skip(port, 1), ':') != NULL)
		return usage(fault,
		    "an IPv6 address stands in brackets: "
		    "[::1]:PORT");
	if (host.len == 0)
		return usage(fault,
		    "the URL has no host where one belongs "
		    "(HOST[:PORT])");
	if (decode(host, &h->host, fault) == -1)
		return -1;
	if (h->host[strspn(h->host, HOST_BYTES)] != '\0')
		return usage(fault,
		    "the URL's host has a character that no "
		    "host name has");
	return set_port(h, port, fault);
}

int
url_set_db(struct endpoint *ep, struct span value, struct fault *fault)
{
	int64_t n;

	if (ep->db != ENDPOINT_DB_UNSET)
		return usage(fault, "the URL gives the database twice");
	if (span_count(value, 0, INT_MAX, &n) == -1)
		return usage(fault,
		    "the URL's database is not a number from "
		    "0 to 2147483647");
	ep->db = (int)n;
	return 0;
}

/* One of query's parameters. */
static int
set_parameter(struct endpoint *ep, struct span name, struct span value,
    struct fault *fault)
{
	bool sentinel = ep->kind == ENDPOINT_SENTINEL;

	if (span_is(name, "db"))
		return url_set_db(ep, value, fault);
	if (span_is(name, "user"))
		return set_once(value, &ep->user, "user", fault);
	if (span_is(name, "password"))
		return set_once(value, &ep->password, "password", fault);
	if (sentinel && span_is(name, "name"))
		return set_once(value, &ep->name, "primary's name", fault);
	if (sentinel && span_is(name, "sentinel-user"))
		return set_once(value, &ep->sentinel_user, "sentinels' user",
		    fault);
	if (sentinel && span_is(name, "sentinel-password"))
		return set_once(value, &ep->sentinel_password,
		    "sentinels' password", fault);
	return fault_set(fault, FAULT_USAGE, 0,
	    "the URL has a query parameter that is not known (known are db, "
	    "user%s password%s)",
	    sentinel ? "," : " and",
	    sentinel ? ", name, sentinel-user and sentinel-password" : "");
}

int
url_set_query(struct endpoint *ep, struct span query, struct fault *fault)
{
	struct span name, value;

	while (query.len > 0) {
		value = span_until(span_skip(query, 1), "&", &query);
		name = span_until(value, "=", &value);
		if (value.len > 0)
			value = span_skip(value, 1);
		if (set_parameter(ep, name, value, fault) == -1)
			return -1;
	}
	return 0;
}
