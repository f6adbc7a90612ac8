/* SPDX-License-Identifier: MIT */
/*
 * options: every option by every name, the environment, what contradicts
 * what, what is refused and with which words, and --help.
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "check.h"
#include "words/option_table.h"
#include "words/options.h"

#define WORDS_MAX 32
#define TOKEN "rlock:1:00112233445566778899aabbccddeeff:h:u:1:2:"

/* A command line, cut at blanks into bytes that may be overwritten. */
static char line_text[1024];
static char *line_words[WORDS_MAX + 1];

static int
split(const char *line)
{
	char *word, *rest;
	int n = 0;

	snprintf(line_text, sizeof(line_text), "rlock %s", line);
	for (word = strtok_r(line_text, " ", &rest);
	     word != NULL && n < WORDS_MAX; word = strtok_r(NULL, " ", &rest))
		line_words[n++] = strcmp(word, "''") == 0 ? word + 2 : word;
	line_words[n] = NULL;
	return n;
}

static int
read_line(struct config *cfg, const char *line, struct fault *fault)
{
	int n = split(line);

	config_init(cfg);
	memset(fault, 0, sizeof(*fault));
	return options_read(cfg, n, line_words, fault);
}

/* Reads "LINE -k k true", which must be right. */
static void
read_good(struct config *cfg, const char *line)
{
	struct fault fault;
	char whole[512];

	snprintf(whole, sizeof(whole), "%s -k k true", line);
	if (read_line(cfg, whole, &fault) == -1)
		check_str(fault.text, "", line, __FILE__, __LINE__);
}

static void
clear_environment(void)
{
	unsetenv("RLOCK_URL");
	unsetenv("RLOCK_PREFIX");
	unsetenv("RLOCK_TTL");
	unsetenv("REDISCLI_AUTH");
}

/* A field of struct config as a number. */
static int64_t
field_of(const struct config *cfg, size_t offset, size_t size)
{
	const char *at = (const char *)cfg + offset;
	int64_t wide;
	int narrow;

	memcpy(&narrow, at, sizeof(narrow));
	if (size == sizeof(narrow))
		return narrow;
	memcpy(&wide, at, sizeof(wide));
	return wide;
}

#define AT(field) \
	offsetof(struct config, field), sizeof(((struct config *)NULL)->field)

