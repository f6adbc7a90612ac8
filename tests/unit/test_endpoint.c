/* SPDX-License-Identifier: MIT */
/*
 * endpoint: the grammar, what it refuses and how it says so, and that a
 * password gets into no message.
 */
#include "check.h"
#include "words/endpoint.h"

struct good {
	const char *url, *host;
	int port;
	const char *path, *user, *password;
	int db;
	const char *shown;
};

static void
check_good(const struct good *row)
{
	struct endpoint ep;
	struct fault fault = { 0 };
	int line = __LINE__;

	if (endpoint_parse(row->url, &ep, &fault) == -1) {
		check_str(fault.text, "", row->url, __FILE__, line);
		return;
	}
	check_eq(ep.kind, row->path != NULL ? ENDPOINT_UNIX : ENDPOINT_TCP,
	    row->url, __FILE__, line);
	check_str(ep.host, row->host, row->url, __FILE__, line);
	check_eq(ep.port, row->port, row->url, __FILE__, line);
	check_str(ep.path, row->path, row->url, __FILE__, line);
	check_str(ep.user, row->user, row->url, __FILE__, line);
	check_str(ep.password, row->password, row->url, __FILE__, line);
	check_eq(ep.db, row->db, row->url, __FILE__, line);
	check_str(ep.shown, row->shown, row->url, __FILE__, line);
	endpoint_release(&ep);
	CHECK(ep.shown == NULL && ep.password == NULL);
	endpoint_release(&ep);
}

static void
tcp(void)
{
	static const struct good rows[] = {
		{ "redis://h", "h", 6379, NULL, NULL, NULL, 0,
		    "redis://h:6379" },
		{ "REDIS://h/", "h", 6379, NULL, NULL, NULL, 0,
		    "redis://h:6379" },
		{ "redis://127.0.0.1:1/0", "127.0.0.1", 1, NULL, NULL, NULL, 0,
		    "redis://127.0.0.1:1" },
		{ "redis://h:65535/2147483647", "h", 65535, NULL, NULL, NULL,
		    2147483647, "redis://h:65535/2147483647" },
		{ "redis://u:p@h:7/3", "h", 7, NULL, "u", "p", 3,
		    "redis://h:7/3" },
		{ "redis://:p@h", "h", 6379, NULL, NULL, "p", 0,
		    "redis://h:6379" },
		{ "redis://u@h", "h", 6379, NULL, "u", NULL, 0,
		    "redis://h:6379" },
		{ "redis://u:@h", "h", 6379, NULL, "u", "", 0,
		    "redis://h:6379" },
		{ "redis://:@h", "h", 6379, NULL, NULL, NULL, 0,
		    "redis://h:6379" },
		{ "redis://@h", "h", 6379, NULL, NULL, NULL, 0,
		    "redis://h:6379" },
		{ "redis://u:a:b:@h", "h", 6379, NULL, "u", "a:b:", 0,
		    "redis://h:6379" },
		{ "redis://%75%3a:%40%2F%3f%23%25+%20%C3%A9%0a@h", "h", 6379,
		    NULL, "u:", "@/?#%+ \xc3\xa9\n", 0, "redis://h:6379" },
		{ "redis://[::1]", "::1", 6379, NULL, NULL, NULL, 0,
		    "redis://[::1]:6379" },
		{ "redis://u:p@[2001:db8::1]:7001/2", "2001:db8::1", 7001, NULL,
		    "u", "p", 2, "redis://[2001:db8::1]:7001/2" },
		{ "redis://[fe80::1%25eth0]:1", "fe80::1%eth0", 1, NULL, NULL,
		    NULL, 0, "redis://[fe80::1%eth0]:1" },
		{ "redis://[::ffff:10.0.0.1]", "::ffff:10.0.0.1", 6379, NULL,
		    NULL, NULL, 0, "redis://[::ffff:10.0.0.1]:6379" },
		{ "redis://a-b_c.example.", "a-b_c.example.", 6379, NULL, NULL,
		    NULL, 0, "redis://a-b_c.example.:6379" },
		{ "redis://h?db=4", "h", 6379, NULL, NULL, NULL, 4,
		    "redis://h:6379/4" },
		{ "redis://h:9/?db=4", "h", 9, NULL, NULL, NULL, 4,
		    "redis://h:9/4" },
		{ "redis://h/1?user=u%26&password=p%3d=x", "h", 6379, NULL,
		    "u&", "p==x", 1, "redis://h:6379/1" },
		{ "redis://u@h?password=p", "h", 6379, NULL, "u", "p", 0,
		    "redis://h:6379" },
		{ "redis://h?user=&password=", "h", 6379, NULL, NULL, NULL, 0,
		    "redis://h:6379" },
		{ "redis://h:0080", "h", 80, NULL, NULL, NULL, 0,
		    "redis://h:80" },
	};
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++)
		check_good(&rows[i]);
}

