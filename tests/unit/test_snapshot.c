/* SPDX-License-Identifier: MIT */
/*
 * snapshot: what the status script answers is read, and nothing else is taken
 * for it.
 */
#include "core/snapshot.h"

#include <stdarg.h>
#include <stdlib.h>

#include "check.h"
#include "feed.h"

#define ID "rlock:1:00112233445566778899aabbccddeeff"
#define TOKEN ID ":web1:deploy:7:9:"
#define COOLING "rlock:1:cooling:web1:deploy:7:9:"

/* The parts of an answer, as RESP. */
struct parts {
	const char *kind, *type, *left, *holders, *waiting, *waiters, *marker,
	    *marker_left, *fence;
};

static const struct parts unlocked = { "$0\r\n\r\n", "+none\r\n", ":-2\r\n",
	"*0\r\n", ":0\r\n", "*0\r\n", "$0\r\n\r\n", ":-2\r\n", "$0\r\n\r\n" };

static char resp[4096];

/* A RESP string; it lasts until fifteen more are made. */
static const char *
text(const char *s)
{
	static char out[16][1024];
	static unsigned n;

	n = (n + 1) % CHECK_COUNT(out);
	snprintf(out[n], sizeof(out[n]), "$%zu\r\n%s\r\n", strlen(s), s);
	return out[n];
}

static struct reply *
answer_of(const struct parts *p)
{
	snprintf(resp, sizeof(resp), "*9\r\n%s%s%s%s%s%s%s%s%s", p->kind,
	    p->type, p->left, p->holders, p->waiting, p->waiters, p->marker,
	    p->marker_left, p->fence);
	return feed(resp);
}

/* The reply is leaked to the next call, since the snapshot lives in it. */
static struct snapshot
snapshot_of(const struct parts *p)
{
	static struct reply *reply;
	struct snapshot s;
	struct fault fault;

	feed_free(reply);
	reply = answer_of(p);
	memset(&s, 0x5a, sizeof(s));
	CHECK(reply != NULL);
	CHECK_EQ(snapshot_read(&s, reply, &fault), 0);
	return s;
}

static void
nobody(void)
{
	struct snapshot s = snapshot_of(&unlocked);

	CHECK_EQ(s.mode, SNAPSHOT_FREE);
	CHECK_EQ(s.holder_count, 0);
	CHECK_EQ(s.waiting, 0);
	CHECK_EQ(s.waiter_count, 0);
	CHECK(!s.done);
	CHECK_EQ(s.fence, -1);
	CHECK(!snapshot_is_cooling(&s));
}

static void
modes(void)
{
	static const struct {
		const char *kind;
		enum snapshot_mode mode;
		int slots;
	} rows[] = {
		{ "x0", SNAPSHOT_EXCLUSIVE, 0 },
		{ "s0", SNAPSHOT_SHARED, 0 },
		{ "j1", SNAPSHOT_SLOTS, 1 },
		{ "j4096", SNAPSHOT_SLOTS, 4096 },
		{ "odd", SNAPSHOT_FOREIGN, 0 },
	};
	struct parts p = unlocked;
	struct snapshot s;
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		p.kind = text(rows[i].kind);
		s = snapshot_of(&p);
		check_eq(s.mode, rows[i].mode, rows[i].kind, __FILE__,
		    __LINE__);
		check_eq(s.slots, rows[i].slots, rows[i].kind, __FILE__,
		    __LINE__);
	}
}

