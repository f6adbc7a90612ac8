/* SPDX-License-Identifier: MIT */
/* folder: names of files for names of locks. */
#include "host/folder.h"

#include <string.h>

#include "check.h"

static void
names(void)
{
	static const struct {
		const char *key, *name;
	} rows[] = {
		{ "lock:job:recon", "lock:job:recon" },
		{ "a/b", "a%2Fb" },
		{ ".", "%2E" },
		{ "..", "%2E." },
		{ "a.b", "a.b" },
		{ "%2F", "%252F" },
		{ " \n\xff~", "%20%0A%FF%7E" },
	};
	char name[FOLDER_NAME_MAX + 1];
	size_t i;

	for (i = 0; i < CHECK_COUNT(rows); i++) {
		folder_file_name(rows[i].key, name);
		CHECK_STR(name, rows[i].name);
	}
}

/* However long, it fits, and another key has another name. */
static void
long_names(void)
{
	char key[FOLDER_KEY_MAX + 1], name[FOLDER_NAME_MAX + 1];
	char other[FOLDER_NAME_MAX + 1];
	size_t len;

	for (len = 1; len <= FOLDER_KEY_MAX; len++) {
		memset(key, len % 2 == 0 ? 'a' : '\xe9', len);
		key[len] = '\0';
		folder_file_name(key, name);
		CHECK(strlen(name) <= FOLDER_NAME_MAX);
		key[len - 1] = 'b';
		folder_file_name(key, other);
		CHECK(strcmp(name, other) != 0);
	}
}

int
main(void)
{
	CHECK_RUN(names);
	CHECK_RUN(long_names);
	return check_done();
}
