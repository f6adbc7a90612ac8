/* SPDX-License-Identifier: MIT */
/*
 * contend: many processes want one lock.
 *
 *   contend handover ROUNDS N...   N wait, one after the other gets it
 *   contend kinds ROUNDS N...      the same of one lock, two slots, and readers
 *                                  behind a writer
 *   contend idle N SECONDS         N wait, and nothing happens
 *   contend recover ROUNDS         the holder or who is first in line is gone
 *
 * Environment: RLOCK, RLOCK_URL (rlock's), BENCH_SERVER (unix:PATH, the same
 * server), BENCH_MARK (the program mark), BENCH_DIR (a folder, for the files).
 * The command is mark, whose last act is to write the time: from stamp to
 * stamp is from the end of one command to the start of the next.  The holder
 * waits for the end of its stdin, so that the start of it all costs nothing.
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "bench.h"

#define WAITERS_MAX 1000
#define CELLS_MAX 40
#define BOUND_MS 60000

enum tool { RLOCK, FLOCK, SLOTS, READERS };

static const char *const tool_names[] = { "rlock", "flock", "slots",
	"readers" };

static int server, dev_null;
static const char *rlock, *mark, *dir;

/* One lock and who wants it. */
struct scene {
	enum tool tool;
	const char *ttl;
	char key[40], name[60], queue[80]; /* at rlock, of the two keys */
	char lock[PATH_MAX];		   /* flock's */
	int lock_fd;
	int out; /* where the stamps go */
	pid_t holders[2];
	int held;  /* by so many: two slots, or one */
	int leash; /* closed: the holders' commands end */
	pid_t waiters[WAITERS_MAX];
	int count;
};

static const char *
must_have(const char *name)
{
	const char *value = getenv(name);

	if (value == NULL) {
		errno = EINVAL;
		die(name);
	}
	return value;
}

static void
bound(int64_t from, const char *what)
{
	if (now_ns(CLOCK_MONOTONIC) - from < BOUND_MS * INT64_C(1000000))
		return;
	errno = ETIMEDOUT;
	die(what);
}

static pid_t
start_in(const struct scene *s, int in, const char *arg)
{
	/* The holder of what readers wait for is a writer. */
	const char *kind = s->tool == SLOTS	 ? "-j2" :
	    s->tool == READERS && in == dev_null ? "-s" :
						   "-x";
	const char *with_rlock[] = { rlock, "-k", s->key, "-t", s->ttl, kind,
		"--", mark, arg, NULL };
	const char *with_flock[] = { "flock", s->lock, mark, arg, NULL };

	return start((char *const *)(uintptr_t)(s->tool == FLOCK ? with_flock :
								   with_rlock),
	    in, s->out);
}

static bool
is_held(const struct scene *s)
{
	const char *exists[] = { "EXISTS", s->name };
	const char *zcard[] = { "ZCARD", s->name };

	if (s->tool == SLOTS)
		return ask_number(server, 2, zcard) == s->held;
	if (s->tool != FLOCK)
		return ask_number(server, 2, exists) == 1;
	if (flock(s->lock_fd, LOCK_EX | LOCK_NB) == -1)
		return true;
	flock(s->lock_fd, LOCK_UN);
	return false;
}