static void
everything(void)
{
	struct parts p = { text("j3"), "+zset\r\n", ":900\r\n", "", ":7\r\n",
		"", text("1700000000123 1500 " TOKEN), ":60000\r\n",
		text("1700000000123456") };
	struct snapshot_holder h;
	struct snapshot_waiter w;
	struct snapshot s;
	char holders[512], waiters[512];

	snprintf(holders, sizeof(holders),
	    "*6\r\n%s:900\r\n:2\r\n%s:-1\r\n:-1\r\n", text(TOKEN),
	    text("somebody"));
	snprintf(waiters, sizeof(waiters),
	    "*8\r\n%s:30000\r\n%s:1\r\n%s:5\r\n%s:0\r\n", text("j3"),
	    text(TOKEN), text("s0"), text(ID));
	p.holders = holders;
	p.waiters = waiters;
	s = snapshot_of(&p);
	CHECK_EQ(s.mode, SNAPSHOT_SLOTS);
	CHECK_STR(s.type, "zset");
	CHECK_EQ(s.left_ms, 900);
	CHECK_EQ(s.holder_count, 2);
	snapshot_holder(&s, 0, &h);
	CHECK_STR(h.token, TOKEN);
	CHECK_EQ(h.left_ms, 900);
	CHECK_EQ(h.slot, 2);
	snapshot_holder(&s, 1, &h);
	CHECK_STR(h.token, "somebody");
	CHECK_EQ(h.left_ms, -1);
	CHECK_EQ(h.slot, -1);
	CHECK_EQ(s.waiting, 7);
	CHECK_EQ(s.waiter_count, 2);
	snapshot_waiter(&s, 0, &w);
	CHECK_STR(w.kind, "j3");
	CHECK_STR(w.token, TOKEN);
	CHECK(w.listens);
	snapshot_waiter(&s, 1, &w);
	CHECK_STR(w.kind, "s0");
	CHECK_STR(w.token, ID);
	CHECK(!w.listens);
	CHECK(s.done);
	CHECK_EQ(s.marker.ended_ms, 1700000000123);
	CHECK_EQ(s.marker.run_ms, 1500);
	CHECK_STR(s.marker.token, TOKEN);
	CHECK_EQ(s.marker_left_ms, 60000);
	CHECK_EQ(s.fence, 1700000000123456);
	CHECK(!snapshot_is_cooling(&s));
}

/* One that holds it, as a string. */
static struct snapshot
held_by(const char *value)
{
	struct parts p = unlocked;
	char holders[1024];

	snprintf(holders, sizeof(holders), "*3\r\n%s:5\r\n:-1\r\n",
	    text(value));
	p.kind = text("x0");
	p.type = "+string\r\n";
	p.left = ":5\r\n";
	p.holders = holders;
	return snapshot_of(&p);
}

