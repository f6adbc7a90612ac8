/* SPDX-License-Identifier: MIT */
/*
 * judge: see judge.h.  Sources: the pages of INFO, CONFIG GET and ACL, and
 * redis.conf.
 */
#include "core/judge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/info.h"

#define OLDEST 5	/* EVAL with effects replication */
#define FULL_PERCENT 90 /* of maxmemory */
#define AHEAD_MS 1000	/* clocks that are set look alike */
#define SLOW_LAG_S 10	/* of a replica */
#define BUSY_LEAST_MS 100
#define VALUE_MAX 64

static void
judge_reached(const struct facts *f, struct findings *out)
{
	findings_add(out, f->tls && !f->checked ? FINDING_WARN : FINDING_OK,
	    "reached", "%s, user %s, %s, %" PRId64 ".%02d ms for an answer",
	    f->url, f->user,
	    !f->tls	   ? "no TLS" :
		f->checked ? "TLS, certificate checked" :
			     "TLS, certificate NOT checked (--tls-insecure)",
	    f->round_trip_us / 1000, (int)(f->round_trip_us % 1000 / 10));
}

static void
judge_version(const struct facts *f, struct findings *out)
{
	char version[VALUE_MAX];
	bool valkey =
	    info_text(f->info, "valkey_version", version, sizeof(version));

	if (!valkey &&
	    !info_text(f->info, "redis_version", version, sizeof(version))) {
		findings_add(out, FINDING_WARN, "version",
		    "can't tell: INFO says none");
		return;
	}
	if (!valkey && strtol(version, NULL, 10) < OLDEST)
		findings_add(out, FINDING_FAIL, "version",
		    "Redis %s is too old: 5.0 at least is needed", version);
	else
		findings_add(out, FINDING_OK, "version", "%s %s",
		    valkey ? "Valkey" : "Redis", version);
}

static void
judge_role(const struct facts *f, struct findings *out)
{
	char role[VALUE_MAX], host[VALUE_MAX];

	if (info_number(f->info, "loading", 0) == 1)
		findings_add(out, FINDING_FAIL, "ready",
		    "it is loading its data: locks have to wait until it has");
	if (!info_text(f->info, "role", role, sizeof(role)))
		findings_add(out, FINDING_WARN, "role",
		    "can't tell: INFO says none");
	else if (strcmp(role, "master") == 0)
		findings_add(out, FINDING_OK, "role", "a primary");
	else {
		info_text(f->info, "master_host", host, sizeof(host));
		findings_add(out, FINDING_FAIL, "role",
		    "a replica, of %s:%" PRId64 ": no lock can be taken on it "
		    "(give its primary, or sentinel://)",
		    host, info_number(f->info, "master_port", 0));
	}
}

static void
judge_memory(const struct facts *f, struct findings *out)
{
	int64_t most = info_number(f->info, "maxmemory", -1);
	int64_t used = info_number(f->info, "used_memory", 0);
	char policy[VALUE_MAX];

	if (most < 0 ||
	    !info_text(f->info, "maxmemory_policy", policy, sizeof(policy))) {
		findings_add(out, FINDING_WARN, "memory",
		    "can't tell: INFO does not say how much it may use");
		return;
	}
	if (most == 0) {
		findings_add(out, FINDING_OK, "memory",
		    "no limit, so nothing "
		    "is evicted");
		return;
	}
	if (strcmp(policy, "noeviction") != 0)
		findings_add(out, FINDING_WARN, "memory",
		    "maxmemory-policy %s may evict a lock while it is held "
		    "(noeviction never does)",
		    policy);
	else
		findings_add(out, FINDING_OK, "memory",
		    "maxmemory-policy noeviction");
	if (used / 100 >= most / FULL_PERCENT ||
	    used >= most / 100 * FULL_PERCENT)
		findings_add(out, FINDING_WARN, "memory",
		    "%" PRId64 " of %" PRId64 " MB in use: when it is full, "
		    "new locks are refused",
		    used >> 20, most >> 20);
}