/* Open the scene: somebody holds the lock. */
static void
scene_open(struct scene *s, enum tool tool, const char *ttl)
{
	static int number;
	int64_t from = now_ns(CLOCK_MONOTONIC);
	char path[PATH_MAX + 8];
	int ends[2], i;

	memset(s, 0, sizeof(*s));
	s->tool = tool;
	s->held = tool == SLOTS ? 2 : 1;
	s->ttl = ttl;
	snprintf(s->key, sizeof(s->key), "bench%d", ++number);
	snprintf(s->name, sizeof(s->name), "lock:%s", s->key);
	snprintf(s->queue, sizeof(s->queue), "rlock:queue:{%s}", s->name);
	snprintf(s->lock, sizeof(s->lock), "%s/lock%d", dir, number);
	snprintf(path, sizeof(path), "%s.out", s->lock);
	s->lock_fd = open(s->lock, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	s->out =
	    open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
	if (s->lock_fd == -1 || s->out == -1 || pipe2(ends, O_CLOEXEC) == -1)
		die(s->lock);
	for (i = 0; i < s->held; i++)
		s->holders[i] = start_in(s, ends[0], "wait");
	s->leash = ends[1];
	close(ends[0]);
	while (!is_held(s)) {
		bound(from, "nobody holds the lock");
		pause_ms(1);
	}
}

/* How many wait, by the server or by the kernel. */
static int
waiting(const struct scene *s)
{
	const char *zcard[] = { "ZCARD", s->queue };
	char inode[40], line[WAITERS_MAX + 200]; /* a list, indented */
	struct stat st;
	FILE *locks = NULL;
	int n = 0;

	if (s->tool != FLOCK)
		return (int)ask_number(server, 2, zcard);
	if (fstat(s->lock_fd, &st) == -1 ||
	    (locks = fopen("/proc/locks", "re")) == NULL)
		die("/proc/locks");
	snprintf(inode, sizeof(inode), ":%llu ", (unsigned long long)st.st_ino);
	while (fgets(line, sizeof(line), locks) != NULL)
		n += strstr(line, "->") != NULL && strstr(line, inode) != NULL;
	fclose(locks);
	return n;
}

/* n more come and wait. */
static void
scene_wait(struct scene *s, int n)
{
	int64_t from = now_ns(CLOCK_MONOTONIC);
	int before = s->count;

	for (; s->count < before + n; s->count++)
		s->waiters[s->count] = start_in(s, dev_null, NULL);
	while (waiting(s) < s->count) {
		bound(from, "not all wait");
		pause_ms(2);
	}
}

static void
scene_let_go(struct scene *s)
{
	close(s->leash);
	s->leash = -1;
}

static int
compare_stamps(const void *a, const void *b)
{
	const struct stamp *x = a, *y = b;

	return (x->mono_ns > y->mono_ns) - (x->mono_ns < y->mono_ns);
}

/* Wait until there are n stamps, and read them in the order of time. */
static void
stamps(const struct scene *s, struct stamp *out, int n)
{
	int64_t from = now_ns(CLOCK_MONOTONIC);
	size_t want = (size_t)n * sizeof(*out);
	struct stat st;

	while (fstat(s->out, &st) == 0 && (size_t)st.st_size < want) {
		bound(from, "not all commands ran");
		pause_ms(1);
	}
	if (pread(s->out, out, want, 0) != (ssize_t)want)
		die("the stamps");
	qsort(out, (size_t)n, sizeof(*out), compare_stamps);
}

/* All of it ends; files and keys go. */
static void
scene_close(struct scene *s)
{
	const char *del[] = { "DEL", s->name, s->queue };
	char path[PATH_MAX + 8];
	int i;

	if (s->leash != -1)
		close(s->leash);
	for (i = 0; i < s->held; i++)
		reap(s->holders[i]);
	for (i = 0; i < s->count; i++)
		reap(s->waiters[i]);
	(void)ask_number(server, 3, del);
	close(s->out);
	close(s->lock_fd);
	snprintf(path, sizeof(path), "%s.out", s->lock);
	unlink(path);
	unlink(s->lock);
}

static void
count_anew(void)
{
	const char *reset[] = { "CONFIG", "RESETSTAT" };
	char answer[64];

	ask(server, 2, reset, answer, sizeof(answer));
}

/* Commands of clients since count_anew; what scripts call is not among them. */
static int64_t
commands(void)
{
	static const char *const names[] = { "eval", "evalsha", "multi", "exec",
		"subscribe", "unsubscribe", "auth", "select",
		"client|setname" };
	const char *info[] = { "INFO", "commandstats" };
	static char answer[65536];
	char word[60];
	int64_t n = 0;
	const char *at;
	size_t i;

	ask(server, 2, info, answer, sizeof(answer));
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(word, sizeof(word), "cmdstat_%s:calls=", names[i]);
		if ((at = strstr(answer, word)) != NULL)
			n += strtoll(at + strlen(word), NULL, 10);
	}
	return n;
}

/* --- handover ------------------------------------------------------------- */

struct cell {
	enum tool tool;
	int n;
	double *us;	  /* by round: the median hand-over */
	double *commands; /* by round: a hand-over's */
};

static void
hand_over(const struct cell *c, int round)
{
	static struct stamp at[WAITERS_MAX + 2];
	static double spans[WAITERS_MAX];
	struct scene s;
	int i;

	scene_open(&s, c->tool, "60");
	scene_wait(&s, c->n);
	pause_ms(100); /* so that who came last has come to rest */
	count_anew();
	scene_let_go(&s);
	stamps(&s, at, c->n + s.held);
	for (i = 0; i < s.count; i++)
		reap(s.waiters[i]);
	s.count = 0;
	c->commands[round] = (double)commands() / c->n;
	scene_close(&s);
	/* With two slots the one before last is who made room. */
	for (i = 0; i < c->n; i++)
		spans[i] =
		    (double)(at[i + s.held].mono_ns - at[i].mono_ns) / 1e3;
	c->us[round] = quantile(spans, c->n, 0.5);
}

