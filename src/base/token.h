/* SPDX-License-Identifier: MIT */
/*
 * token: the owner token, "rlock:1:" + 32 hex digits of getrandom(2) +
 * ":HOST:USER:PID:START_MS:NOTE", the last five percent-escaped (all but
 * letters, digits, '.', '_', '-', '@', '+').  Only equality counts; the fields
 * behind the digits tell a person who holds the lock.
 */
#ifndef RLOCK_TOKEN_H
#define RLOCK_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOKEN_PREFIX	"rlock:1:"
#define TOKEN_MAX	640	/* bytes with the NUL, everything escaped */
#define TOKEN_NOTE_MAX	80	/* bytes of --note before escaping */
#define TOKEN_ID_LEN	32	/* hex digits */

/*
 * Who takes the lock; gathered once without the name service (its answer may
 * never come): user is "root" for uid 0, else LOGNAME, else USER, else the
 * uid's digits.  The strings are cut at 64 bytes (host) and 32 (user).
 */
struct token_owner {
	char	 host[65];
	char	 user[33];
	long	 pid;
	int64_t	 started_ms;	/* wall clock, ms since 1970 */
	const char *note;	/* "" when none */
};

void token_owner_init(struct token_owner *, const char *note);

/* A fresh token into out[TOKEN_MAX].  0, or -1 when there is no randomness. */
int token_make(const struct token_owner *, char *out);

/* Is it a token of ours: "rlock:1:", 32 lower-case hex digits, ':' or end? */
bool token_is_ours(const char *text, size_t len);

/* Is it what --min-hold leaves: "rlock:1:cooling:"? */
bool token_is_cooling(const char *text, size_t len);

#define TOKEN_FIELD_MAX	(4 * TOKEN_NOTE_MAX + 1) /* all shown as \\xNN */

/* What a token tells; "" and -1 for what is missing. */
struct token_fields {
	bool	 ours;		/* else nothing below is set */
	bool	 cooling;	/* left by --min-hold */
	char	 host[TOKEN_FIELD_MAX];
	char	 user[TOKEN_FIELD_MAX];
	char	 note[TOKEN_FIELD_MAX];
	int64_t	 pid;
	int64_t	 started_ms;
};

/*
 * text is not trusted.  The texts are fit for a terminal, or with raw as they
 * were when the token was made (cut at a NUL).
 */
void token_read(const char *text, size_t len, bool raw, struct token_fields *);

/*
 * Write "USER@HOST, pid PID, started TIME[, NOTE]" (TIME local, to the
 * second), with "nobody, cooling down after " before it for what --min-hold
 * leaves, or for a value that is not ours "another program (VALUE cut at 40
 * bytes)", into out.  text is not trusted: any field may be missing.
 */
void token_describe(const char *text, size_t len, char *out, size_t cap);

/* ms since 1970 as local time to the second, into out; "" when it is beyond
 * what can be shown.  Returns out. */
const char *token_time(int64_t ms, char *out, size_t cap);

/* A number from 0 to bound - 1, evenly; for jitter, so it never fails. */
uint32_t token_random(uint32_t bound);

#endif
