/* SPDX-License-Identifier: MIT */
/*
 * options: owns the way from argv and the environment to struct config, and
 * the text of --help; both are made from the option table.  A secret in argv
 * is gone when it has been copied.  It must not know any single option, but
 * for the hints to those who come from flock(1).
 */
#include "words/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "words/option_set.h"
#include "words/option_table.h"

#define LONG_BASE 256 /* of getopt's values for long names */
#define NAME_LEN 80   /* "option --NAME", cut */
#define HELP_COLUMN 30
#define BLANKS " \t\n\r\v\f"

_Static_assert(OPTION_ROWS <= 64, "a bit of a uint64_t for each row");

/* getopt's view of the table. */
struct arrays {
	char shorts[2 + OPTION_ROWS * OPTION_LETTERS * 2 + 1];
	struct option longs[OPTION_ROWS * OPTION_NAMES + 1];
};

static void
build_arrays(struct arrays *arrays)
{
	const struct option_def *def;
	struct option *entry = arrays->longs;
	char *end = arrays->shorts;
	const char *letter;
	int row, i;

	/* '+': stop at the first operand.  ':': we do the talking. */
	*end++ = '+';
	*end++ = ':';
	for (row = 0; row < OPTION_ROWS; row++) {
		def = &option_table[row];
		for (letter = def->letters; *letter != '\0'; letter++) {
			*end++ = *letter;
			if (def->arg != NULL)
				*end++ = ':';
		}
		for (i = 0; def->names[i] != NULL; i++, entry++) {
			entry->name = def->names[i];
			entry->has_arg = def->arg != NULL;
			entry->flag = NULL;
			/* The same for aliases: "--nonb" is unambiguous. */
			entry->val = LONG_BASE + row;
		}
	}
	*end = '\0';
	memset(entry, 0, sizeof(*entry));
}

/* The row of what getopt_long returned or left in optopt, or -1. */
static int
row_of(int value)
{
	int row;

	if (value >= LONG_BASE)
		return value - LONG_BASE;
	for (row = 0; row < OPTION_ROWS; row++)
		if (value > 0 &&
		    strchr(option_table[row].letters, value) != NULL)
			return row;
	return -1;
}

/*
 * "option --NAME" or "option -X" as it was typed, without a value that hangs
 * on it: that could be a secret.  value is getopt's; 0 means an unknown long
 * option.
 */
static void
name_option(char *out, int value, char **argv)
{
	const char *typed;

	if (value != 0 && value < LONG_BASE) {
		snprintf(out, NAME_LEN, "option -%c", (char)value);
		return;
	}
	typed = argv[optind - 1];
	if (optarg != NULL && optarg == typed)
		typed = argv[optind - 2];
	snprintf(out, NAME_LEN, "option %.*s", (int)strcspn(typed, "="), typed);
}

/* Is it the beginning of more than one option's name? */
static bool
is_ambiguous(const char *name)
{
	size_t len = strlen(name);
	int row, i, found = 0;

	for (row = 0; row < OPTION_ROWS; row++) {
		for (i = 0; option_table[row].names[i] != NULL; i++) {
			if (strncmp(option_table[row].names[i], name, len) ==
			    0) {
				found++;
				break;
			}
		}
	}
	return found > 1;
}

/* getopt_long returned '?': what it does not know or allow. */
static int
refuse_option(char **argv, struct fault *fault)
{
	char name[NAME_LEN];
	const char *bare;

	name_option(name, optopt, argv);
	bare = name + strlen("option ");
	if (optopt >= LONG_BASE)
		return fault_set(fault, FAULT_USAGE, 0, "%s takes no value",
		    name);
	if (strcmp(bare, "-F") == 0 || strcmp(bare, "--no-fork") == 0)
		return fault_set(fault, FAULT_USAGE, 0,
		    "unknown %s: rlock "
		    "can't replace itself by the command: it renews the lock "
		    "while the command runs",
		    name);
	if (optopt == 0 && is_ambiguous(bare + 2))
		return fault_set(fault, FAULT_USAGE, 0,
		    "%s is ambiguous (try 'rlock --help')", name);
	return fault_set(fault, FAULT_USAGE, 0,
	    "unknown %s (try 'rlock --help')", name);
}