static void
locals(void)
{
	struct endpoint ep;
	struct fault fault;

	CHECK_EQ(endpoint_parse("local:", &ep, &fault), 0);
	CHECK_EQ(ep.kind, ENDPOINT_LOCAL);
	CHECK(ep.path == NULL);
	CHECK_STR(ep.shown, "local:");
	CHECK(endpoint_is_serverless(&ep));
	endpoint_release(&ep);
	CHECK_EQ(endpoint_parse("LOCAL:/d/my%20%3flocks", &ep, &fault), 0);
	CHECK_EQ(ep.kind, ENDPOINT_LOCAL);
	CHECK_STR(ep.path, "/d/my ?locks");
	CHECK_STR(ep.shown, "local:/d/my ?locks");
	endpoint_release(&ep);
	CHECK_EQ(endpoint_parse("redis://h", &ep, &fault), 0);
	CHECK(!endpoint_is_serverless(&ep));
	endpoint_release(&ep);
}

static void
clusters(void)
{
	struct endpoint ep;
	struct fault fault;

	CHECK_EQ(endpoint_parse("clusters://u:p@a,[::1]:7", &ep, &fault), 0);
	CHECK_EQ(ep.kind, ENDPOINT_CLUSTER);
	CHECK(ep.tls);
	CHECK_EQ(ep.host_count, 2);
	CHECK_EQ(ep.hosts[0].port, 6379);
	CHECK_STR(ep.hosts[1].host, "::1");
	CHECK_STR(ep.password, "p");
	CHECK_STR(ep.shown, "clusters://a:6379,[::1]:7");
	endpoint_release(&ep);
	CHECK_EQ(endpoint_parse("cluster://a/0", &ep, &fault), 0);
	CHECK_EQ(ep.db, 0);
	CHECK_STR(ep.shown, "cluster://a:6379");
	endpoint_release(&ep);
}

static void
tls_and_sentinels(void)
{
	struct endpoint ep;
	struct fault fault;

	CHECK_EQ(endpoint_parse("rediss://u:p@h/2", &ep, &fault), 0);
	CHECK_EQ(ep.kind, ENDPOINT_TCP);
	CHECK(ep.tls);
	CHECK_STR(ep.shown, "rediss://h:6379/2");
	endpoint_release(&ep);

	CHECK_EQ(endpoint_parse("sentinels://u:p@a,b:7,[::1],[::2]:9/my%20m/3?"
				"sentinel-user=su&sentinel-password=sp",
		     &ep, &fault),
	    0);
	CHECK_EQ(ep.kind, ENDPOINT_SENTINEL);
	CHECK(ep.tls);
	CHECK_EQ(ep.host_count, 4);
	CHECK_STR(ep.hosts[0].host, "a");
	CHECK_EQ(ep.hosts[0].port, 26379);
	CHECK_STR(ep.hosts[1].host, "b");
	CHECK_EQ(ep.hosts[1].port, 7);
	CHECK_STR(ep.hosts[2].host, "::1");
	CHECK_EQ(ep.hosts[3].port, 9);
	CHECK_STR(ep.name, "my m");
	CHECK_EQ(ep.db, 3);
	CHECK_STR(ep.user, "u");
	CHECK_STR(ep.password, "p");
	CHECK_STR(ep.sentinel_user, "su");
	CHECK_STR(ep.sentinel_password, "sp");
	CHECK_STR(ep.shown,
	    "sentinels://a:26379,b:7,[::1]:26379,[::2]:9/my m/3");
	endpoint_release(&ep);

	CHECK_EQ(endpoint_parse("sentinel://h?name=m", &ep, &fault), 0);
	CHECK_STR(ep.name, "m");
	CHECK(!ep.tls);
	CHECK(ep.user == NULL && ep.sentinel_user == NULL);
	endpoint_release(&ep);
	CHECK(ep.name == NULL && ep.host_count == 0);

	CHECK_EQ(endpoint_parse(
		     "sentinel://h?user=u%40&password=%2fp&name=a%2fb&db=2",
		     &ep, &fault),
	    0);
	CHECK_STR(ep.name, "a/b");
	CHECK_STR(ep.user, "u@");
	CHECK_STR(ep.password, "/p");
	CHECK_EQ(ep.db, 2);
	CHECK(ep.sentinel_user == NULL && ep.sentinel_password == NULL);
	CHECK_STR(ep.shown, "sentinel://h:26379/a/b/2");
	endpoint_release(&ep);

	CHECK_EQ(endpoint_parse("SENTINELS://a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p/m",
		     &ep, &fault),
	    0);
	CHECK_EQ(ep.host_count, ENDPOINT_HOSTS_MAX);
	CHECK_STR(ep.hosts[15].host, "p");
	endpoint_release(&ep);
}

