/* SPDX-License-Identifier: MIT */
/*
 * lock: which script is sent with what, and what each reply means; and reply,
 * which it asks.
 */
#include <inttypes.h>

#include "check.h"
#include "core/answer.h"
#include "core/script.h"
#include "feed.h"

#define TOKEN "rlock:1:00112233445566778899aabbccddeeff:host:user:7:9:"
#define OTHER "rlock:1:ffeeddccbbaa99887766554433221100:h:u:1:2:"
#define ENTRY "x0:30000:0:" TOKEN
#define SHARED "s0:30000:0:" TOKEN
#define SLOTS "j4096:30000:1:" TOKEN
#define TWO "j2:30000:0:" TOKEN
#define ABOVE OTHER " " TOKEN
#define HELD(text, len) "*5\r\n:1\r\n$" len "\r\n" text "\r\n"

static const enum lock_op ops[] = { LOCK_TAKE, LOCK_JOIN, LOCK_ASK, LOCK_QUEUE,
	LOCK_RENEW, LOCK_FREE, LOCK_RELEASE };

static struct lock lock;

static void
init(const char *key)
{
	const struct lock_spec spec = {
		.prefix = "lock:", .key = key, .ttl_ms = 30000, .above = ""
	};
	struct fault fault;

	CHECK_EQ(lock_init(&lock, &spec, &fault), 0);
	strcpy(lock.token, TOKEN);
}

static struct answer
answer_to(enum lock_op op, const char *text, size_t len)
{
	struct reply *reply = feed_bytes(text, len);
	struct answer answer;

	memset(&answer, 0x5a, sizeof(answer));
	answer_read(&lock, op, reply, &answer);
	feed_free(reply);
	return answer;
}

static struct answer
read_as(enum lock_op op, const char *text)
{
	return answer_to(op, text, strlen(text));
}

/* A label that is one line of TAP. */
static const char *
label(enum lock_op op, const char *reply)
{
	static char text[200];
	size_t n = (size_t)snprintf(text, sizeof(text), "op %d, ", (int)op);

	for (; *reply != '\0' && n + 1 < sizeof(text); reply++)
		text[n++] = *reply < ' ' ? ' ' : *reply;
	text[n] = '\0';
	return text;
}

static void
start(void)
{
	init("job");
	CHECK_EQ(lock.ttl_ms, 30000);
	CHECK_STR(lock.ttl_text, "30000");
	CHECK_STR(lock.ticket, "0");
	CHECK(!lock.crowded);
	CHECK_STR(lock.keys.lock, "lock:job");
	lock_release(&lock);
}

static void
check_args(enum lock_op op, const char *script, const char *nkeys,
    const char *const *rest, int count)
{
	struct request request;
	int i, keys = nkeys[0] - '0';

	lock_request(&lock, op, &request);
	CHECK_EQ(request.argc, 3 + keys + count);
	CHECK(request.argc <= REQUEST_ARGS_MAX);
	CHECK_STR(request.argv[0], "EVAL");
	CHECK(request.argv[1] == script);
	CHECK_STR(request.argv[2], nkeys);
	CHECK_STR(request.argv[3], "lock:job");
	if (keys >= 3) {
		CHECK_STR(request.argv[4], "rlock:queue:{lock:job}");
		CHECK_STR(request.argv[5], "rlock:holds:{lock:job}");
	}
	if (keys == 5) {
		CHECK_STR(request.argv[6], "rlock:done:{lock:job}");
		CHECK_STR(request.argv[7], "rlock:fence:{lock:job}");
	}
	for (i = 0; i < count; i++)
		CHECK_STR(request.argv[3 + keys + i], rest[i]);
	CHECK_EQ(request.listen, op == LOCK_JOIN);
	if (op == LOCK_JOIN)
		CHECK_STR(request.channel,
		    "rlock:00112233445566778899aabbccddeeff");
}

/* Commands of the server, as one text. */
static void
check_command(enum lock_op op, const char *want)
{
	struct request request;
	char text[200] = "";
	int i;

	lock_request(&lock, op, &request);
	for (i = 0; i < request.argc; i++) {
		strcat(text, i > 0 ? " " : "");
		strcat(text, request.argv[i]);
	}
	check_str(text, want, "command", __FILE__, __LINE__);
	CHECK(!request.listen);
}

