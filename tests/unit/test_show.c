/* SPDX-License-Identifier: MIT */
/*
 * show: the text for people, which fits 80 columns and a terminal, and the
 * JSON for programs.
 */
#include "top/show.h"

#include <stdlib.h>
#include <time.h>

#include "check.h"
#include "feed.h"

#define ID "rlock:1:00112233445566778899aabbccddeeff"
#define TOKEN ID ":web1:deploy:4711:1700000000123:build%207"
#define WHO "deploy@web1, pid 4711, started 2023-11-14 22:13:20, build 7"
#define NOBODY "*0\r\n"
#define NOTHING "$0\r\n\r\n"

static struct buf out;
static struct snapshot shown;

/* RESP of a string; it lasts until seven more are made. */
static const char *
str(const char *s)
{
	static char texts[8][1024];
	static unsigned n;

	n = (n + 1) % CHECK_COUNT(texts);
	snprintf(texts[n], sizeof(texts[n]), "$%zu\r\n%s\r\n", strlen(s), s);
	return texts[n];
}

/* Set shown; kind and type as words, the others as RESP. */
static void
see(const char *kind, const char *type, int left, const char *holders,
    const char *waiters, int waiting, const char *marker, const char *fence)
{
	static struct reply *reply;
	static char resp[8192];
	struct fault fault;

	feed_free(reply);
	snprintf(resp, sizeof(resp), "*9\r\n%s+%s\r\n:%d\r\n%s:%d\r\n%s%s%s%s",
	    str(kind), type, left, holders, waiting, waiters, marker,
	    strcmp(marker, NOTHING) == 0 ? ":-2\r\n" : ":5000\r\n", fence);
	reply = feed(resp);
	CHECK(reply != NULL);
	CHECK_EQ(snapshot_read(&shown, reply, &fault), 0);
}

/* A list of one holder. */
static const char *
holder(const char *token, int left, int slot)
{
	static char text[1200];

	snprintf(text, sizeof(text), "*3\r\n%s:%d\r\n:%d\r\n", str(token), left,
	    slot);
	return text;
}

static const char *
text_of(const char *key)
{
	buf_release(&out);
	CHECK_EQ(show_status(&out, key, &shown), 0);
	CHECK_EQ(buf_put(&out, "", 1), 0);
	return out.data;
}

static const char *
json_of(const char *key)
{
	buf_release(&out);
	CHECK_EQ(show_json(&out, key, &shown), 0);
	CHECK_EQ(buf_put(&out, "", 1), 0);
	return out.data;
}

static const char *
line_for(const char *key, size_t width, size_t columns)
{
	buf_release(&out);
	CHECK_EQ(show_list_line(&out, key, width, columns, &shown), 0);
	CHECK_EQ(buf_put(&out, "", 1), 0);
	return out.data;
}

/* No line of text has more than max bytes, a tab, or a blank at its end. */
static void
check_lines(const char *text, size_t max)
{
	size_t len;

	CHECK(strchr(text, '\t') == NULL);
	for (; *text != '\0'; text += len + 1) {
		len = strcspn(text, "\n");
		CHECK(len <= max);
		CHECK(len == 0 || text[len - 1] != ' ');
		CHECK_EQ(text[len], '\n');
	}
}

static void
see_free(void)
{
	see("", "none", -2, NOBODY, NOBODY, 0, NOTHING, NOTHING);
}

static void
free_one(void)
{
	see_free();
	CHECK_STR(text_of("job"), "job: free\n");
	CHECK_STR(json_of("job"),
	    "{\"key\": \"job\", \"state\": \"free\", \"mode\": null, "
	    "\"slots\": null, \"type\": null, \"left_ms\": null, "
	    "\"holders\": [], \"waiting\": 0, \"waiters\": [], "
	    "\"done\": null, \"fence\": null}\n");
}