static void
sockets(void)
{
	static const struct good rows[] = {
		{ "/run/redis.sock", NULL, 0, "/run/redis.sock", NULL, NULL, 0,
		    "unix:///run/redis.sock" },
		{ "/p?db=2&password=x", NULL, 0, "/p", NULL, "x", 2,
		    "unix:///p?db=2" },
		{ "unix:///p", NULL, 0, "/p", NULL, NULL, 0, "unix:///p" },
		{ "unix:///p?db=2", NULL, 0, "/p", NULL, NULL, 2,
		    "unix:///p?db=2" },
		{ "redis+unix:///p/q", NULL, 0, "/p/q", NULL, NULL, 0,
		    "unix:///p/q" },
		{ "unix://u:p@/p", NULL, 0, "/p", "u", "p", 0, "unix:///p" },
		{ "unix://:p%2f@/p", NULL, 0, "/p", NULL, "p/", 0,
		    "unix:///p" },
		{ "unix:///a@b:c", NULL, 0, "/a@b:c", NULL, NULL, 0,
		    "unix:///a@b:c" },
		{ "unix:///a%20b%3f%25", NULL, 0, "/a b?%", NULL, NULL, 0,
		    "unix:///a b?%" },
		{ "unix:///\xc3\xa9", NULL, 0, "/\xc3\xa9", NULL, NULL, 0,
		    "unix:///\xc3\xa9" },
	};
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++)
		check_good(&rows[i]);
}

static void
path_length(void)
{
	struct endpoint ep;
	struct fault fault;
	char url[256] = "unix:///";
	size_t len;

	for (len = 100; len < 120; len++) {
		memset(url + 8, 'x', len - 1);
		url[7 + len] = '\0';
		fault.text[0] = '\0';
		CHECK_EQ(endpoint_parse(url, &ep, &fault), len <= 107 ? 0 : -1);
		if (len == 108)
			CHECK_HAS(fault.text, "108 bytes");
		endpoint_release(&ep);
	}
	/* The limit counts decoded bytes. */
	memset(url, 0, sizeof(url));
	strcpy(url, "unix:///");
	for (len = 1; len < 80; len++)
		strcat(url, len % 2 == 0 ? "%41" : "x");
	CHECK(strlen(url + 7) > 107);
	CHECK_EQ(endpoint_parse(url, &ep, &fault), 0);
	CHECK_EQ(strlen(ep.path), 80);
	endpoint_release(&ep);
}

