/* SPDX-License-Identifier: MIT */
/*
 * token: owns the form of the owner token.  A token that was made here fits
 * TOKEN_MAX, is one word without control bytes, and no two are equal.  It
 * must not ask the name service, and not know what a token is compared with.
 */
#include "base/token.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/parse.h"

#define START "rlock:1:"
#define START_LEN (sizeof(START) - 1)
#define COOLING START "cooling:"
#define COOLING_LEN (sizeof(COOLING) - 1)
#define NESTED "/nested" /* see lua/prelude.lua: NEST */
#define NESTED_LEN (sizeof(NESTED) - 1)
#define FOREIGN_LEN 40		 /* bytes shown of a value that is not ours */
#define FIELD_LEN TOKEN_NOTE_MAX /* bytes shown of a field */
#define STARTED_MAX_MS INT64_C(253402300799999) /* the year 9999 */

static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "abcdefghijklmnopqrstuvwxyz0123456789._-@+";

void
token_owner_init(struct token_owner *owner, const char *note)
{
	const char *user = NULL;
	uid_t uid = getuid();

	/* A name that is longer comes cut, with an error; both are fine. */
	memset(owner, 0, sizeof(*owner));
	(void)gethostname(owner->host, sizeof(owner->host) - 1);
	if (uid == 0)
		user = "root";
	else if ((user = getenv("LOGNAME")) == NULL || *user == '\0')
		user = getenv("USER");
	if (user == NULL || *user == '\0')
		snprintf(owner->user, sizeof(owner->user), "%lu",
		    (unsigned long)uid);
	else
		memcpy(owner->user, user,
		    log_cut(user, strlen(user), sizeof(owner->user) - 1));
	owner->pid = (long)getpid();
	owner->started_ms = clock_wall_ms();
	owner->note = note == NULL ? "" : note;
}

/* Append ':' and text, escaped, to out; returns the new end. */
static char *
put_field(char *end, const char *text, size_t max)
{
	size_t i, len = log_cut(text, strlen(text), max);

	*end++ = ':';
	for (i = 0; i < len; i++) {
		if (strchr(plain, text[i]) != NULL)
			*end++ = text[i];
		else
			end += sprintf(end, "%%%02X",
			    (unsigned)(unsigned char)text[i]);
	}
	*end = '\0';
	return end;
}

static int
random_bytes(void *out, size_t len, unsigned flags)
{
	ssize_t n;

	/* Up to 256 bytes come whole or not at all, see getrandom(2). */
	while ((n = getrandom(out, len, flags)) == -1 && errno == EINTR)
		continue;
	return n == (ssize_t)len ? 0 : -1;
}

int
token_make(const struct token_owner *owner, char *out)
{
	unsigned char id[TOKEN_ID_LEN / 2];
	char *end = out, digits[24];
	size_t i;

	if (random_bytes(id, sizeof(id), 0) == -1)
		return -1;
	memcpy(end, START, START_LEN);
	end += START_LEN;
	for (i = 0; i < sizeof(id); i++)
		end += sprintf(end, "%02x", id[i]);
	end = put_field(end, owner->host, sizeof(owner->host) - 1);
	end = put_field(end, owner->user, sizeof(owner->user) - 1);
	snprintf(digits, sizeof(digits), "%ld", owner->pid);
	end = put_field(end, digits, sizeof(digits));
	snprintf(digits, sizeof(digits), "%lld", (long long)owner->started_ms);
	end = put_field(end, digits, sizeof(digits));
	put_field(end, owner->note, TOKEN_NOTE_MAX);
	return 0;
}

bool
token_is_ours(const char *text, size_t len)
{
	size_t i;

	if (len < START_LEN + TOKEN_ID_LEN ||
	    memcmp(text, START, START_LEN) != 0)
		return false;
	for (i = START_LEN; i < START_LEN + TOKEN_ID_LEN; i++)
		if (parse_hex_digit(text[i]) == -1 ||
		    (text[i] >= 'A' && text[i] <= 'F'))
			return false;
	return len == i || text[i] == ':';
}

bool
token_is_cooling(const char *text, size_t len)
{
	return len >= COOLING_LEN && memcmp(text, COOLING, COOLING_LEN) == 0;
}

enum field { FIELD, FIELD_LAST };

/*
 * Take the field that *text begins with (the last one takes all), decode it,
 * and write it into out[TOKEN_FIELD_MAX].  What is no escape stays.
 */