/* One option that getopt_long has found; *seen has a bit for each row. */
static int
take_option(struct config *cfg, int value, char **argv, uint64_t *seen,
    struct fault *fault)
{
	const struct option_def *def;
	char name[NAME_LEN];
	int row, error;

	if (value == '?')
		return refuse_option(argv, fault);
	if (value == ':') {
		name_option(name, optopt, argv);
		row = row_of(optopt);
		return fault_set(fault, FAULT_USAGE, 0,
		    "%s needs a value "
		    "(%s)",
		    name, row == -1 ? "?" : option_table[row].arg);
	}
	if ((row = row_of(value)) == -1)
		return fault_set(fault, FAULT_BUG, 0, "option without a row");
	def = &option_table[row];
	name_option(name, value, argv);
	error = option_set(cfg, def, name, optarg, fault);
	if (def->kind == KIND_URL)
		endpoint_scrub(optarg);
	*seen |= UINT64_C(1) << row;
	return error;
}

/* RLOCK_URL: URLs separated by blanks. */
static int
set_urls_from_env(struct config *cfg, const struct option_def *def,
    const char *value, struct fault *fault)
{
	size_t len;
	char *url;
	int error = 0;

	for (; error == 0 && *value != '\0'; value += len) {
		value += strspn(value, BLANKS);
		if ((len = strcspn(value, BLANKS)) == 0)
			break;
		if ((url = strndup(value, len)) == NULL)
			return fault_set(fault, FAULT_SYSTEM, 0,
			    "out of memory");
		error = option_set(cfg, def, def->env, url, fault);
		explicit_bzero(url, len);
		free(url);
	}
	return error;
}

/* What the environment says where no option did. */
static int
read_environment(struct config *cfg, uint64_t seen, struct fault *fault)
{
	const struct option_def *def;
	const char *value;
	int row, error = 0;

	for (row = 0; row < OPTION_ROWS && error == 0; row++) {
		def = &option_table[row];
		if (def->env == NULL || (seen >> row & 1) != 0 ||
		    (value = getenv(def->env)) == NULL)
			continue;
		if (def->kind == KIND_URL)
			error = set_urls_from_env(cfg, def, value, fault);
		/* An empty string is a value, an empty number is none. */
		else if (*value != '\0' || def->kind == KIND_STRING)
			error = option_set(cfg, def, def->env, value, fault);
	}
	value = getenv("REDISCLI_AUTH");
	if (value != NULL && *value != '\0')
		cfg->env_password = value;
	return error;
}

/* The one operand of a verb: KEY, or PATTERN. */
static int
take_operand(struct config *cfg, const char *operand, struct fault *fault)
{
	const char **field = cfg->verb == VERB_LIST ? &cfg->pattern : &cfg->key;

	if (cfg->verb == VERB_DOCTOR)
		return fault_set(fault, FAULT_USAGE, 0,
		    "'%.100s' is one operand too many: --doctor looks at the "
		    "server, not at a lock",
		    operand);
	if (*field != NULL)
		return fault_set(fault, FAULT_USAGE, 0,
		    "'%.100s' is one operand too many: a verb is about one %s",
		    operand, cfg->verb == VERB_LIST ? "pattern" : "lock");
	*field = operand;
	return 0;
}

/* Has every option that was given a meaning with the verb? */
static int
check_verb(const struct config *cfg, uint64_t seen, struct fault *fault)
{
	const char *verb = "a command";
	const struct option_def *def;
	unsigned int verbs;
	int row;

	for (row = 0; row < OPTION_ROWS; row++)
		if (option_table[row].group == GROUP_VERB &&
		    option_table[row].min == (int64_t)cfg->verb &&
		    option_table[row].kind == KIND_SET &&
		    option_table[row].offset == offsetof(struct config, verb))
			verb = option_table[row].names[0];
	for (row = 0; row < OPTION_ROWS; row++) {
		def = &option_table[row];
		verbs = def->verbs == 0 ? 1U << VERB_RUN : def->verbs;
		if ((seen >> row & 1) == 0 || (verbs >> cfg->verb & 1) != 0)
			continue;
		return fault_set(fault, FAULT_USAGE, 0,
		    "option --%s has no meaning with %s%s", def->names[0],
		    cfg->verb == VERB_RUN ? "" : "--", verb);
	}
	return 0;
}

