/* SPDX-License-Identifier: MIT */
/*
 * config: owns the defaults and what must hold between options.  Once
 * config_check has returned 0 every field is set and in its range.  It must
 * not know how an option is spelled on the command line.
 */
#include "words/config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32.h"
#include "base/parse.h"
#include "base/token.h"

#define URL_DEFAULT "redis://127.0.0.1:6379"
#define RESERVED "rlock:"
#define PASSWORD_LEN_MAX 4096

static int
usage(struct fault *fault, const char *text)
{
	return fault_set(fault, FAULT_USAGE, 0, "%s", text);
}

void
config_init(struct config *cfg)
{
	memset(cfg, 0, sizeof(*cfg));
	cfg->verb = VERB_RUN;
	cfg->prefix = "lock:";
	cfg->note = "";
	cfg->shard = -1;
	cfg->wait_ms = CONFIG_FOREVER;
	cfg->retries = CONFIG_FOREVER;
	cfg->retry_delay_ms = 100;
	cfg->retry_max_ms = 1000;
	cfg->conflict_status = 75;
	cfg->on_lost = ON_LOST_KILL;
	cfg->on_unreachable = UNREACHABLE_FAIL;
	cfg->signal = SIGTERM;
	cfg->kill_after_ms = 5 * 1000;
	cfg->connect_timeout_ms = 2 * 1000;
	cfg->command_timeout_ms = 2 * 1000;
}

/* The names under RESERVED are the side keys of every lock. */
static bool
is_reserved(const char *prefix, const char *key)
{
	size_t len = sizeof(RESERVED) - 1, n = strlen(prefix);

	if (n >= len)
		return strncmp(prefix, RESERVED, len) == 0;
	return strncmp(prefix, RESERVED, n) == 0 &&
	    strncmp(key, &RESERVED[n], len - n) == 0;
}

static int
check_key(const struct config *cfg, struct fault *fault)
{
	size_t len;

	if (cfg->key == NULL && cfg->verb != VERB_RUN)
		return usage(fault, "no lock named: -k KEY");
	if (cfg->key == NULL && cfg->command != NULL)
		return fault_set(fault, FAULT_USAGE, 0,
		    "no lock named: "
		    "-k KEY (the lock's name goes after -k; unlike flock's "
		    "file, '%.100s' is taken for the command)",
		    cfg->command[0]);
	if (cfg->key == NULL)
		return usage(fault,
		    "no lock named: -k KEY (the lock's name "
		    "goes after -k)");
	len = strlen(cfg->key);
	if (len == 0)
		return usage(fault, "option -k: the lock's name is empty");
	if (len > CONFIG_KEY_MAX)
		return fault_set(fault, FAULT_USAGE, 0,
		    "option -k: the "
		    "lock's name has %zu bytes, at most %d are allowed",
		    len, CONFIG_KEY_MAX);
	if (is_reserved(cfg->prefix, cfg->key))
		return usage(fault,
		    "option -k: prefix and name together "
		    "begin with '" RESERVED "', which is kept for rlock's "
		    "own keys");
	return 0;
}

/* ID/N: the key of one of N locks; N is what follows the last '/'. */
static int
add_shard(struct config *cfg, struct fault *fault)
{
	const char *id = cfg->shard_of, *slash, *why = "has no '/'";
	int64_t count;
	size_t cap;

	cfg->given_key = cfg->key;
	if (id == NULL)
		return 0;
	slash = strrchr(id, '/');
	if (slash == NULL ||
	    parse_count(slash + 1, 1, CONFIG_SHARDS_MAX, &count, &why) == -1)
		return fault_set(fault, FAULT_USAGE, 0,
		    "option --shard: '%.200s' %s (ID/N, N from 1 to %d)", id,
		    why, CONFIG_SHARDS_MAX);
	cfg->shard =
	    (int)(crc32_of(id, (size_t)(slash - id)) % (uint32_t)count);
	cap = strlen(cfg->key) + 16;
	if ((cfg->owned_key = malloc(cap)) == NULL)
		return fault_set(fault, FAULT_SYSTEM, 0, "out of memory");
	snprintf(cfg->owned_key, cap, "%s:%d", cfg->key, cfg->shard);
	cfg->key = cfg->owned_key;
	return 0;
}

static int
check_lease(struct config *cfg, struct fault *fault)
{
	if (cfg->ttl_ms == 0 &&
	    (cfg->verb == VERB_ACQUIRE || cfg->verb == VERB_RENEW))
		return usage(fault,
		    "option -t (or RLOCK_TTL) is needed: nothing renews the "
		    "lock, so say how long it may last");
	if (cfg->ttl_ms == 0)
		cfg->ttl_ms = CONFIG_TTL_MS;
	if (cfg->slots < 0 && cfg->min_hold_ms > 0)
		return usage(fault,
		    "-s and --min-hold can't be given together: who shares a "
		    "lock keeps nobody out but writers");
	return 0;
}

