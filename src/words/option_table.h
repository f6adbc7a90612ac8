/* SPDX-License-Identifier: MIT */
/*
 * option_table: the options of the command line, a row for each.  Read by
 * options (argv, the environment, --help) and by option_set.
 */
#ifndef RLOCK_OPTION_TABLE_H
#define RLOCK_OPTION_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define OPTION_ROWS	50
#define OPTION_NAMES	3	/* at most, for one option */
#define OPTION_LETTERS	2

enum option_kind {
	KIND_IGNORED,		/* accepted, without effect */
	KIND_SET,		/* a flag: sets the integer to min */
	KIND_DURATION,		/* min to max ms (max 0: no limit) */
	KIND_COUNT,		/* min to max */
	KIND_STRING,		/* min to max bytes (max 0: no limit) */
	KIND_CHOICE,		/* sets the enum to the place in choices */
	KIND_SIGNAL,
	KIND_URL
};

enum option_group {
	GROUP_LOCK, GROUP_COMMAND, GROUP_SERVER, GROUP_VERB, GROUP_OUTPUT
};

struct option_def {
	enum option_group	 group;	/* rows of one stand together */
	char			 letters[OPTION_LETTERS + 1];
	const char		*names[OPTION_NAMES + 1];	/* NULL-ended */
	const char		*arg;		/* NULL: takes none */
	enum option_kind	 kind;
	size_t			 offset;	/* in struct config */
	size_t			 size;		/* of that field */
	int64_t			 min, max;
	const char *const	*choices;	/* two to four, and NULL */
	const char		*help;		/* one line, default in () */
	const char		*env;		/* read if it is not given */
	unsigned int		 verbs;		/* bit n: it has a meaning with
						   enum config_verb n; 0: for a
						   command only */
};

extern const struct option_def option_table[OPTION_ROWS];

#endif
