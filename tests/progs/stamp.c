/* SPDX-License-Identifier: MIT */
/*
 * stamp: a command to run under a lock, that logs when it ran.
 *
 *   stamp FILE span NAME MS [STATUS]   "begin T PID NAME TOKEN SLOT FENCE",
 *                                      waits MS, "end ...", exits
 *   stamp FILE beat MS [ignore]        "beat T PID" every MS milliseconds,
 *                                      for 100 s; "ignore": TERM is ignored
 *
 * T is CLOCK_BOOTTIME in microseconds; TOKEN is RLOCK_TOKEN's random part; SLOT
 * and FENCE are RLOCK_SLOT and RLOCK_FENCE, '-' when not set.
 * Each line is one write with O_APPEND, so that many may share a file.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t
now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void
pause_ms(long ms)
{
	struct timespec span = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&span, &span) == -1)
		continue;
}

static const char *
or_dash(const char *name)
{
	const char *value = getenv(name);

	return value == NULL ? "-" : value;
}

static void
put(int fd, const char *what, const char *name)
{
	const char *token = getenv("RLOCK_TOKEN");
	char line[200];
	int n;

	if (token == NULL || strlen(token) < 40)
		token = "rlock:1:-";
	n = snprintf(line, sizeof(line), "%s %" PRId64 " %ld %s %.32s %s %s\n",
	    what, now_us(), (long)getpid(), name, token + 8,
	    or_dash("RLOCK_SLOT"), or_dash("RLOCK_FENCE"));
	if (write(fd, line, (size_t)n) != n)
		_exit(74);
}

int
main(int argc, char **argv)
{
	int64_t end = now_us() + 100 * 1000000;
	long ms;
	int fd;

	if (argc < 4)
		return 64;
	fd = open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (fd == -1)
		return 74;
	if (strcmp(argv[2], "span") == 0 && argc > 4) {
		put(fd, "begin", argv[3]);
		pause_ms(strtol(argv[4], NULL, 10));
		put(fd, "end", argv[3]);
		return argc > 5 ? atoi(argv[5]) : 0;
	}
	if (argc > 4)
		signal(SIGTERM, SIG_IGN);
	ms = strtol(argv[3], NULL, 10);
	while (now_us() < end) {
		put(fd, "beat", "-");
		pause_ms(ms);
	}
	return 0;
}
