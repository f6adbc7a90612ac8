/* SPDX-License-Identifier: MIT */
/*
 * floor: the least that a lock on Redis around a command can cost: connect,
 * SET NX PX, vfork and exec, wait, compare and delete.
 *
 *   floor unix:PATH|IPV4:PORT KEY COMMAND...
 *
 * No library but libc, no renewal, no signals, no guard, no queue, no words:
 * not a lock that one could use, but what is above it in rlock is rlock's own.
 */
#include "bench.h"

#define DELETE \
	"if redis.call('GET',KEYS[1])==ARGV[1] then " \
	"return redis.call('DEL',KEYS[1]) end return 0"

/* A function of its own: vfork may clobber what is in registers. */
static pid_t
run(char *const *argv)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid == -1)
		die("vfork");
	return pid;
}

int
main(int argc, char **argv)
{
	char token[33] = "", answer[64];
	const char *set[] = { "SET", NULL, token, "NX", "PX", "30000" };
	const char *del[] = { "EVAL", DELETE, "1", NULL, token };
	unsigned char id[16];
	int fd, status, i;

	if (argc < 4)
		return 64;
	set[1] = del[3] = argv[2];
	if (getrandom(id, sizeof(id), 0) != sizeof(id))
		die("getrandom");
	for (i = 0; i < 16; i++) {
		token[2 * i] = "0123456789abcdef"[id[i] >> 4];
		token[2 * i + 1] = "0123456789abcdef"[id[i] & 15];
	}
	fd = dial(argv[1]);
	ask(fd, 6, set, answer, sizeof(answer));
	if (answer[0] != '+')
		return 75;
	status = reap(run(argv + 3));
	if (ask_number(fd, 5, del) != 1)
		return 70;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
