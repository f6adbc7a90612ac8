/* SPDX-License-Identifier: MIT */
/*
 * terminal: the controlling terminal, which stays with the caller's job and is
 * lent to the command only while it wants to read or set it.  Handing it over
 * at the start would stop "rlock ... | less", and let a script's loop run on
 * after Ctrl-C.
 */
#ifndef RLOCK_TERMINAL_H
#define RLOCK_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>

struct terminal {
	int	 fd;		/* of /dev/tty; -1 until it is needed */
	bool	 lent;
};

void terminal_init(struct terminal *);
void terminal_release(struct terminal *);

/* Is there one, and is our process group the one in its foreground? */
bool terminal_is_ours(struct terminal *);

/* Put group into the foreground.  All signals must be blocked (TTOU). */
void terminal_lend(struct terminal *, pid_t group);

/* Put our own group back, if it was lent.  Returns whether it was. */
bool terminal_take_back(struct terminal *);

/*
 * Stop ourselves (or our whole process group) by TSTP, TTIN or TTOU with its
 * default action, and return when continued; true.  The kernel discards it in
 * an orphaned group: false at once.  The signal must be blocked.
 */
bool terminal_stop_self(int signal, bool whole_group);

#endif