int
options_read(struct config *cfg, int argc, char **argv, struct fault *fault)
{
	struct arrays arrays = { .shorts = "" };
	uint64_t seen = 0;
	int value;

	build_arrays(&arrays);
	opterr = 0;
	/* Not 1: glibc and musl start anew only then. */
	optind = 0;
	for (;;) {
		/* name_option must not see that of an earlier option. */
		optarg = NULL;
		value =
		    getopt_long(argc, argv, arrays.shorts, arrays.longs, NULL);
		/* With a verb, options and operands may mix. */
		if (value == -1 && cfg->verb != VERB_RUN && optind < argc) {
			if (take_operand(cfg, argv[optind++], fault) == -1)
				return -1;
			continue;
		}
		if (value == -1)
			break;
		if (take_option(cfg, value, argv, &seen, fault) == -1)
			return -1;
		if (cfg->verb >= VERB_HELP)
			return 0;
	}
	if (cfg->verb == VERB_RUN && optind < argc)
		cfg->command = argv + optind;
	if (check_verb(cfg, seen, fault) == -1 ||
	    read_environment(cfg, seen, fault) == -1)
		return -1;
	return config_check(cfg, fault);
}

/* "  -x, -e, --exclusive" and "      --ttl DUR": the first name only. */
static void
help_names(const struct option_def *def, char *out, size_t cap)
{
	size_t i, n = 0;

	n += (size_t)snprintf(out, cap, "%s",
	    def->letters[0] == '\0' ? "      " : "  ");
	for (i = 0; def->letters[i] != '\0'; i++)
		n += (size_t)snprintf(out + n, cap - n, "-%c, ",
		    def->letters[i]);
	snprintf(out + n, cap - n, "--%s%s%s", def->names[0],
	    def->arg != NULL ? " " : "", def->arg != NULL ? def->arg : "");
}

static int
help_row(struct buf *out, const struct option_def *def)
{
	char names[NAME_LEN];
	size_t i;

	help_names(def, names, sizeof(names));
	if (buf_printf(out, "%-*s%s\n", HELP_COLUMN, names, def->help) == -1)
		return -1;
	if (def->env != NULL &&
	    buf_printf(out, "%*sor set %s\n", HELP_COLUMN, "", def->env) == -1)
		return -1;
	if (def->names[1] == NULL)
		return 0;
	if (buf_printf(out, "%*salso", HELP_COLUMN, "") == -1)
		return -1;
	for (i = 1; def->names[i] != NULL; i++)
		if (buf_printf(out, "%s --%s", i == 1 ? "" : ",",
			def->names[i]) == -1)
			return -1;
	return buf_puts(out, "\n");
}

int
options_help(struct buf *out)
{
	static const char *const titles[] = { [GROUP_LOCK] = "Lock",
		[GROUP_COMMAND] = "Command",
		[GROUP_SERVER] = "Server",
		[GROUP_VERB] = "Instead of a command",
		[GROUP_OUTPUT] = "Output" };
	int row;

	if (buf_puts(out,
		"usage: rlock [options] -k KEY [--] COMMAND [ARG...]\n"
		"       rlock [options] -k KEY -c 'SHELL STRING'\n"
		"       rlock --acquire | --renew | --release | --status | "
		"--break  KEY\n"
		"       rlock --list [PATTERN] | --doctor\n"
		"Run a command under a lock on a Redis server.\n") == -1)
		return -1;
	for (row = 0; row < OPTION_ROWS; row++) {
		if ((row == 0 ||
			option_table[row].group !=
			    option_table[row - 1].group) &&
		    buf_printf(out, "\n%s:\n",
			titles[option_table[row].group]) == -1)
			return -1;
		if (help_row(out, &option_table[row]) == -1)
			return -1;
	}
	return buf_puts(out,
	    "\nDUR is a number with an optional unit: ms, s, m, h, d; no "
	    "unit is seconds.\n"
	    "The whole manual: man rlock\n");
}
