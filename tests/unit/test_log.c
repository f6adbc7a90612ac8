/* SPDX-License-Identifier: MIT */
/*
 * log: escapes, the form of a line, levels; and that nothing behind
 * descriptor 2 makes a call wait, kills us, or changes mask, dispositions or
 * errno.  Each line is written by a child, since log keeps a state.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "check.h"

#define DEADLINE_MS 10000 /* a test that hangs, not one that is slow */

/*
 * Stands in front of the C library's.  When it lies, log believes that a full
 * pipe has room, as it would if another writer came between.
 */
/* Not static: glibc declares poll inline when it fortifies. */
extern bool poll_lies;
bool poll_lies;
static pid_t alarm_sender;

int
poll(struct pollfd *fds, nfds_t count, int timeout)
{
	struct timespec ts = { timeout / 1000, 0 };

	if (poll_lies) {
		fds[0].revents = POLLOUT;
		return 1;
	}
	return ppoll(fds, count, &ts, NULL);
}

/* Run body in a child with fd as descriptor 2; its exit status. */
static int
in_child(int fd, int (*body)(void))
{
	int64_t start = clock_now();
	int status;
	pid_t pid, got;

	fflush(stdout);
	if ((pid = fork()) == 0) {
		if (fd == -1)
			close(STDERR_FILENO);
		else
			dup2(fd, STDERR_FILENO);
		_exit(body());
	}
	if (pid == -1)
		return -1;
	while ((got = waitpid(pid, &status, WNOHANG)) == 0) {
		if (clock_now() > start + DEADLINE_MS)
			kill(pid, SIGKILL);
		usleep(200);
	}
	if (got != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

/* What body wrote to a pipe, terminated. */
static void
capture(int (*body)(void), char *out, size_t cap)
{
	int fds[2];
	ssize_t n;

	out[0] = '\0';
	if (pipe(fds) == -1)
		return;
	CHECK_EQ(in_child(fds[1], body), 0);
	close(fds[1]);
	if ((n = read(fds[0], out, cap - 1)) >= 0)
		out[n] = '\0';
	close(fds[0]);
}

static void
escapes(void)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "", "" },
		{ "plain text~", "plain text~" },
		{ "a\nb\rc\td", "a\\nb\\rc\\td" },
		{ "back\\slash", "back\\slash" },
		{ "\x01\x1b[31m\x7f", "\\x01\\x1b[31m\\x7f" },
		{ "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\x92",
		    "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\x92" },
		{ "\xc2\x80\xc2\x9b\xc2\x9f",
		    "\\xc2\\x80\\xc2\\x9b\\xc2\\x9f" },
		{ "\xc2\xa0", "\xc2\xa0" },
		/* Not UTF-8: lone, cut, overlong, surrogate, too large. */
		{ "\x80\xbf", "\\x80\\xbf" },
		{ "\xc3", "\\xc3" },
		{ "\xe2\x82", "\\xe2\\x82" },
		{ "\xe2\x82x", "\\xe2\\x82x" },
		{ "\xc0\x80\xc1\xbf", "\\xc0\\x80\\xc1\\xbf" },
		{ "\xe0\x82\x80", "\\xe0\\x82\\x80" },
		{ "\xf0\x82\x82\xac", "\\xf0\\x82\\x82\\xac" },
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },
		{ "\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80" },
		{ "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" },
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" },
		{ "\xf5\x80\x80\x80\xff\xfe",
		    "\\xf5\\x80\\x80\\x80\\xff\\xfe" },
		{ "\x9b", "\\x9b" },
	};
	char out[128];
	size_t i, n;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		n = log_escape(out, sizeof(out), rows[i].text,
		    strlen(rows[i].text));
		check_str(out, rows[i].want, rows[i].text, __FILE__, __LINE__);
		CHECK_EQ(n, strlen(out));
	}
	CHECK_EQ(log_escape(out, sizeof(out), "a\0b", 3), 6);
	CHECK_STR(out, "a\\x00b");
}

