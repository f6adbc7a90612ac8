/* SPDX-License-Identifier: MIT */
/*
 * report: what a run tells: lines on stderr, and the file of --report.  Here
 * alone is decided which event is worth a line, and at which level.
 */
#ifndef RLOCK_REPORT_H
#define RLOCK_REPORT_H

#include <stdint.h>

#include "base/fault.h"
#include "words/config.h"
#include "words/outcome.h"

/* --tls-insecure, each time. */
void report_insecure(const char *server);

/* Two servers are no better than one. */
void report_two_servers(void);

/* In line behind the holder of this token ("" when it is not known). */
void report_waiting(const char *holder);

/*
 * The line that says how long the wait has been, redrawn by each call; on a
 * terminal that we are in the foreground of, and nowhere else.  Any other
 * message, and report_wait_over, erases it.
 */
void report_wait_line(const char *holder, int64_t wait_ms);
void report_wait_over(void);

/* No server yet, while there is time to try. */
void report_unreached(const struct fault *);

/* No server was to be had: what is done instead (not UNREACHABLE_FAIL).  The
 * words are left in *told, for --report; they came with why it was not. */
void report_without_server(struct fault *told, enum config_unreachable);

/* The server is away while we wait; it is back. */
void report_away(const struct fault *);
void report_back(void);

/* Not allowed to subscribe. */
void report_deaf(void);

/* fence: -1 for none. */
void report_acquired(int64_t wait_ms, int64_t ttl_ms, int64_t fence);

/* For programs only: the lease, as set again, lasts for left_ms. */
void report_renewed(int64_t left_ms);

/* A renewal failed; the lease lasts for left_ms more. */
void report_renewal_failed(const struct fault *, int64_t left_ms);

/*
 * The lock is lost, or in doubt (holder NULL); holder: who has it ("":
 * nobody).  stopping: the command is being stopped, else it goes on.  The
 * words are left in *told, for --report.
 */
void report_lost(struct fault *told, const char *holder, bool stopping);

/* One of several servers could not be asked. */
void report_server(const char *why);

/* --break: this token has held it; told: its holder knows by now. */
void report_broken(const char *token, bool told);

/* --renew, --release: the lock is not held under that token, but by holder
 * ("": by nobody). */
void report_not_ours(struct fault *told, const char *holder);

/* Done before: the words, left in *told for --report. */
void report_marker(struct fault *told, const char *marker);

/* The command is told to end. */
void report_stopping(const char *why, int signal);

/* --on-lost pause: the command is stopped until the lock is proven; it is. */
void report_paused(void);
void report_resumed(void);

/* The command wants the terminal, and nobody can give it to us. */
void report_no_terminal(void);

/* The kernel forbids to send the command a signal. */
void report_forbidden(void);

/* The lock was not released: it ends by itself when its lease does. */
void report_stuck(const struct fault *, int64_t ttl_ms);

/* Released, but the waiters could not be told. */
void report_unheard(void);

/*
 * The last line of a run that did not go well, or the summary at -v; then the
 * file of --report, if asked for.  The status is the one to exit with.
 */
void report_outcome(const struct config *, const struct outcome *,
    int status);

#endif