static void
numbers(void)
{
	static const struct {
		const char *line;
		size_t offset, size;
		int64_t want;
	} rows[] = {
		{ "-t 5", AT(ttl_ms), 5000 },
		{ "-t5m", AT(ttl_ms), 300000 },
		{ "--ttl=100ms", AT(ttl_ms), 100 },
		{ "--ttl 366d", AT(ttl_ms), INT64_C(31622400000) },
		{ "--tt 7", AT(ttl_ms), 7000 },
		{ "-n", AT(wait_ms), 0 },
		{ "--nonblock", AT(wait_ms), 0 },
		{ "--nb", AT(wait_ms), 0 },
		{ "--nonblocking", AT(wait_ms), 0 },
		{ "--nonb", AT(wait_ms), 0 },
		{ "--nonblocki", AT(wait_ms), 0 },
		{ "-w 5", AT(wait_ms), 5000 },
		{ "-w 0", AT(wait_ms), 0 },
		{ "-w 0.5", AT(wait_ms), 500 },
		{ "--wait 1h", AT(wait_ms), 3600000 },
		{ "--timeout=2", AT(wait_ms), 2000 },
		{ "--time 3", AT(wait_ms), 3000 },
		{ "-n -w 5", AT(wait_ms), 5000 },
		{ "-w 5 -n", AT(wait_ms), 0 },
		{ "-w 5 --timeout 6", AT(wait_ms), 6000 },
		{ "", AT(wait_ms), CONFIG_FOREVER },
		{ "-r 3", AT(retries), 3 },
		{ "--retries=0", AT(retries), 0 },
		{ "-r 2147483647", AT(retries), INT32_MAX },
		{ "--retry-delay 50ms", AT(retry_delay_ms), 50 },
		{ "--retry-max 1ms", AT(retry_max_ms), 1 },
		{ "-E 0", AT(conflict_status), 0 },
		{ "-E255", AT(conflict_status), 255 },
		{ "--conflict-exit-code 9", AT(conflict_status), 9 },
		{ "--on-lost kill", AT(on_lost), ON_LOST_KILL },
		{ "--on-lost=warn", AT(on_lost), ON_LOST_WARN },
		{ "--on-lost=warn --on-lost kill", AT(on_lost), ON_LOST_KILL },
		{ "--signal INT", AT(signal), SIGINT },
		{ "--signal=sigkill", AT(signal), SIGKILL },
		{ "--signal 15", AT(signal), 15 },
		{ "--kill-after 0", AT(kill_after_ms), 0 },
		{ "--kill-after 1.5", AT(kill_after_ms), 1500 },
		{ "--max-run 0", AT(max_run_ms), 0 },
		{ "--max-run 2m", AT(max_run_ms), 120000 },
		{ "--connect-timeout 3", AT(connect_timeout_ms), 3000 },
		{ "--command-timeout=4", AT(command_timeout_ms), 4000 },
		{ "-v", AT(verbosity), 1 },
		{ "--verbose", AT(verbosity), 1 },
		{ "-q", AT(verbosity), -1 },
		{ "--quiet", AT(verbosity), -1 },
		{ "-q -v", AT(verbosity), 1 },
		{ "-vq", AT(verbosity), -1 },
		{ "-vvv", AT(verbosity), 1 },
		{ "", AT(verbosity), 0 },
		{ "", AT(slots), 0 },
		{ "-x", AT(slots), 0 },
		{ "-e", AT(slots), 0 },
		{ "-s", AT(slots), -1 },
		{ "--shared", AT(slots), -1 },
		{ "-s --exclusive", AT(slots), 0 },
		{ "-s -j 4", AT(slots), 4 },
		{ "--slots=4096 -s", AT(slots), -1 },
		{ "-j 4 -x", AT(slots), 0 },
		{ "--fence", AT(fence), 1 },
		{ "", AT(shard), -1 },
		{ "--shard u42/1", AT(shard), 0 },
		/* 0x07f4401c, as python3 -c "import zlib; ..." says. */
		{ "--shard a/b/1000", AT(shard), 708 },
		{ "--min-hold 1m", AT(min_hold_ms), 60000 },
		{ "-s --min-hold 0", AT(min_hold_ms), 0 },
		{ "--once 1d", AT(once_ms), 86400000 },
		{ "--once-exit-code 7", AT(once_status), 7 },
		{ "--replicas 2", AT(replicas), 2 },
		{ "--log json", AT(log_json), 1 },
		{ "--log text", AT(log_json), 0 },
		{ "-u rediss://h --tls-insecure", AT(tls.insecure), 1 },
		{ "-o", AT(ttl_ms), 30000 },
		{ "--close", AT(ttl_ms), 30000 },
		{ "-xeont5", AT(ttl_ms), 5000 },
	};
	struct config cfg;
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		read_good(&cfg, rows[i].line);
		check_eq(field_of(&cfg, rows[i].offset, rows[i].size),
		    rows[i].want, rows[i].line, __FILE__, __LINE__);
		config_release(&cfg);
	}
}