static void
held(void)
{
	see("x0", "string", 12345, holder(TOKEN, 12345, -1), NOBODY, 0, NOTHING,
	    str("1700000000123456"));
	CHECK_STR(text_of("job"),
	    "job: held, exclusive\n"
	    "  holder   " WHO "\n"
	    "           12.3 s left\n"
	    "  fence    1700000000123456\n");
	CHECK_STR(json_of("job"),
	    "{\"key\": \"job\", \"state\": \"held\", \"mode\": \"exclusive\", "
	    "\"slots\": null, \"type\": null, \"left_ms\": 12345, "
	    "\"holders\": [{\"token\": \"" TOKEN "\", \"host\": \"web1\", "
	    "\"user\": \"deploy\", \"pid\": 4711, "
	    "\"started_ms\": 1700000000123, \"note\": \"build 7\", "
	    "\"slot\": null, \"left_ms\": 12345}], \"waiting\": 0, "
	    "\"waiters\": [], \"done\": null, \"fence\": 1700000000123456}\n");
	CHECK_STR(line_for("job", 3, 0),
	    "job  exclusive     12.3 s     0  deploy@web1:4711\n");
}

static void
slots(void)
{
	see("j4", "zset", 60000, holder(TOKEN, 60000, 3), NOBODY, 0, NOTHING,
	    NOTHING);
	CHECK_STR(text_of("job"),
	    "job: held, 4 slots\n"
	    "  holder   " WHO "\n"
	    "           slot 3, 60.0 s left\n");
	CHECK_HAS(json_of("job"), "\"mode\": \"slots\", \"slots\": 4,");
	CHECK_HAS(json_of("job"), "\"slot\": 3,");
	CHECK_STR(line_for("job", 3, 0),
	    "job  4 slots       60.0 s     0  deploy@web1:4711\n");
}

static void
who_waits(void)
{
	char waiters[1024];

	snprintf(waiters, sizeof(waiters),
	    "*8\r\n%s:30000\r\n%s:1\r\n%s:30000\r\n%s:0\r\n", str("x0"),
	    str(ID ":a:b:1:-:"), str("s0"), str(ID ":c:d:2:-:"));
	see("s0", "zset", 5, holder(TOKEN, 5, -1), waiters, 5, NOTHING,
	    NOTHING);
	CHECK_STR(text_of("job"),
	    "job: held, shared\n"
	    "  holder   " WHO "\n"
	    "           0.0 s left\n"
	    "  waiting  5\n"
	    "      1.   exclusive, b@a, pid 1\n"
	    "      2.   shared, d@c, pid 2, polls or is gone\n"
	    "    ...\n");
	CHECK_HAS(json_of("job"),
	    "\"waiting\": 5, \"waiters\": [{\"mode\": "
	    "\"exclusive\", \"token\": ");
	CHECK_HAS(json_of("job"), "\"listens\": true}, {\"mode\": \"shared\"");
	CHECK_HAS(json_of("job"), "\"listens\": false}]");
}

static void
cooling_and_done(void)
{
	see("x0", "string", 7200000,
	    holder("rlock:1:cooling:web1:deploy:4711:0:", 7200000, -1), NOBODY,
	    0, str("1700000000123 90000 " TOKEN), NOTHING);
	CHECK_STR(text_of("job"),
	    "job: cooling, exclusive\n"
	    "  holder   nobody, cooling down after deploy@web1, pid 4711,\n"
	    "           started 1970-01-01 00:00:00\n"
	    "           2.0 h left\n"
	    "  done     2023-11-14 22:13:20, in 90.0 s, by\n"
	    "           " WHO "\n"
	    "           remembered for 5.0 s more (--once)\n");
	CHECK_HAS(json_of("job"), "\"state\": \"cooling\"");
	CHECK_HAS(json_of("job"),
	    "\"done\": {\"ended_ms\": 1700000000123, \"run_ms\": 90000, "
	    "\"left_ms\": 5000, \"token\": \"" TOKEN "\"");
	CHECK_STR(line_for("job", 3, 0),
	    "job  exclusive      2.0 h     0  cooling, deploy@web1:4711\n");
}