static void
take_field(const char **text, size_t *len, enum field which, bool raw_wanted,
    char *out)
{
	char raw[FIELD_LEN + 4]; /* what log_cut may look at, too */
	const char *at = *text, *colon;
	size_t n = *len, i = 0, done = 0;

	if (which != FIELD_LAST && (colon = memchr(at, ':', n)) != NULL)
		n = (size_t)(colon - at);
	while (i < n && done < sizeof(raw)) {
		if (at[i] == '%' && n - i >= 3 &&
		    parse_hex_digit(at[i + 1]) != -1 &&
		    parse_hex_digit(at[i + 2]) != -1) {
			raw[done++] = (char)(parse_hex_digit(at[i + 1]) << 4 |
			    parse_hex_digit(at[i + 2]));
			i += 3;
		} else
			raw[done++] = at[i++];
	}
	done = log_cut(raw, done, FIELD_LEN);
	if (raw_wanted)
		snprintf(out, TOKEN_FIELD_MAX, "%.*s", (int)done, raw);
	else
		log_escape(out, TOKEN_FIELD_MAX, raw, done);
	if (n < *len)
		n++;
	*text += n;
	*len -= n;
}

const char *
token_time(int64_t ms, char *out, size_t cap)
{
	time_t s = (time_t)(ms / 1000);
	struct tm tm;

	out[0] = '\0';
	if (ms < 0 || ms > STARTED_MAX_MS || localtime_r(&s, &tm) == NULL ||
	    strftime(out, cap, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		out[0] = '\0';
	return out;
}

/* What is behind the digits, without what nested runs put behind it. */
static void
read_fields(const char *text, size_t len, bool raw, struct token_fields *f)
{
	char digits[TOKEN_FIELD_MAX];
	const char *why;

	if (len >= NESTED_LEN &&
	    memcmp(text + len - NESTED_LEN, NESTED, NESTED_LEN) == 0)
		len -= NESTED_LEN;
	if (len > 0) {
		text++;
		len--;
	}
	take_field(&text, &len, FIELD, raw, f->host);
	take_field(&text, &len, FIELD, raw, f->user);
	take_field(&text, &len, FIELD, raw, digits);
	if (parse_count(digits, 1, INT32_MAX, &f->pid, &why) == -1)
		f->pid = -1;
	take_field(&text, &len, FIELD, raw, digits);
	if (parse_count(digits, 0, STARTED_MAX_MS, &f->started_ms, &why) == -1)
		f->started_ms = -1;
	take_field(&text, &len, FIELD_LAST, raw, f->note);
}

void
token_read(const char *text, size_t len, bool raw, struct token_fields *f)
{
	size_t head = START_LEN + TOKEN_ID_LEN;

	*f = (struct token_fields) { .pid = -1, .started_ms = -1 };
	f->cooling = token_is_cooling(text, len);
	f->ours = f->cooling || token_is_ours(text, len);
	if (f->cooling)
		head = COOLING_LEN - 1;
	if (f->ours)
		read_fields(text + head, len - head, raw, f);
}

void
token_describe(const char *text, size_t len, char *out, size_t cap)
{
	size_t shown = log_cut(text, len, FOREIGN_LEN);
	char foreign[4 * FOREIGN_LEN + 1], pid[32] = "", when[32];
	struct token_fields f;

	token_read(text, len, false, &f);
	if (!f.ours) {
		log_escape(foreign, sizeof(foreign), text, shown);
		snprintf(out, cap, "another program (%s%s)", foreign,
		    shown < len ? "..." : "");
		return;
	}
	if (f.pid > 0)
		snprintf(pid, sizeof(pid), ", pid %lld", (long long)f.pid);
	token_time(f.started_ms, when, sizeof(when));
	snprintf(out, cap, "%s%s%s%s%s%s%s%s%s",
	    f.cooling ? "nobody, cooling down after " : "",
	    f.user[0] != '\0' ? f.user : "somebody",
	    f.host[0] != '\0' ? "@" : "", f.host, pid,
	    when[0] != '\0' ? ", started " : "", when,
	    f.note[0] != '\0' ? ", " : "", f.note);
}

uint32_t
token_random(uint32_t bound)
{
	struct timespec ts = { 0, 0 };
	uint64_t product;
	uint32_t n;

	if (bound == 0)
		return 0;
	do {
		if (random_bytes(&n, sizeof(n), GRND_NONBLOCK) == -1) {
			/* Too early at boot: any spread is good enough. */
			(void)clock_gettime(CLOCK_MONOTONIC, &ts);
			return ((uint32_t)ts.tv_nsec ^
				   (uint32_t)getpid() * 2654435761u) %
			    bound;
		}
		/* Lemire, "Fast Random Integer Generation in an Interval". */
		product = (uint64_t)n * bound;
	} while ((uint32_t)product < -bound % bound);
	return (uint32_t)(product >> 32);
}