static int
check_token(const struct config *cfg, struct fault *fault)
{
	if (cfg->verb != VERB_RENEW && cfg->verb != VERB_RELEASE)
		return 0;
	if (cfg->token == NULL)
		return usage(fault,
		    "no token given: --token T (what --acquire printed)");
	if (!token_is_ours(cfg->token, strlen(cfg->token)) ||
	    strlen(cfg->token) >= TOKEN_MAX ||
	    cfg->token[strcspn(cfg->token, " /\t\r\n")] != '\0')
		return fault_set(fault, FAULT_USAGE, 0,
		    "option --token: '%.100s' is not what --acquire printed",
		    cfg->token);
	return 0;
}

static int
check_command(struct config *cfg, struct fault *fault)
{
	static char shell[] = "/bin/sh", option[] = "-c";

	if (cfg->shell_command != NULL && cfg->command != NULL)
		return fault_set(fault, FAULT_USAGE, 0,
		    "-c STR and a command "
		    "('%.100s') can't be given together",
		    cfg->command[0]);
	if (cfg->shell_command == NULL && cfg->command == NULL)
		return usage(fault,
		    "no command given (rlock -k KEY COMMAND "
		    "[ARG...], or -c 'SHELL STRING')");
	if (cfg->shell_command == NULL)
		return 0;
	cfg->owned_command[0] = shell;
	cfg->owned_command[1] = option;
	cfg->owned_command[2] = strdup(cfg->shell_command);
	cfg->owned_command[3] = NULL;
	if (cfg->owned_command[2] == NULL)
		return fault_set(fault, FAULT_SYSTEM, 0, "out of memory");
	cfg->command = cfg->owned_command;
	return 0;
}

/* Up to cap bytes, stopping behind the first LF; -1 and errno. */
static ssize_t
read_line(const char *path, char *out, size_t cap)
{
	bool whole = false;
	size_t len = 0;
	ssize_t n = 0;
	int fd, saved;

	if ((fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)) == -1)
		return -1;
	while (len < cap && !whole) {
		n = read(fd, out + len, cap - len);
		if (n == 0 || (n == -1 && errno != EINTR))
			break;
		if (n > 0) {
			whole = memchr(out + len, '\n', (size_t)n) != NULL;
			len += (size_t)n;
		}
	}
	saved = errno;
	close(fd);
	errno = saved;
	return n == -1 ? -1 : (ssize_t)len;
}

/* The password that text[len], the beginning of a file, holds, or NULL. */
static char *
first_line(char *text, size_t len, const char **why)
{
	char *end = memchr(text, '\n', len), *password;

	if (end != NULL) {
		len = (size_t)(end - text);
		if (len > 0 && text[len - 1] == '\r')
			len--;
	}
	*why = NULL;
	if (len == 0)
		*why = "its first line is empty";
	else if (len > PASSWORD_LEN_MAX)
		*why = "its first line is longer than 4096 bytes";
	else if (memchr(text, '\0', len) != NULL)
		*why = "its first line holds a NUL byte";
	if (*why != NULL)
		return NULL;
	if ((password = strndup(text, len)) == NULL)
		*why = "out of memory";
	return password;
}

static int
read_password(const char *path, char **password, struct fault *fault)
{
	char text[PASSWORD_LEN_MAX + 2]; /* with a CRLF */
	const char *why;
	ssize_t len;
	int error = 0;

	if ((len = read_line(path, text, sizeof(text))) == -1)
		return fault_set(fault, FAULT_USAGE, errno,
		    "option --password-file: '%.200s'", path);
	*password = first_line(text, (size_t)len, &why);
	if (*password == NULL)
		error = fault_set(fault, FAULT_USAGE, 0,
		    "option --password-file: '%.200s': %s", path, why);
	explicit_bzero(text, sizeof(text));
	return error;
}

static int
check_tls(const struct config *cfg, struct fault *fault)
{
	if ((cfg->tls.cert == NULL) != (cfg->tls.key == NULL))
		return usage(fault,
		    "--tls-cert and --tls-key go together: a certificate is of "
		    "no use without its key");
	if (!cfg->endpoint.tls &&
	    (cfg->tls.cacert != NULL || cfg->tls.cert != NULL ||
		cfg->tls.insecure))
		return fault_set(fault, FAULT_USAGE, 0,
		    "a --tls- option has no meaning with %s (rediss:// and "
		    "sentinels:// are TLS)",
		    cfg->endpoint.shown);
	return 0;
}

