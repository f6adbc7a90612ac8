/* SPDX-License-Identifier: MIT */
/*
 * option_table: owns the options.  Nothing about an option is written down
 * anywhere else in the program: getopt's arrays, the variables of the
 * environment and --help are made from its row.  It must not know what the
 * values are used for.
 */
#include "words/option_table.h"

#include "base/log.h"
#include "base/token.h"
#include "words/config.h"

/* clang-format off */
#define AT(field)	offsetof(struct config, field), \
			sizeof(((struct config *)NULL)->field)
#define NOWHERE		0, 0
#define BIT(verb)	(1U << (verb))
/* Verbs that take a lock, that set a lease, that are about one lock, all. */
#define TAKING		(BIT(VERB_RUN) | BIT(VERB_ACQUIRE))
#define LEASING		(TAKING | BIT(VERB_RENEW))
#define KEYED		(LEASING | BIT(VERB_RELEASE) | BIT(VERB_STATUS) | \
			BIT(VERB_BREAK))
#define ALL		(KEYED | BIT(VERB_LIST))

/* In the order of enum config_on_lost. */
static const char *const on_lost_choices[] = { "kill", "warn", "pause", NULL };

static const char *const log_choices[] = { "text", "json", NULL };

const struct option_def option_table[OPTION_ROWS] = {
	{ GROUP_LOCK, "k", { "key" }, "KEY",
	    KIND_STRING, AT(key), 0, 0,
	    .help = "name of the lock, 1 to 1024 bytes", .verbs = KEYED },
	{ GROUP_LOCK, "t", { "ttl" }, "DUR",
	    KIND_DURATION, AT(ttl_ms), CONFIG_TTL_MIN_MS, CONFIG_TTL_MAX_MS,
	    .help = "lease time, renewed every third of it (30s)",
	    .env = "RLOCK_TTL", .verbs = LEASING },
	{ GROUP_LOCK, "xe", { "exclusive" }, NULL,
	    KIND_SET, AT(slots), 0, 0,
	    .help = "one holder (the default)", .verbs = TAKING },
	{ GROUP_LOCK, "s", { "shared" }, NULL,
	    KIND_SET, AT(slots), -1, 0,
	    .help = "any number of holders, but no exclusive one",
	    .verbs = TAKING },
	{ GROUP_LOCK, "j", { "slots" }, "N",
	    KIND_COUNT, AT(slots), 1, 4096,
	    .help = "at most N holders, each in a slot", .verbs = TAKING },
	{ GROUP_LOCK, "n", { "nonblock", "nb", "nonblocking" }, NULL,
	    KIND_SET, AT(wait_ms), 0, 0,
	    .help = "give up at once if the lock is held",
	    .verbs = TAKING },
	{ GROUP_LOCK, "w", { "wait", "timeout" }, "DUR",
	    KIND_DURATION, AT(wait_ms), 0, 0,
	    .help = "give up after DUR; 0 is -n (for ever)",
	    .verbs = TAKING },
	{ GROUP_LOCK, "r", { "retries" }, "N",
	    KIND_COUNT, AT(retries), 0, INT32_MAX,
	    .help = "give up after N pauses; 0 is -n (no limit)",
	    .verbs = TAKING },
	{ GROUP_LOCK, "", { "retry-delay" }, "DUR",
	    KIND_DURATION, AT(retry_delay_ms), 1, 0,
	    .help = "first pause, doubled each time (100ms)",
	    .verbs = TAKING },
	{ GROUP_LOCK, "", { "retry-max" }, "DUR",
	    KIND_DURATION, AT(retry_max_ms), 1, 0,
	    .help = "longest pause (1s)",
	    .verbs = TAKING },
	{ GROUP_LOCK, "E", { "conflict-exit-code" }, "N",
	    KIND_COUNT, AT(conflict_status), 0, 255,
	    .help = "status when the lock was not obtained (75)",
	    .verbs = TAKING },
	{ GROUP_LOCK, "", { "note" }, "TEXT",
	    KIND_STRING, AT(note), 0, TOKEN_NOTE_MAX,
	    .help = "up to 80 bytes that others see of the holder",
	    .verbs = TAKING },
	{ GROUP_LOCK, "", { "prefix" }, "STR",
	    KIND_STRING, AT(prefix), 0, 0,
	    .help = "put in front of the key (lock:)",
	    .env = "RLOCK_PREFIX", .verbs = ALL },
	{ GROUP_LOCK, "", { "shard" }, "ID/N",
	    KIND_STRING, AT(shard_of), 1, 0,
	    .help = "one of N locks, by a hash of ID", .verbs = KEYED },
	{ GROUP_LOCK, "", { "fence" }, NULL,
	    KIND_SET, AT(fence), 1, 0,
	    .help = "number each acquisition, ever increasing",
	    .verbs = TAKING },

	{ GROUP_COMMAND, "c", { "command" }, "STR",
	    KIND_STRING, AT(shell_command), 0, 0,
	    .help = "run STR by /bin/sh -c" },
	{ GROUP_COMMAND, "o", { "close" }, NULL,
	    KIND_IGNORED, NOWHERE, 0, 0,
	    .help = "the command gets no descriptor of ours (always)" },
	{ GROUP_COMMAND, "", { "on-lost" }, "ACTION",
	    KIND_CHOICE, AT(on_lost), 0, 0, .choices = on_lost_choices,
	    .help = "when the lock is lost: kill, warn, pause (kill)" },
	{ GROUP_COMMAND, "", { "signal" }, "SIG",
	    KIND_SIGNAL, AT(signal), 0, 0,
	    .help = "first signal to stop the command (TERM)" },
	{ GROUP_COMMAND, "", { "kill-after" }, "DUR",
	    KIND_DURATION, AT(kill_after_ms), 0, 0,
	    .help = "KILL follows this long after it (5s)" },
	{ GROUP_COMMAND, "", { "max-run" }, "DUR",
	    KIND_DURATION, AT(max_run_ms), 0, 0,
	    .help = "stop the command after DUR, status 124; 0 is off" },
	{ GROUP_COMMAND, "", { "min-hold" }, "DUR",
	    KIND_DURATION, AT(min_hold_ms), 0, CONFIG_TTL_MAX_MS,
	    .help = "keep the lock taken for DUR at least; 0 is off" },
	{ GROUP_COMMAND, "", { "once" }, "DUR",
	    KIND_DURATION, AT(once_ms), 0, CONFIG_TTL_MAX_MS,
	    .help = "not if it has succeeded within DUR; 0 is off" },
	{ GROUP_COMMAND, "", { "once-exit-code" }, "N",
	    KIND_COUNT, AT(once_status), 0, 255,
	    .help = "status when it was done before (0)" },

	{ GROUP_SERVER, "u", { "url" }, "URL",
	    KIND_URL, NOWHERE, 0, 0,
	    .help = "the server (redis://127.0.0.1:6379)",
	    .env = "RLOCK_URL",
	    .verbs = ALL },
	{ GROUP_SERVER, "", { "connect-timeout" }, "DUR",
	    KIND_DURATION, AT(connect_timeout_ms), 1, 0,
	    .help = "to resolve, connect and log in (2s)",
	    .verbs = ALL },
	{ GROUP_SERVER, "", { "command-timeout" }, "DUR",
	    KIND_DURATION, AT(command_timeout_ms), 1, 0,
	    .help = "for one answer of the server (2s)",
	    .verbs = ALL },
	{ GROUP_SERVER, "", { "password-file" }, "FILE",
	    KIND_STRING, AT(password_file), 1, 0,
	    .help = "its first line is the password",
	    .verbs = ALL },

	{ GROUP_VERB, "", { "acquire" }, NULL,
	    KIND_SET, AT(verb), VERB_ACQUIRE, 0,
	    .help = "take the lock, print its token, and leave it taken",
	    .verbs = ALL },
	{ GROUP_VERB, "", { "renew" }, NULL,
	    KIND_SET, AT(verb), VERB_RENEW, 0,
	    .help = "set the lease of --token to -t again", .verbs = ALL },
	{ GROUP_VERB, "", { "release" }, NULL,
	    KIND_SET, AT(verb), VERB_RELEASE, 0,
	    .help = "release the lock of --token", .verbs = ALL },
	{ GROUP_VERB, "", { "token" }, "T",
	    KIND_STRING, AT(token), 1, 0,
	    .help = "what --acquire printed",
	    .verbs = BIT(VERB_RENEW) | BIT(VERB_RELEASE) },
	{ GROUP_VERB, "", { "status" }, NULL,
	    KIND_SET, AT(verb), VERB_STATUS, 0,
	    .help = "who holds the lock, who waits; 1 when it is free",
	    .verbs = ALL },
	{ GROUP_VERB, "", { "list" }, NULL,
	    KIND_SET, AT(verb), VERB_LIST, 0,
	    .help = "a line for each lock, or each that matches",
	    .verbs = ALL },
	{ GROUP_VERB, "", { "break" }, NULL,
	    KIND_SET, AT(verb), VERB_BREAK, 0,
	    .help = "release the lock, whoever holds it", .verbs = ALL },
	{ GROUP_VERB, "", { "json" }, NULL,
	    KIND_SET, AT(json), 1, 0,
	    .help = "print JSON (--acquire, --status, --list)",
	    .verbs = BIT(VERB_ACQUIRE) | BIT(VERB_STATUS) | BIT(VERB_LIST) },

	{ GROUP_OUTPUT, "", { "report" }, "FILE",
	    KIND_STRING, AT(report), 1, 0,
	    .help = "write how the run ended, a JSON object" },
	{ GROUP_OUTPUT, "", { "metrics" }, "FILE",
	    KIND_STRING, AT(metrics), 1, 0,
	    .help = "count this run in a file for Prometheus" },
	{ GROUP_OUTPUT, "", { "log" }, "FORM",
	    KIND_CHOICE, AT(log_json), 0, 0, .choices = log_choices,
	    .help = "lines on stderr: text or json (text)", .verbs = ALL },
	{ GROUP_OUTPUT, "v", { "verbose" }, NULL,
	    KIND_SET, AT(verbosity), LOG_LEVEL_VERBOSE, 0,
	    .help = "say who holds the lock, waits, times",
	    .verbs = ALL },
	{ GROUP_OUTPUT, "q", { "quiet" }, NULL,
	    KIND_SET, AT(verbosity), LOG_LEVEL_QUIET, 0,
	    .help = "say nothing at all",
	    .verbs = ALL },
	{ GROUP_OUTPUT, "h", { "help" }, NULL,
	    KIND_SET, AT(verb), VERB_HELP, 0,
	    .help = "print this help", .verbs = ALL },
	{ GROUP_OUTPUT, "V", { "version" }, NULL,
	    KIND_SET, AT(verb), VERB_VERSION, 0,
	    .help = "print the version", .verbs = ALL },
};
/* clang-format on */