static void
commands(void)
{
	init("job");
	strcpy(lock.cursor, "17");
	lock.pattern = "lock:a*";
	check_command(LOCK_SCAN, "SCAN 17 MATCH lock:a* COUNT 1000");
	check_command(LOCK_CLIENTS, "CLIENT LIST");
	strcpy(lock.cursor, "4711");
	check_command(LOCK_KILL, "CLIENT KILL ID 4711");
	lock_release(&lock);
}

static void
requests(void)
{
	static const char *const fast[] = { TOKEN, "30000" };
	static const char *const join[] = { ENTRY, "1", "0", "-1", "", "0" };
	static const char *const ask[] = { ENTRY, "0", "0", "-1", "", "0" };
	static const char *const again[] = { ENTRY, "1", "1700", "?", "", "0" };
	static const char *const release[] = { ENTRY, "-1", "0", "0", "0" };

	init("job");
	check_args(LOCK_TAKE, script_take, "3", fast, 2);
	check_args(LOCK_JOIN, script_acquire, "5", join, 6);
	check_args(LOCK_QUEUE, script_acquire, "5", join, 6);
	check_args(LOCK_ASK, script_acquire, "5", ask, 6);
	check_args(LOCK_RENEW, script_renew, "1", fast, 2);
	check_args(LOCK_FREE, script_free, "3", fast, 1);
	check_args(LOCK_RELEASE, script_release, "5", release, 5);
	check_args(LOCK_STATUS, script_status, "5", fast, 0);
	check_args(LOCK_BREAK, script_break, "5", fast, 0);
	/* The ticket is brought along, and a slot may be held from now on. */
	(void)read_as(LOCK_JOIN,
	    HELD(OTHER, "49") ":5\r\n:0\r\n$4\r\n1700\r\n");
	CHECK_STR(lock.ticket, "1700");
	lock_asked(&lock);
	check_args(LOCK_JOIN, script_acquire, "5", again, 6);
	check_args(LOCK_QUEUE, script_acquire, "5", again, 6);
	/* A new token has no slot yet. */
	lock_begin(&lock);
	check_args(LOCK_ASK, script_acquire, "5",
	    (const char *const[]) { ENTRY, "0", "1700", "-1", "", "0" }, 6);
	lock_release(&lock);
}

static void
init_as(int slots, bool once, bool fence, const char *above)
{
	const struct lock_spec spec = { .prefix = "lock:",
		.key = "job",
		.ttl_ms = 30000,
		.slots = slots,
		.once = once,
		.fence = fence,
		.above = above };
	struct fault fault;

	CHECK_EQ(lock_init(&lock, &spec, &fault), 0);
	strcpy(lock.token, TOKEN);
}

static void
kinds(void)
{
	static const char *const shared[] = { SHARED, "0", "0", "-1", "", "0" };
	static const char *const slots[] = { SLOTS, "1", "0", "-1", ABOVE,
		"1" };
	static const char *const extend[] = { TOKEN, "30000", "-1" };
	static const char *const terms[] = { TWO, "1", "50", "86400000", "9" };

	init_as(LOCK_SHARED, false, false, "");
	CHECK(!lock_takes_fast(&lock) && lock_frees_fast(&lock));
	check_args(LOCK_ASK, script_acquire, "5", shared, 6);
	check_args(LOCK_RENEW, script_extend, "1", extend, 3);
	lock_release(&lock);

	init_as(4096, true, true, "  " OTHER " nonsense  " TOKEN "\t");
	CHECK_STR(lock.above, OTHER " " TOKEN "\t");
	lock_release(&lock);
	init_as(4096, true, true, "  " OTHER " nonsense  " TOKEN " rlock:1:");
	CHECK(!lock_takes_fast(&lock));
	check_args(LOCK_JOIN, script_acquire, "5", slots, 6);
	lock_release(&lock);

	init_as(2, false, false, "");
	(void)read_as(LOCK_ASK, "*4\r\n:0\r\n:3\r\n:1\r\n$0\r\n\r\n");
	CHECK_STR(lock.slot, "1");
	CHECK_STR(lock.fence_text, "");
	CHECK(lock.crowded);
	lock.terms = (struct lock_terms) {
		.cool_ms = 50, .done_ms = 86400000, .run_ms = 9
	};
	check_args(LOCK_RELEASE, script_release, "5", terms, 5);
	lock_release(&lock);
}