static void
strings(void)
{
	struct config cfg;
	struct fault fault;

	read_good(&cfg, "--note build-7 --prefix p: --report /r");
	CHECK_STR(cfg.key, "k");
	CHECK_STR(cfg.note, "build-7");
	CHECK_STR(cfg.prefix, "p:");
	CHECK_STR(cfg.report, "/r");
	config_release(&cfg);
	read_good(&cfg, "--key=other --prefix= --note= --key k2");
	CHECK_STR(cfg.key, "k");
	CHECK_STR(cfg.prefix, "");
	CHECK_STR(cfg.note, "");
	config_release(&cfg);
	CHECK_EQ(read_line(&cfg, "-k k -c exit", &fault), 0);
	CHECK_STR(cfg.command[0], "/bin/sh");
	CHECK_STR(cfg.command[2], "exit");
	config_release(&cfg);
	CHECK_EQ(read_line(&cfg, "-kk --command=-n", &fault), 0);
	CHECK_STR(cfg.command[2], "-n");
	CHECK_EQ(cfg.wait_ms, CONFIG_FOREVER);
	config_release(&cfg);
	CHECK_EQ(read_line(&cfg, "-k k -c ''", &fault), 0);
	CHECK_STR(cfg.command[2], "");
	config_release(&cfg);
}

/* Parsing stops at the first operand. */
static void
operands(void)
{
	static const struct {
		const char *line, *words[5];
	} rows[] = {
		{ "-k a ls -l", { "ls", "-l" } },
		{ "-k a -- ls -n -h", { "ls", "-n", "-h" } },
		{ "-k a ls -- -V", { "ls", "--", "-V" } },
		{ "-k a -- --help", { "--help" } },
		{ "-k a -", { "-" } },
		{ "-k a '' b", { "", "b" } },
		{ "-k a -- -- x", { "--", "x" } },
		{ "-k -n ls", { "ls" } },
	};
	struct config cfg;
	struct fault fault;
	size_t i, j;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		CHECK_EQ(read_line(&cfg, rows[i].line, &fault), 0);
		CHECK_STR(fault.text, "");
		for (j = 0; cfg.command != NULL; j++) {
			check_str(cfg.command[j], rows[i].words[j],
			    rows[i].line, __FILE__, __LINE__);
			if (cfg.command[j] == NULL || rows[i].words[j] == NULL)
				break;
		}
		CHECK_EQ(cfg.wait_ms, CONFIG_FOREVER);
		config_release(&cfg);
	}
}

