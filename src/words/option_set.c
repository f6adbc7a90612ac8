/* SPDX-License-Identifier: MIT */
/*
 * option_set: owns how the value of an option is read.  A field is written
 * only when its value is in range.  It must not know where the value comes
 * from, nor which options there are.
 */
#include "words/option_set.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "base/signame.h"

static void
store(struct config *cfg, const struct option_def *def, int64_t value)
{
	char *field = (char *)cfg + def->offset;
	int narrow = (int)value;

	/* The enums are as wide as an int, and hold no negative value. */
	if (def->size == sizeof(narrow))
		memcpy(field, &narrow, sizeof(narrow));
	else
		memcpy(field, &value, sizeof(value));
}

/* As one would write it: "100ms", "366d". */
static const char *
duration_text(int64_t ms, char *out, size_t cap)
{
	static const struct {
		const char *name;
		int64_t ms;
	} units[] = { { "d", 86400000 }, { "s", 1000 }, { "ms", 1 } };
	size_t i = 0;

	while (ms % units[i].ms != 0)
		i++;
	snprintf(out, cap, "%lld%s", (long long)(ms / units[i].ms),
	    units[i].name);
	return out;
}

static int
set_duration(struct config *cfg, const struct option_def *def, const char *name,
    const char *value, struct fault *fault)
{
	char least[32], most[32];
	const char *why;
	int64_t ms;

	if (parse_duration(value, &ms, &why) == -1)
		return fault_set(fault, FAULT_USAGE, 0, "%s: '%s' %s", name,
		    value, why);
	if (def->max != 0 && (ms < def->min || ms > def->max))
		return fault_set(fault, FAULT_USAGE, 0,
		    "%s: '%s' is not between %s and %s", name, value,
		    duration_text(def->min, least, sizeof(least)),
		    duration_text(def->max, most, sizeof(most)));
	if (ms < def->min)
		return fault_set(fault, FAULT_USAGE, 0,
		    "%s: '%s' is no time at all", name, value);
	store(cfg, def, ms);
	return 0;
}

static int
set_count(struct config *cfg, const struct option_def *def, const char *name,
    const char *value, struct fault *fault)
{
	const char *why;
	int64_t n;

	if (parse_count(value, def->min, def->max, &n, &why) == -1)
		return fault_set(fault, FAULT_USAGE, 0,
		    "%s: '%s' %s (%lld to %lld)", name, value, why,
		    (long long)def->min, (long long)def->max);
	store(cfg, def, n);
	return 0;
}

static int
set_string(struct config *cfg, const struct option_def *def, const char *name,
    const char *value, struct fault *fault)
{
	int64_t len = (int64_t)strlen(value);

	if (len < def->min)
		return fault_set(fault, FAULT_USAGE, 0, "%s: '' is empty",
		    name);
	if (def->max != 0 && len > def->max)
		return fault_set(fault, FAULT_USAGE, 0,
		    "%s: '%s' has %lld bytes, at most %lld are allowed", name,
		    value, (long long)len, (long long)def->max);
	memcpy((char *)cfg + def->offset, &value, sizeof(value));
	return 0;
}

static int
set_choice(struct config *cfg, const struct option_def *def, const char *name,
    const char *value, struct fault *fault)
{
	char all[100] = "";
	int i;

	for (i = 0; def->choices[i] != NULL; i++) {
		if (strcmp(def->choices[i], value) == 0) {
			store(cfg, def, i);
			return 0;
		}
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
		    i == 0			    ? "" :
			def->choices[i + 1] == NULL ? " or " :
						      ", ",
		    def->choices[i]);
	}
	return fault_set(fault, FAULT_USAGE, 0, "%s: '%s' is not %s", name,
	    value, all);
}

static int
set_url(struct config *cfg, const char *name, const char *value,
    struct fault *fault)
{
	size_t len = strspn(value, "0123456789");
	struct endpoint *next;

	if (len > 0 && value[len] == '\0')
		return fault_set(fault, FAULT_USAGE, 0,
		    "%s: '%s' is no URL: "
		    "-u takes the server's URL, and rlock's lock has no "
		    "descriptor to unlock",
		    name, value);
	if ((next = config_add_server(cfg)) == NULL)
		return fault_set(fault, FAULT_USAGE, 0,
		    "%s: more than %d servers", name, CONFIG_SERVERS_MAX);
	if (endpoint_parse(value, next, fault) == -1)
		return fault_prefix(fault, "%s", name);
	return 0;
}

static int
set_signal(struct config *cfg, const struct option_def *def, const char *name,
    const char *value, struct fault *fault)
{
	int number = signame_parse(value);

	if (number == -1)
		return fault_set(fault, FAULT_USAGE, 0,
		    "%s: '%s' is not a signal", name, value);
	store(cfg, def, number);
	return 0;
}

int
option_set(struct config *cfg, const struct option_def *def, const char *name,
    const char *value, struct fault *fault)
{
	switch (def->kind) {
	case KIND_IGNORED:
		return 0;
	case KIND_SET:
		store(cfg, def, def->min);
		return 0;
	case KIND_DURATION:
		return set_duration(cfg, def, name, value, fault);
	case KIND_COUNT:
		return set_count(cfg, def, name, value, fault);
	case KIND_STRING:
		return set_string(cfg, def, name, value, fault);
	case KIND_CHOICE:
		return set_choice(cfg, def, name, value, fault);
	case KIND_SIGNAL:
		return set_signal(cfg, def, name, value, fault);
	case KIND_URL:
		return set_url(cfg, name, value, fault);
	}
	return fault_set(fault, FAULT_BUG, 0, "%s: unknown kind", name);
}
