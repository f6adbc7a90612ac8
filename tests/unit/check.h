/* SPDX-License-Identifier: MIT */
/*
 * check: the harness of the unit tests.  A test is a function without
 * arguments; CHECK_RUN runs it and prints a line of TAP, check_done prints the
 * plan.  A check that fails says what it saw, and the test goes on.
 */
#ifndef RLOCK_CHECK_H
#define RLOCK_CHECK_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static unsigned check_tests, check_failures, check_failed_here;

/* TAP is lines: a value must not be able to break one. */
static inline void
check_print(const char *text)
{
	if (text == NULL) {
		fputs("(null)", stdout);
		return;
	}
	putchar('"');
	for (; *text != '\0'; text++) {
		if (*text < ' ' || *text > '~' || *text == '"')
			printf("\\x%02x", (unsigned)(unsigned char)*text);
		else
			putchar(*text);
	}
	putchar('"');
}

static inline void
check_true(bool is, const char *what, const char *file, int line)
{
	if (is)
		return;
	check_failed_here++;
	printf("# %s:%d: %s\n", file, line, what);
}

static inline void
check_eq(long long is, long long want, const char *what, const char *file,
    int line)
{
	if (is == want)
		return;
	check_failed_here++;
	printf("# %s:%d: %s is %lld, not %lld\n", file, line, what, is, want);
}

static inline void
check_str(const char *is, const char *want, const char *what,
    const char *file, int line)
{
	if (is == want ||
	    (is != NULL && want != NULL && strcmp(is, want) == 0))
		return;
	check_failed_here++;
	printf("# %s:%d: %s is ", file, line, what);
	check_print(is);
	fputs(", not ", stdout);
	check_print(want);
	putchar('\n');
}

static inline void
check_has(const char *is, const char *want, bool has, const char *file,
    int line)
{
	if ((is != NULL && strstr(is, want) != NULL) == has)
		return;
	check_failed_here++;
	printf("# %s:%d: ", file, line);
	check_print(is);
	fputs(has ? " lacks " : " holds ", stdout);
	check_print(want);
	putchar('\n');
}

#define CHECK(is)		check_true(is, #is, __FILE__, __LINE__)
#define CHECK_EQ(is, want)	check_eq((long long)(is), (long long)(want), \
				    #is, __FILE__, __LINE__)
#define CHECK_STR(is, want)	check_str(is, want, #is, __FILE__, __LINE__)
#define CHECK_HAS(is, part)	check_has(is, part, true, __FILE__, __LINE__)
#define CHECK_LACKS(is, part)	check_has(is, part, false, __FILE__, __LINE__)
#define CHECK_COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static inline void
check_run(void (*test)(void), const char *name)
{
	check_failed_here = 0;
	test();
	check_tests++;
	if (check_failed_here > 0)
		check_failures++;
	printf("%sok %u - %s\n", check_failed_here > 0 ? "not " : "",
	    check_tests, name);
	fflush(stdout);
}

#define CHECK_RUN(test)		check_run(test, #test)

/* The exit status of main. */
static inline int
check_done(void)
{
	printf("1..%u\n", check_tests);
	return check_failures > 0;
}

#endif
