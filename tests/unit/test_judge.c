/* SPDX-License-Identifier: MIT */
/* judge: facts that no server here has at will; info: what is read of INFO. */
#include "core/judge.h"

#include <string.h>

#include "check.h"
#include "core/info.h"

/* Is there a finding of that level and check, with says in its text? */
static bool
has(const struct findings *f, enum finding_level level, const char *check,
    const char *says)
{
	size_t i;

	for (i = 0; i < f->count; i++)
		if (f->list[i].level == level &&
		    strcmp(f->list[i].check, check) == 0 &&
		    strstr(f->list[i].text, says) != NULL)
			return true;
	return false;
}

#define GOOD \
	"redis_version:7.0.15\r\nloading:0\r\nrole:master\r\n" \
	"maxmemory:0\r\nused_memory:1000\r\nmaxmemory_policy:noeviction\r\n" \
	"aof_enabled:1\r\nconnected_slaves:0\r\n"

static struct facts
good(void)
{
	struct facts f = { .url = "redis://h:6379",
		.user = "default",
		.checked = true,
		.info = GOOD,
		.has_clock = true,
		.has_slow = true };
	int i;

	for (i = 0; i < FACTS_SETTINGS; i++)
		f.has_setting[i] = true;
	strcpy(f.setting[FACTS_APPENDFSYNC], "everysec");
	strcpy(f.setting[FACTS_MIN_REPLICAS], "1");
	strcpy(f.setting[FACTS_BUSY], "5000");
	return f;
}

static void
good_server(void)
{
	struct facts f = good();
	struct findings out = { .list = NULL };
	size_t i;

	judge_server(&f, &out);
	for (i = 0; i < out.count; i++)
		CHECK_EQ(out.list[i].level, FINDING_OK);
	CHECK_EQ(out.failed, 0);
	CHECK(out.count > 8);
	findings_release(&out);
}

static void
of_info(void)
{
	static const struct {
		const char *info;
		enum finding_level level;
		const char *check, *says;
	} rows[] = {
		{ "redis_version:4.0.14\r\n", FINDING_FAIL, "version",
		    "4.0.14 is too old" },
		{ "redis_version:5.0.0\r\n", FINDING_OK, "version", "5.0.0" },
		{ "redis_version:10.1\r\n", FINDING_OK, "version", "10.1" },
		{ "redis_version:7.2.4\r\nvalkey_version:8.1.1\r\n", FINDING_OK,
		    "version", "Valkey 8.1.1" },
		{ "x:1\r\n", FINDING_WARN, "version", "can't tell" },
		{ "loading:1\r\nrole:master\r\n", FINDING_FAIL, "ready",
		    "loading" },
		{ "role:slave\r\nmaster_host:h\r\nmaster_port:7\r\n",
		    FINDING_FAIL, "role", "of h:7" },
		{ "x:1\r\n", FINDING_WARN, "role", "can't tell" },
		{ "x:1\r\n", FINDING_WARN, "memory", "can't tell" },
		{ "x:1\r\n", FINDING_WARN, "persistence", "can't tell" },
		{ "x:1\r\n", FINDING_WARN, "replicas", "can't tell" },
		{ "maxmemory:1000\r\nused_memory:899\r\n"
		  "maxmemory_policy:noeviction\r\n",
		    FINDING_OK, "memory", "noeviction" },
		{ "maxmemory:104857600\r\nused_memory:99857600\r\n"
		  "maxmemory_policy:noeviction\r\n",
		    FINDING_WARN, "memory", "95 of 100 MB" },
		{ "connected_slaves:2\r\n"
		  "slave0:ip=a,port=1,state=online,offset=5,lag=60\r\n"
		  "slave1:ip=b,port=2,state=wait_bgsave,offset=0,lag=0\r\n",
		    FINDING_WARN, "replicas", "1 online, one of them 60 s" },
	};
	struct findings out;
	struct facts f;
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		out = (struct findings) { .list = NULL };
		f = good();
		f.info = rows[i].info;
		judge_server(&f, &out);
		check_true(has(&out, rows[i].level, rows[i].check,
			       rows[i].says),
		    rows[i].says, __FILE__, __LINE__);
		findings_release(&out);
	}
}

