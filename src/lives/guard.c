/* SPDX-License-Identifier: MIT */
/*
 * guard: see guard.h.  fork, not clone(CLONE_VM): the kernel's OOM killer
 * ends all processes that share the memory of its victim.  The line between
 * the two is a pair of sockets, not a pipe: a guard that was killed must not
 * cost the command, or us, a SIGPIPE.
 */
#include "lives/guard.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "lives/strays.h"

#define ROUNDS_MAX 100

int
guard_init(struct guard *g, struct fault *fault)
{
	int ends[2];

	*g = (struct guard) {
		.fd = -1, .guard_fd = -1, .orders.kill_at = CLOCK_NEVER
	};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		0, ends) == -1)
		return fault_set(fault, FAULT_SYSTEM, errno,
		    "can't make the line to the guard");
	g->guard_fd = ends[0];
	g->fd = ends[1];
	return 0;
}

/* Close what lies between two descriptors; close_range(2) is Linux 5.9's. */
static void
close_between(int low, int high)
{
	int fd;

	if (high - low < 2 ||
	    syscall(SYS_close_range, (unsigned int)low + 1,
		(unsigned int)high - 1, 0U) == 0)
		return;
	if (high == INT_MAX)
		high = (int)sysconf(_SC_OPEN_MAX);
	for (fd = low + 1; fd < high; fd++)
		close(fd);
}

/* Close all descriptors but these two. */
static void
close_others(int one, int other)
{
	int low = one < other ? one : other, high = one < other ? other : one;

	close_between(-1, low);
	close_between(low, high);
	close_between(high, INT_MAX);
}

static void
arm(int timer, int64_t at)
{
	struct itimerspec when = { 0 };

	if (at != CLOCK_NEVER) {
		when.it_value.tv_sec = at / 1000;
		when.it_value.tv_nsec = at % 1000 * 1000000 + 1;
	}
	timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
}

/*
 * The group is stopped first, so that nothing of it runs or forks while its
 * strays are looked for; it ends last, since they descend from it.  One empty
 * look proves nothing about who forks meanwhile: two are asked for.
 */
static void
end_all(const struct strays *command)
{
	int round, empty = 0;

	if (command->group <= 0)
		return;
	kill(-command->group, SIGSTOP);
	for (round = 0; round < ROUNDS_MAX && empty < 2; round++) {
		if (round == 1)
			kill(-command->group, SIGKILL);
		empty = strays_signal(command, SIGKILL) > 0 ? 0 : empty + 1;
	}
	kill(-command->group, SIGKILL);
}

/* The guard's whole life. */
static void
watch(int line, const struct strays *children)
{
	struct strays command = *children;
	struct pollfd fds[2] = { { .fd = line, .events = POLLIN },
		{ .events = POLLIN } };
	struct guard_orders orders = { .kill_at = CLOCK_NEVER }, news;
	ssize_t n;

	fds[1].fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
	for (;;) {
		/* All news first: the clock judges by the newest. */
		while ((n = recv(line, &news, sizeof(news), 0)) ==
		    sizeof(news)) {
			orders = news;
			arm(fds[1].fd, orders.kill_at);
		}
		command.group = orders.group;
		if (n == 0) {
			/* rlock is gone, and nobody's parent any more. */
			command.root = 0;
			memcpy(command.mark, orders.mark, sizeof(command.mark));
			end_all(&command);
			return;
		}
		if (orders.kill_at <= clock_now()) {
			end_all(&command);
			arm(fds[1].fd, orders.kill_at = CLOCK_NEVER);
		}
		poll(fds, 2, -1);
	}
}

int
guard_start(struct guard *g, const struct strays *children, int keep,
    struct fault *fault)
{
	g->pid = fork();
	if (g->pid == -1) {
		g->pid = 0;
		return fault_set(fault, FAULT_SYSTEM, errno,
		    "can't start the guard process");
	}
	if (g->pid == 0) {
		/* None of these can fail in a way that matters. */
		(void)setsid();
		(void)prctl(PR_SET_NAME, "rlock-guard");
		close_others(g->guard_fd, keep);
		watch(g->guard_fd, children);
		_exit(0);
	}
	close(g->guard_fd);
	g->guard_fd = -1;
	return 0;
}

static void
tell(const struct guard *g)
{
	/* Full only when the guard is stopped, gone only when it was killed:
	   then PDEATHSIG is what is left. */
	(void)send(g->fd, &g->orders, sizeof(g->orders),
	    MSG_DONTWAIT | MSG_NOSIGNAL);
}

void
guard_mark(struct guard *g, const char *mark)
{
	snprintf(g->orders.mark, sizeof(g->orders.mark), "%s", mark);
}

void
guard_until(struct guard *g, int64_t kill_at)
{
	g->orders.kill_at = kill_at;
	if (g->orders.group > 0)
		tell(g);
}

void
guard_join(struct guard *g)
{
	g->orders.group = getpid();
	tell(g);
}

void
guard_dismiss(struct guard *g)
{
	if (g->pid > 0)
		kill(g->pid, SIGKILL);
}

bool
guard_reaped(struct guard *g, pid_t pid)
{
	if (pid <= 0 || pid != g->pid)
		return false;
	g->pid = 0;
	return true;
}

void
guard_release(struct guard *g)
{
	guard_dismiss(g);
	if (g->pid > 0)
		while (waitpid(g->pid, NULL, 0) == -1 && errno == EINTR)
			continue;
	g->pid = 0;
	if (g->fd != -1)
		close(g->fd);
	if (g->guard_fd != -1)
		close(g->guard_fd);
	g->fd = g->guard_fd = -1;
}
