/* SPDX-License-Identifier: MIT */
/*
 * refusal: what servers really say, by version, and what it means.  The words
 * are those of server.c, script.c, script_lua.c, acl.c, networking.c and
 * cluster.c of Redis 5 to 8.
 */
#include "check.h"
#include "core/refusal.h"

/* How a script's errors were wrapped before Redis 7. */
#define WRAPPED(error) \
	"ERR Error running script (call to " \
	"f_9f2a4b6f4cc43e8d7d1c8a8c1b8f1d3e5a6b7c8d): @user_script:1: " \
	"@user_script: 1: -" error
/* And since: the code stays in front, the script is told behind it. */
#define BEHIND(error) \
	error " script: " \
	      "9f2a4b6f4cc43e8d7d1c8a8c1b8f1d3e5a6b7c8d, on @user_script:5."

struct row {
	const char *error;
	enum refusal refusal;
	const char *hint; /* part of it */
};

static const struct row rows[] = {
	/* Login. */
	{ "NOAUTH Authentication required.", REFUSAL_RIGHTS, "password" },
	{ "NOAUTH HELLO must be called with the client already authenticated, "
	  "otherwise the HELLO <proto> AUTH <user> <pass> option can be "
	  "used to authenticate the client and select the RESP protocol "
	  "version at the same time",
	    REFUSAL_RIGHTS, "password" },
	{ "WRONGPASS invalid username-password pair", REFUSAL_RIGHTS,
	    "password" },
	{ "WRONGPASS invalid username-password pair or user is disabled.",
	    REFUSAL_RIGHTS, "password" },
	{ "ERR invalid password", REFUSAL_RIGHTS, "password" }, /* 5 */
	{ "ERR Client sent AUTH, but no password is set", REFUSAL_RIGHTS,
	    "no password" }, /* 5 */
	{ "ERR AUTH <password> called without any password configured for "
	  "the default user. Are you sure your configuration is correct?",
	    REFUSAL_RIGHTS, "no password" }, /* 6 on */
	{ "DENIED Redis is running in protected mode because protected mode "
	  "is enabled, no bind address was specified, no authentication "
	  "password is requested to clients. In this mode connections are "
	  "only accepted from the loopback interface.",
	    REFUSAL_RIGHTS, "protected mode" },
	/* Rights. */
	{ "NOPERM this user has no permissions to run the 'eval' command or "
	  "its subcommand",
	    REFUSAL_RIGHTS, "rights" }, /* 6 */
	{ "NOPERM this user has no permissions to run the 'eval' command",
	    REFUSAL_RIGHTS, "rights" }, /* 7 */
	{ "NOPERM User jobs has no permissions to run the 'eval' command",
	    REFUSAL_RIGHTS, "rights" }, /* 7.2 on */
	{ "NOPERM this user has no permissions to access one of the keys used "
	  "as arguments",
	    REFUSAL_RIGHTS, "rights" },
	{ "NOPERM No permissions to access a key", REFUSAL_RIGHTS, "rights" },
	{ "NOPERM this user has no permissions to access one of the channels "
	  "used as arguments",
	    REFUSAL_RIGHTS, "rights" },
	{ "NOPERM No permissions to access a channel", REFUSAL_RIGHTS,
	    "rights" },
	{ BEHIND("ERR The user executing the script can't run this command or "
		 "subcommand"),
	    REFUSAL_RIGHTS, "rights" }, /* 7.0 */
	{ BEHIND("ERR The user executing the script can't access at least one "
		 "of the keys mentioned in the command arguments"),
	    REFUSAL_RIGHTS, "rights" }, /* 7.0 */
	{ BEHIND("ERR The user executing the script can't access at least one "
		 "of the channels mentioned in the command arguments"),
	    REFUSAL_RIGHTS, "rights" }, /* 7.0 */
	{ BEHIND("ERR ACL failure in script: User jobs has no permissions to "
		 "run the 'set' command"),
	    REFUSAL_RIGHTS, "rights" }, /* 7.2 on */
	{ BEHIND("ERR ACL failure in script: No permissions to access a key"),
	    REFUSAL_RIGHTS, "rights" },
	{ WRAPPED("NOPERM The user executing the script can't run this "
		  "command or subcommand"),
	    REFUSAL_RIGHTS, "rights" }, /* 6 */
	{ WRAPPED("NOPERM The user executing the script can't access at least "
		  "one of the keys mentioned in the command arguments"),
	    REFUSAL_RIGHTS, "rights" }, /* 6 */
	{ "EXECABORT Transaction discarded because of: NOPERM this user has "
	  "no permissions to run the 'exec' command",
	    REFUSAL_RIGHTS, "rights" },
	/* Not ready. */
	{ "LOADING Redis is loading the dataset in memory", REFUSAL_AWAY,
	    "later" },
	{ "LOADING Valkey is loading the dataset in memory", REFUSAL_AWAY,
	    "later" },
	{ "BUSY Redis is busy running a script. You can only call SCRIPT KILL "
	  "or SHUTDOWN NOSAVE.",
	    REFUSAL_AWAY, "SCRIPT KILL" },
	{ "BUSY Redis is busy running a script. You can only call FUNCTION "
	  "KILL or SHUTDOWN NOSAVE.",
	    REFUSAL_AWAY, "" },
	{ "BUSY Valkey is busy running a script. You can only call SCRIPT KILL "
	  "or SHUTDOWN NOSAVE.",
	    REFUSAL_AWAY, "SCRIPT KILL" },
	{ "EXECABORT Transaction discarded because of: BUSY Redis is busy "
	  "running a script. You can only call SCRIPT KILL or SHUTDOWN "
	  "NOSAVE.",
	    REFUSAL_AWAY, "" },
	{ "MASTERDOWN Link with MASTER is down and replica-serve-stale-data "
	  "is set to 'no'.",
	    REFUSAL_AWAY, "primary" },
	{ "TRYAGAIN Multiple keys request during rehashing of slot",
	    REFUSAL_AWAY, "slot" },
	{ "CLUSTERDOWN The cluster is down", REFUSAL_AWAY, "cluster" },
	{ "CLUSTERDOWN Hash slot not served", REFUSAL_AWAY, "cluster" },
	{ "ERR max number of clients reached", REFUSAL_AWAY, "maxclients" },
	{ "ERR max number of clients + cluster connections reached",
	    REFUSAL_AWAY, "maxclients" },
	{ "UNBLOCKED force unblock from blocking operation, instance state "
	  "changed (master -> replica?)",
	    REFUSAL_AWAY, "role" },
	{ WRAPPED("LOADING Redis is loading the dataset in memory"),
	    REFUSAL_AWAY, "later" },
	{ WRAPPED("MASTERDOWN Link with MASTER is down and "
		  "replica-serve-stale-data is set to 'no'."),
	    REFUSAL_AWAY, "primary" },
	/* Can't hold locks as it is. */
	{ "READONLY You can't write against a read only replica.",
	    REFUSAL_UNFIT, "replica" },
	{ "READONLY You can't write against a read only slave.", REFUSAL_UNFIT,
	    "replica" }, /* 4 */
	{ BEHIND("READONLY You can't write against a read only replica."),
	    REFUSAL_UNFIT, "replica" },
	{ WRAPPED("READONLY You can't write against a read only replica."),
	    REFUSAL_UNFIT, "replica" },
	{ "EXECABORT Transaction discarded because of: READONLY You can't "
	  "write against a read only replica.",
	    REFUSAL_UNFIT, "replica" },
	{ "MISCONF Redis is configured to save RDB snapshots, but it's "
	  "currently unable to persist to disk. Commands that may modify the "
	  "data set are disabled, because this instance is configured to "
	  "report errors during writes if RDB snapshotting fails "
	  "(stop-writes-on-bgsave-error option). Please check the Redis logs "
	  "for details about the RDB error.",
	    REFUSAL_UNFIT, "disk" },
	{ BEHIND("MISCONF Redis is configured to save RDB snapshots, but it's "
		 "currently unable to persist to disk."),
	    REFUSAL_UNFIT, "disk" },
	{ "MISCONF Errors writing to the AOF file: No space left on device",
	    REFUSAL_UNFIT, "disk" },
	{ WRAPPED("MISCONF Redis is configured to save RDB snapshots, but it "
		  "is currently not able to persist on disk."),
	    REFUSAL_UNFIT, "disk" },
	{ "OOM command not allowed when used memory > 'maxmemory'.",
	    REFUSAL_UNFIT, "memory" },
	{ BEHIND("OOM command not allowed when used memory > 'maxmemory'."),
	    REFUSAL_UNFIT, "memory" },
	{ WRAPPED("OOM command not allowed when used memory > 'maxmemory'."),
	    REFUSAL_UNFIT, "memory" },
	{ "NOREPLICAS Not enough good replicas to write.", REFUSAL_UNFIT,
	    "replicas" },
	{ WRAPPED("NOREPLICAS Not enough good replicas to write."),
	    REFUSAL_UNFIT, "replicas" },
	{ "WRONGTYPE Operation against a key holding the wrong kind of value",
	    REFUSAL_UNFIT, "type" },
	{ BEHIND("WRONGTYPE Operation against a key holding the wrong kind of "
		 "value"),
	    REFUSAL_UNFIT, "type" },
	{ WRAPPED("WRONGTYPE Operation against a key holding the wrong kind of "
		  "value"),
	    REFUSAL_UNFIT, "type" },
	{ "MOVED 3999 127.0.0.1:6381", REFUSAL_UNFIT, "cluster" },
	{ "EXECABORT Transaction discarded because of: MOVED 3999 "
	  "127.0.0.1:6381",
	    REFUSAL_UNFIT, "cluster" },
	{ "ASK 3999 127.0.0.1:6381", REFUSAL_UNFIT, "cluster" },
	{ "CROSSSLOT Keys in request don't hash to the same slot",
	    REFUSAL_UNFIT, "cluster" },
	{ "ERR DB index is out of range", REFUSAL_UNFIT, "databases" },
	{ "ERR invalid DB index", REFUSAL_UNFIT, "databases" },
	{ "ERR SELECT is not allowed in cluster mode", REFUSAL_UNFIT, "" },
	{ "ERR unknown command 'EVAL'", REFUSAL_UNFIT, "5.0" }, /* 4 */
	{ "ERR unknown command `EVAL`, with args beginning with: `local`, ",
	    REFUSAL_UNFIT, "5.0" }, /* 5, 6 */
	{ "ERR unknown command 'EVAL', with args beginning with: 'local' ",
	    REFUSAL_UNFIT, "5.0" }, /* 7 on */
	{ BEHIND("ERR Unknown Redis command called from script"), REFUSAL_UNFIT,
	    "5.0" },
	{ WRAPPED("ERR Unknown Redis command called from Lua script"),
	    REFUSAL_UNFIT, "5.0" },
	{ "ERR This instance has cluster support disabled", REFUSAL_UNFIT, "" },
	{ "", REFUSAL_UNFIT, "" },
	{ "nothing that is known", REFUSAL_UNFIT, "" },
};