/* The median of a's rounds over b's, which ran next to them. */
static void
tell_ratio(const struct cell *a, const struct cell *b, int rounds)
{
	double *ratios = malloc((size_t)rounds * sizeof(double));
	int i;

	if (ratios == NULL)
		die("malloc");
	for (i = 0; i < rounds; i++)
		ratios[i] = a->us[i] / b->us[i];
	printf("ratio %s.%d %s.%d %.3f\n", tool_names[a->tool], a->n,
	    tool_names[b->tool], b->n, quantile(ratios, rounds, 0.5));
	free(ratios);
}

/* Of one number of waiters: each against the last of the tools, and against
   itself with the first of the numbers. */
static void
tell_group(const struct cell *group, const struct cell *firsts, int tools,
    int rounds)
{
	int i;

	for (i = 0; i < tools - 1; i++)
		tell_ratio(&group[i], &group[tools - 1], rounds);
	for (i = 0; group != firsts && i < tools; i++)
		tell_ratio(&group[i], &firsts[i], rounds);
}

static void
tell_cells(const struct cell *cells, int n, int tools, int rounds)
{
	const struct cell *c;
	int i;

	for (i = 0; i < n; i += tools)
		tell_group(&cells[i], cells, tools, rounds);
	for (c = cells; c < cells + n; c++) {
		printf("handover %s.%d %.0f %.0f %.0f\n", tool_names[c->tool],
		    c->n, quantile(c->us, rounds, 0.5),
		    quantile(c->us, rounds, 0), quantile(c->us, rounds, 1));
		if (c->tool != FLOCK)
			printf("commands %s.%d %.2f\n", tool_names[c->tool],
			    c->n, quantile(c->commands, rounds, 0.5));
	}
}

static int
do_handover(int rounds, const enum tool *tools, int width, char **numbers)
{
	struct cell cells[CELLS_MAX];
	int order[CELLS_MAX], n = 0, round, i;

	for (; *numbers != NULL && n + width <= CELLS_MAX; numbers++)
		for (i = 0; i < width; i++) {
			cells[n] = (struct cell) { .tool = tools[i],
				.n = atoi(*numbers),
				.us = calloc((size_t)rounds, sizeof(double)),
				.commands =
				    calloc((size_t)rounds, sizeof(double)) };
			if (cells[n].n < 1 || cells[n].n > WAITERS_MAX ||
			    cells[n].us == NULL || cells[n].commands == NULL)
				return 64;
			n++;
		}
	for (round = 0; round < rounds; round++) {
		shuffle(order, n);
		for (i = 0; i < n; i++)
			hand_over(&cells[order[i]], round);
	}
	tell_cells(cells, n, width, rounds);
	return 0;
}

/* --- idle ----------------------------------------------------------------- */

static int
do_idle(int n, int seconds)
{
	struct scene s;
	int64_t sent;

	if (n < 1 || n > WAITERS_MAX || seconds < 1)
		return 64;
	scene_open(&s, RLOCK, "60");
	scene_wait(&s, n);
	count_anew();
	pause_ms(seconds * 1000L);
	sent = commands();
	scene_close(&s);
	printf("idle %d %.3f\n", n, (double)sent / n / seconds);
	return 0;
}

/* --- recover -------------------------------------------------------------- */

/* The children of a process, of which there are to be at least two. */
static int
children(pid_t pid, pid_t *out, int max)
{
	int64_t from = now_ns(CLOCK_MONOTONIC);
	char path[80];
	FILE *list;
	int n, child;

	snprintf(path, sizeof(path), "/proc/%ld/task/%ld/children", (long)pid,
	    (long)pid);
	for (;;) {
		if ((list = fopen(path, "re")) == NULL)
			die(path);
		for (n = 0; n < max && fscanf(list, "%d", &child) == 1; n++)
			out[n] = child;
		fclose(list);
		if (n >= 2)
			return n;
		bound(from, "the holder has no guard and command");
		pause_ms(1);
	}
}