static void
refused(void)
{
	static const struct {
		const char *url, *says;
	} rows[] = {
		{ "", "empty" },
		{ "h", "no scheme" },
		{ "h:6379", "no scheme" },
		{ "://h", "no scheme" },
		{ "redis:h", "no scheme" },
		{ "redis:/h", "no scheme" },
		{ "http://h", "http:// is no scheme" },
		{ "http://h", "redis+unix://" },
		{ "cluster://", "has no host" },
		{ "cluster://h/1", "a cluster has only 0" },
		{ "CLUSTERS://h?db=2", "a cluster has only 0" },
		{ "cluster://h,", "has no host" },
		{ "cluster://h?name=m", "known are db, user and password" },
		{ "sentinel://h", "names no primary" },
		{ "sentinel://h/", "names no primary" },
		{ "sentinel://h//3", "names no primary" },
		{ "sentinel:///m", "has no host" },
		{ "sentinel://h,/m", "has no host" },
		{ "sentinel://h,,i/m", "has no host" },
		{ "sentinel://h:x,i/m", "the port" },
		{ "sentinel://h,i:0/m", "the port" },
		{ "sentinel://h,i:65536/m", "(HOST:PORT)" },
		{ "sentinel://h,/m", "where one belongs (HOST[:PORT])" },
		{ "sentinel://,h/m", "has no host" },
		{ "sentinel://u:p@/m", "has no host" },
		{ "sentinel://::1/m", "brackets: [::1]:PORT" },
		{ "sentinel://h,::1:7/m", "brackets: [::1]:PORT" },
		{ "sentinel://h,[::1/m", "']' ([::1]:PORT)" },
		{ "sentinel://h,[i]/m", "no IPv6 address ([::1]" },
		{ "sentinel://h;i/m", "host has a character" },
		{ "sentinel://u:p@q@h/m", "%40" },
		{ "sentinel://u:p/q@h/m", "%2F" },
		{ "sentinel://h/m@", "%40" },
		{ "sentinel://h?", "not known" },
		{ "sentinel://h?name=", "names no primary" },
		{ "sentinel://h?name=m&name=m", "primary's name twice" },
		{ "sentinel://h?sentinel-password=a&sentinel-password=a&name=m",
		    "sentinels' password twice" },
		{ "sentinel://h/m/3?db=3", "database twice" },
		{ "sentinel://h/m#", "%23" },
		{ "sentinel://h/m%", "%25" },
		{ "sentinel:h/m", "no scheme" },
		{ "rediss://h?name=m", "not known" },
		{ "rediss://h?sentinel-password=p",
		    "known are db, user and password" },
		{ "unix:///p?sentinel-user=u", "not known" },
		{ "sentinel://h/m/x", "database is not a number" },
		{ "sentinel://h/m/1/2", "database is not a number" },
		{ "sentinel://h/m?name=n", "primary's name twice" },
		{ "sentinel://h/m?sentinel-user=a&sentinel-user=b", "twice" },
		{ "sentinel://h/m?foo=1",
		    "known are db, user, password, name, sentinel-user and" },
		{ "sentinel://a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q/m",
		    "more than 16 hosts" },
		{ "local", "no scheme" },
		{ "local:d", "does not begin with '/'" },
		{ "local:./d", "does not begin with '/'" },
		{ "local:/d?db=1", "takes no parameters" },
		{ "local:/d d", "%20" },
		{ "redis://", "no host" },
		{ "redis://:7", "no host" },
		{ "redis:///0", "no host" },
		{ "redis://u:p@", "no host" },
		{ "redis://u:p@:7", "no host" },
		{ "redis://?db=1", "no host" },
		{ "redis://h:", "port" },
		{ "redis://h:/", "port" },
		{ "redis://h:0", "port" },
		{ "redis://h:65536", "port" },
		{ "redis://h:70000", "port" },
		{ "redis://h:abc", "port" },
		{ "redis://h:-1", "port" },
		{ "redis://h:port/", "port" },
		{ "redis://h:6379x", "port" },
		{ "redis://h:18446744073709557995", "port" },
		{ "redis://[::1]7", "port" },
		{ "redis://[::1]:", "port" },
		{ "redis://::1:7001", "brackets" },
		{ "redis://::1", "brackets" },
		{ "redis://fe80::1%25e", "brackets" },
		{ "redis://[::1", "']'" },
		{ "redis://[]", "IPv6" },
		{ "redis://[h]", "IPv6" },
		{ "redis://[127.0.0.1]", "IPv6" },
		{ "redis://[::1%25]", "IPv6" },
		{ "redis://[::1%25%0a]", "IPv6" },
		{ "redis://h,i", "host" },
		{ "redis://h%2c", "host" },
		{ "redis://\xc3\xa9", "host" },
		{ "redis://h]", "host" },
		{ "redis://u:p@q@h", "%40" },
		{ "redis://u:p/q@h", "%2F" },
		{ "redis://u:p?q@h", "%3F" },
		{ "redis://h/0@", "%40" },
		{ "redis://h/x", "database" },
		{ "redis://h/-1", "database" },
		{ "redis://h/0/", "database" },
		{ "redis://h//", "database" },
		{ "redis://h/2147483648", "database" },
		{ "redis://h/99999999999999999999999999", "database" },
		{ "redis://h?db=", "database" },
		{ "redis://h?db", "database" },
		{ "redis://h/0?db=1", "database twice" },
		{ "redis://h?db=1&db=1", "database twice" },
		{ "unix:///p?db=1&db=1", "database twice" },
		{ "redis://u@h?user=v", "user twice" },
		{ "redis://u:p@h?password=q", "password twice" },
		{ "redis://u:@h?password=q", "password twice" },
		{ "redis://h?password=q&password=q", "password twice" },
		{ "redis://h?x=1", "not known" },
		{ "redis://h?", "not known" },
		{ "redis://h?db=1&", "not known" },
		{ "redis://h?=", "not known" },
		{ "redis://h?DB=1", "not known" },
		{ "redis://h?sentinel-user=x", "not known" },
		{ "redis://h/#", "%23" },
		{ "redis://u:p#@h", "%23" },
		{ "/tmp/a#b", "%23" },
		{ "redis://h ", "%20" },
		{ " redis://h", "character 1 of" },
		{ "redis://h\t", "%09" },
		{ "redis://h\n", "%0A" },
		{ "redis://h\x7f", "%7F" },
		{ "redis://u:p%@h", "%25" },
		{ "redis://u:p%4@h", "%25" },
		{ "redis://u:p%gg@h", "%25" },
		{ "redis://h%", "%25" },
		{ "redis://h%4", "%25" },
		{ "redis://u:p%00@h", "%00" },
		{ "/p%00", "%00" },
		{ "redis://h#", "character 10 of" },
		{ "unix://p", "does not begin with '/'" },
		{ "unix://", "does not begin" },
		{ "unix:p", "no scheme" },
		{ "unix://u:p@", "does not begin" },
		{ "unix://u:p@path", "does not begin" },
		{ "unix://u:p/x@/path", "%2F" },
		{ "unix://u:p@q@/path", "second '@'" },
		{ "unix:///p?x=1", "not known" },
	};
	struct endpoint ep;
	struct fault fault;
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		memset(&fault, 0, sizeof(fault));
		check_eq(endpoint_parse(rows[i].url, &ep, &fault), -1,
		    rows[i].url, __FILE__, __LINE__);
		CHECK_EQ(fault.code, FAULT_USAGE);
		CHECK_HAS(fault.text, rows[i].says);
		CHECK(ep.host == NULL && ep.path == NULL && ep.user == NULL &&
		    ep.password == NULL && ep.shown == NULL);
		CHECK_EQ(endpoint_parse(rows[i].url, &ep, NULL), -1);
	}
}