static enum fault_code
code_of(enum refusal refusal)
{
	switch (refusal) {
	case REFUSAL_AWAY:
		return FAULT_UNAVAILABLE;
	case REFUSAL_RIGHTS:
		return FAULT_REFUSED;
	case REFUSAL_NONE:
	case REFUSAL_UNFIT:
		break;
	}
	return FAULT_UNFIT;
}

static void
words(void)
{
	struct fault fault;
	char head[40];
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		memset(&fault, 0, sizeof(fault));
		check_eq(refusal_of(rows[i].error, &fault), rows[i].refusal,
		    rows[i].error, __FILE__, __LINE__);
		check_eq(fault.code, code_of(rows[i].refusal), rows[i].error,
		    __FILE__, __LINE__);
		CHECK_EQ(fault.saved_errno, 0);
		CHECK_HAS(fault.text, rows[i].hint);
		/* The server's words come first, and are shown. */
		snprintf(head, sizeof(head), "%s", rows[i].error);
		CHECK_HAS(fault.text, head);
	}
}

/* What a key, a user or a script is called is not what the server says. */
static void
names_in_errors(void)
{
	static const struct row tricky[] = {
		{ "NOPERM User LOADING has no permissions to run the 'eval' "
		  "command",
		    REFUSAL_RIGHTS, "" },
		{ BEHIND("ERR ACL failure in script: User READONLY has no "
			 "permissions to run the 'set' command"),
		    REFUSAL_RIGHTS, "" },
		{ "WRONGPASS TRYAGAIN", REFUSAL_RIGHTS, "" },
	};
	struct fault fault;
	size_t i;

	for (i = 0; i < CHECK_COUNT(tricky); i++)
		check_eq(refusal_of(tricky[i].error, &fault), tricky[i].refusal,
		    tricky[i].error, __FILE__, __LINE__);
}