static enum message
heard(const char *text, int64_t *left_ms)
{
	*left_ms = -7;
	return answer_message(&lock, text, strlen(text), left_ms);
}

static void
messages(void)
{
	int64_t left;

	init("job");
	CHECK_EQ(heard("grant", &left), MESSAGE_GRANT);
	CHECK_STR(lock.slot, "-1");
	CHECK_EQ(heard("grant:12", &left), MESSAGE_GRANT);
	CHECK_STR(lock.slot, "12");
	CHECK_EQ(heard("grant:99999999", &left), MESSAGE_GRANT);
	CHECK_EQ(heard("grant:-1", &left), MESSAGE_GRANT);
	CHECK_STR(lock.slot, "12");
	CHECK_EQ(heard("first:250", &left), MESSAGE_FIRST);
	CHECK_EQ(left, 250);
	CHECK_EQ(heard("first:x", &left), MESSAGE_FIRST);
	CHECK_EQ(left, -1);
	CHECK_EQ(heard("first:", &left), MESSAGE_LOOK);
	CHECK_EQ(heard("look", &left), MESSAGE_LOOK);
	CHECK_EQ(heard("done", &left), MESSAGE_LOOK);
	CHECK_EQ(heard("", &left), MESSAGE_LOOK);
	lock_release(&lock);
}

/* What keeps an exclusive lock from the fast scripts. */
static void
not_fast(void)
{
	init("job");
	CHECK(lock_takes_fast(&lock) && lock_frees_fast(&lock));
	lock.terms.cool_ms = 1;
	CHECK(!lock_frees_fast(&lock));
	lock.terms = (struct lock_terms) { .done_ms = 1 };
	CHECK(!lock_frees_fast(&lock));
	lock_release(&lock);
	init_as(0, true, false, "");
	CHECK(!lock_takes_fast(&lock) && lock_frees_fast(&lock));
	lock_release(&lock);
	init_as(0, false, true, "");
	CHECK(!lock_takes_fast(&lock) && lock_frees_fast(&lock));
	lock_release(&lock);
	init_as(0, false, false, OTHER);
	CHECK(!lock_takes_fast(&lock) && lock_frees_fast(&lock));
	lock_release(&lock);
}

static void
nested(void)
{
	static const char *const extend[] = { TOKEN, "30000", "-1" };
	struct request request;
	struct answer a;

	init("job");
	a = read_as(LOCK_RENEW, "*1\r\n:9\r\n");
	CHECK_EQ(a.verdict, VERDICT_FULL);
	CHECK(lock.nested && !lock_frees_fast(&lock));
	lock_request(&lock, LOCK_RENEW, &request);
	CHECK(request.argv[1] == script_extend);
	CHECK_STR(request.argv[2], "2");
	CHECK_STR(request.argv[4], "rlock:holds:{lock:job}");
	CHECK_STR(request.argv[5], extend[0]);
	CHECK_EQ(request.argc, 8);
	/* It can't be told so again. */
	a = read_as(LOCK_RENEW, "*1\r\n:9\r\n");
	CHECK_EQ(a.verdict, VERDICT_ERROR);
	lock_release(&lock);
}

static void
refusals(void)
{
	struct answer a;

	init("job");
	a = read_as(LOCK_ASK, "*2\r\n:3\r\n$3\r\n1 2\r\n");
	CHECK_EQ(a.verdict, VERDICT_DONE);
	CHECK_STR(a.marker, "1 2");
	a = read_as(LOCK_ASK, "*2\r\n:79\r\n$2\r\nj4\r\n");
	CHECK_EQ(a.verdict, VERDICT_ERROR);
	CHECK_EQ(a.fault.code, FAULT_UNFIT);
	CHECK_STR(a.fault.text,
	    "the lock is there as one of 4 slots (-j 4), and asked for as "
	    "exclusive (use the same kind, or another -k)");
	a = read_as(LOCK_ASK, "*2\r\n:64\r\n$2\r\ns0\r\n");
	CHECK_EQ(a.verdict, VERDICT_ERROR);
	CHECK_EQ(a.refusal, REFUSAL_NONE);
	CHECK_EQ(a.fault.code, FAULT_USAGE);
	lock_release(&lock);
}