static void
refused(void)
{
	static const struct {
		const char *line, *says;
	} rows[] = {
		{ "", "no lock named: -k KEY (the lock's name goes after -k)" },
		{ "/tmp/l ls", "the lock's name goes after -k; " },
		{ "-n /tmp/l ls", "'/tmp/l'" },
		{ "-k a", "no command" },
		{ "-k a --", "no command" },
		{ "-k a -c x y", "-c STR and a command ('y')" },
		{ "-k '' ls", "option -k: the lock's name is empty" },
		{ "-k", "option -k needs a value (KEY)" },
		{ "-vnk", "option -k needs a value (KEY)" },
		{ "--key", "option --key needs a value (KEY)" },
		{ "--timeout", "option --timeout needs a value (DUR)" },
		{ "--report", "option --report needs a value (FILE)" },
		{ "-t 5x", "option -t: '5x' is not a duration" },
		{ "-vt5x", "option -t: '5x' is not a duration" },
		{ "--ttl 5x", "option --ttl: '5x' is not a duration" },
		{ "--ttl=5x", "option --ttl: '5x' is not a duration" },
		{ "--ttl=-5", "option --ttl: '-5' is not a duration" },
		{ "-t ''", "option -t: '' is not a duration" },
		{ "-t 99ms",
		    "option -t: '99ms' is not between 100ms and 366d" },
		{ "-t 0", "option -t: '0' is not between" },
		{ "-t 366.1d", "option -t: '366.1d' is not between" },
		{ "-t 9999999999999999", "is too large" },
		{ "--timeout=x", "option --timeout: 'x' is not a duration" },
		{ "-w -1", "option -w: '-1' is not a duration" },
		{ "--retry-delay 0", "--retry-delay: '0' is no time at all" },
		{ "--retry-max 0ms", "--retry-max: '0ms' is no time" },
		{ "--connect-timeout 0", "--connect-timeout: '0' is no time" },
		{ "--command-timeout 0", "--command-timeout: '0' is no time" },
		{ "-E 256", "option -E: '256' is too large (0 to 255)" },
		{ "-E -1", "option -E: '-1' is not a number" },
		{ "--conflict-exit-code=x",
		    "option --conflict-exit-code: 'x' is not a number" },
		{ "-r 1.5", "option -r: '1.5' is not a number" },
		{ "-r 2147483648", "option -r: '2147483648' is too large" },
		{ "--on-lost stop",
		    "option --on-lost: 'stop' is not kill, warn or pause" },
		{ "--on-lost ''", "'' is not kill, warn or pause" },
		{ "--on-lost KILL", "'KILL' is not kill, warn or pause" },
		{ "--signal 0", "option --signal: '0' is not a signal" },
		{ "--signal FOO", "option --signal: 'FOO' is not a signal" },
		{ "--report ''", "option --report: '' is empty" },
		{ "--password-file=", "option --password-file: '' is empty" },
		{ "-z", "unknown option -z (try 'rlock --help')" },
		{ "-nz", "unknown option -z" },
		{ "-?", "unknown option -?" },
		{ "-:", "unknown option -:" },
		{ "-;", "unknown option -;" },
		{ "-\xff", "unknown option -\xff" },
		{ "--foo", "unknown option --foo (try 'rlock --help')" },
		{ "--foo=S3CRET", "unknown option --foo (try" },
		{ "--TTL 5", "unknown option --TTL" },
		{ "--no", "option --no is ambiguous" },
		{ "--re 5", "option --re is ambiguous" },
		{ "--retry=5", "option --retry is ambiguous" },
		{ "--quiet=S3CRET", "option --quiet takes no value" },
		{ "--non=5", "option --non takes no value" },
		{ "-F",
		    "unknown option -F: rlock can't replace itself by the "
		    "command: it renews the lock while the command runs" },
		{ "--no-fork", "unknown option --no-fork: rlock can't" },
		{ "-u 9",
		    "option -u: '9' is no URL: -u takes the server's "
		    "URL, and rlock's lock has no descriptor" },
		{ "-u ''", "option -u: the URL is empty" },
		{ "--url=http://h", "option --url: http:// is no scheme" },
		{ "-k a -u redis://a -u redis://b -s ls",
		    "-s has no meaning with several servers" },
		{ "-k a -u redis://a:6379 --url redis://:S3CRET@a ls",
		    "redis://a:6379 is given twice" },
		{ "-u redis://:S3CRET@h:x", "option -u: the port" },
		{ "-k a -j 0 ls", "option -j: '0'" },
		{ "-k a -j 4097 ls", "(1 to 4096)" },
		{ "-k a -s --min-hold 5 ls", "-s and --min-hold" },
		{ "-k a --shard u42 ls", "option --shard: 'u42' has no '/'" },
		{ "-k a --shard u/0 ls", "option --shard: 'u/0'" },
		{ "-k a --shard u/1000001 ls", "N from 1 to 1000000" },
		{ "-k a --token T ls",
		    "option --token has no meaning with a command" },
		{ "-k a --json ls", "option --json has no meaning with a" },
		{ "--acquire -k a", "option -t (or RLOCK_TTL) is needed" },
		{ "--acquire -t 5", "no lock named: -k KEY" },
		{ "--acquire -t 5 a b", "'b' is one operand too many" },
		{ "--acquire -t 5 -k a b", "'b' is one operand too many" },
		{ "--acquire -t 5 -k a --once 5",
		    "option --once has no meaning with --acquire" },
		{ "--acquire -t 5 -k a -c x",
		    "option --command has no meaning with --acquire" },
		{ "--renew a -t 5", "no token given: --token T" },
		{ "--renew a --token rlock:1:x -t 5",
		    "option --token: 'rlock:1:x' is not what" },
		{ "--renew a --token " TOKEN, "option -t (or RLOCK_TTL)" },
		{ "--release a --token " TOKEN "/nested", "is not what" },
		{ "--release a -t 5 --token " TOKEN,
		    "option --ttl has no meaning with --release" },
		{ "--status", "no lock named: -k KEY" },
		{ "--status a -n", "option --nonblock has no meaning with" },
		{ "--status a --foo", "unknown option --foo" },
		{ "--list a b", "'b' is one operand too many" },
		{ "--list -k a", "option --key has no meaning with --list" },
		{ "--break a --json", "option --json has no meaning with" },
		/* A later version's. */
		{ "-k a --log xml ls",
		    "option --log: 'xml' is not text or json" },
		{ "-k a --doctor ls", "one operand too many: --doctor looks" },
		{ "-k a -u rediss://h --tls-cert f ls", "go together" },
		{ "-k a -u sentinels://h/m --tls-key f ls", "go together" },
		{ "-k a --tls-insecure ls", "has no meaning with redis://127" },
		{ "-k a -u unix:///s --tls-cacert f ls",
		    "has no meaning with unix:///s" },
		{ "-k a --replicas 101 ls", "(0 to 100)" },
		{ "--status a --replicas 1", "option --replicas has no" },
	};
	struct config cfg;
	struct fault fault;
	size_t i;
	int n;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		check_eq(read_line(&cfg, rows[i].line, &fault), -1,
		    rows[i].line, __FILE__, __LINE__);
		check_eq(fault.code, FAULT_USAGE, rows[i].line, __FILE__,
		    __LINE__);
		CHECK_HAS(fault.text, rows[i].says);
		CHECK_LACKS(fault.text, "S3CRET");
		for (n = 0; line_words[n] != NULL; n++)
			if (strstr(line_words[n], "redis:") != NULL)
				CHECK_LACKS(line_words[n], "S3CRET");
		config_release(&cfg);
	}
}