/* For any room: terminated, within it, and only whole pieces. */
static void
escape_cuts(void)
{
	static const char text[] = "a\n\xe2\x82\xac\x01z";
	static const char *const want[] = {
		NULL,
		"",
		"a",
		"a",
		"a\\n",
		"a\\n",
		"a\\n",
		"a\\n\xe2\x82\xac",
		"a\\n\xe2\x82\xac",
		"a\\n\xe2\x82\xac",
		"a\\n\xe2\x82\xac",
		"a\\n\xe2\x82\xac\\x01",
		"a\\n\xe2\x82\xac\\x01z",
		"a\\n\xe2\x82\xac\\x01z",
	};
	char out[32];
	size_t cap, n;

	for (cap = 0; cap < CHECK_COUNT(want); cap++) {
		memset(out, '!', sizeof(out));
		n = log_escape(out, cap, text, sizeof(text) - 1);
		CHECK_EQ(out[cap], '!');
		if (cap == 0)
			continue;
		CHECK_STR(out, want[cap]);
		CHECK_EQ(n, strlen(want[cap]));
	}
}

static void
cuts(void)
{
	static const char text[] = "a\xc3\xa9\xe2\x82\xac\xff\xe2\x82";
	static const size_t want[] = { 0, 1, 1, 3, 3, 3, 6, 7, 8, 9, 9 };
	size_t max;

	for (max = 0; max < CHECK_COUNT(want); max++)
		CHECK_EQ(log_cut(text, sizeof(text) - 1, max), want[max]);
	CHECK_EQ(log_cut("", 0, 0), 0);
}

static int
say_lines(void)
{
	log_say(LOG_LEVEL_NORMAL, "no subject");
	log_say(LOG_LEVEL_VERBOSE, "not shown");
	log_set_subject("a\nb");
	log_say(LOG_LEVEL_NORMAL, "%s: %d", "x\x1b[2J", 7);
	log_set_level(LOG_LEVEL_VERBOSE);
	log_say(LOG_LEVEL_VERBOSE, "shown");
	log_set_level(LOG_LEVEL_QUIET);
	log_say(LOG_LEVEL_NORMAL, "silent");
	log_set_level(LOG_LEVEL_NORMAL);
	log_set_subject(NULL);
	log_say(LOG_LEVEL_NORMAL, "%s", "");
	return 0;
}

static void
lines(void)
{
	char out[4096];

	capture(say_lines, out, sizeof(out));
	CHECK_STR(out,
	    "rlock: no subject\n"
	    "rlock: a\\nb: x\\x1b[2J: 7\n"
	    "rlock: a\\nb: shown\n"
	    "rlock: \n");
}

static void
levels(void)
{
	CHECK(log_wants(LOG_LEVEL_NORMAL) && !log_wants(LOG_LEVEL_VERBOSE));
	log_set_level(LOG_LEVEL_VERBOSE);
	CHECK(log_wants(LOG_LEVEL_NORMAL) && log_wants(LOG_LEVEL_VERBOSE));
	log_set_level(LOG_LEVEL_QUIET);
	CHECK(!log_wants(LOG_LEVEL_NORMAL) && !log_wants(LOG_LEVEL_VERBOSE));
	log_set_level(LOG_LEVEL_NORMAL);
}

static char filler[2000];
static int fill_len;

static int
say_filler(void)
{
	log_say(LOG_LEVEL_NORMAL, "%.*s", fill_len, filler);
	return 0;
}

/* Lengths around the limit: 512 with "rlock: " and the LF is 504 of text. */
static void
long_lines(void)
{
	char out[4096];

	for (fill_len = 495; fill_len < 600; fill_len++) {
		memset(filler, 'x', sizeof(filler));
		capture(say_filler, out, sizeof(out));
		CHECK_EQ(strlen(out), fill_len <= 504 ? fill_len + 8 : 512);
		CHECK_EQ(strcmp(out + strlen(out) - 4, "...\n") == 0,
		    fill_len > 504);
		memset(filler, '\x01', sizeof(filler));
		capture(say_filler, out, sizeof(out));
		CHECK(strlen(out) <= 512 && strlen(out) > 505);
		CHECK_STR(out + strlen(out) - 4, "...\n");
	}
	fill_len = 1999;
	capture(say_filler, out, sizeof(out));
	CHECK(strlen(out) <= 512);
}

static char name[300];

static int
say_subject(void)
{
	log_set_subject(name);
	log_say(LOG_LEVEL_NORMAL, "end");
	return 0;
}