static void
long_ttl(void)
{
	const struct lock_spec spec = { .prefix = "",
		.key = "job",
		.ttl_ms = INT64_C(9007199254740992),
		.above = "" };
	struct request request;
	struct fault fault;

	CHECK_EQ(lock_init(&lock, &spec, &fault), 0);
	lock_request(&lock, LOCK_RENEW, &request);
	CHECK_STR(request.argv[5], "9007199254740992");
	lock_release(&lock);
}

static void
ours(void)
{
	static const enum lock_op short_ops[] = { LOCK_TAKE, LOCK_RENEW,
		LOCK_FREE };
	struct answer a;
	size_t i;

	init("job");
	for (i = 0; i < CHECK_COUNT(short_ops); i++) {
		a = read_as(short_ops[i], "*1\r\n:0\r\n");
		CHECK_EQ(a.verdict, VERDICT_OURS);
		CHECK(!a.unheard && !lock.crowded);
	}
	a = read_as(LOCK_ASK, "*2\r\n:0\r\n:3\r\n");
	CHECK_EQ(a.verdict, VERDICT_OURS);
	CHECK(lock.crowded);
	a = read_as(LOCK_JOIN, "*2\r\n:0\r\n:0\r\n");
	CHECK_EQ(a.verdict, VERDICT_OURS);
	CHECK(!lock.crowded);
	a = read_as(LOCK_QUEUE, "*2\r\n:0\r\n:1\r\n");
	CHECK(lock.crowded);
	/* A renewal knows nothing of who waits. */
	a = read_as(LOCK_RENEW, "*1\r\n:0\r\n");
	CHECK_EQ(a.verdict, VERDICT_OURS);
	CHECK(lock.crowded);
	a = read_as(LOCK_RELEASE, "*2\r\n:0\r\n:0\r\n");
	CHECK_EQ(a.verdict, VERDICT_OURS);
	CHECK(!a.unheard);
	a = read_as(LOCK_RELEASE, "*2\r\n:0\r\n:1\r\n");
	CHECK_EQ(a.verdict, VERDICT_OURS);
	CHECK(a.unheard);
	CHECK_STR(lock.ticket, "0");
	lock_release(&lock);
}

static void
held(void)
{
	struct answer a;

	init("job");
	a = read_as(LOCK_JOIN,
	    HELD(OTHER, "49") ":4321\r\n:7\r\n$16\r\n1796080744657388\r\n");
	CHECK_EQ(a.verdict, VERDICT_HELD);
	CHECK_EQ(a.left_ms, 4321);
	CHECK_EQ(a.rank, 7);
	CHECK(!a.foreign);
	CHECK_STR(a.holder, OTHER);
	CHECK_STR(lock.ticket, "1796080744657388");
	/* Of another program, without an end. */
	a = read_as(LOCK_ASK, HELD("8f3c", "4") ":-1\r\n:0\r\n$1\r\n9\r\n");
	CHECK_EQ(a.verdict, VERDICT_HELD);
	CHECK_EQ(a.left_ms, -1);
	CHECK_EQ(a.rank, 0);
	CHECK(a.foreign);
	CHECK_STR(a.holder, "8f3c");
	CHECK_STR(lock.ticket, "9");
	/* Free, but for another one in the queue. */
	a = read_as(LOCK_QUEUE, HELD("", "0") ":0\r\n:0\r\n$1\r\n9\r\n");
	CHECK_EQ(a.verdict, VERDICT_HELD);
	CHECK(!a.foreign);
	CHECK_STR(a.holder, "");
	/* The short replies leave the ticket alone. */
	a = read_as(LOCK_TAKE, "*2\r\n:1\r\n$1\r\nx\r\n");
	CHECK_EQ(a.verdict, VERDICT_HELD);
	CHECK(a.foreign);
	CHECK_STR(lock.ticket, "9");
	a = read_as(LOCK_RENEW, "*2\r\n:1\r\n$49\r\n" OTHER "\r\n");
	CHECK_EQ(a.verdict, VERDICT_HELD);
	CHECK_STR(a.holder, OTHER);
	a = read_as(LOCK_RELEASE, "*3\r\n:1\r\n$0\r\n\r\n:0\r\n");
	CHECK_EQ(a.verdict, VERDICT_HELD);
	CHECK_STR(a.holder, "");
	lock_release(&lock);
}

