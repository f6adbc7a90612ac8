/* SPDX-License-Identifier: MIT */
/*
 * report_file: see report_file.h.
 */
#include "top/report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/log.h"

static int
put_object(struct buf *out, const struct config *cfg, const struct outcome *o,
    int status)
{
	if (json_open(out, NULL) == -1 ||
	    json_text(out, "outcome", outcome_word(o->kind)) == -1 ||
	    json_number(out, "exit_status", status) == -1 ||
	    json_number(out, "signal", o->signal == 0 ? -1 : o->signal) == -1 ||
	    json_text(out, "key", cfg->key) == -1 ||
	    json_text(out, "token", o->token) == -1 ||
	    json_number(out, "fence", o->fence) == -1 ||
	    json_number(out, "slot", o->slot) == -1 ||
	    json_number(out, "wait_ms", o->wait_ms) == -1 ||
	    json_number(out, "hold_ms", o->hold_ms) == -1 ||
	    json_number(out, "renewals", o->renewals) == -1 ||
	    json_number(out, "retries", o->retries) == -1 ||
	    json_text(out, "holder", o->holder) == -1 ||
	    json_text(out, "message", o->fault.text) == -1 ||
	    json_close(out) == -1)
		return -1;
	return buf_puts(out, "\n");
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