static void
note_length(void)
{
	struct config cfg;
	struct fault fault;
	char line[200] = "-k k --note ";
	size_t start = strlen(line), len;

	for (len = 79; len < 83; len++) {
		memset(line + start, 'n', len);
		strcpy(line + start + len, " true");
		CHECK_EQ(read_line(&cfg, line, &fault), len <= 80 ? 0 : -1);
		if (len > 80)
			CHECK_HAS(fault.text, "at most 80");
		config_release(&cfg);
	}
}

static void
verbs(void)
{
	static const struct {
		const char *line;
		enum config_verb verb;
	} rows[] = {
		{ "-h", VERB_HELP },
		{ "--help", VERB_HELP },
		{ "--he", VERB_HELP },
		{ "-V", VERB_VERSION },
		{ "--version", VERB_VERSION },
		{ "--vers", VERB_VERSION },
		{ "-nh --foo", VERB_HELP },
		{ "-t 5 -h -t 5x", VERB_HELP },
		{ "-V -h", VERB_VERSION },
		{ "-hk", VERB_HELP },
	};
	struct config cfg;
	struct fault fault;
	size_t i;

	setenv("RLOCK_TTL", "x", 1);
	for (i = 0; i < CHECK_COUNT(rows); i++) {
		check_eq(read_line(&cfg, rows[i].line, &fault), 0, rows[i].line,
		    __FILE__, __LINE__);
		check_eq(cfg.verb, rows[i].verb, rows[i].line, __FILE__,
		    __LINE__);
		config_release(&cfg);
	}
	clear_environment();
	CHECK_EQ(read_line(&cfg, "-t 5x -h", &fault), -1);
	config_release(&cfg);
}