/* A foreign value may be anything of up to 512 MB. */
static void
odd_holders(void)
{
	static char text[70000];
	struct answer a;
	int n;

	init("job");
	n = snprintf(text, sizeof(text), "*5\r\n:1\r\n$60000\r\n");
	memset(text + n, 'x', 60000);
	strcpy(text + n + 60000, "\r\n:5\r\n:1\r\n$2\r\n42\r\n");
	a = read_as(LOCK_JOIN, text);
	CHECK_EQ(a.verdict, VERDICT_HELD);
	CHECK_EQ(strlen(a.holder), TOKEN_MAX - 1);
	CHECK(a.foreign);
	CHECK_EQ(a.left_ms, 5);
	CHECK_STR(lock.ticket, "42");
	/* Just as long as fits, and one more. */
	for (n = TOKEN_MAX - 1; n <= TOKEN_MAX; n++) {
		sprintf(text, "*2\r\n:1\r\n$%d\r\n%0*d\r\n", n, n, 0);
		a = read_as(LOCK_TAKE, text);
		CHECK_EQ(strlen(a.holder), TOKEN_MAX - 1);
	}
	/* A NUL in it does not make it ours. */
	a = answer_to(LOCK_TAKE, "*2\r\n:1\r\n$3\r\na\0b\r\n", 18);
	CHECK_EQ(a.verdict, VERDICT_HELD);
	CHECK(a.foreign);
	CHECK_STR(a.holder, "a");
	a = answer_to(LOCK_TAKE, "*2\r\n:1\r\n$2\r\n\0b\r\n", 17);
	CHECK(a.foreign);
	CHECK_STR(a.holder, "");
	lock_release(&lock);
}

/* A ticket comes from the server and goes back to it: it must fit. */
static void
odd_tickets(void)
{
	struct request request;

	init("job");
	(void)read_as(LOCK_JOIN,
	    HELD("x",
		"1") ":1\r\n:1\r\n$40\r\n1234567890123456789012345678901234567890\r\n");
	CHECK(strlen(lock.ticket) < sizeof(lock.ticket));
	lock_request(&lock, LOCK_JOIN, &request);
	CHECK(request.argv[10] == lock.ticket);
	lock_release(&lock);
}

static void
gone_and_full(void)
{
	struct answer a;

	init("job");
	a = read_as(LOCK_RENEW, "*2\r\n:2\r\n$0\r\n\r\n");
	CHECK_EQ(a.verdict, VERDICT_GONE);
	a = read_as(LOCK_FREE, "*2\r\n:2\r\n$0\r\n\r\n");
	CHECK_EQ(a.verdict, VERDICT_GONE);
	a = read_as(LOCK_RELEASE, "*3\r\n:2\r\n$0\r\n\r\n:1\r\n");
	CHECK_EQ(a.verdict, VERDICT_GONE);
	a = read_as(LOCK_TAKE, "*1\r\n:9\r\n");
	CHECK_EQ(a.verdict, VERDICT_FULL);
	a = read_as(LOCK_FREE, "*1\r\n:9\r\n");
	CHECK_EQ(a.verdict, VERDICT_FULL);
	lock_release(&lock);
}

