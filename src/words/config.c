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
#include "words/servers.h"

#define RESERVED "rlock:"

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

int
config_check(struct config *cfg, struct fault *fault)
{
	if (cfg->verb >= VERB_HELP)
		return 0;
	if (cfg->verb != VERB_LIST && cfg->verb != VERB_DOCTOR &&
	    (check_key(cfg, fault) == -1 || add_shard(cfg, fault) == -1))
		return -1;
	if (check_lease(cfg, fault) == -1 || check_token(cfg, fault) == -1)
		return -1;
	if (cfg->verb == VERB_RUN && check_command(cfg, fault) == -1)
		return -1;
	return servers_complete(cfg, fault);
}

int
config_without_server(const struct config *cfg, struct config *copy,
    struct fault *fault)
{
	*copy = *cfg;
	copy->replicas = 0;
	copy->servers = 1;
	if (endpoint_parse("local:", &copy->endpoint, fault) == -1)
		return -1;
	if (cfg->on_unreachable == UNREACHABLE_RUN)
		copy->endpoint.kind = ENDPOINT_NONE;
	return 0;
}

const struct endpoint *
config_server(const struct config *cfg, int i)
{
	return i == 0 ? &cfg->endpoint : &cfg->others[i - 1];
}

struct endpoint *
config_add_server(struct config *cfg)
{
	int i = cfg->servers;

	if (i == CONFIG_SERVERS_MAX)
		return NULL;
	cfg->servers++;
	return i == 0 ? &cfg->endpoint : &cfg->others[i - 1];
}

void
config_release(struct config *cfg)
{
	int i;

	endpoint_release(&cfg->endpoint);
	for (i = 1; i < cfg->servers; i++)
		endpoint_release(&cfg->others[i - 1]);
	cfg->servers = 0;
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