static void
long_subjects(void)
{
	char out[4096], want[400];

	memset(name, 'k', 100);
	name[100] = '\0';
	capture(say_subject, out, sizeof(out));
	snprintf(want, sizeof(want), "rlock: %s: end\n", name);
	CHECK_STR(out, want);
	strcat(name, "k");
	capture(say_subject, out, sizeof(out));
	snprintf(want, sizeof(want), "rlock: %.100s...: end\n", name);
	CHECK_STR(out, want);
	/* A character across the limit goes as a whole. */
	strcpy(name + 99, "\xc3\xa9");
	capture(say_subject, out, sizeof(out));
	snprintf(want, sizeof(want), "rlock: %.99s...: end\n", name);
	CHECK_STR(out, want);
	memset(name, '\x01', sizeof(name) - 1);
	capture(say_subject, out, sizeof(out));
	CHECK_EQ(strlen(out), 7 + 400 + 3 + 2 + 4);
}

/*
 * Say one line and see that neither errno, nor the mask, nor a disposition
 * has changed: 0, or a number that tells what has.
 */
static int
say_and_compare(void)
{
	struct sigaction act[4], again;
	static const int numbers[4] = { SIGALRM, SIGPIPE, SIGXFSZ, SIGTTOU };
	sigset_t before, after, pending;
	int i;

	sigprocmask(SIG_BLOCK, NULL, &before);
	for (i = 0; i < 4; i++)
		sigaction(numbers[i], NULL, &act[i]);
	errno = ENOTTY;
	log_say(LOG_LEVEL_NORMAL, "line");
	if (errno != ENOTTY)
		return 1;
	sigprocmask(SIG_BLOCK, NULL, &after);
	for (i = 1; i < 32; i++)
		if (sigismember(&before, i) != sigismember(&after, i))
			return 2;
	for (i = 0; i < 4; i++) {
		sigaction(numbers[i], NULL, &again);
		if (again.sa_handler != act[i].sa_handler)
			return 3;
	}
	sigpending(&pending);
	for (i = 0; i < 4; i++)
		if (sigismember(&pending, numbers[i]))
			return 4;
	return 0;
}

static int
say_with_all_blocked(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	return say_and_compare();
}

/* The same without the poll that sees it coming. */
static int
say_blindly(void)
{
	poll_lies = true;
	return say_and_compare();
}

static int
say_blindly_blocked(void)
{
	poll_lies = true;
	return say_with_all_blocked();
}

static int
say_with_file_limit(void)
{
	struct rlimit none = { 0, 0 };

	if (setrlimit(RLIMIT_FSIZE, &none) == -1)
		return 9;
	return say_and_compare();
}

static void
state_is_kept(void)
{
	static int (*const bodies[])(void) = { say_and_compare,
		say_with_all_blocked, say_blindly, say_blindly_blocked };
	char path[] = "/tmp/rlock-test-log-XXXXXX", text[64] = "";
	int null, file, fds[2];
	size_t i;

	null = open("/dev/null", O_WRONLY);
	file = mkstemp(path);
	CHECK_EQ(in_child(file, say_with_file_limit), 0);
	for (i = 0; i < CHECK_COUNT(bodies); i++) {
		CHECK_EQ(in_child(null, bodies[i]), 0);
		CHECK_EQ(in_child(file, bodies[i]), 0);
		CHECK_EQ(in_child(-1, bodies[i]), 0);
		CHECK_EQ(pipe(fds), 0);
		CHECK_EQ(in_child(fds[1], bodies[i]), 0);
		/* Nobody reads it: EPIPE and SIGPIPE. */
		close(fds[0]);
		CHECK_EQ(in_child(fds[1], bodies[i]), 0);
		close(fds[1]);
	}
	CHECK_EQ(pread(file, text, sizeof(text) - 1, 0), 4 * 12);
	CHECK(strncmp(text, "rlock: line\nrlock: line\n", 24) == 0);
	unlink(path);
	close(file);
	close(null);
}

static int
fill_pipe(int *fds)
{
	static char zeros[4096];
	int flags;

	if (pipe(fds) == -1)
		return -1;
	flags = fcntl(fds[1], F_GETFL);
	fcntl(fds[1], F_SETFL, flags | O_NONBLOCK);
	while (write(fds[1], zeros, sizeof(zeros)) > 0)
		continue;
	return fcntl(fds[1], F_SETFL, flags);
}

static void
full_pipe(void)
{
	int fds[2];

	CHECK_EQ(fill_pipe(fds), 0);
	CHECK_EQ(in_child(fds[1], say_and_compare), 0);
	CHECK_EQ(in_child(fds[1], say_with_all_blocked), 0);
	/* write(2) blocks: only the timer gets us out. */
	CHECK_EQ(in_child(fds[1], say_blindly), 0);
	CHECK_EQ(in_child(fds[1], say_blindly_blocked), 0);
	CHECK_EQ(fcntl(fds[1], F_GETFL) & O_NONBLOCK, 0);
	close(fds[0]);
	close(fds[1]);
}

