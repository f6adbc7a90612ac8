/* SPDX-License-Identifier: MIT */
/*
 * keys: the names of a lock's keys, and that they are in one slot of a
 * cluster, and never each other's.
 */
#include <stdlib.h>

#include "check.h"
#include "core/keys.h"

/* CRC16 (XMODEM) of the hash tag, else of all, mod 16384: the cluster
 * specification, "Key distribution model". */
static unsigned
slot_of(const char *key)
{
	const char *end = key + strlen(key), *open = strchr(key, '{');
	const char *close = open == NULL ? NULL : strchr(open, '}');
	unsigned crc = 0;
	int bit;

	if (close != NULL && close != open + 1) {
		key = open + 1;
		end = close;
	}
	for (; key < end; key++) {
		crc ^= (unsigned)(unsigned char)*key << 8;
		for (bit = 0; bit < 8; bit++)
			crc =
			    ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
	}
	return crc % 16384;
}

static void
slots_of_the_specification(void)
{
	CHECK_EQ(slot_of("123456789"), 0x31c3 % 16384);
	CHECK_EQ(slot_of("foo"), 12182);
	CHECK_EQ(slot_of("a{foo}b"), 12182);
	CHECK_EQ(slot_of("{}foo"), slot_of("{}foo"));
}

static void
names(void)
{
	static const struct {
		const char *prefix, *key, *lock, *queue, *holds;
	} rows[] = {
		{ "lock:", "job", "lock:job", "rlock:queue:{lock:job}",
		    "rlock:holds:{lock:job}" },
		{ "", "job", "job", "rlock:queue:{job}", "rlock:holds:{job}" },
		{ "lock:", "{job}", "lock:{job}", "rlock:queue=lock:{job}",
		    "rlock:holds=lock:{job}" },
		{ "a{b}c", "d", "a{b}cd", "rlock:queue=a{b}cd",
		    "rlock:holds=a{b}cd" },
		{ "a{", "b}c", "a{b}c", "rlock:queue=a{b}c",
		    "rlock:holds=a{b}c" },
		/* None of these has a hash tag. */
		{ "lock:", "a{b", "lock:a{b", "rlock:queue:{lock:a{b}",
		    "rlock:holds:{lock:a{b}" },
		{ "lock:", "{}", "lock:{}", "rlock:queue:{lock:{}}",
		    "rlock:holds:{lock:{}}" },
		{ "lock:", "{}{x}", "lock:{}{x}", "rlock:queue:{lock:{}{x}}",
		    "rlock:holds:{lock:{}{x}}" },
		{ "lock:", "a}b", "lock:a}b", "rlock:queue:{lock:a}b}",
		    "rlock:holds:{lock:a}b}" },
		{ "lock:", "}{", "lock:}{", "rlock:queue:{lock:}{}",
		    "rlock:holds:{lock:}{}" },
		/* Bytes are bytes. */
		{ "lock:", "\xff \n\"'*?[", "lock:\xff \n\"'*?[",
		    "rlock:queue:{lock:\xff \n\"'*?[}",
		    "rlock:holds:{lock:\xff \n\"'*?[}" },
	};
	struct keys keys;
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		CHECK_EQ(keys_init(&keys, rows[i].prefix, rows[i].key), 0);
		CHECK_STR(keys.lock, rows[i].lock);
		CHECK_STR(keys.queue, rows[i].queue);
		CHECK_STR(keys.holds, rows[i].holds);
		keys_release(&keys);
	}
}