static void
judge_persistence(const struct facts *f, struct findings *out)
{
	const char *fsync = f->setting[FACTS_APPENDFSYNC];
	int64_t aof = info_number(f->info, "aof_enabled", -1);

	if (aof < 0) {
		findings_add(out, FINDING_WARN, "persistence",
		    "can't tell: INFO says nothing of it");
		return;
	}
	if (aof == 1 && !f->has_setting[FACTS_APPENDFSYNC])
		findings_add(out, FINDING_WARN, "persistence",
		    "append-only file; can't tell how often it is written: "
		    "CONFIG is refused (appendfsync everysec is the least for "
		    "--once)");
	else if (aof == 1 && strcmp(fsync, "no") == 0)
		findings_add(out, FINDING_WARN, "persistence",
		    "append-only file with appendfsync no: a crash forgets the "
		    "locks and markers of up to half a minute (everysec is the "
		    "least for --once)");
	else if (aof == 1 && f->in_quorum && strcmp(fsync, "always") != 0)
		findings_add(out, FINDING_WARN, "persistence",
		    "append-only file, appendfsync %s: after a crash it may "
		    "grant again what it had granted (always; or start it "
		    "again when the longest TTL is over)",
		    fsync);
	else if (aof == 1)
		findings_add(out, FINDING_OK, "persistence",
		    "append-only file, appendfsync %s: a crash forgets %s",
		    fsync,
		    strcmp(fsync, "always") == 0 ? "nothing" :
						   "a second at most");
	else if (!f->has_setting[FACTS_SAVE])
		findings_add(out, FINDING_WARN, "persistence",
		    "no append-only file; can't tell whether it is saved: "
		    "CONFIG is refused (appendonly yes keeps locks over a "
		    "restart)");
	else if (f->setting[FACTS_SAVE][0] == '\0')
		findings_add(out, FINDING_WARN, "persistence",
		    "none: a restart forgets all locks, and who holds one is "
		    "stopped (appendonly yes, appendfsync everysec)");
	else
		findings_add(out, FINDING_WARN, "persistence",
		    "saved now and then (save %s): a restart forgets the locks "
		    "since (appendonly yes, appendfsync everysec)",
		    f->setting[FACTS_SAVE]);
}

/* Replicas that are there and follow; *lag: the longest, in s. */
static int64_t
count_replicas(const char *info, int64_t *lag)
{
	char name[16], line[200], value[VALUE_MAX];
	int64_t good = 0, i, count = info_number(info, "connected_slaves", 0);

	*lag = 0;
	for (i = 0; i < count && i < 1000; i++) {
		snprintf(name, sizeof(name), "slave%d", (int)i);
		if (!info_text(info, name, line, sizeof(line)) ||
		    !info_part(line, "state", value, sizeof(value)) ||
		    strcmp(value, "online") != 0)
			continue;
		good++;
		if (info_part(line, "lag", value, sizeof(value)) &&
		    strtol(value, NULL, 10) > *lag)
			*lag = strtol(value, NULL, 10);
	}
	return good;
}

static void
judge_replicas(const struct facts *f, struct findings *out)
{
	int64_t lag, good = count_replicas(f->info, &lag);

	if (info_number(f->info, "connected_slaves", -1) < 0) {
		findings_add(out, FINDING_WARN, "replicas",
		    "can't tell: INFO says nothing of them");
		return;
	}
	if (good < f->replicas_wanted)
		findings_add(out, FINDING_FAIL, "replicas",
		    "%" PRId64 " online: --replicas %" PRId64
		    " can't be satisfied",
		    good, f->replicas_wanted);
	else if (lag > SLOW_LAG_S)
		findings_add(out, FINDING_WARN, "replicas",
		    "%" PRId64 " online, one of them %" PRId64 " s behind: a "
		    "failover to it forgets the locks since",
		    good, lag);
	else
		findings_add(out, FINDING_OK, "replicas",
		    "%" PRId64 " online%s", good,
		    good > 0 && f->replicas_wanted == 0 ?
			"; --replicas 1 keeps a lock over most failovers" :
			"");
	if (!f->has_setting[FACTS_MIN_REPLICAS]) {
		findings_add(out, FINDING_WARN, "min-replicas",
		    "can't tell min-replicas-to-write: CONFIG is refused");
		return;
	}
	if (f->watched && strcmp(f->setting[FACTS_MIN_REPLICAS], "0") == 0)
		findings_add(out, FINDING_WARN, "min-replicas",
		    "min-replicas-to-write 0: an old primary that is cut off "
		    "goes on granting locks (1 stops it)");
	else
		findings_add(out, FINDING_OK, "min-replicas",
		    "min-replicas-to-write %s", f->setting[FACTS_MIN_REPLICAS]);
}

static void
judge_clock(const struct facts *f, struct findings *out)
{
	int64_t off = f->ahead_ms < 0 ? -f->ahead_ms : f->ahead_ms;

	if (!f->has_clock)
		findings_add(out, FINDING_WARN, "clock",
		    "can't tell: TIME is refused");
	else if (off > AHEAD_MS)
		findings_add(out, FINDING_WARN, "clock",
		    "%" PRId64 ".%" PRId64 " s %s this host's: times that are "
		    "shown differ; no lease depends on it",
		    off / 1000, off % 1000 / 100,
		    f->ahead_ms > 0 ? "before" : "behind");
	else
		findings_add(out, FINDING_OK, "clock",
		    "within a second of this host's");
}

