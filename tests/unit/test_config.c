/* SPDX-License-Identifier: MIT */
/*
 * config: defaults, what must hold between options, the password's three
 * places, and how long a wait may last.
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "words/config.h"

static char command_word[] = "true";
static char *command[] = { command_word, NULL };

static void
init(struct config *cfg)
{
	config_init(cfg);
	cfg->key = "k";
	cfg->command = command;
}

static void
defaults(void)
{
	struct config cfg;
	struct fault fault;

	init(&cfg);
	CHECK_EQ(cfg.verb, VERB_RUN);
	CHECK_STR(cfg.prefix, "lock:");
	CHECK_STR(cfg.note, "");
	CHECK_EQ(cfg.ttl_ms, 0); /* until it is checked */
	CHECK_EQ(cfg.wait_ms, CONFIG_FOREVER);
	CHECK_EQ(cfg.retries, CONFIG_FOREVER);
	CHECK_EQ(cfg.retry_delay_ms, 100);
	CHECK_EQ(cfg.retry_max_ms, 1000);
	CHECK_EQ(cfg.conflict_status, 75);
	CHECK_EQ(cfg.on_lost, ON_LOST_KILL);
	CHECK_EQ(cfg.signal, SIGTERM);
	CHECK_EQ(cfg.kill_after_ms, 5000);
	CHECK_EQ(cfg.max_run_ms, 0);
	CHECK_EQ(cfg.connect_timeout_ms, 2000);
	CHECK_EQ(cfg.command_timeout_ms, 2000);
	CHECK_EQ(cfg.verbosity, 0);
	CHECK(cfg.report == NULL && cfg.password_file == NULL);
	CHECK_EQ(config_check(&cfg, &fault), 0);
	CHECK_STR(cfg.endpoint.shown, "redis://127.0.0.1:6379");
	CHECK(cfg.endpoint.password == NULL && cfg.endpoint.user == NULL);
	CHECK(cfg.command == command);
	config_release(&cfg);
}

static void
check_fault(struct config *cfg, const char *says, int line)
{
	struct fault fault = { 0 };

	check_eq(config_check(cfg, &fault), says == NULL ? 0 : -1,
	    says == NULL ? "config_check" : says, __FILE__, line);
	if (says != NULL) {
		check_eq(fault.code, FAULT_USAGE, says, __FILE__, line);
		check_has(fault.text, says, true, __FILE__, line);
	}
	config_release(cfg);
}

static void
keys(void)
{
	static const struct {
		const char *prefix, *key, *says;
	} rows[] = {
		{ "lock:", "k", NULL },
		{ "", "k", NULL },
		{ "lock:", "rlock:x", NULL },
		{ "", "rlock", NULL },
		{ "rlock", "x:", NULL },
		{ "xrlock:", "", "is empty" },
		{ "", "rlock:", "rlock's own" },
		{ "rlock:", "x", "rlock's own" },
		{ "rlock:q", "x", "rlock's own" },
		{ "rl", "ock:x", "rlock's own" },
		{ "rlock", ":", "rlock's own" },
		{ "RLOCK:", "x", NULL },
		{ "rlocx:", "rlock:", NULL },
		{ "lock:", "\x01\xff\n {}", NULL },
	};
	struct config cfg;
	char key[CONFIG_KEY_MAX + 2];
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		init(&cfg);
		cfg.prefix = rows[i].prefix;
		cfg.key = rows[i].key;
		check_fault(&cfg, rows[i].says, __LINE__);
	}
	memset(key, 'k', sizeof(key));
	key[CONFIG_KEY_MAX + 1] = '\0';
	init(&cfg);
	cfg.key = key;
	check_fault(&cfg, "1025 bytes", __LINE__);
	init(&cfg);
	cfg.key = key + 1;
	check_fault(&cfg, NULL, __LINE__);
}

