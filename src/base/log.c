/* SPDX-License-Identifier: MIT */
/*
 * log: owns stderr.  A call returns within some 20 ms whatever stands behind
 * descriptor 2, and leaves signal mask, dispositions and errno as they were;
 * no byte that could steer a terminal gets out.  It must not know what the
 * lines are about.
 */
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log_json.h"

#define LINE_LEN 512	/* bytes of a line, the LF included */
#define SUBJECT_LEN 100 /* bytes of the subject before escaping */
#define WINDOW_NS 20000000
#define SILENCE_MS 1000 /* after a line that was dropped */

static enum log_level shown_level = LOG_LEVEL_NORMAL;
static const char *subject;
static bool as_json;
static int64_t silent_until = INT64_MIN;
static bool status_drawn;
static volatile sig_atomic_t alarm_was_foreign;

/*
 * Bytes of the printable character that text begins with, 0 if its first byte
 * needs an escape.  RFC 3629: no overlong forms, no surrogates.
 */
static size_t
char_len(const char *text, size_t left)
{
	/* Below 0xa0 the two-byte forms are C1, or overlong. */
	static const uint32_t least[] = { 0, 0, 0xa0, 0x800, 0x10000 };
	uint32_t byte = (unsigned char)text[0], code;
	size_t len, i;

	if (byte < 0x80)
		return byte >= 0x20 && byte != 0x7f;
	if (byte < 0xc0)
		return 0;
	len = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
	if (len > left || byte > 0xf4)
		return 0;
	code = byte & (0x7fu >> len);
	for (i = 1; i < len; i++) {
		byte = (unsigned char)text[i];
		if ((byte & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (byte & 0x3f);
	}
	if (code < least[len] || code > 0x10ffff ||
	    (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return len;
}

static size_t
escape_byte(char c, char *out, size_t cap)
{
	const char *name;

	switch (c) {
	case '\n':
		name = "\\n";
		break;
	case '\r':
		name = "\\r";
		break;
	case '\t':
		name = "\\t";
		break;
	default:
		snprintf(out, cap, "\\x%02x", (unsigned)(unsigned char)c);
		return 4;
	}
	snprintf(out, cap, "%s", name);
	return 2;
}

/* As log_escape; *used is how many bytes of text went in whole. */
static size_t
escape(char *out, size_t cap, const char *text, size_t len, size_t *used)
{
	char piece[8];
	const char *from;
	size_t done = 0, i = 0, n, step;

	*used = 0;
	if (cap == 0)
		return 0;
	while (i < len) {
		from = text + i;
		n = step = char_len(from, len - i);
		if (n == 0) {
			n = escape_byte(*from, piece, sizeof(piece));
			from = piece;
			step = 1;
		}
		if (n >= cap - done)
			break;
		memcpy(out + done, from, n);
		done += n;
		i += step;
	}
	out[done] = '\0';
	*used = i;
	return done;
}

size_t
log_escape(char *out, size_t cap, const char *text, size_t len)
{
	size_t used;

	return escape(out, cap, text, len, &used);
}

size_t
log_cut(const char *text, size_t len, size_t max)
{
	size_t i = 0, n;

	if (len <= max)
		return len;
	while (i < max) {
		n = char_len(text + i, len - i);
		n = n == 0 ? 1 : n;
		if (n > max - i)
			break;
		i += n;
	}
	return i;
}

/* Into line[LINE_LEN + 1]; returns the length with the LF. */
static size_t
compose(char *line, const char *text, size_t len)
{
	size_t n, used, name_len, room;

	n = (size_t)snprintf(line, LINE_LEN, "rlock: ");
	if (subject != NULL) {
		name_len = strlen(subject);
		used = log_cut(subject, name_len, SUBJECT_LEN);
		n += log_escape(line + n, LINE_LEN - n, subject, used);
		n += (size_t)snprintf(line + n, LINE_LEN - n,
		    "%s: ", used < name_len ? "..." : "");
	}
	room = LINE_LEN - n;
	name_len = n;
	n += escape(line + n, room, text, len, &used);
	if (used < len) {
		n = name_len +
		    escape(line + name_len, room - 3, text, len, &used);
		memcpy(line + n, "...", 3);
		n += 3;
	}
	line[n++] = '\n';
	return n;
}

/* That it runs is its purpose: write(2) returns. */
static void
on_alarm(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	/* Ours alone is SI_TIMER; kill(2) and alarm(2) are not. */
	if (info->si_code != SI_TIMER)
		alarm_was_foreign = 1;
}

/*
 * A write that failed may have left a signal pending; take it away before the
 * mask lets it kill us, unless it was there before.
 */
static void
take_signal_of(int err, const sigset_t *before)
{
	static const struct timespec at_once = { 0, 0 };
	int number = err == EPIPE ? SIGPIPE : err == EFBIG ? SIGXFSZ : 0;
	sigset_t set;

	if (number == 0 || sigismember(before, number))
		return;
	sigemptyset(&set);
	sigaddset(&set, number);
	/* Nothing pending is fine, too: it may have been ignored. */
	(void)sigtimedwait(&set, NULL, &at_once);
}

/*
 * Called with all signals blocked.  SIGTTOU among them lets a background
 * process write to a terminal that has TOSTOP instead of stopping us.
 */
static bool
write_timed(timer_t timer, const char *line, size_t len)
{
	static const struct itimerspec every = { { 0, WINDOW_NS },
		{ 0, WINDOW_NS } };
	sigset_t alarm_set, before;
	size_t done = 0;
	ssize_t n = 0;
	int err = 0, tries;

	sigemptyset(&alarm_set);
	sigaddset(&alarm_set, SIGALRM);
	sigpending(&before);
	sigprocmask(SIG_UNBLOCK, &alarm_set, NULL);
	if (timer_settime(timer, 0, &every, NULL) == 0) {
		for (tries = 0; tries < 2 && done < len && n >= 0; tries++) {
			n = write(STDERR_FILENO, line + done, len - done);
			if (n > 0)
				done += (size_t)n;
			else if (n < 0)
				err = errno;
		}
	}
	/*
	 * Deleted while SIGALRM is still open: else the timer's could be
	 * pending now and swallow one that a process sends.
	 */
	timer_delete(timer);
	sigprocmask(SIG_BLOCK, &alarm_set, NULL);
	take_signal_of(err, &before);
	return done == len;
}

static bool
put(const char *line, size_t len)
{
	struct pollfd pfd = { .fd = STDERR_FILENO, .events = POLLOUT };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL };
	struct sigaction act = { .sa_flags = SA_SIGINFO }, old_act;
	sigset_t all, old_mask;
	timer_t timer;
	bool written = false;

	/* Anything beside POLLOUT is a reader gone, or no descriptor. */
	if (poll(&pfd, 1, 0) != 1 || pfd.revents != POLLOUT)
		return false;
	event.sigev_signo = SIGALRM;
	act.sa_sigaction = on_alarm;
	sigfillset(&act.sa_mask);
	sigfillset(&all);
	alarm_was_foreign = 0;
	/* None of these can fail with arguments that are constant. */
	sigprocmask(SIG_SETMASK, &all, &old_mask);
	sigaction(SIGALRM, &act, &old_act);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
		written = write_timed(timer, line, len);
	sigaction(SIGALRM, &old_act, NULL);
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
	if (alarm_was_foreign)
		kill(getpid(), SIGALRM);
	return written;
}

void
log_set_level(enum log_level level)
{
	shown_level = level;
}

void
log_set_subject(const char *name)
{
	subject = name;
}

bool
log_wants(enum log_level level)
{
	return level <= shown_level;
}

static void
put_or_hush(const char *line, size_t len)
{
	log_status_clear();
	if (!put(line, len))
		silent_until = clock_add(clock_now(), SILENCE_MS);
}

static void say(enum log_level, const struct log_event *, const char *fmt,
    va_list) __attribute__((format(printf, 3, 0)));

static void
say(enum log_level level, const struct log_event *event, const char *fmt,
    va_list ap)
{
	/* More than a line takes, so that one cut here is cut there too. */
	char text[LINE_LEN + 64], line[LINE_LEN + 1];
	struct buf json = { 0 };
	int saved = errno, n;
	size_t len;

	if (as_json)
		level = event->detail ? LOG_LEVEL_VERBOSE : LOG_LEVEL_NORMAL;
	if (!log_wants(level) || clock_now() < silent_until)
		return;
	n = vsnprintf(text, sizeof(text), fmt, ap);
	len = n < 0 ? 0 : (size_t)n;
	if (len >= sizeof(text))
		len = sizeof(text) - 1;
	if (!as_json)
		put_or_hush(line, compose(line, text, len));
	else if (log_json_put(&json, event, subject, n < 0 ? "" : text) == 0)
		put_or_hush(json.data, json.len);
	buf_release(&json);
	errno = saved;
}

void
log_say(enum log_level level, const char *fmt, ...)
{
	const struct log_event event = {
		LOG_EVENT(level == LOG_LEVEL_VERBOSE ? "note" : "error"),
		.detail = level == LOG_LEVEL_VERBOSE
	};
	va_list ap;

	va_start(ap, fmt);
	say(level, &event, fmt, ap);
	va_end(ap);
}

void
log_tell(enum log_level level, const struct log_event *event, const char *fmt,
    ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(level, event, fmt, ap);
	va_end(ap);
}

bool
log_is_json(void)
{
	return as_json;
}

void
log_set_json(bool json)
{
	as_json = json;
}

void
log_status(const char *fmt, ...)
{
	static const char erase[] = "\033[K";
	char text[LINE_LEN + 64], line[LINE_LEN + 8];
	const char *term = getenv("TERM");
	struct winsize size = { 0 };
	size_t len, columns;
	va_list ap;
	int n;

	if (!log_wants(LOG_LEVEL_NORMAL) || as_json ||
	    clock_now() < silent_until || term == NULL || *term == '\0' ||
	    strcmp(term, "dumb") == 0)
		return;
	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	len = n < 0		     ? 0 :
	    (size_t)n < sizeof(text) ? (size_t)n :
				       sizeof(text) - 1;
	columns =
	    ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ?
	    size.ws_col :
	    80;
	line[0] = '\r';
	len = compose(line + 1, text, len) - 1;
	/* Room for the ^C or ^Z that the terminal echoes: no wrapping. */
	len = 1 + log_cut(line + 1, len, columns > 8 ? columns - 3 : columns);
	memcpy(line + len, erase, sizeof(erase) - 1);
	if (put(line, len + sizeof(erase) - 1))
		status_drawn = true;
}

void
log_status_clear(void)
{
	if (status_drawn)
		/* Dropped, it stays: nothing to be done about it. */
		(void)put("\r\033[K", 4);
	status_drawn = false;
}
