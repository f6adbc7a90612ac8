/* SPDX-License-Identifier: MIT */
/*
 * token: form and size of what is made, recognising it, and describing values
 * that others wrote.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/token.h"
#include "check.h"

#define ID "rlock:1:0123456789abcdef0123456789abcdef"

static void
make(void)
{
	struct token_owner owner = { "h-1.example", "a b", 42, 1700000000123,
		"x:y%\n\xc3\xa9@+" };
	char a[TOKEN_MAX], b[TOKEN_MAX];

	CHECK_EQ(token_make(&owner, a), 0);
	CHECK_EQ(token_make(&owner, b), 0);
	CHECK(strncmp(a, "rlock:1:", 8) == 0);
	CHECK_EQ(strspn(a + 8, "0123456789abcdef"), 32);
	CHECK_STR(a + 40,
	    ":h-1.example:a%20b:42:1700000000123:x%3Ay%25%0A%C3%A9@+");
	CHECK(strcmp(a, b) != 0);
	CHECK_STR(a + 40, b + 40);
	CHECK(token_is_ours(a, strlen(a)));
	owner.note = "";
	CHECK_EQ(token_make(&owner, a), 0);
	CHECK_STR(a + strlen(a) - 1, ":");
}

/* Everything as long as it gets, each byte escaped. */
static void
longest(void)
{
	struct token_owner owner = { .started_ms = INT64_MIN };
	char out[TOKEN_MAX + 8], note[200];

	memset(owner.host, ' ', sizeof(owner.host) - 1);
	memset(owner.user, ' ', sizeof(owner.user) - 1);
	memset(note, ' ', sizeof(note));
	note[sizeof(note) - 1] = '\0';
	owner.pid = -9223372036854775807L - 1;
	owner.note = note;
	memset(out, '!', sizeof(out));
	CHECK_EQ(token_make(&owner, out), 0);
	CHECK(strlen(out) < TOKEN_MAX);
	CHECK_EQ(strlen(out),
	    8 + 32 + 1 + 3 * 64 + 1 + 3 * 32 + 2 * (1 + 20) + 1 + 3 * 80);
	CHECK_EQ(out[TOKEN_MAX], '!');
}

static void
owner(void)
{
	struct token_owner me;
	char host[256], digits[32];

	setenv("LOGNAME", "", 1);
	setenv("USER", "someone-with-a-name-of-more-than-32-bytes", 1);
	token_owner_init(&me, NULL);
	CHECK_EQ(me.pid, getpid());
	CHECK_STR(me.note, "");
	CHECK(me.started_ms > 1600000000000);
	CHECK_EQ(gethostname(host, sizeof(host)), 0);
	host[sizeof(me.host) - 1] = '\0';
	CHECK_STR(me.host, host);
	if (getuid() == 0) {
		CHECK_STR(me.user, "root");
		return;
	}
	CHECK_STR(me.user, "someone-with-a-name-of-more-than");
	unsetenv("USER");
	token_owner_init(&me, "n");
	snprintf(digits, sizeof(digits), "%u", (unsigned)getuid());
	CHECK_STR(me.user, digits);
	CHECK_STR(me.note, "n");
}

static void
ours(void)
{
	static const struct {
		const char *text;
		bool ours;
	} rows[] = {
		{ ID, true },
		{ ID ":", true },
		{ ID ":h:u:1:2:n", true },
		{ ID "0", false },
		{ ID "x", false },
		{ "", false },
		{ "rlock:1:", false },
		{ "rlock:1:cooling:x", false },
		{ "rlock:2:0123456789abcdef0123456789abcdef", false },
		{ "rlock:1:0123456789ABCDEF0123456789abcdef:", false },
		{ "rlock:1:0123456789abcdef0123456789abcde", false },
		{ "rlock:1:0123456789abcdef0123456789abcde:", false },
		{ " " ID, false },
	};
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++)
		check_eq(token_is_ours(rows[i].text, strlen(rows[i].text)),
		    rows[i].ours, rows[i].text, __FILE__, __LINE__);
	/* Only len bytes count. */
	CHECK(token_is_ours(ID "zzz", sizeof(ID) - 1));
	CHECK(!token_is_ours(ID, sizeof(ID) - 2));
	CHECK(!token_is_ours(ID "\0", sizeof(ID)));
}