static void
commands(void)
{
	static char empty_word[] = "";
	static char *empty[] = { empty_word, NULL };
	struct config cfg;
	struct fault fault;

	init(&cfg);
	cfg.key = NULL;
	check_fault(&cfg,
	    "no lock named: -k KEY (the lock's name goes after "
	    "-k; ",
	    __LINE__);
	cfg.command = NULL;
	check_fault(&cfg,
	    "no lock named: -k KEY (the lock's name goes after "
	    "-k)",
	    __LINE__);
	init(&cfg);
	cfg.command = NULL;
	check_fault(&cfg, "no command", __LINE__);
	init(&cfg);
	cfg.shell_command = "true";
	check_fault(&cfg, "-c STR and a command ('true')", __LINE__);
	init(&cfg);
	cfg.command = empty;
	check_fault(&cfg, NULL, __LINE__);
	init(&cfg);
	cfg.command = NULL;
	cfg.shell_command = "echo \"$0\"";
	CHECK_EQ(config_check(&cfg, &fault), 0);
	CHECK_STR(cfg.command[0], "/bin/sh");
	CHECK_STR(cfg.command[1], "-c");
	CHECK_STR(cfg.command[2], "echo \"$0\"");
	CHECK(cfg.command[3] == NULL);
	config_release(&cfg);
	CHECK(cfg.command == NULL);
	config_release(&cfg);
}

static void
verbs_need_nothing(void)
{
	struct config cfg;

	config_init(&cfg);
	cfg.verb = VERB_HELP;
	check_fault(&cfg, NULL, __LINE__);
	cfg.verb = VERB_VERSION;
	check_fault(&cfg, NULL, __LINE__);
}

static char path[] = "/tmp/rlock-test-config-XXXXXX";

static bool
write_file(const char *text, size_t len)
{
	FILE *file = fopen(path, "w");

	if (file == NULL)
		return false;
	fwrite(text, 1, len, file);
	return fclose(file) == 0;
}

static void
password_files(void)
{
	static const struct {
		const char *text;
		size_t len;
		const char *password, *says;
	} rows[] = {
		{ "pw", 2, "pw", NULL },
		{ "pw\n", 3, "pw", NULL },
		{ "pw\r\n", 4, "pw", NULL },
		{ "pw\n\n", 4, "pw", NULL },
		{ "pw\r\r\n", 5, "pw\r", NULL },
		{ "pw\r", 3, "pw\r", NULL },
		{ "pw\nmore\0", 8, "pw", NULL },
		{ " p w \n", 6, " p w ", NULL },
		{ "\xff\x01\n", 3, "\xff\x01", NULL },
		{ "\r\r\n", 3, "\r", NULL },
		{ "", 0, NULL, "empty" },
		{ "\n", 1, NULL, "empty" },
		{ "\r\n", 2, NULL, "empty" },
		{ "\nS3CRET", 7, NULL, "empty" },
		{ "S3CRET\0x\n", 9, NULL, "NUL" },
		{ "\0", 1, NULL, "NUL" },
	};
	struct config cfg;
	struct fault fault;
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		CHECK(write_file(rows[i].text, rows[i].len));
		init(&cfg);
		cfg.password_file = path;
		memset(&fault, 0, sizeof(fault));
		CHECK_EQ(config_check(&cfg, &fault),
		    rows[i].says == NULL ? 0 : -1);
		CHECK_STR(cfg.endpoint.password, rows[i].password);
		if (rows[i].says != NULL) {
			CHECK_EQ(fault.code, FAULT_USAGE);
			CHECK_HAS(fault.text, rows[i].says);
			CHECK_HAS(fault.text, path);
			CHECK_LACKS(fault.text, "S3CRET");
		}
		config_release(&cfg);
	}
}

static void
password_file_length(void)
{
	static const struct {
		size_t len;
		const char *end;
		bool fits;
	} rows[] = {
		{ 4095, "", true },
		{ 4096, "", true },
		{ 4096, "\n", true },
		{ 4096, "\r\n", true },
		{ 4096, "\r\nx", true },
		{ 4097, "", false },
		{ 4097, "\n", false },
		{ 4097, "\r\n", false },
		{ 4098, "", false },
		{ 100000, "", false },
		{ 100000, "\n", false },
	};
	static char text[100010];
	struct config cfg;
	struct fault fault;
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		memset(text, 'p', rows[i].len);
		strcpy(text + rows[i].len, rows[i].end);
		CHECK(write_file(text, strlen(text)));
		init(&cfg);
		cfg.password_file = path;
		CHECK_EQ(config_check(&cfg, &fault), rows[i].fits ? 0 : -1);
		if (rows[i].fits)
			CHECK_EQ(strlen(cfg.endpoint.password), rows[i].len);
		else
			CHECK_HAS(fault.text, "4096");
		config_release(&cfg);
	}
}