static void
misfit(void)
{
	struct answer a;

	init("job");
	a = read_as(LOCK_ASK, "*2\r\n:78\r\n$8\r\nlock:job\r\n");
	CHECK_EQ(a.verdict, VERDICT_ERROR);
	CHECK_EQ(a.refusal, REFUSAL_UNFIT);
	CHECK_EQ(a.fault.code, FAULT_UNFIT);
	CHECK_HAS(a.fault.text, "lock:job");
	CHECK_HAS(a.fault.text, "not touched");
	lock_release(&lock);
}

static void
errors(void)
{
	struct answer a;
	size_t i;

	init("job");
	for (i = 0; i < CHECK_COUNT(ops); i++) {
		a = read_as(ops[i], "-LOADING Redis is loading\r\n");
		CHECK_EQ(a.verdict, VERDICT_ERROR);
		CHECK_EQ(a.refusal, REFUSAL_AWAY);
		CHECK_EQ(a.fault.code, FAULT_UNAVAILABLE);
		a = read_as(ops[i], "-NOPERM no\r\n");
		CHECK_EQ(a.refusal, REFUSAL_RIGHTS);
		CHECK_EQ(a.fault.code, FAULT_REFUSED);
		a = read_as(ops[i], "-READONLY no\r\n");
		CHECK_EQ(a.refusal, REFUSAL_UNFIT);
		CHECK_EQ(a.fault.code, FAULT_UNFIT);
		CHECK_HAS(a.fault.text, "READONLY no");
	}
	lock_release(&lock);
}

/* Whatever is not of any script's form is an error, never "held" or ours. */
static void
nonsense(void)
{
	static const char *const replies[] = {
		"+OK\r\n",
		"+0\r\n",
		":0\r\n",
		":1\r\n",
		"$1\r\n0\r\n",
		"$-1\r\n",
		"*-1\r\n",
		"*0\r\n",
		"*1\r\n$-1\r\n",
		"*1\r\n+0\r\n",
		"*1\r\n*1\r\n:0\r\n",
		"*1\r\n*0\r\n",
		"*1\r\n-ERR x\r\n",
		"*1\r\n:-1\r\n",
		"*1\r\n:3\r\n",
		"*1\r\n:77\r\n",
		"*1\r\n:4294967296\r\n",
		"*1\r\n:9223372036854775807\r\n",
		"*1\r\n$3\r\none\r\n",
		"*1\r\n$0\r\n\r\n",
		"*1\r\n$2\r\n0x\r\n",
		"*1\r\n$1\r\n-\r\n",
		"*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$1\r\n0\r\n",
		"*2\r\n$-1\r\n:0\r\n",
	};
	struct answer a;
	size_t i, j;

	init("job");
	strcpy(lock.ticket, "17");
	for (i = 0; i < CHECK_COUNT(ops); i++) {
		for (j = 0; j < CHECK_COUNT(replies); j++) {
			a = read_as(ops[i], replies[j]);
			check_eq(a.verdict, VERDICT_ERROR,
			    label(ops[i], replies[j]), __FILE__, __LINE__);
			CHECK_EQ(a.refusal, REFUSAL_UNFIT);
			CHECK_EQ(a.fault.code, FAULT_UNFIT);
			CHECK(a.fault.text[0] != '\0');
		}
		/* No reply at all: the step was not executed. */
		answer_read(&lock, ops[i], NULL, &a);
		CHECK_EQ(a.verdict, VERDICT_ERROR);
	}
	CHECK_STR(lock.ticket, "17");
	lock_release(&lock);
}

/*
 * The codes of another script: lock.h says that a reply that is not of the
 * script's form is an ERROR, REFUSAL_UNFIT.
 */