/* Wherever a password may end up in a URL that is wrong. */
static void
no_secret_in_messages(void)
{
	static const char *const urls[] = {
		"redis://u:S3CRET@h",
		"redis://:S3CRET@h:x",
		"redis://u:S3CRET",
		"redis://:S3CRET",
		"redis://S3CRET:1x",
		"redis://u:pa/S3CRET@h",
		"redis://u:pa?S3CRET@h",
		"redis://u:pa#S3CRET@h",
		"redis://u:pa@S3CRET@h",
		"redis://u:pa%S3CRET@h",
		"redis://u:pa S3CRET@h",
		"redis://u:[S3CRET@h",
		"redis://u:pa:S3CRET:@h/x",
		"redis://h?password=S3CRET&x",
		"redis://h?S3CRET=1",
		"redis://h/S3CRET",
		"redis://h?db=S3CRET",
		"redis://[S3CRET]",
		"redis://S3CRET]",
		"u:S3CRET@h",
		"S3CRET",
		"S3CRET@h:1",
		"rediss://u:S3CRET@h",
		"sentinel://u:S3CRET@h,i/m",
		"sentinel://u:S3CRET@h,i:x/m",
		"sentinel://u:S3CRET,h/m",
		"sentinel://u:pa,S3CRET@h/m/x",
		"sentinel://h/m?sentinel-password=S3CRET",
		"sentinel://h/m?sentinel-password=S3CRET#",
		"sentinel://h/m?sentinel-passwort=S3CRET",
		"sentinels://h/m?sentinel-user=u&sentinel-password=S3CRET&db=x",
		"cluster://u:S3CRET@h/7",
		"http://u:S3CRET@h",
		"local:S3CRET",
		"unix://u:S3CRET@p",
		"unix://u:S3CRET/@/p",
		"unix://S3CRET",
		"unix://u:S3CRET@/p",
		"/p?S3CRET",
		"/p?password=S3CRET",
		"/p?password=S3CRET#",
		"redis://u:S3CRET@h?password=S3CRET",
	};
	struct endpoint ep;
	struct fault fault;
	size_t i;

	for (i = 0; i < CHECK_COUNT(urls); i++) {
		memset(&fault, 0, sizeof(fault));
		if (endpoint_parse(urls[i], &ep, &fault) == 0) {
			CHECK_LACKS(ep.shown, "S3CRET");
			endpoint_release(&ep);
		}
		CHECK_LACKS(fault.text, "S3CRET");
	}
}