static void
judge_scripts(const struct facts *f, struct findings *out)
{
	const char *busy = f->setting[FACTS_BUSY];
	long ms = strtol(busy, NULL, 10);

	if (!f->has_slow)
		findings_add(out, FINDING_WARN, "slowlog",
		    "can't tell: SLOWLOG is refused");
	else if (f->slow > 0)
		findings_add(out, FINDING_WARN, "slowlog",
		    "%" PRId64 " of our scripts are in it, the slowest took "
		    "%" PRId64 " ms: the server is starved, or a queue is "
		    "very long (--status tells)",
		    f->slow, f->slowest_us / 1000);
	else
		findings_add(out, FINDING_OK, "slowlog",
		    "none of our scripts is in it");
	if (!f->has_setting[FACTS_BUSY])
		findings_add(out, FINDING_WARN, "busy",
		    "can't tell busy-reply-threshold: CONFIG is refused");
	else if (ms > 0 && ms < BUSY_LEAST_MS)
		findings_add(out, FINDING_WARN, "busy",
		    "busy-reply-threshold %s ms: a script of others is answered "
		    "by BUSY soon (5000 is usual)",
		    busy);
	else
		findings_add(out, FINDING_OK, "busy",
		    "busy-reply-threshold %s ms", busy);
}

/* Those that are missing, or are needed for some options only. */
static void
judge_rights(const struct facts *f, struct findings *out)
{
	char needed[200] = "", some[300] = "";
	const struct right *r;
	int i;

	for (i = 0; i < RIGHTS_COUNT; i++) {
		r = &rights_table[i];
		if ((f->missing >> i & 1) == 0)
			continue;
		if (r->option == NULL)
			snprintf(needed + strlen(needed),
			    sizeof(needed) - strlen(needed), " +%s", r->acl);
		else
			snprintf(some + strlen(some),
			    sizeof(some) - strlen(some), "%s +%s for %s",
			    some[0] == '\0' ? "" : ",", r->acl, r->option);
	}
	if (needed[0] != '\0')
		findings_add(out, FINDING_FAIL, "rights",
		    "user %s lacks, or not for these keys and channels:%s",
		    f->user, needed);
	else
		findings_add(out, FINDING_OK, "rights",
		    "user %s may do all that a lock needs", f->user);
	if (some[0] != '\0')
		findings_add(out, FINDING_WARN, "rights", "user %s lacks%s",
		    f->user, some);
}

static void
judge_cluster(const struct facts *f, struct findings *out)
{
	char state[VALUE_MAX];
	int64_t ok = info_number(f->cluster, "cluster_slots_ok", 0);
	int64_t size = info_number(f->cluster, "cluster_size", 0);

	if (!f->in_cluster)
		return;
	if (!info_text(f->cluster, "cluster_state", state, sizeof(state)))
		findings_add(out, FINDING_WARN, "cluster",
		    "can't tell: CLUSTER INFO is refused");
	else if (strcmp(state, "ok") != 0)
		findings_add(out, FINDING_FAIL, "cluster",
		    "cluster_state %s: no lock can be taken", state);
	else if (ok < 16384)
		findings_add(out, FINDING_FAIL, "cluster",
		    "%" PRId64 " of 16384 slots are served: locks in the "
		    "others can't be taken",
		    ok);
	else if (size < 3)
		findings_add(out, FINDING_WARN, "cluster",
		    "%" PRId64 " primaries: three are the least that agree on "
		    "a failover",
		    size);
	else
		findings_add(out, FINDING_OK, "cluster",
		    "ok, all slots served, by %" PRId64 " primaries", size);
}

void
judge_server(const struct facts *f, struct findings *out)
{
	judge_reached(f, out);
	if (f->info == NULL)
		findings_add(out, FINDING_WARN, "info",
		    "can't tell version, role, memory, persistence and "
		    "replicas: INFO is refused");
	else {
		judge_version(f, out);
		judge_role(f, out);
	}
	judge_rights(f, out);
	if (f->info != NULL) {
		judge_memory(f, out);
		judge_persistence(f, out);
		judge_replicas(f, out);
	}
	judge_cluster(f, out);
	judge_clock(f, out);
	judge_scripts(f, out);
}

void
judge_sentinels(const struct facts_sentinels *s, struct findings *out)
{
	if (s->reached == 0) {
		findings_add(out, FINDING_FAIL, "sentinels",
		    "none of %d can be asked", s->given);
		return;
	}
	if (s->reached < s->given)
		findings_add(out, FINDING_WARN, "sentinels",
		    "%d of the %d in the URL answer", s->reached, s->given);
	if (s->agree < s->reached)
		findings_add(out, FINDING_WARN, "sentinels",
		    "%d of %d name this primary: the others are cut off, or a "
		    "failover is under way",
		    s->agree, s->reached);
	if (s->known < 3)
		findings_add(out, FINDING_WARN, "sentinels",
		    "%d in all: three are the least that survive the loss of "
		    "one",
		    s->known);
	if (s->quorum > s->known || s->quorum <= s->known / 2)
		findings_add(out, FINDING_WARN, "sentinels",
		    "quorum %d of %d: %s", s->quorum, s->known,
		    s->quorum > s->known ?
			"no failover can ever be agreed on" :
			"less than a majority calls the primary dead");
	if (s->replicas == 0)
		findings_add(out, FINDING_FAIL, "sentinels",
		    "no replica is ready: there is nothing to fail over to");
	else
		findings_add(out, FINDING_OK, "sentinels",
		    "%d of %d agree, quorum %d of %d, %d replicas ready",
		    s->agree, s->reached, s->quorum, s->known, s->replicas);
}