static void
another_scripts_form(void)
{
	static const struct {
		enum lock_op op;
		const char *reply;
	} rows[] = {
		/* Only the fast scripts ask for the full ones. */
		{ LOCK_JOIN, "*1\r\n:9\r\n" },
		{ LOCK_ASK, "*1\r\n:9\r\n" },
		{ LOCK_QUEUE, "*1\r\n:9\r\n" },
		{ LOCK_RELEASE, "*1\r\n:9\r\n" },
		/* No acquire says gone. */
		{ LOCK_TAKE, "*2\r\n:2\r\n$0\r\n\r\n" },
		{ LOCK_JOIN, "*2\r\n:2\r\n$0\r\n\r\n" },
		{ LOCK_ASK, "*2\r\n:2\r\n$0\r\n\r\n" },
		{ LOCK_QUEUE, "*2\r\n:2\r\n$0\r\n\r\n" },
		/* Held, but by whom? */
		{ LOCK_TAKE, "*1\r\n:1\r\n" },
		{ LOCK_RENEW, "*1\r\n:1\r\n" },
		{ LOCK_RENEW, "*2\r\n:1\r\n:5\r\n" },
		/* A waiter needs to know when to look, and its ticket. */
		{ LOCK_JOIN, "*2\r\n:1\r\n$1\r\nx\r\n" },
		{ LOCK_QUEUE, "*2\r\n:1\r\n$1\r\nx\r\n" },
		{ LOCK_JOIN, HELD("x", "1") "$1\r\nx\r\n:0\r\n$1\r\n1\r\n" },
		{ LOCK_JOIN, HELD("x", "1") ":1\r\n:0\r\n$-1\r\n" },
		{ LOCK_JOIN, HELD("x", "1") ":1\r\n:0\r\n$3\r\nabc\r\n" },
	};
	struct answer a;
	size_t i;

	init("job");
	for (i = 0; i < CHECK_COUNT(rows); i++) {
		a = read_as(rows[i].op, rows[i].reply);
		check_eq(a.verdict, VERDICT_ERROR,
		    label(rows[i].op, rows[i].reply), __FILE__, __LINE__);
	}
	lock_release(&lock);
}

static void
replies(void)
{
	struct reply *r;
	size_t len = 9;

	CHECK(reply_error(NULL) == NULL);
	CHECK(!reply_is_array(NULL));
	CHECK_EQ(reply_count(NULL), 0);
	CHECK(reply_at(NULL, 0) == NULL);
	CHECK(reply_text(NULL, &len) == NULL);
	CHECK_EQ(len, 0);
	CHECK_EQ(reply_int(NULL, -7), -7);
	r = feed(
	    "*7\r\n:-5\r\n$3\r\n-12\r\n+OK\r\n$-1\r\n-ERR x\r\n"
	    "$19\r\n9223372036854775807\r\n$20\r\n92233720368547758070\r\n");
	CHECK(reply_is_array(r));
	CHECK_EQ(reply_count(r), 7);
	CHECK_EQ(reply_int(reply_at(r, 0), 1), -5);
	CHECK_EQ(reply_int(reply_at(r, 1), 1), -12);
	CHECK_STR(reply_text(reply_at(r, 2), &len), "OK");
	CHECK_EQ(len, 2);
	CHECK_EQ(reply_int(reply_at(r, 2), 1), 1);
	CHECK(reply_text(reply_at(r, 3), &len) == NULL);
	CHECK_EQ(reply_int(reply_at(r, 3), 1), 1);
	CHECK_STR(reply_error(reply_at(r, 4)), "ERR x");
	CHECK(reply_text(reply_at(r, 4), &len) == NULL);
	CHECK_EQ(reply_int(reply_at(r, 5), 1), INT64_MAX);
	CHECK_EQ(reply_int(reply_at(r, 6), 1), 1);
	CHECK(reply_at(r, 7) == NULL);
	CHECK(reply_at(r, SIZE_MAX) == NULL);
	CHECK(reply_error(r) == NULL);
	feed_free(r);
}

int
main(void)
{
	CHECK_RUN(start);
	CHECK_RUN(requests);
	CHECK_RUN(commands);
	CHECK_RUN(kinds);
	CHECK_RUN(not_fast);
	CHECK_RUN(nested);
	CHECK_RUN(refusals);
	CHECK_RUN(messages);
	CHECK_RUN(long_ttl);
	CHECK_RUN(ours);
	CHECK_RUN(held);
	CHECK_RUN(odd_holders);
	CHECK_RUN(odd_tickets);
	CHECK_RUN(gone_and_full);
	CHECK_RUN(misfit);
	CHECK_RUN(errors);
	CHECK_RUN(nonsense);
	CHECK_RUN(another_scripts_form);
	CHECK_RUN(replies);
	return check_done();
}