static void
of_others(void)
{
	struct findings out = { .list = NULL };
	struct facts f = good();

	f.ahead_ms = 61500;
	f.tls = true;
	f.checked = false;
	f.watched = true;
	strcpy(f.setting[FACTS_MIN_REPLICAS], "0");
	judge_server(&f, &out);
	CHECK(has(&out, FINDING_WARN, "clock", "61.5 s before this host's"));
	CHECK(has(&out, FINDING_WARN, "reached", "NOT checked"));
	CHECK(has(&out, FINDING_WARN, "min-replicas", "cut off"));
	findings_release(&out);
	f = good();
	f.ahead_ms = -2000;
	f.info = NULL;
	judge_server(&f, &out);
	CHECK(has(&out, FINDING_WARN, "clock", "2.0 s behind"));
	CHECK(has(&out, FINDING_WARN, "info", "INFO is refused"));
	CHECK_EQ(out.failed, 0);
	findings_release(&out);
	f = good();
	f.in_quorum = true;
	judge_server(&f, &out);
	CHECK(has(&out, FINDING_WARN, "persistence", "longest TTL"));
	findings_release(&out);
	f = good();
	f.in_cluster = true;
	f.cluster = "cluster_state:ok\r\ncluster_slots_ok:16000\r\n";
	judge_server(&f, &out);
	CHECK(has(&out, FINDING_FAIL, "cluster", "16000 of 16384"));
	findings_release(&out);
	f.cluster = "cluster_state:fail\r\n";
	judge_server(&f, &out);
	CHECK(has(&out, FINDING_FAIL, "cluster", "cluster_state fail"));
	findings_release(&out);
	f.cluster = NULL;
	judge_server(&f, &out);
	CHECK(has(&out, FINDING_WARN, "cluster", "can't tell"));
	findings_release(&out);
	f = good();
	f.has_clock = false;
	judge_server(&f, &out);
	CHECK(has(&out, FINDING_WARN, "clock", "can't tell"));
	findings_release(&out);
}

static void
sentinels(void)
{
	static const struct {
		struct facts_sentinels s;
		enum finding_level level;
		const char *says;
	} rows[] = {
		{ { 3, 3, 3, 3, 2, 2 }, FINDING_OK, "3 of 3 agree" },
		{ { 3, 0, 0, 0, 0, 0 }, FINDING_FAIL, "none of 3" },
		{ { 3, 2, 2, 3, 2, 2 }, FINDING_WARN, "2 of the 3" },
		{ { 3, 3, 2, 3, 2, 2 }, FINDING_WARN, "2 of 3 name" },
		{ { 2, 2, 2, 2, 2, 2 }, FINDING_WARN, "2 in all" },
		{ { 3, 3, 3, 3, 4, 2 }, FINDING_WARN, "can ever be agreed" },
		{ { 3, 3, 3, 5, 2, 2 }, FINDING_WARN, "less than a majority" },
		{ { 3, 3, 3, 3, 2, 0 }, FINDING_FAIL, "nothing to fail over" },
	};
	struct findings out;
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		out = (struct findings) { .list = NULL };
		judge_sentinels(&rows[i].s, &out);
		check_true(has(&out, rows[i].level, "sentinels", rows[i].says),
		    rows[i].says, __FILE__, __LINE__);
		findings_release(&out);
	}
}

static void
info(void)
{
	static const char text[] = "# Server\r\na:1\r\nab:2\r\nempty:\r\n"
				   "slave0:ip=h,port=7,lag=3\r\nn:x\r\n";
	char out[32], part[8];

	CHECK(info_text(text, "ab", out, sizeof(out)));
	CHECK_STR(out, "2");
	CHECK(info_text(text, "empty", out, sizeof(out)));
	CHECK_STR(out, "");
	CHECK(!info_text(text, "b", out, sizeof(out)));
	CHECK(!info_text(NULL, "a", out, sizeof(out)));
	CHECK_EQ(info_number(text, "a", -1), 1);
	CHECK_EQ(info_number(text, "n", -1), -1);
	CHECK_EQ(info_number(NULL, "a", 5), 5);
	CHECK(info_text(text, "slave0", out, sizeof(out)));
	CHECK(info_part(out, "lag", part, sizeof(part)));
	CHECK_STR(part, "3");
	CHECK(info_part(out, "ip", part, sizeof(part)));
	CHECK(!info_part(out, "i", part, sizeof(part)));
}

static void
acl_line(void)
{
	struct buf out = { 0 };

	CHECK_EQ(rights_acl_line(&out, "lock:"), 0);
	buf_put(&out, "", 1);
	CHECK_HAS(out.data, "rlock on resetchannels -@all +eval ");
	CHECK_HAS(out.data, " '~lock:*' '~rlock:*' '&rlock:*'");
	CHECK_LACKS(out.data, "config");
	CHECK_LACKS(out.data, "slowlog");
	buf_release(&out);
}

int
main(void)
{
	CHECK_RUN(good_server);
	CHECK_RUN(of_info);
	CHECK_RUN(of_others);
	CHECK_RUN(sentinels);
	CHECK_RUN(info);
	CHECK_RUN(acl_line);
	return check_done();
}