static void
secrets(void)
{
	static const struct {
		const char *line, *left, *password;
	} rows[] = {
		{ "-u redis://u:S3CRET@h", "redis://u:******@h", "S3CRET" },
		{ "--url redis://:S3CRET@h", "redis://:******@h", "S3CRET" },
		{ "--url=redis://:S3CRET@h", "--url=redis://:******@h",
		    "S3CRET" },
		{ "-uredis://:S3CRET@h", "-uredis://:******@h", "S3CRET" },
		{ "-u /p?password=S3CRET", "/p?password=******", "S3CRET" },
	};
	struct config cfg;
	size_t i, n;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		read_good(&cfg, rows[i].line);
		CHECK_STR(cfg.endpoint.password, rows[i].password);
		for (n = 1; strstr(line_words[n], "*") == NULL; n++)
			if (line_words[n + 1] == NULL)
				break;
		CHECK_STR(line_words[n], rows[i].left);
		config_release(&cfg);
	}
}

static void
environment(void)
{
	struct config cfg;

	setenv("RLOCK_URL", " redis://:S3CRET@env:7/2\n", 1);
	setenv("RLOCK_PREFIX", "env:", 1);
	setenv("RLOCK_TTL", "7s", 1);
	setenv("REDISCLI_AUTH", "auth", 1);
	read_good(&cfg, "");
	CHECK_STR(cfg.endpoint.shown, "redis://env:7/2");
	CHECK_STR(cfg.endpoint.password, "S3CRET");
	CHECK_STR(cfg.prefix, "env:");
	CHECK_EQ(cfg.ttl_ms, 7000);
	config_release(&cfg);
	CHECK_STR(getenv("RLOCK_URL"), " redis://:S3CRET@env:7/2\n");
	/* Options win, also over what is wrong. */
	setenv("RLOCK_URL", "redis://a redis://b", 1);
	setenv("RLOCK_TTL", "x", 1);
	read_good(&cfg, "-u redis://opt -t 9 --prefix=");
	CHECK_STR(cfg.endpoint.shown, "redis://opt:6379");
	CHECK_STR(cfg.endpoint.password, "auth");
	CHECK_STR(cfg.prefix, "");
	CHECK_EQ(cfg.ttl_ms, 9000);
	config_release(&cfg);
	setenv("RLOCK_URL", "", 1);
	setenv("RLOCK_PREFIX", "", 1);
	setenv("RLOCK_TTL", "", 1);
	setenv("REDISCLI_AUTH", "", 1);
	read_good(&cfg, "");
	CHECK_STR(cfg.endpoint.shown, "redis://127.0.0.1:6379");
	CHECK(cfg.endpoint.password == NULL);
	CHECK_STR(cfg.prefix, "");
	CHECK_EQ(cfg.ttl_ms, 30000);
	config_release(&cfg);
	setenv("RLOCK_URL", " \t ", 1);
	read_good(&cfg, "");
	CHECK_STR(cfg.endpoint.shown, "redis://127.0.0.1:6379");
	config_release(&cfg);
	clear_environment();
}

static void
environment_refused(void)
{
	static const struct {
		const char *name, *value, *says;
	} rows[] = {
		{ "RLOCK_TTL", "5x", "RLOCK_TTL: '5x' is not a duration" },
		{ "RLOCK_TTL", "1ms", "RLOCK_TTL: '1ms' is not between" },
		{ "RLOCK_TTL", " ", "RLOCK_TTL: ' ' is not a duration" },
		{ "RLOCK_URL", "h", "RLOCK_URL: the URL has no scheme" },
		{ "RLOCK_URL", "redis://:S3CRET@h:x", "RLOCK_URL: the port" },
		{ "RLOCK_URL", "redis://a redis://:S3CRET@b:x",
		    "RLOCK_URL: the port" },
		{ "RLOCK_URL", "redis://a\tredis://a", "is given twice" },
		{ "RLOCK_URL",
		    "/1 /2 /3 /4 /5 /6 /7 /8 /9 /10 /11 /12 /13 /14 /15 /16",
		    "RLOCK_URL: more than 15 servers" },
		{ "RLOCK_URL", "cluster://h/1", "RLOCK_URL: the URL names a" },
		{ "RLOCK_PREFIX", "rlock:", "rlock's own keys" },
	};
	struct config cfg;
	struct fault fault;
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		setenv(rows[i].name, rows[i].value, 1);
		check_eq(read_line(&cfg, "-k k true", &fault), -1,
		    rows[i].value, __FILE__, __LINE__);
		CHECK_EQ(fault.code, FAULT_USAGE);
		CHECK_HAS(fault.text, rows[i].says);
		CHECK_LACKS(fault.text, "S3CRET");
		config_release(&cfg);
		clear_environment();
	}
}

