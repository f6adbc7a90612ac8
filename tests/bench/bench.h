/* SPDX-License-Identifier: MIT */
/*
 * bench: what the programs of the bench share: clock, order, medians,
 * processes, and as much of Redis's protocol as they need.  Nothing here is
 * linked with rlock.  Whatever fails ends the program: a measurement that is
 * not whole is none.
 */
#ifndef RLOCK_BENCH_H
#define RLOCK_BENCH_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* What mark writes; whole, since it is one write with O_APPEND. */
struct stamp {
	int64_t	 mono_ns;	/* CLOCK_MONOTONIC */
	int64_t	 real_ns;	/* CLOCK_REALTIME, the server's */
	int64_t	 pid;
};

static inline void
die(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

static inline int64_t
now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static inline void
pause_ms(long ms)
{
	struct timespec span = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&span, &span) == -1)
		continue;
}

/* The numbers 0 to n - 1 in an order drawn anew. */
static inline void
shuffle(int *order, int n)
{
	uint32_t r;
	int i, j, t;

	for (i = 0; i < n; i++)
		order[i] = i;
	for (i = n - 1; i > 0; i--) {
		if (getrandom(&r, sizeof(r), 0) != sizeof(r))
			die("getrandom");
		j = (int)(r % (uint32_t)(i + 1));
		t = order[i];
		order[i] = order[j];
		order[j] = t;
	}
}

static inline int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The q-quantile (0.5: the median) of n > 0 values, which get sorted. */
static inline double
quantile(double *values, int n, double q)
{
	double at = q * (n - 1);
	int low = (int)at;

	qsort(values, (size_t)n, sizeof(*values), compare_doubles);
	if (low + 1 >= n)
		return values[n - 1];
	return values[low] + (at - low) * (values[low + 1] - values[low]);
}

/* Start argv with descriptors in and out as its 0 and 1. */
static inline pid_t
start(char *const *argv, int in, int out)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int error;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in, 0);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error != 0) {
		errno = error;
		die(argv[0]);
	}
	return pid;
}

/* Wait for it; its status as of waitpid(2). */
static inline int
reap(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			die("waitpid");
	return status;
}

/* A blocking connection to "unix:PATH" or "IPV4:PORT". */
static inline int
dial(const char *where)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct sockaddr_in in = { .sin_family = AF_INET };
	const char *colon = strrchr(where, ':');
	char host[64];
	int fd, one = 1, error;

	if (strncmp(where, "unix:", 5) == 0) {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		strncpy(un.sun_path, where + 5, sizeof(un.sun_path) - 1);
		error = connect(fd, (struct sockaddr *)&un, sizeof(un));
	} else {
		snprintf(host, sizeof(host), "%.*s",
		    colon == NULL ? 0 : (int)(colon - where), where);
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		in.sin_addr.s_addr = inet_addr(host);
		in.sin_port = htons((uint16_t)(colon ? atoi(colon + 1) : 0));
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one,
		    sizeof(one));
		error = connect(fd, (struct sockaddr *)&in, sizeof(in));
	}
	if (error == -1)
		die(where);
	return fd;
}

/*
 * Send a command and read the answer to it, as the server wrote it, into
 * out[cap]; a bulk string is read whole, of an array only what came with the
 * first bytes.
 */
static inline void
ask(int fd, int argc, const char *const *argv, char *out, size_t cap)
{
	char text[1024];
	size_t len, done = 0, want = 1;
	char *body;
	ssize_t n;
	int i;

	len = (size_t)snprintf(text, sizeof(text), "*%d\r\n", argc);
	for (i = 0; i < argc; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		    "$%zu\r\n%s\r\n", strlen(argv[i]), argv[i]);
	if (len >= sizeof(text) || write(fd, text, len) != (ssize_t)len)
		die("write to the server");
	while (done < want && done < cap - 1) {
		n = read(fd, out + done, cap - 1 - done);
		if (n <= 0)
			die("read from the server");
		out[done += (size_t)n] = '\0';
		body = strstr(out, "\r\n");
		want = done + (body == NULL);
		if (body != NULL && out[0] == '$' && out[1] != '-')
			want = (size_t)(body + 4 - out) +
			    (size_t)strtol(out + 1, NULL, 10);
	}
}

/* The integer that the server answers with. */
static inline int64_t
ask_number(int fd, int argc, const char *const *argv)
{
	char out[512];

	ask(fd, argc, argv, out, sizeof(out));
	if (out[0] != ':') {
		fprintf(stderr, "bench: %s: %s", argv[0], out);
		exit(1);
	}
	return strtoll(out + 1, NULL, 10);
}

#endif
