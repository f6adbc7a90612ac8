/* SPDX-License-Identifier: MIT */
/*
 * report_file: see report_file.h.
 */
#include "top/report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"

/* Bytes of the UTF-8 character at text, or 0 when it is none (RFC 3629). */
static size_t
utf8_len(const unsigned char *text)
{
	size_t len = text[0] < 0x80 ? 1 :
	    text[0] < 0xc2	    ? 0 :
	    text[0] < 0xe0	    ? 2 :
	    text[0] < 0xf0	    ? 3 :
	    text[0] < 0xf5	    ? 4 :
				      0;
	size_t i;

	for (i = 1; i < len; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	if ((text[0] == 0xe0 && text[1] < 0xa0) ||
	    (text[0] == 0xed && text[1] > 0x9f) ||
	    (text[0] == 0xf0 && text[1] < 0x90) ||
	    (text[0] == 0xf4 && text[1] > 0x8f))
		return 0;
	return len;
}

/* A JSON string; bytes that are no UTF-8 become U+FFFD. */
static int
put_string(struct buf *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	int status = buf_puts(out, "\"");
	size_t len;

	for (; status == 0 && *p != '\0'; p += len == 0 ? 1 : len) {
		len = utf8_len(p);
		if (len == 0)
			status = buf_puts(out, "\\ufffd");
		else if (*p < 0x20 || *p == '"' || *p == '\\' || *p == 0x7f)
			status = buf_printf(out, "\\u%04x", *p);
		else
			status = buf_put(out, p, len);
	}
	return status == -1 ? -1 : buf_puts(out, "\"");
}

static int
put_member(struct buf *out, const char *name, const char *value)
{
	if (buf_printf(out, ",\n  \"%s\": ", name) == -1)
		return -1;
	return value[0] == '\0' ? buf_puts(out, "null") :
				  put_string(out, value);
}

static int
put_number(struct buf *out, const char *name, int64_t value)
{
	return value < 0 ?
	    buf_printf(out, ",\n  \"%s\": null", name) :
	    buf_printf(out, ",\n  \"%s\": %" PRId64, name, value);
}

static int
put_object(struct buf *out, const struct config *cfg, const struct outcome *o,
    int status)
{
	if (buf_printf(out, "{\n  \"outcome\": \"%s\"",
		outcome_word(o->kind)) == -1 ||
	    put_number(out, "exit_status", status) == -1 ||
	    put_number(out, "signal", o->signal == 0 ? -1 : o->signal) == -1 ||
	    put_member(out, "key", cfg->key) == -1 ||
	    put_member(out, "token", o->token) == -1 ||
	    put_number(out, "fence", -1) == -1 ||
	    put_number(out, "slot", -1) == -1 ||
	    put_number(out, "wait_ms", o->wait_ms) == -1 ||
	    put_number(out, "hold_ms", o->hold_ms) == -1 ||
	    put_number(out, "renewals", o->renewals) == -1 ||
	    put_number(out, "retries", o->retries) == -1 ||
	    put_member(out, "holder", o->holder) == -1 ||
	    put_member(out, "message", o->fault.text) == -1)
		return -1;
	return buf_puts(out, "\n}\n");
}

static int
write_all(int fd, const struct buf *text)
{
	size_t done = 0;
	ssize_t n;

	while (done < text->len) {
		n = write(fd, text->data + done, text->len - done);
		if (n == -1 && errno != EINTR)
			return -1;
		if (n > 0)
			done += (size_t)n;
	}
	return 0;
}

/* The mode that open(2) would have given a new file. */
static mode_t
default_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* 0, or -1 and errno; name is the new file's, made by mkostemp. */
static int
fill(int fd, const struct buf *text, const char *name, const char *target)
{
	int saved;

	if (fchmod(fd, default_mode()) == 0 && write_all(fd, text) == 0 &&
	    rename(name, target) == 0)
		return 0;
	saved = errno;
	unlink(name);
	errno = saved;
	return -1;
}

static int
replace(const char *target, const struct buf *text)
{
	struct stat st;
	char *name;
	int fd, saved, status = -1;

	if (stat(target, &st) == 0 && !S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	name = malloc(strlen(target) + sizeof(".XXXXXX"));
	if (name == NULL)
		return -1;
	sprintf(name, "%s.XXXXXX", target);
	if ((fd = mkostemp(name, O_CLOEXEC | O_NONBLOCK)) != -1) {
		status = fill(fd, text, name, target);
		saved = errno;
		close(fd);
		errno = saved;
	}
	saved = errno;
	free(name);
	errno = saved;
	return status;
}

void
report_file_write(const struct config *cfg, const struct outcome *o, int status)
{
	struct buf text = { 0 };

	if (put_object(&text, cfg, o, status) == -1 ||
	    replace(cfg->report, &text) == -1)
		log_say(LOG_LEVEL_NORMAL, "no report written to %s: %s",
		    cfg->report,
		    errno == EINVAL ? "it is not a regular file" :
				      strerror(errno));
	buf_release(&text);
}