/* Descriptors 2 and 3 are the ends of a full pipe. */
static int
say_twice(void)
{
	static char sink[1 << 20];
	int64_t start = clock_now();
	ssize_t n;

	log_say(LOG_LEVEL_NORMAL, "dropped");
	fcntl(3, F_SETFL, O_NONBLOCK);
	while (read(3, sink, sizeof(sink)) > 0)
		continue;
	log_say(LOG_LEVEL_NORMAL, "within the second");
	n = read(3, sink, sizeof(sink));
	if (n > 0 && clock_now() - start < 1000)
		return 1;
	while (clock_now() <= start + 1100)
		usleep(20000);
	log_say(LOG_LEVEL_NORMAL, "after it");
	n = read(3, sink, sizeof(sink) - 1);
	return n == 16 && memcmp(sink, "rlock: after it\n", 16) == 0 ? 0 : 2;
}

static void
silence_after_a_drop(void)
{
	int fds[2];

	CHECK_EQ(fill_pipe(fds), 0);
	if (fds[0] != 3) {
		dup2(fds[0], 3);
		close(fds[0]);
	}
	CHECK_EQ(in_child(fds[1], say_twice), 0);
	close(3);
	close(fds[1]);
}

static volatile sig_atomic_t alarms;

static void
count_alarm(int number)
{
	(void)number;
	alarms++;
}

/* A SIGALRM that was pending is ours to see once more, not log's to eat. */
static int
say_with_alarm_pending(void)
{
	sigset_t set, old;

	signal(SIGALRM, count_alarm);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_BLOCK, &set, &old);
	kill(getpid(), SIGALRM);
	log_say(LOG_LEVEL_NORMAL, "line");
	sigpending(&set);
	if (!sigismember(&set, SIGALRM) || alarms != 0)
		return 1;
	sigprocmask(SIG_SETMASK, &old, NULL);
	return alarms == 1 ? 0 : 2;
}

/* One that comes while write(2) blocks, from another process. */
static int
say_with_alarm_sent(void)
{
	pid_t parent = getpid();
	int64_t start;

	signal(SIGALRM, count_alarm);
	poll_lies = true;
	if ((alarm_sender = fork()) == 0) {
		usleep(5000);
		kill(parent, SIGALRM);
		_exit(0);
	}
	log_say(LOG_LEVEL_NORMAL, "line");
	waitpid(alarm_sender, NULL, 0);
	for (start = clock_now(); alarms == 0; usleep(1000))
		if (clock_now() > start + DEADLINE_MS)
			return 1;
	return alarms == 1 ? 0 : 2;
}

/* And the kernel's own, of an alarm(2) that was set before. */
static int
say_with_itimer(void)
{
	struct itimerval soon = { { 0, 0 }, { 0, 5000 } };
	int64_t start;

	signal(SIGALRM, count_alarm);
	poll_lies = true;
	setitimer(ITIMER_REAL, &soon, NULL);
	log_say(LOG_LEVEL_NORMAL, "line");
	for (start = clock_now(); alarms == 0; usleep(1000))
		if (clock_now() > start + DEADLINE_MS)
			return 1;
	return alarms == 1 ? 0 : 2;
}

static void
foreign_alarms(void)
{
	int fds[2], i;

	CHECK_EQ(fill_pipe(fds), 0);
	CHECK_EQ(in_child(fds[1], say_with_alarm_sent), 0);
	for (i = 0; i < 20; i++) {
		if (in_child(fds[1], say_with_itimer) != 0)
			break;
	}
	CHECK_EQ(i, 20);
	close(fds[0]);
	close(fds[1]);
	CHECK_EQ(pipe(fds), 0);
	CHECK_EQ(in_child(fds[1], say_with_alarm_pending), 0);
	close(fds[0]);
	close(fds[1]);
}

int
main(void)
{
	CHECK_RUN(escapes);
	CHECK_RUN(escape_cuts);
	CHECK_RUN(cuts);
	CHECK_RUN(levels);
	CHECK_RUN(lines);
	CHECK_RUN(long_lines);
	CHECK_RUN(long_subjects);
	CHECK_RUN(state_is_kept);
	CHECK_RUN(full_pipe);
	CHECK_RUN(silence_after_a_drop);
	CHECK_RUN(foreign_alarms);
	return check_done();
}
