/* SPDX-License-Identifier: MIT */
/*
 * report_file: see report_file.h.
 */
#include "top/report_file.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
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

void
report_file_write(const struct config *cfg, const struct outcome *o, int status)
{
	struct buf text = { 0 };

	if (put_object(&text, cfg, o, status) == -1 ||
	    file_replace(cfg->report, &text) == -1)
		log_say(LOG_LEVEL_NORMAL, "no report written to %s: %s",
		    cfg->report,
		    errno == EINVAL ? "it is not a regular file" :
				      strerror(errno));
	buf_release(&text);
}
