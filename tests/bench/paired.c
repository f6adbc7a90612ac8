/* SPDX-License-Identifier: MIT */
/*
 * paired: run several commands side by side, round after round, and compare
 * them.
 *
 *   paired ROUNDS NAME [VAR=VALUE] COMMAND... [+ NAME ...]...
 *
 * Each round runs every command once, in an order drawn anew: what follows a
 * heavy program pays for its cold caches, and a fixed order would charge that
 * always to the same one.  A ratio is taken within its round, where the
 * machine was the same for both; of the ratios the median is told.
 *
 * Prints lines of "time NAME MEDIAN P10 P90", "cpu NAME MEDIAN" (both in
 * microseconds; cpu with what the command has waited for), and "ratio NAME
 * NAME MEDIAN LOW HIGH", where LOW to HIGH is the 95 % confidence interval of
 * that median, and "ratio-cpu NAME NAME MEDIAN".  A command that fails ends it.
 */
#include <fcntl.h>
#include <math.h>
#include <sys/resource.h>

#include "bench.h"

#define CASES_MAX 40
#define WARM_UP 5

struct one {
	const char *name;
	char *setting; /* for the environment, or NULL */
	char **argv;
	double *us;
	double *cpu_us;
};

static int dev_null;

static double
microseconds(const struct timeval *tv)
{
	return (double)tv->tv_sec * 1e6 + (double)tv->tv_usec;
}

static void
unsetenv_of(const char *setting)
{
	char name[40];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(setting, "="),
	    setting);
	unsetenv(name);
}

static void
run(const struct one *c, double *us, double *cpu_us)
{
	struct rusage usage;
	int64_t from;
	int status;
	pid_t pid;

	/* No command runs meanwhile: it is the environment of one alone. */
	if (c->setting != NULL)
		putenv(c->setting);
	from = now_ns(CLOCK_MONOTONIC);
	pid = start(c->argv, dev_null, dev_null);
	if (wait4(pid, &status, 0, &usage) == -1)
		die("wait4");
	*us = (double)(now_ns(CLOCK_MONOTONIC) - from) / 1e3;
	*cpu_us = microseconds(&usage.ru_utime) + microseconds(&usage.ru_stime);
	if (status != 0) {
		fprintf(stderr, "bench: %s: status %#x\n", c->name, status);
		exit(1);
	}
	if (c->setting != NULL)
		unsetenv_of(c->setting);
}

static int
read_cases(char **argv, struct one *cases, int rounds)
{
	size_t size = (size_t)rounds * sizeof(double);
	int n = 0;

	while (*argv != NULL && n < CASES_MAX) {
		cases[n].name = *argv++;
		cases[n].setting = NULL;
		if (*argv != NULL && strchr(*argv, '=') != NULL)
			cases[n].setting = *argv++;
		cases[n].argv = argv;
		cases[n].us = malloc(size);
		cases[n].cpu_us = malloc(size);
		if (cases[n].us == NULL || cases[n].cpu_us == NULL)
			die("malloc");
		n++;
		while (*argv != NULL && strcmp(*argv, "+") != 0)
			argv++;
		if (*argv != NULL)
			*argv++ = NULL;
	}
	return n;
}

/* The ranks of a median's confidence interval: n/2 -+ 1.96 sqrt(n)/2. */
static void
tell_ratio(const struct one *a, const struct one *b, double *ratios, int n)
{
	double half = 0.98 / sqrt(n), median, cpu;
	int i;

	for (i = 0; i < n; i++)
		ratios[i] = a->cpu_us[i] / b->cpu_us[i];
	cpu = quantile(ratios, n, 0.5);
	for (i = 0; i < n; i++)
		ratios[i] = a->us[i] / b->us[i];
	median = quantile(ratios, n, 0.5);
	printf("ratio-cpu %s %s %.4f\n", a->name, b->name, cpu);
	printf("ratio %s %s %.4f %.4f %.4f\n", a->name, b->name, median,
	    quantile(ratios, n, fmax(0, 0.5 - half)),
	    quantile(ratios, n, fmin(1, 0.5 + half)));
}

int
main(int argc, char **argv)
{
	struct one cases[CASES_MAX];
	int order[CASES_MAX], rounds, n, i, j;
	double *spare, us, cpu_us;

	rounds = argc > 3 ? atoi(argv[1]) : 0;
	if (rounds < 1)
		return 64;
	dev_null = open("/dev/null", O_RDWR | O_CLOEXEC);
	n = read_cases(argv + 2, cases, rounds);
	if ((spare = malloc((size_t)rounds * sizeof(double))) == NULL)
		die("malloc");
	for (i = -WARM_UP; i < rounds; i++) {
		shuffle(order, n);
		for (j = 0; j < n; j++) {
			run(&cases[order[j]], &us, &cpu_us);
			if (i < 0)
				continue;
			cases[order[j]].us[i] = us;
			cases[order[j]].cpu_us[i] = cpu_us;
		}
	}
	/* Sorting comes last: ratios need the rounds in their order. */
	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			if (i != j)
				tell_ratio(&cases[i], &cases[j], spare, rounds);
	for (i = 0; i < n; i++) {
		us = quantile(cases[i].us, rounds, 0.5);
		printf("time %s %.0f %.0f %.0f\n", cases[i].name, us,
		    quantile(cases[i].us, rounds, 0.1),
		    quantile(cases[i].us, rounds, 0.9));
		printf("cpu %s %.0f\n", cases[i].name,
		    quantile(cases[i].cpu_us, rounds, 0.5));
	}
	return 0;
}