/* Names and letters are unique, and every name is in --help. */
static void
table_is_sound(void)
{
	struct buf help = { 0 };
	char seen[64] = "", name[64];
	const struct option_def *def;
	int row, other, i, j;

	CHECK_EQ(options_help(&help), 0);
	CHECK_EQ(buf_put(&help, "", 1), 0);
	for (row = 0; row < OPTION_ROWS; row++) {
		def = &option_table[row];
		CHECK(strpbrk(seen, def->letters) == NULL);
		strcat(seen, def->letters);
		for (i = 0; def->letters[i] != '\0'; i++) {
			snprintf(name, sizeof(name), " -%c, ", def->letters[i]);
			CHECK_HAS(help.data, name);
		}
		for (i = 0; def->names[i] != NULL; i++) {
			snprintf(name, sizeof(name), " --%s", def->names[i]);
			CHECK_HAS(help.data, name);
			for (other = 0; other < row; other++)
				for (j = 0;
				     option_table[other].names[j] != NULL; j++)
					CHECK(strcmp(def->names[i],
						  option_table[other]
						      .names[j]) != 0);
		}
		CHECK(i > 0);
		CHECK(row == 0 || def->group >= option_table[row - 1].group);
	}
	buf_release(&help);
}

static void
help_fits(void)
{
	static const char *const titles[] = { "\nLock:\n", "\nCommand:\n",
		"\nServer:\n", "\nOutput:\n" };
	struct buf help = { 0 };
	size_t i, width = 0;

	CHECK_EQ(options_help(&help), 0);
	CHECK(help.len > 0 && help.data[help.len - 1] == '\n');
	for (i = 0; i < help.len; i++) {
		CHECK(help.data[i] == '\n' ||
		    (help.data[i] >= ' ' && help.data[i] <= '~'));
		width = help.data[i] == '\n' ? 0 : width + 1;
		CHECK(width <= 80);
		if (help.data[i] == '\n' && i > 0)
			CHECK(help.data[i - 1] != ' ');
	}
	CHECK_EQ(buf_put(&help, "", 1), 0);
	CHECK(strncmp(help.data, "usage: rlock ", 13) == 0);
	CHECK_HAS(help.data, "man rlock\n");
	for (i = 0; i < CHECK_COUNT(titles); i++)
		CHECK_HAS(help.data, titles[i]);
	buf_release(&help);
}

static void
no_argv(void)
{
	char *nothing[] = { NULL };
	struct config cfg;
	struct fault fault;

	config_init(&cfg);
	CHECK_EQ(options_read(&cfg, 0, nothing, &fault), -1);
	CHECK_HAS(fault.text, "no lock named");
	config_release(&cfg);
}

int
main(void)
{
	clear_environment();
	CHECK_RUN(numbers);
	CHECK_RUN(strings);
	CHECK_RUN(operands);
	CHECK_RUN(refused);
	CHECK_RUN(note_length);
	CHECK_RUN(verbs);
	CHECK_RUN(secrets);
	CHECK_RUN(environment);
	CHECK_RUN(environment_refused);
	CHECK_RUN(table_is_sound);
	CHECK_RUN(help_fits);
	CHECK_RUN(no_argv);
	return check_done();
}
