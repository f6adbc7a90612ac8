/* SPDX-License-Identifier: MIT */
/*
 * log: lines on stderr, "rlock: KEY: what happened: why (what to do)".  A
 * message is dropped rather than waited for: rlock must never stall because
 * nobody reads its stderr.  Never exits.
 */
#ifndef RLOCK_LOG_H
#define RLOCK_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level {
	LOG_LEVEL_QUIET = -1,	/* nothing at all */
	LOG_LEVEL_NORMAL = 0,	/* errors and warnings */
	LOG_LEVEL_VERBOSE = 1	/* and what goes on */
};

/* Set what is printed; before the first call it is LOG_LEVEL_NORMAL. */
void log_set_level(enum log_level);

/*
 * Set the name of the lock that is put behind "rlock: " in every line from
 * now on (NULL: none).  The bytes are not copied: they must outlive the use.
 * A name longer than 100 bytes is shown cut, with "..." behind it.
 */
void log_set_subject(const char *name);

/*
 * Print one line at level NORMAL or VERBOSE.  Control bytes (C0, DEL, C1) and
 * bytes that are no UTF-8 are shown as \xNN (\n, \t and \r as such), a
 * backslash stays; the line is at most 512 bytes, and a longer one ends in
 * "...".
 *
 * How it never blocks: poll(2) first; then one write(2) under a repeating
 * timer of 20 ms whose handler has no SA_RESTART, since another writer may
 * fill the pipe between the two (O_NONBLOCK is not set: it would change the
 * descriptor for all who share it).  After a line that was dropped none is
 * tried for a second.  Works with any signal mask; leaves mask, dispositions
 * and errno as they were.
 */
void log_say(enum log_level level, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* What is told, for programs: --log json. */
struct log_event {
	const char	*name;		/* "waiting", "lost", ... */
	bool		 detail;	/* told at LOG_LEVEL_VERBOSE only */
	int64_t		 wait_ms;	/* these: negative when there is none */
	int64_t		 hold_ms;
	int64_t		 ttl_ms;
	int64_t		 left_ms;
	int64_t		 fence;
	const char	*holder;	/* described; NULL or "" */
};

#define LOG_EVENT(event) \
	.name = (event), .wait_ms = -1, .hold_ms = -1, .ttl_ms = -1, \
	.left_ms = -1, .fence = -1

/*
 * Say an event: as log_say does, or, after log_set_json(true), as one line of
 * JSON with the time, the lock's name, the event's fields and the text as its
 * message; that needs memory, and is dropped without.  There, all events but
 * details are told at LOG_LEVEL_NORMAL, and what log_say says is an event
 * "error" or, at LOG_LEVEL_VERBOSE, "note".
 */
void log_tell(enum log_level, const struct log_event *, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void log_set_json(bool);
bool log_is_json(void);

/*
 * Draw a line without a line feed over the one drawn before, cut to the
 * terminal's width; the next log_say, or log_status_clear, erases it.  For a
 * terminal only; nothing on one that can't erase (TERM empty or "dumb").
 */
void log_status(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_status_clear(void);

/* Would log_say(level, ...) print? */
bool log_wants(enum log_level level);

/*
 * Write text with the escapes of log_say into out (cap bytes, always
 * terminated, cut if need be).  Returns the length written.
 */
size_t log_escape(char *out, size_t cap, const char *text, size_t len);

/*
 * The length of the longest beginning of text that is at most max bytes and
 * does not end within a UTF-8 character.
 */
size_t log_cut(const char *text, size_t len, size_t max);

#endif