static void
password_file_unreadable(void)
{
	struct config cfg;

	init(&cfg);
	cfg.password_file = "/nonexistent/x";
	check_fault(&cfg, "'/nonexistent/x': No such file", __LINE__);
	init(&cfg);
	cfg.password_file = "/tmp";
	check_fault(&cfg, "'/tmp': Is a directory", __LINE__);
	init(&cfg);
	cfg.password_file = "/dev/null";
	check_fault(&cfg, "'/dev/null': its first line is empty", __LINE__);
}

static void
password_precedence(void)
{
	static const struct {
		const char *url, *env;
		bool file;
		const char *user, *password;
	} rows[] = {
		{ "redis://h", NULL, false, NULL, NULL },
		{ "redis://h", "e", false, NULL, "e" },
		{ "redis://:p@h", "e", false, NULL, "p" },
		{ "redis://:p@h", "e", true, NULL, "file" },
		{ "redis://h", NULL, true, NULL, "file" },
		{ "redis://u@h", NULL, false, "u", "" },
		{ "redis://u@h", "e", false, "u", "e" },
		{ "redis://u@h", "e", true, "u", "file" },
		{ "redis://u:@h", "e", false, "u", "" },
		{ "redis://u:p@h", "e", false, "u", "p" },
		{ "redis://:@h", "e", false, NULL, "e" },
		{ "redis://:@h", NULL, false, NULL, NULL },
	};
	struct config cfg;
	struct fault fault;
	size_t i;

	CHECK(write_file("file\n", 5));
	for (i = 0; i < CHECK_COUNT(rows); i++) {
		init(&cfg);
		CHECK_EQ(endpoint_parse(rows[i].url, config_add_server(&cfg),
			     &fault),
		    0);
		cfg.env_password = rows[i].env;
		cfg.password_file = rows[i].file ? path : NULL;
		CHECK_EQ(config_check(&cfg, &fault), 0);
		check_str(cfg.endpoint.user, rows[i].user, rows[i].url,
		    __FILE__, __LINE__);
		check_str(cfg.endpoint.password, rows[i].password, rows[i].url,
		    __FILE__, __LINE__);
		config_release(&cfg);
	}
}

/* What is for the data servers never goes to the sentinels. */
static void
sentinel_passwords(void)
{
	static const struct {
		const char *url;
		bool others;
		const char *password, *sentinel_user, *sentinel_password;
	} rows[] = {
		{ "sentinel://h/m", false, NULL, NULL, NULL },
		{ "sentinel://h/m", true, "file", NULL, NULL },
		{ "sentinel://u:p@h/m", false, "p", NULL, NULL },
		{ "sentinel://u@h/m", false, "", NULL, NULL },
		{ "sentinel://h/m?sentinel-password=s", true, "file", NULL,
		    "s" },
		{ "sentinel://h/m?sentinel-user=u", false, NULL, "u", "" },
		{ "sentinel://h/m?sentinel-user=u", true, "file", "u", "" },
		{ "sentinels://u:p@h/m?sentinel-user=v&sentinel-password=s",
		    false, "p", "v", "s" },
	};
	struct config cfg;
	struct fault fault;
	size_t i;

	CHECK(write_file("file\n", 5));
	for (i = 0; i < CHECK_COUNT(rows); i++) {
		init(&cfg);
		CHECK_EQ(endpoint_parse(rows[i].url, config_add_server(&cfg),
			     &fault),
		    0);
		cfg.env_password = rows[i].others ? "env" : NULL;
		cfg.password_file = rows[i].others ? path : NULL;
		CHECK_EQ(config_check(&cfg, &fault), 0);
		check_str(cfg.endpoint.password, rows[i].password, rows[i].url,
		    __FILE__, __LINE__);
		check_str(cfg.endpoint.sentinel_user, rows[i].sentinel_user,
		    rows[i].url, __FILE__, __LINE__);
		check_str(cfg.endpoint.sentinel_password,
		    rows[i].sentinel_password, rows[i].url, __FILE__, __LINE__);
		config_release(&cfg);
	}
}