static void
foreign(void)
{
	see("x0", "string", -1, holder("some\x1b[31m\nbody\xff", -1, -1),
	    NOBODY, 0, NOTHING, NOTHING);
	CHECK_STR(text_of("k\x1b"),
	    "k\\x1b: foreign, not by rlock: a string\n"
	    "  holder   another program (some\\x1b[31m\\nbody\\xff)\n"
	    "           no end\n");
	CHECK_HAS(json_of("k\x1b"),
	    "{\"key\": \"k\\u001b\", \"state\": \"foreign\", \"mode\": null, "
	    "\"slots\": null, \"type\": \"string\", \"left_ms\": null");
	CHECK_HAS(json_of("k"),
	    "\"token\": \"some\\u001b[31m\\u000abody\\ufffd\", \"host\": null");
	see("odd", "hash", -1, NOBODY, NOBODY, 0, NOTHING, NOTHING);
	CHECK_STR(text_of("job"), "job: foreign, not by rlock: a hash\n");
	CHECK_STR(line_for("job", 3, 0),
	    "job  foreign       no end     0  hash\n");
}

/* For a terminal it is escaped, for JSON by its own rules. */
static void
notes(void)
{
	see("x0", "string", 1, holder(ID ":h:u:1:-:a%0A%22%C3%A9\\%1B", 1, -1),
	    NOBODY, 0, NOTHING, NOTHING);
	CHECK_HAS(text_of("job"), "u@h, pid 1, a\\n\"\xc3\xa9\\\\x1b\n");
	CHECK_HAS(json_of("job"),
	    "\"note\": \"a\\u000a\\u0022\xc3\xa9\\u005c\\u001b\"");
}

static void
columns(void)
{
	char token[TOKEN_MAX], note[81], key[1025];

	memset(note, 'n', 80);
	note[80] = '\0';
	note[20] = ',';
	note[21] = '_';
	snprintf(token, sizeof(token),
	    ID ":a-host.with.a-long-name.example.com:somebody:99999:"
	       "1700000000000:%.52s,%%20%.20s",
	    note, note);
	see("x0", "string", 1, holder(token, 1, -1), NOBODY, 0, NOTHING,
	    NOTHING);
	check_lines(text_of("job"), 79);
	CHECK_HAS(text_of("job"),
	    "  holder   somebody@a-host.with.a-long-name.example.com, "
	    "pid 99999,\n           started ");
	memset(key, 'k', sizeof(key) - 1);
	key[sizeof(key) - 1] = '\0';
	check_lines(line_for(key, 1024, 80), 80);
	CHECK_HAS(line_for(key, 1024, 0), key);
	check_lines(line_for("job", 3, 80), 80);
	buf_release(&out);
	CHECK_EQ(show_list_head(&out, 1024), 0);
	CHECK_EQ(buf_put(&out, "", 1), 0);
	check_lines(out.data, 79);
}

/* Anything in a token's fields: lines stay lines, and nothing loops. */
static void
noise(void)
{
	char token[400];
	unsigned round, i, len;

	for (round = 0; round < 5000; round++) {
		strcpy(token, ID ":");
		len = token_random(300);
		for (i = (unsigned)strlen(token); len > 0; len--)
			token[i++] = ", :%0\n\x1b\xc3\xa9z"[token_random(10)];
		token[i] = '\0';
		see("x0", "string", 1, holder(token, 1, -1), NOBODY, 0, NOTHING,
		    NOTHING);
		CHECK(strpbrk(text_of("job"), "\x1b\t") == NULL);
		CHECK_EQ(strncmp(text_of("job"), "job: held", 9), 0);
	}
}

int
main(void)
{
	setenv("TZ", "UTC0", 1);
	tzset();
	CHECK_RUN(free_one);
	CHECK_RUN(held);
	CHECK_RUN(slots);
	CHECK_RUN(who_waits);
	CHECK_RUN(cooling_and_done);
	CHECK_RUN(foreign);
	CHECK_RUN(notes);
	CHECK_RUN(columns);
	CHECK_RUN(noise);
	buf_release(&out);
	return check_done();
}