static void
foreign_and_cooling(void)
{
	struct snapshot_holder h;
	struct snapshot s = held_by("somebody else");
	char value[900];

	CHECK_EQ(s.mode, SNAPSHOT_FOREIGN);
	CHECK(!snapshot_is_cooling(&s));
	s = held_by("");
	CHECK_EQ(s.mode, SNAPSHOT_FOREIGN);
	s = held_by(COOLING);
	CHECK_EQ(s.mode, SNAPSHOT_EXCLUSIVE);
	CHECK(snapshot_is_cooling(&s));
	memset(value, 'v', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	s = held_by(value);
	CHECK_EQ(s.mode, SNAPSHOT_FOREIGN);
	snapshot_holder(&s, 0, &h);
	CHECK_EQ(strlen(h.token), TOKEN_MAX - 1);
}

/* What others have put at our side keys is not there, for us. */
static void
odd_side_keys(void)
{
	struct parts p = unlocked;
	struct snapshot s;

	p.marker = text("yes");
	p.fence = text("many");
	s = snapshot_of(&p);
	CHECK(!s.done);
	CHECK_EQ(s.fence, -1);
}

static void
refused(const struct parts *p, const char *what, int line)
{
	struct reply *reply = answer_of(p);
	struct fault fault = { 0 };
	struct snapshot s;

	check_true(reply != NULL, what, __FILE__, line);
	check_eq(snapshot_read(&s, reply, &fault), -1, what, __FILE__, line);
	check_eq(fault.code, FAULT_UNFIT, what, __FILE__, line);
	check_has(fault.text, "makes no sense", true, __FILE__, line);
	feed_free(reply);
}

static void
nonsense(void)
{
	static const struct {
		size_t offset;
		const char *resp;
	} rows[] = {
#define PART(name) offsetof(struct parts, name)
		{ PART(kind), ":1\r\n" },
		{ PART(kind), "$-1\r\n" },
		{ PART(kind), "$1\r\nx\r\n" },
		{ PART(kind), "$3\r\nx00\r\n" },
		{ PART(kind), "$1\r\nj\r\n" },
		{ PART(kind), "$2\r\nj0\r\n" },
		{ PART(kind), "$3\r\nj-1\r\n" },
		{ PART(kind), "$3\r\nj 1\r\n" },
		{ PART(kind), "$3\r\nj1x\r\n" },
		{ PART(kind), "$20\r\nj9999999999999999999\r\n" },
		{ PART(type), ":1\r\n" },
		{ PART(left), "$1\r\nx\r\n" },
		{ PART(left), ":-3\r\n" },
		{ PART(left), "*0\r\n" },
		{ PART(holders), "$-1\r\n" },
		{ PART(holders), "$0\r\n\r\n" },
		{ PART(holders), "*1\r\n$1\r\na\r\n" },
		{ PART(holders), "*2\r\n$1\r\na\r\n:1\r\n" },
		{ PART(holders), "*3\r\n:1\r\n:1\r\n:1\r\n" },
		{ PART(holders), "*3\r\n$1\r\na\r\n$1\r\na\r\n:1\r\n" },
		{ PART(holders), "*3\r\n$1\r\na\r\n:1\r\n:-2\r\n" },
		{ PART(holders), "*4\r\n$1\r\na\r\n:1\r\n:1\r\n:1\r\n" },
		{ PART(waiting), ":-1\r\n" },
		{ PART(waiting), "$-1\r\n" },
		{ PART(waiters), "$0\r\n\r\n" },
		{ PART(waiters), "*3\r\n$2\r\nx0\r\n:1\r\n$1\r\na\r\n" },
		{ PART(waiters), "*4\r\n:1\r\n:1\r\n$1\r\na\r\n:1\r\n" },
		{ PART(waiters),
		    "*4\r\n$2\r\nx0\r\n$1\r\na\r\n$1\r\na\r\n:1\r\n" },
		{ PART(waiters), "*4\r\n$2\r\nx0\r\n:1\r\n:1\r\n:1\r\n" },
		{ PART(waiters),
		    "*4\r\n$2\r\nx0\r\n:1\r\n$1\r\na\r\n$1\r\na\r\n" },
		{ PART(marker), ":1\r\n" },
		{ PART(marker_left), "$0\r\n\r\n" },
		{ PART(fence), "*0\r\n" },
		{ PART(fence), ":-1\r\n" },
#undef PART
	};
	struct parts p;
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		char label[40];

		p = unlocked;
		*(const char **)(void *)((char *)&p + rows[i].offset) =
		    rows[i].resp;
		snprintf(label, sizeof(label), "row %zu", i);
		refused(&p, label, __LINE__);
	}
}

static void
other_shapes(void)
{
	static const char *const shapes[] = { "$-1\r\n", "*-1\r\n", "*0\r\n",
		":1\r\n", "+OK\r\n", "*1\r\n:0\r\n" };
	struct fault fault;
	struct snapshot s;
	struct reply *r;
	size_t i;

	for (i = 0; i < CHECK_COUNT(shapes); i++) {
		r = feed(shapes[i]);
		CHECK(r != NULL);
		CHECK_EQ(snapshot_read(&s, r, &fault), -1);
		CHECK_EQ(fault.code, FAULT_UNFIT);
		feed_free(r);
	}
	r = feed("-NOPERM this user has no permissions\r\n");
	CHECK_EQ(snapshot_read(&s, r, &fault), -1);
	CHECK_EQ(fault.code, FAULT_REFUSED);
	feed_free(r);
}

int
main(void)
{
	CHECK_RUN(nobody);
	CHECK_RUN(modes);
	CHECK_RUN(everything);
	CHECK_RUN(foreign_and_cooling);
	CHECK_RUN(odd_side_keys);
	CHECK_RUN(nonsense);
	CHECK_RUN(other_shapes);
	return check_done();
}
