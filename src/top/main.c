/* SPDX-License-Identifier: MIT */
/*
 * main: from argv to what is asked for; the only caller of exit.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/print.h"
#include "top/cmd_acquire.h"
#include "top/cmd_break.h"
#include "top/cmd_doctor.h"
#include "top/cmd_look.h"
#include "top/cmd_run.h"
#include "top/cmd_token.h"
#include "words/config.h"
#include "words/options.h"
#include "words/outcome.h"

/*
 * Open /dev/null on those of the descriptors 0 to 2 that are closed, so that
 * no message ever lands in a connection that got their number.  Not to write
 * for stdout: what was asked for and nobody gets, a token above all, is an
 * error.  Returns which.
 */
static unsigned int
fill_descriptors(void)
{
	struct pollfd fds[3] = { { .fd = 0 }, { .fd = 1 }, { .fd = 2 } };
	unsigned int closed = 0;
	int i;

	if (poll(fds, 3, 0) == -1)
		return 0;
	for (i = 0; i < 3; i++) {
		if ((fds[i].revents & POLLNVAL) == 0)
			continue;
		closed |= 1U << i;
		/* The lowest free number is this one. */
		if (open("/dev/null", i == STDOUT_FILENO ? O_RDONLY : O_RDWR) ==
		    -1)
			break; /* then nothing else can be opened either */
	}
	return closed;
}

static int
print(const struct buf *text)
{
	struct fault fault;

	if (print_all(text, &fault) == 0)
		return EXIT_SUCCESS;
	log_say(LOG_LEVEL_NORMAL, "%s", fault.text);
	return EXIT_FAILURE;
}

static int
print_help(void)
{
	struct buf text = { 0 };
	int status = options_help(&text) == -1 ? EXIT_FAILURE : print(&text);

	buf_release(&text);
	return status;
}

static int
print_version(void)
{
	struct buf text = { 0 };
	int status = buf_puts(&text, "rlock " RLOCK_VERSION "\n") == -1 ?
	    EXIT_FAILURE :
	    print(&text);

	buf_release(&text);
	return status;
}

/* Die as the command did, so that the caller sees the truth; no second core
 * is written.  Returns only as PID 1, which no signal of its own kills. */
static void
die_of(int number, bool whole_group)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t mask;

	(void)prctl(PR_SET_DUMPABLE, 0);
	sigaction(number, &action, NULL); /* fails for KILL: default anyway */
	sigemptyset(&mask);
	sigaddset(&mask, number);
	kill(whole_group ? 0 : getpid(), number);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
}

int
main(int argc, char **argv)
{
	unsigned int closed = fill_descriptors();
	struct outcome outcome = { .kind = OUTCOME_ERROR };
	struct ending ending = { .status = 0 };
	struct config cfg;
	int status;

	config_init(&cfg);
	status = options_read(&cfg, argc, argv, &outcome.fault);
	log_set_level(cfg.verbosity);
	log_set_json(cfg.log_json != 0);
	log_set_subject(status == 0 ? cfg.key : NULL);
	if (status == -1) {
		log_say(LOG_LEVEL_NORMAL, "%s", outcome.fault.text);
		ending.status = outcome_exit_status(&outcome, &cfg);
	} else
		switch (cfg.verb) {
		case VERB_HELP:
			ending.status = print_help();
			break;
		case VERB_VERSION:
			ending.status = print_version();
			break;
		case VERB_RUN:
			ending = cmd_run(&cfg, closed);
			break;
		case VERB_ACQUIRE:
			ending = cmd_acquire(&cfg);
			break;
		case VERB_RENEW:
		case VERB_RELEASE:
			ending = cmd_token(&cfg);
			break;
		case VERB_STATUS:
		case VERB_LIST:
			ending = cmd_look(&cfg);
			break;
		case VERB_BREAK:
			ending = cmd_break(&cfg);
			break;
		case VERB_DOCTOR:
			ending = cmd_doctor(&cfg);
			break;
		}
	config_release(&cfg);
	if (ending.signal != 0)
		die_of(ending.signal, ending.whole_group);
	exit(ending.status);
}