static void
describe(void)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ ID ":web1:deploy:4711:1700000000123:build%207",
		    "deploy@web1, pid 4711, started 2023-11-14 22:13:20, "
		    "build 7" },
		{ ID ":web1:deploy:4711:0:",
		    "deploy@web1, pid 4711, "
		    "started 1970-01-01 00:00:00" },
		{ ID, "somebody" },
		{ ID ":", "somebody" },
		{ ID "::::::", "somebody, :" },
		{ ID ":h", "somebody@h" },
		{ ID "::u", "u" },
		{ ID ":h:u:x:y", "u@h" },
		{ ID ":h:u:-1:-1:", "u@h" },
		{ ID ":h:u:0:99999999999999999999:n", "u@h, n" },
		{ ID ":h:u:99999999999:253402300800000:", "u@h" },
		{ ID ":h:u:1:253402300799999:",
		    "u@h, pid 1, started 9999-12-31 23:59:59" },
		{ ID ":h%1b[2J:%0a%00%9b:1::%C2%9B%7F\xff%C3%A9",
		    "\\n\\x00\\x9b@h\\x1b[2J, pid 1, "
		    "\\xc2\\x9b\\x7f\\xff\xc3\xa9" },
		{ ID ":%:%4:%zz::a:b:c%", "%4@%, a:b:c%" },
		{ "rlock:1:cooling:web1:deploy:4711:0:n",
		    "nobody, cooling down after deploy@web1, pid 4711, "
		    "started 1970-01-01 00:00:00, n" },
		{ "rlock:1:cooling:", "nobody, cooling down after somebody" },
		{ "rlock:1:cooling", "another program (rlock:1:cooling)" },
		{ "my-token", "another program (my-token)" },
		{ "", "another program ()" },
		{ "\x1b]0;x\a", "another program (\\x1b]0;x\\x07)" },
		{ "0123456789012345678901234567890123456789",
		    "another program "
		    "(0123456789012345678901234567890123456789)" },
		{ "01234567890123456789012345678901234567890",
		    "another program "
		    "(0123456789012345678901234567890123456789...)" },
		{ "012345678901234567890123456789012345678\xc3\xa9",
		    "another program "
		    "(012345678901234567890123456789012345678...)" },
	};
	char out[400];
	size_t i;

	setenv("TZ", "UTC0", 1);
	tzset();
	for (i = 0; i < CHECK_COUNT(rows); i++) {
		token_describe(rows[i].text, strlen(rows[i].text), out,
		    sizeof(out));
		check_str(out, rows[i].want, rows[i].text, __FILE__, __LINE__);
	}
	token_describe("a\0b", 3, out, sizeof(out));
	CHECK_STR(out, "another program (a\\x00b)");
}

static void
fields(void)
{
	struct token_fields f;
	const char *t = ID ":w%201:d%0Ax:4711:1700000000123:a:b%00c/nested";

	token_read(t, strlen(t), false, &f);
	CHECK(f.ours && !f.cooling);
	CHECK_STR(f.host, "w 1");
	CHECK_STR(f.user, "d\\nx");
	CHECK_EQ(f.pid, 4711);
	CHECK_EQ(f.started_ms, 1700000000123);
	CHECK_STR(f.note, "a:b\\x00c");
	token_read(t, strlen(t), true, &f);
	CHECK_STR(f.user, "d\nx");
	CHECK_STR(f.note, "a:b");
	t = "rlock:1:cooling:h:u:1:2:n";
	token_read(t, strlen(t), false, &f);
	CHECK(f.ours && f.cooling);
	CHECK_STR(f.host, "h");
	CHECK_EQ(f.started_ms, 2);
	CHECK_STR(f.note, "n");
	t = "somebody:h:u:1:2:n";
	token_read(t, strlen(t), false, &f);
	CHECK(!f.ours && !f.cooling);
	CHECK_STR(f.host, "");
	CHECK_EQ(f.pid, -1);
	CHECK_EQ(f.started_ms, -1);
	t = ID "/nested";
	token_read(t, strlen(t), false, &f);
	CHECK_STR(f.host, "");
	t = ID ":h:u:1:2:/nested";
	token_read(t, strlen(t), false, &f);
	CHECK_STR(f.note, "");
	CHECK_EQ(f.pid, 1);
}

/* Any bytes, any room: it stays within both. */
static void
describe_noise(void)
{
	char *text, *out;
	size_t len, cap, i;
	unsigned round;

	for (round = 0; round < 20000; round++) {
		len = token_random(300);
		cap = token_random(80);
		text = malloc(len + 1);
		out = malloc(cap + 1);
		if (text == NULL || out == NULL)
			abort();
		for (i = 0; i < len; i++)
			text[i] = token_random(3) == 0 ?
			    ":%0"[token_random(3)] :
			    (char)token_random(256);
		if (len >= sizeof(ID) && token_random(2) == 0)
			memcpy(text, ID ":", sizeof(ID));
		out[0] = '\0';
		out[cap] = '!';
		token_describe(text, len, out, cap);
		CHECK_EQ(out[cap], '!');
		for (i = 0; i < strnlen(out, cap); i++)
			if ((unsigned char)out[i] < ' ' || out[i] == 0x7f)
				break;
		CHECK_EQ(i, strnlen(out, cap));
		free(text);
		free(out);
	}
}

static void
random_numbers(void)
{
	unsigned counts[6] = { 0 }, i;

	CHECK_EQ(token_random(0), 0);
	CHECK_EQ(token_random(1), 0);
	for (i = 0; i < 60000; i++)
		counts[token_random(6)]++;
	for (i = 0; i < 6; i++)
		CHECK(counts[i] > 9000 && counts[i] < 11000);
	for (i = 0; i < 100; i++)
		CHECK(token_random(UINT32_MAX) < UINT32_MAX);
}

int
main(void)
{
	CHECK_RUN(make);
	CHECK_RUN(longest);
	CHECK_RUN(owner);
	CHECK_RUN(ours);
	CHECK_RUN(describe);
	CHECK_RUN(fields);
	CHECK_RUN(describe_noise);
	CHECK_RUN(random_numbers);
	return check_done();
}