/* The options of TLS: which go together, and with which URL. */
static void
tls_options(void)
{
	static const struct {
		const char *url;
		struct tls_options tls;
		const char *says;
	} rows[] = {
		{ "rediss://h", { NULL, NULL, NULL, 0 }, NULL },
		{ "rediss://h", { "a", NULL, NULL, 1 }, NULL },
		{ "rediss://h", { "a", "c", "k", 1 }, NULL },
		{ "sentinels://h/m", { "a", "c", "k", 1 }, NULL },
		{ "rediss://h", { NULL, "c", NULL, 0 }, "go together" },
		{ "rediss://h", { "a", NULL, "k", 0 }, "go together" },
		{ "redis://h", { NULL, "c", NULL, 0 }, "go together" },
		{ "redis://h", { NULL, "c", "k", 0 },
		    "no meaning with redis://h:6379" },
		{ "redis://h", { "a", NULL, NULL, 0 }, "no meaning with" },
		{ "redis://u:S3CRET@h", { NULL, NULL, NULL, 1 },
		    "with redis://h:6379 (rediss://" },
		{ "/s", { NULL, NULL, NULL, 1 }, "with unix:///s" },
		{ "sentinel://h/m", { "a", NULL, NULL, 0 },
		    "with sentinel://h:26379/m" },
		{ NULL, { "a", NULL, NULL, 0 }, "with redis://127.0.0.1" },
	};
	struct config cfg;
	struct fault fault;
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		init(&cfg);
		if (rows[i].url != NULL)
			CHECK_EQ(endpoint_parse(rows[i].url,
				     config_add_server(&cfg), &fault),
			    0);
		cfg.tls = rows[i].tls;
		check_fault(&cfg, rows[i].says, __LINE__);
	}
}

static void
wait_limits(void)
{
	static const int64_t longest = INT64_C(1) << 53;
	const struct {
		int64_t wait, retries, delay, max, want;
	} rows[] = {
		{ -1, -1, 100, 1000, -1 },
		{ 0, -1, 100, 1000, 0 },
		{ 5000, -1, 100, 1000, 5000 },
		{ -1, 0, 100, 1000, 0 },
		{ 5000, 0, 100, 1000, 0 },
		{ 0, 5, 100, 1000, 0 },
		{ -1, 1, 100, 1000, 100 },
		{ -1, 2, 100, 1000, 300 },
		{ -1, 4, 100, 1000, 1500 },
		{ -1, 5, 100, 1000, 2500 },
		{ -1, 6, 100, 1000, 3500 },
		{ 700, 6, 100, 1000, 700 },
		{ 3501, 6, 100, 1000, 3500 },
		{ -1, 3, 1000, 200, 600 },
		{ -1, 3, 200, 200, 600 },
		{ -1, 3, 1, 1, 3 },
		{ -1, INT32_MAX, 1, 1, INT32_MAX },
		{ -1, INT32_MAX, 1, longest, INT64_MAX },
		{ -1, INT32_MAX, longest, longest, INT64_MAX },
		{ 9, INT32_MAX, longest, longest, 9 },
	};
	struct config cfg;
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		config_init(&cfg);
		cfg.wait_ms = rows[i].wait;
		cfg.retries = rows[i].retries;
		cfg.retry_delay_ms = rows[i].delay;
		cfg.retry_max_ms = rows[i].max;
		CHECK_EQ(config_wait_limit_ms(&cfg), rows[i].want);
	}
}