/* Every name of up to 5 of these: with a tag, or without a '}', one slot. */
static void
one_slot(void)
{
	static const char letters[] = "ab{}:";
	char name[6];
	unsigned n, rest;
	size_t len;
	struct keys keys;
	const char *open, *close;

	for (n = 1; n < 15625; n++) {
		len = 0;
		for (rest = n; rest > 0 && len < 5; rest /= 5)
			name[len++] = letters[rest % 5];
		name[len] = '\0';
		CHECK_EQ(keys_init(&keys, "", name), 0);
		open = strchr(name, '{');
		close = open == NULL ? NULL : strchr(open, '}');
		if ((close != NULL && close > open + 1) ||
		    strchr(name, '}') == NULL) {
			check_eq(slot_of(keys.queue), slot_of(keys.lock), name,
			    __FILE__, __LINE__);
			check_eq(slot_of(keys.holds), slot_of(keys.lock), name,
			    __FILE__, __LINE__);
		}
		keys_release(&keys);
	}
}

/* Two locks never share a side key, nor is one the other's lock. */
static void
never_anothers(void)
{
	static const char *const locks[] = {
		"a",
		"{a}",
		"{a}b",
		"a{b}",
		"{{a}",
		"{a}}",
		"a}",
		"{a",
		"{}",
		"{}a",
		"queue",
		":{a}",
		"=a",
		"={a}",
		"queue:{a}",
		"a ",
	};
	struct keys a, b;
	size_t i, j;

	for (i = 0; i < CHECK_COUNT(locks); i++) {
		CHECK_EQ(keys_init(&a, "", locks[i]), 0);
		CHECK(strcmp(a.queue, a.holds) != 0);
		for (j = 0; j < CHECK_COUNT(locks); j++) {
			CHECK_EQ(keys_init(&b, "", locks[j]), 0);
			if (i != j) {
				CHECK(strcmp(a.queue, b.queue) != 0);
				CHECK(strcmp(a.holds, b.holds) != 0);
			}
			CHECK(strcmp(a.queue, b.lock) != 0);
			CHECK(strcmp(a.queue, b.holds) != 0);
			CHECK(strcmp(a.holds, b.lock) != 0);
			keys_release(&b);
		}
		/* Side keys begin with what no lock may begin with. */
		CHECK_EQ(strncmp(a.queue, "rlock:", 6), 0);
		CHECK_EQ(strncmp(a.holds, "rlock:", 6), 0);
		keys_release(&a);
	}
}

static void
long_names(void)
{
	char *name = malloc(70001);
	struct keys keys;

	CHECK(name != NULL);
	if (name == NULL)
		return;
	memset(name, 'x', 70000);
	name[70000] = '\0';
	CHECK_EQ(keys_init(&keys, name, name), 0);
	CHECK_EQ(strlen(keys.lock), 140000);
	CHECK_EQ(strlen(keys.queue), 140000 + strlen("rlock:queue:{}"));
	CHECK_EQ(keys.queue[strlen(keys.queue) - 1], '}');
	keys_release(&keys);
	CHECK(keys.lock == NULL && keys.queue == NULL && keys.holds == NULL);
	keys_release(&keys); /* twice does no harm */
	free(name);
}

/* keys_slot against the other way to count it, keys_meet against all keys. */
static void
slots_and_meeting(void)
{
	static const char *const names[] = { "a", "foo", "a{foo}b", "{}", "}{",
		"a{", "a}", "{{b}}", "a{}b{c}", "x{y}z}", "\xff\xfe" };
	struct keys keys;
	bool same;
	size_t i;

	for (i = 0; i < CHECK_COUNT(names); i++) {
		CHECK_EQ(keys_slot(names[i]), slot_of(names[i]));
		CHECK_EQ(keys_init(&keys, "lock:", names[i]), 0);
		same = slot_of(keys.queue) == slot_of(keys.lock) &&
		    slot_of(keys.fence) == slot_of(keys.lock);
		CHECK_EQ(keys_meet(&keys), same);
		keys_release(&keys);
	}
}

int
main(void)
{
	CHECK_RUN(slots_of_the_specification);
	CHECK_RUN(names);
	CHECK_RUN(one_slot);
	CHECK_RUN(never_anothers);
	CHECK_RUN(long_names);
	CHECK_RUN(slots_and_meeting);
	return check_done();
}