static void
long_words(void)
{
	char error[5000];
	struct fault fault;

	memset(error, 'x', sizeof(error) - 1);
	error[sizeof(error) - 1] = '\0';
	memcpy(error, "OOM ", 4);
	CHECK_EQ(refusal_of(error, &fault), REFUSAL_UNFIT);
	/* The hint is not cut off by them. */
	CHECK_HAS(fault.text, "memory");
	CHECK(fault.text[strlen(fault.text) - 1] == ')');
	memcpy(error, "BUSY ", 5);
	CHECK_EQ(refusal_of(error, NULL), REFUSAL_AWAY); /* none wanted */
}

/* The wrapping of old servers is long: what matters is shown all the same. */
static void
wrapped_words(void)
{
	struct fault fault;

	refusal_of(WRAPPED("OOM command not allowed when used memory > "
			   "'maxmemory'."),
	    &fault);
	CHECK_HAS(fault.text, "OOM command not allowed");
	refusal_of(WRAPPED("READONLY You can't write against a read only "
			   "replica."),
	    &fault);
	CHECK_HAS(fault.text, "READONLY");
}

int
main(void)
{
	CHECK_RUN(words);
	CHECK_RUN(names_in_errors);
	CHECK_RUN(long_words);
	CHECK_RUN(wrapped_words);
	return check_done();
}