static void
scrub(void)
{
	static const struct {
		const char *url, *want;
	} rows[] = {
		{ "redis://u:pass@h:1/0", "redis://u:****@h:1/0" },
		{ "redis://:p@h", "redis://:*@h" },
		{ "redis://u@h:6379", "redis://u@h:6379" },
		{ "redis://h:6379/0", "redis://h:6379/0" },
		{ "redis://u:a@b:c@h", "redis://u:*****@h" },
		{ "redis://u:a/b?c@h", "redis://u:*****@h" },
		{ "u:pw@h", "u:**@h" },
		{ "", "" },
		{ ":@", ":@" },
		{ "redis://h?password=pw&db=1", "redis://h?password=**&db=1" },
		{ "redis://h?db=1&password=p@w",
		    "redis://h?db=1&password=***" },
		{ "redis://h?password=", "redis://h?password=" },
		{ "redis://h?password=a&password=b",
		    "redis://h?password=*&password=*" },
		/* More than is needed, but never less. */
		{ "redis://u:p@h?password=q@r", "redis://u:****************" },
		{ "sentinel://u:pw@h:1,i:2/m", "sentinel://u:**@h:1,i:2/m" },
		{ "sentinel://h/m?sentinel-user=u&sentinel-password=pw",
		    "sentinel://h/m?sentinel-user=u&sentinel-password=**" },
		{ "sentinel://h:1/m?sentinel-password=a:b&db=1",
		    "sentinel://h:1/m?sentinel-password=***&db=1" },
		{ "unix://u:pw@/p", "unix://u:**@/p" },
		{ "unix:///a:b@c", "unix:///a:b@c" },
		{ "/a:b@c?password=p", "/a:b@c?password=*" },
		{ "redis://u:pa?password=zz@h", "redis://u:****************" },
	};
	char text[64];
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		strcpy(text, rows[i].url);
		endpoint_scrub(text);
		CHECK_STR(text, rows[i].want);
	}
}

int
main(void)
{
	CHECK_RUN(tcp);
	CHECK_RUN(sockets);
	CHECK_RUN(locals);
	CHECK_RUN(clusters);
	CHECK_RUN(tls_and_sentinels);
	CHECK_RUN(path_length);
	CHECK_RUN(refused);
	CHECK_RUN(no_secret_in_messages);
	CHECK_RUN(scrub);
	return check_done();
}
