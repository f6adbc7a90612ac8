/* SPDX-License-Identifier: MIT */
/*
 * mark: the lightest command: write a stamp of the clocks to stdout, which is
 * a file with O_APPEND, and end.  `mark wait` waits for the end of stdin
 * first.  Linked statically where that is possible.
 */
#include "bench.h"

int
main(int argc, char **argv)
{
	struct stamp stamp = { .mono_ns = now_ns(CLOCK_MONOTONIC),
		.real_ns = now_ns(CLOCK_REALTIME) };
	char c;

	(void)argv;
	if (argc > 1) {
		while (read(0, &c, 1) > 0)
			continue;
		stamp.mono_ns = now_ns(CLOCK_MONOTONIC);
		stamp.real_ns = now_ns(CLOCK_REALTIME);
	}
	stamp.pid = getpid();
	_exit(write(1, &stamp, sizeof(stamp)) != sizeof(stamp));
}