/* A user who has no password: only one given makes AUTH name the user. */
static int
complete_user(const char *user, char **password, struct fault *fault)
{
	if (user == NULL || *password != NULL)
		return 0;
	if ((*password = strdup("")) == NULL)
		return fault_set(fault, FAULT_SYSTEM, 0, "out of memory");
	return 0;
}

static int
complete_endpoint(struct config *cfg, struct fault *fault)
{
	struct endpoint *ep = &cfg->endpoint;
	char *password;

	if (ep->shown == NULL && endpoint_parse(URL_DEFAULT, ep, fault) == -1)
		return -1;
	if (cfg->password_file != NULL) {
		if (read_password(cfg->password_file, &password, fault) == -1)
			return -1;
		free(ep->password);
		ep->password = password;
	}
	if (ep->password == NULL && cfg->env_password != NULL &&
	    (ep->password = strdup(cfg->env_password)) == NULL)
		return fault_set(fault, FAULT_SYSTEM, 0, "out of memory");
	if (complete_user(ep->user, &ep->password, fault) == -1 ||
	    complete_user(ep->sentinel_user, &ep->sentinel_password, fault) ==
		-1)
		return -1;
	return check_tls(cfg, fault);
}

/* What takes a server. */
static int
check_local(const struct config *cfg, struct fault *fault)
{
	if (cfg->fence &&
	    (cfg->on_unreachable == UNREACHABLE_RUN ||
		cfg->on_unreachable == UNREACHABLE_LOCAL))
		return usage(fault,
		    "--fence and --on-unreachable run or local can't be given "
		    "together: without the server there is no number");
	if (cfg->endpoint.kind != ENDPOINT_LOCAL)
		return 0;
	if (cfg->verb != VERB_RUN && cfg->verb != VERB_STATUS &&
	    cfg->verb != VERB_LIST)
		return usage(fault,
		    "local: is for commands, --status and --list: a lock of "
		    "this host ends with the process that holds it");
	if (cfg->fence)
		return usage(fault,
		    "--fence has no meaning with local: (its files, and the "
		    "number with them, may be gone after a boot)");
	if (cfg->replicas > 0)
		return usage(fault,
		    "--replicas has no meaning with local: (there is no "
		    "server)");
	if (cfg->password_file != NULL)
		return usage(fault,
		    "--password-file has no meaning with local: (there is no "
		    "server)");
	return 0;
}

int
config_check(struct config *cfg, struct fault *fault)
{
	if (cfg->verb >= VERB_HELP)
		return 0;
	if (cfg->verb != VERB_LIST &&
	    (check_key(cfg, fault) == -1 || add_shard(cfg, fault) == -1))
		return -1;
	if (check_lease(cfg, fault) == -1 || check_token(cfg, fault) == -1)
		return -1;
	if (cfg->verb == VERB_RUN && check_command(cfg, fault) == -1)
		return -1;
	if (complete_endpoint(cfg, fault) == -1)
		return -1;
	return check_local(cfg, fault);
}

int
config_without_server(const struct config *cfg, struct config *copy,
    struct fault *fault)
{
	*copy = *cfg;
	copy->replicas = 0;
	if (endpoint_parse("local:", &copy->endpoint, fault) == -1)
		return -1;
	if (cfg->on_unreachable == UNREACHABLE_RUN)
		copy->endpoint.kind = ENDPOINT_NONE;
	return 0;
}

void
config_release(struct config *cfg)
{
	endpoint_release(&cfg->endpoint);
	if (cfg->command == cfg->owned_command)
		cfg->command = NULL;
	free(cfg->owned_key);
	cfg->owned_key = NULL;
	free(cfg->owned_command[2]);
	cfg->owned_command[2] = NULL;
}

/* The sum of the pauses, each double the one before, up to retry_max_ms. */
static int64_t
retries_ms(const struct config *cfg)
{
	int64_t left = cfg->retries, pause = cfg->retry_delay_ms, sum = 0;
	int64_t rest;

	for (; left > 0 && pause < cfg->retry_max_ms; left--) {
		if (__builtin_add_overflow(sum, pause, &sum))
			return INT64_MAX;
		pause *= 2;
	}
	if (__builtin_mul_overflow(left, cfg->retry_max_ms, &rest) ||
	    __builtin_add_overflow(sum, rest, &sum))
		return INT64_MAX;
	return sum;
}

int64_t
config_wait_limit_ms(const struct config *cfg)
{
	int64_t limit;

	if (cfg->retries == CONFIG_FOREVER)
		return cfg->wait_ms;
	limit = retries_ms(cfg);
	if (cfg->wait_ms != CONFIG_FOREVER && cfg->wait_ms < limit)
		return cfg->wait_ms;
	return limit;
}

int64_t
config_grace_ms(const struct config *cfg)
{
	return cfg->on_lost == ON_LOST_PAUSE ? cfg->ttl_ms : cfg->kill_after_ms;
}