/* What has no meaning with several servers, or without one. */
static void
servers(void)
{
	static const struct {
		const char *urls[4];
		const char *says;
		int slots, fence, replicas;
		int64_t once_ms;
	} rows[] = {
		{ { "redis://a", "redis://b", "unix:///c" }, NULL, 0, 0, 0, 0 },
		{ { "redis://a", "redis://b" }, NULL, 0, 0, 0, 0 },
		{ { "redis://a", "redis://b", "sentinel://c/m" }, NULL, 0, 0, 0,
		    0 },
		{ { "redis://a", "redis://b" }, "-s has no meaning", -1, 0, 0,
		    0 },
		{ { "redis://a", "redis://b" }, "-j has no meaning", 2, 0, 0,
		    0 },
		{ { "redis://a", "redis://b" }, "--fence has no", 0, 1, 0, 0 },
		{ { "redis://a", "redis://b" }, "--replicas has", 0, 0, 1, 0 },
		{ { "redis://a", "redis://b" }, "--once has no", 0, 0, 0, 9 },
		{ { "redis://a", "local:" }, "local: can't be", 0, 0, 0, 0 },
		{ { "redis://a", "redis://b", "redis://:S3CRET@a:6379" },
		    "redis://a:6379 is given twice", 0, 0, 0, 0 },
		{ { "local:" }, NULL, -1, 0, 0, 9 },
		{ { "local:" }, "--fence has no meaning", 0, 1, 0, 0 },
		{ { "local:" }, "--replicas has no meaning", 0, 0, 1, 0 },
	};
	struct config cfg;
	struct fault fault;
	size_t i, k;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		init(&cfg);
		for (k = 0; k < 4 && rows[i].urls[k] != NULL; k++)
			CHECK_EQ(endpoint_parse(rows[i].urls[k],
				     config_add_server(&cfg), &fault),
			    0);
		cfg.slots = rows[i].slots;
		cfg.fence = rows[i].fence;
		cfg.replicas = rows[i].replicas;
		cfg.once_ms = rows[i].once_ms;
		check_fault(&cfg, rows[i].says, __LINE__);
		if (rows[i].says == NULL && k > 1)
			CHECK_HAS(cfg.shown, "servers");
		config_release(&cfg);
	}
}

/* So many, and not one more. */
static void
many_servers(void)
{
	struct config cfg;
	int i;

	init(&cfg);
	for (i = 0; i < CONFIG_SERVERS_MAX; i++)
		CHECK(config_add_server(&cfg) == config_server(&cfg, i));
	CHECK(config_add_server(&cfg) == NULL);
	CHECK_EQ(cfg.servers, CONFIG_SERVERS_MAX);
	config_release(&cfg);
}

/* The copy has no server, and shares the rest. */
static void
without_server(void)
{
	struct config cfg, copy;
	struct fault fault;

	init(&cfg);
	cfg.on_unreachable = UNREACHABLE_LOCAL;
	CHECK_EQ(config_check(&cfg, &fault), 0);
	CHECK_EQ(config_without_server(&cfg, &copy, &fault), 0);
	CHECK_EQ(copy.endpoint.kind, ENDPOINT_LOCAL);
	CHECK_EQ(copy.servers, 1);
	CHECK(copy.command == cfg.command);
	endpoint_release(&copy.endpoint);
	cfg.on_unreachable = UNREACHABLE_RUN;
	CHECK_EQ(config_without_server(&cfg, &copy, &fault), 0);
	CHECK_EQ(copy.endpoint.kind, ENDPOINT_NONE);
	endpoint_release(&copy.endpoint);
	config_release(&cfg);
}

int
main(void)
{
	int fd = mkstemp(path);

	if (fd == -1)
		return 1;
	close(fd);
	CHECK_RUN(defaults);
	CHECK_RUN(keys);
	CHECK_RUN(commands);
	CHECK_RUN(verbs_need_nothing);
	CHECK_RUN(password_files);
	CHECK_RUN(password_file_length);
	CHECK_RUN(password_file_unreadable);
	CHECK_RUN(password_precedence);
	CHECK_RUN(sentinel_passwords);
	CHECK_RUN(tls_options);
	CHECK_RUN(wait_limits);
	unlink(path);
	CHECK_RUN(servers);
	CHECK_RUN(many_servers);
	CHECK_RUN(without_server);
	return check_done();
}
