/* SPDX-License-Identifier: MIT */
/*
 * config: what this run is to do.  Filled by words/options from argv and the
 * environment, checked once, const from then on.
 */
#ifndef RLOCK_CONFIG_H
#define RLOCK_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "words/endpoint.h"

#define CONFIG_TTL_MIN_MS	100
#define CONFIG_TTL_MAX_MS	(366LL * 86400 * 1000)
#define CONFIG_TTL_MS		(30 * 1000)	/* when it is not given */
#define CONFIG_KEY_MAX		1024
#define CONFIG_SHARDS_MAX	1000000
#define CONFIG_SERVERS_MAX	15
#define CONFIG_FOREVER		(-1)	/* wait_ms, retries: no limit */

enum config_on_lost { ON_LOST_KILL, ON_LOST_WARN, ON_LOST_PAUSE };

enum config_unreachable {
	UNREACHABLE_FAIL, UNREACHABLE_SKIP, UNREACHABLE_RUN, UNREACHABLE_LOCAL
};

enum config_verb {
	VERB_RUN,
	VERB_ACQUIRE, VERB_RENEW, VERB_RELEASE,	/* by a token */
	VERB_STATUS, VERB_LIST, VERB_BREAK, VERB_DOCTOR,
	VERB_HELP, VERB_VERSION
};

struct tls_options {
	const char	*cacert;	/* FILE, NULL: the system's */
	const char	*cert;		/* FILE of ours, NULL: none */
	const char	*key;		/* FILE, exactly when cert is given */
	int		 insecure;	/* bool: check nothing */
};

struct config {
	enum config_verb verb;
	/* lock */
	const char	*key;		/* with the number of --shard, if any */
	const char	*given_key;	/* without */
	const char	*prefix;
	const char	*note;		/* "" when none */
	int64_t		 ttl_ms;
	int		 slots;		/* 0: exclusive; -1: shared; N */
	int		 fence;		/* bool: number the acquisition */
	const char	*shard_of;	/* ID/N, or NULL */
	int		 shard;		/* the number, or -1 */
	int64_t		 wait_ms;	/* 0: one try; CONFIG_FOREVER */
	int64_t		 retries;	/* CONFIG_FOREVER: no limit */
	int64_t		 retry_delay_ms;
	int64_t		 retry_max_ms;
	int		 conflict_status;	/* 0 to 255 */
	/* command */
	const char	*shell_command;	/* -c, else NULL */
	char		**command;	/* argv of the command, NULL-ended; with
					   -c: /bin/sh, -c, STR */
	enum config_on_lost on_lost;
	enum config_unreachable on_unreachable;
	int		 signal;
	int64_t		 kill_after_ms;	/* 0: KILL at once */
	int64_t		 max_run_ms;	/* 0: off */
	int64_t		 min_hold_ms;	/* 0: off */
	int64_t		 once_ms;	/* 0: off */
	int		 once_status;	/* 0 to 255 */
	/* verbs */
	const char	*token;		/* --token, or NULL */
	const char	*pattern;	/* of --list */
	int		 json;		/* bool */
	/* server */
	struct endpoint	 endpoint;	/* of the first server */
	struct endpoint	 others[CONFIG_SERVERS_MAX - 1];
	int		 servers;	/* how many; 2 and more: a quorum */
	char		 shown[64];	/* the server, or all of them; cut */
	int64_t		 connect_timeout_ms;
	int64_t		 command_timeout_ms;
	int		 replicas;	/* that must have it; 0: none */
	struct tls_options tls;
	const char	*password_file;	/* FILE, or NULL */
	const char	*env_password;	/* REDISCLI_AUTH, or NULL */
	/* output */
	int		 verbosity;	/* enum log_level */
	const char	*report;	/* FILE, or NULL */
	const char	*metrics;	/* FILE, or NULL */
	int		 log_json;	/* bool: events as JSON on stderr */
	/* kept for config_release */
	char		*owned_command[4];
	char		*owned_key;
};

/* Set every field to its default. */
void config_init(struct config *);

/*
 * After options were read: check what must hold between fields, read the
 * password file, and complete the endpoint (redis://127.0.0.1:6379 when it is
 * empty; its password).  0, or -1 and a FAULT_USAGE (FAULT_SYSTEM without
 * memory).
 */
int config_check(struct config *, struct fault *);

/* The server number i, below cfg->servers. */
const struct endpoint *config_server(const struct config *, int i);

/* Where the next server's URL goes, which is counted then; NULL: too many. */
struct endpoint *config_add_server(struct config *);

/* Frees what config_check and endpoint_parse made; the rest is argv's. */
void config_release(struct config *);

/*
 * What a run does without the server, as its on_unreachable says (run or
 * local): a copy of cfg with another endpoint, whose strings are shared with
 * cfg but for those of the endpoint.  0, or -1 and a fault.
 */
int config_without_server(const struct config *cfg, struct config *copy,
    struct fault *);

/*
 * How long before its last KILL a command is dealt with when the lock is in
 * doubt (at most TTL/8 counts): --kill-after; with pause as long as may be.
 */
int64_t config_grace_ms(const struct config *);

/*
 * The wait limit in ms from the start, out of -n, -w and -r (the shorter
 * wins; N retries last as long as their pauses without jitter); CONFIG_FOREVER
 * when there is none; 0 for one try.
 */
int64_t config_wait_limit_ms(const struct config *);

#endif
