/* SPDX-License-Identifier: MIT */
/*
 * signame: owns the names of signals.  What signame_of writes for a signal,
 * signame_parse reads back as its number.  It must not know what a signal is
 * used for.
 */
#include "base/signame.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"

/* Of two names of one signal the first is the one that is shown. */
/* clang-format off */
static const struct {
	const char	*name;
	int		 number;
} names[] = {
	{ "HUP", SIGHUP }, { "INT", SIGINT }, { "QUIT", SIGQUIT },
	{ "ILL", SIGILL }, { "TRAP", SIGTRAP }, { "ABRT", SIGABRT },
	{ "IOT", SIGIOT }, { "BUS", SIGBUS }, { "FPE", SIGFPE },
	{ "KILL", SIGKILL }, { "USR1", SIGUSR1 }, { "SEGV", SIGSEGV },
	{ "USR2", SIGUSR2 }, { "PIPE", SIGPIPE }, { "ALRM", SIGALRM },
	{ "TERM", SIGTERM }, { "CHLD", SIGCHLD }, { "CONT", SIGCONT },
	{ "STOP", SIGSTOP }, { "TSTP", SIGTSTP }, { "TTIN", SIGTTIN },
	{ "TTOU", SIGTTOU }, { "URG", SIGURG }, { "XCPU", SIGXCPU },
	{ "XFSZ", SIGXFSZ }, { "VTALRM", SIGVTALRM }, { "PROF", SIGPROF },
	{ "WINCH", SIGWINCH }, { "IO", SIGIO }, { "SYS", SIGSYS },
#ifdef SIGCLD
	{ "CLD", SIGCLD },
#endif
#ifdef SIGPOLL
	{ "POLL", SIGPOLL },
#endif
#ifdef SIGPWR
	{ "PWR", SIGPWR },
#endif
#ifdef SIGSTKFLT
	{ "STKFLT", SIGSTKFLT },
#endif
};
/* clang-format on */

/* "" or SIGN and digits behind RTMIN and RTMAX. */
static int
parse_offset(const char *text, char sign, int base)
{
	const char *why;
	int64_t n;

	if (*text == '\0')
		return base;
	if (*text != sign ||
	    parse_count(text + 1, 0, SIGRTMAX - SIGRTMIN, &n, &why) == -1)
		return -1;
	return sign == '+' ? base + (int)n : base - (int)n;
}

int
signame_parse(const char *text)
{
	const char *why;
	int64_t n;
	size_t i;

	if (parse_count(text, 1, SIGRTMAX, &n, &why) == 0)
		return (int)n;
	if (strncasecmp(text, "SIG", 3) == 0)
		text += 3;
	if (strncasecmp(text, "RTMIN", 5) == 0)
		return parse_offset(text + 5, '+', SIGRTMIN);
	if (strncasecmp(text, "RTMAX", 5) == 0)
		return parse_offset(text + 5, '-', SIGRTMAX);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcasecmp(names[i].name, text) == 0)
			return names[i].number;
	return -1;
}

const char *
signame_of(int number, char *out, size_t cap)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].number == number) {
			snprintf(out, cap, "%s", names[i].name);
			return out;
		}
	}
	if (number == SIGRTMIN)
		snprintf(out, cap, "RTMIN");
	else if (number > SIGRTMIN && number <= SIGRTMAX)
		snprintf(out, cap, "RTMIN+%d", number - SIGRTMIN);
	else
		snprintf(out, cap, "signal %d", number);
	return out;
}