/* Holder, guard and command killed, 100 wait: ms after the lease's end. */
static double
killed_holder(void)
{
	static struct stamp at[100];
	pid_t below[8];
	struct scene s;
	int64_t before, end_ms;
	int i, n;

	scene_open(&s, RLOCK, "2");
	scene_wait(&s, 100);
	n = children(s.holders[0], below, 8);
	kill(s.holders[0], SIGKILL);
	for (i = 0; i < n; i++)
		kill(below[i], SIGKILL);
	before = now_ns(CLOCK_REALTIME) / 1000000;
	end_ms =
	    before + ask_number(server, 2, (const char *[]) { "PTTL", s.name });
	stamps(&s, at, 100);
	scene_close(&s);
	return (double)at[0].real_ns / 1e6 - (double)end_ms;
}

/* Five killed waiters ahead: ms from the end of the holder's command. */
static double
killed_waiters(void)
{
	struct stamp at[2];
	struct scene s;
	int i;

	scene_open(&s, RLOCK, "60");
	scene_wait(&s, 5);
	scene_wait(&s, 1);
	for (i = 0; i < 5; i++)
		kill(s.waiters[i], SIGKILL);
	pause_ms(50);
	scene_let_go(&s);
	stamps(&s, at, 2);
	scene_close(&s);
	return (double)(at[1].mono_ns - at[0].mono_ns) / 1e6;
}

/* The first waiter frozen: ms from the end of the holder's command. */
static double
frozen_waiter(void)
{
	struct stamp at[2];
	struct scene s;

	scene_open(&s, RLOCK, "60");
	scene_wait(&s, 1);
	scene_wait(&s, 1);
	kill(s.waiters[0], SIGSTOP);
	pause_ms(50);
	scene_let_go(&s);
	stamps(&s, at, 2);
	kill(s.waiters[0], SIGCONT);
	scene_close(&s);
	return (double)(at[1].mono_ns - at[0].mono_ns) / 1e6;
}

/* The key deleted by hand, ten wait: ms from there. */
static double
deleted_key(void)
{
	struct stamp at[10];
	struct scene s;
	uint32_t r;
	int64_t from;

	scene_open(&s, RLOCK, "60");
	scene_wait(&s, 10);
	/* Anywhere between two looks of the first one. */
	if (getrandom(&r, sizeof(r), 0) != sizeof(r))
		die("getrandom");
	pause_ms(r % 1000);
	from = now_ns(CLOCK_MONOTONIC);
	(void)ask_number(server, 2, (const char *[]) { "DEL", s.name });
	stamps(&s, at, 10);
	scene_close(&s);
	return (double)(at[0].mono_ns - from) / 1e6;
}

static int
do_recover(int rounds)
{
	static const struct {
		const char *name;
		double (*fn)(void);
	} all[] = { { "killed-holder", killed_holder },
		{ "killed-waiters", killed_waiters },
		{ "frozen-waiter", frozen_waiter },
		{ "deleted-key", deleted_key } };
	double *ms[4];
	int i, j, order[4];

	for (i = 0; i < 4; i++)
		if ((ms[i] = malloc((size_t)rounds * sizeof(double))) == NULL)
			die("malloc");
	for (j = 0; j < rounds; j++) {
		shuffle(order, 4);
		for (i = 0; i < 4; i++)
			ms[order[i]][j] = all[order[i]].fn();
	}
	for (i = 0; i < 4; i++)
		printf("recover %s %.1f %.1f %.1f\n", all[i].name,
		    quantile(ms[i], rounds, 0.5), quantile(ms[i], rounds, 0),
		    quantile(ms[i], rounds, 1));
	return 0;
}

int
main(int argc, char **argv)
{
	static const enum tool both[] = { RLOCK, FLOCK },
			       kinds[] = { SLOTS, READERS, RLOCK };
	int first = argc > 2 ? atoi(argv[2]) : 0;

	if (first < 1)
		return 64;
	rlock = must_have("RLOCK");
	(void)must_have("RLOCK_URL");
	mark = must_have("BENCH_MARK");
	dir = must_have("BENCH_DIR");
	server = dial(must_have("BENCH_SERVER"));
	if ((dev_null = open("/dev/null", O_RDWR | O_CLOEXEC)) == -1)
		die("/dev/null");
	if (strcmp(argv[1], "handover") == 0 && argc > 3)
		return do_handover(first, both, 2, argv + 3);
	if (strcmp(argv[1], "kinds") == 0 && argc > 3)
		return do_handover(first, kinds, 3, argv + 3);
	if (strcmp(argv[1], "idle") == 0 && argc > 3)
		return do_idle(first, atoi(argv[3]));
	if (strcmp(argv[1], "recover") == 0)
		return do_recover(first);
	return 64;
}
