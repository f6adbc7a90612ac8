/* SPDX-License-Identifier: MIT */
/*
 * record: see record.h.  "CRC STATE KIND BOOT UNTIL UNTIL_WALL TEXT\n".
 */
#include "host/record.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crc32.h"

#define CRC_LEN 9 /* with its blank */

/* The kernel's name for this boot; "-" where it can't be read. */
static const char *
boot_id(void)
{
	static char id[40];
	ssize_t n = -1;
	int fd;

	if (id[0] != '\0')
		return id;
	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd != -1) {
		n = read(fd, id, sizeof(id) - 1);
		close(fd);
	}
	id[n > 0 ? n : 0] = '\0';
	id[strspn(id, "0123456789abcdef-")] = '\0';
	if (id[0] == '\0')
		strcpy(id, "-");
	return id;
}

void
record_make(struct record *r, enum record_state state, const char *kind,
    const char *text, int64_t ms)
{
	memset(r, 0, sizeof(*r));
	r->state = state;
	snprintf(r->kind, sizeof(r->kind), "%s", kind);
	snprintf(r->boot, sizeof(r->boot), "%s", boot_id());
	snprintf(r->text, sizeof(r->text), "%s", text);
	if (ms > 0) {
		r->until_at = clock_add(clock_now(), ms);
		r->until_wall_ms = clock_add(clock_wall_ms(), ms);
	}
}

void
record_write(const struct record *r, char *out)
{
	int len;

	memset(out, 0, RECORD_SIZE);
	if (r->state == RECORD_NONE)
		return;
	len = snprintf(out + CRC_LEN, RECORD_SIZE - CRC_LEN,
	    "%d %s %s %" PRId64 " %" PRId64 " %s\n", (int)r->state, r->kind,
	    r->boot, r->until_at, r->until_wall_ms, r->text);
	snprintf(out, CRC_LEN, "%08" PRIx32,
	    crc32_of(out + CRC_LEN, (size_t)len));
	out[CRC_LEN - 1] = ' ';
}

void
record_read(struct record *r, const char *in)
{
	char crc[CRC_LEN], line[RECORD_SIZE], *end;
	int state, text = 0;

	memset(r, 0, sizeof(*r));
	memcpy(line, in, sizeof(line));
	line[sizeof(line) - 1] = '\0';
	end = strchr(line, '\n');
	if (end == NULL || end - line < CRC_LEN)
		return;
	snprintf(crc, sizeof(crc), "%08" PRIx32,
	    crc32_of(line + CRC_LEN, (size_t)(end + 1 - line) - CRC_LEN));
	if (memcmp(crc, line, CRC_LEN - 1) != 0 || line[CRC_LEN - 1] != ' ')
		return;
	*end = '\0';
	if (sscanf(line + CRC_LEN, "%d %7s %39s %" SCNd64 " %" SCNd64 " %n",
		&state, r->kind, r->boot, &r->until_at, &r->until_wall_ms,
		&text) != 5 ||
	    text == 0 || state < RECORD_HELD || state > RECORD_DONE) {
		memset(r, 0, sizeof(*r));
		return;
	}
	r->state = (enum record_state)state;
	snprintf(r->text, sizeof(r->text), "%.*s", (int)sizeof(r->text) - 1,
	    line + CRC_LEN + text);
}

int64_t
record_left_ms(const struct record *r)
{
	bool same_boot = strcmp(r->boot, boot_id()) == 0;
	int64_t now = same_boot ? clock_now() : clock_wall_ms();
	int64_t until = same_boot ? r->until_at : r->until_wall_ms;

	return until > now ? until - now : 0;
}
