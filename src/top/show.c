/* SPDX-License-Identifier: MIT */
/*
 * show: see show.h.  What comes from the server is escaped here.
 */
#include "top/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"

#define DESCRIPTION_MAX (2 * TOKEN_FIELD_MAX + 100)
#define KEY_SHOWN_MAX 30
#define TEXT_COLUMNS (79 - 11) /* behind what is before it */

/* "3.2 s", "4.5 min", "2.1 h", "1.0 d"; "no end" for -1; into out[32]. */
static const char *
span(int64_t ms, char *out)
{
	static const struct {
		int64_t ms;
		const char *name;
	} units[] = { { 172800000, "d" }, { 7200000, "h" }, { 120000, "min" } };
	static const int64_t lengths[] = { 86400000, 3600000, 60000 };
	int64_t unit = 1000;
	const char *name = "s";
	size_t i;

	if (ms < 0)
		return strcpy(out, "no end");
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (ms >= units[i].ms) {
			unit = lengths[i];
			name = units[i].name;
			break;
		}
	snprintf(out, 32, "%" PRId64 ".%d %s", ms / unit,
	    (int)(ms % unit * 10 / unit), name);
	return out;
}

static const char *
mode_of(const struct snapshot *s, char *out, size_t cap)
{
	switch (s->mode) {
	case SNAPSHOT_FREE:
		return "free";
	case SNAPSHOT_EXCLUSIVE:
		return "exclusive";
	case SNAPSHOT_SHARED:
		return "shared";
	case SNAPSHOT_FOREIGN:
		return "foreign";
	case SNAPSHOT_SLOTS:
		snprintf(out, cap, "%d slots", s->slots);
		return out;
	}
	return "";
}

static const char *
kind_of(const char *kind)
{
	return kind[0] == 'x' ? "exclusive" :
	    kind[0] == 's'    ? "shared" :
				"slot";
}

static const char *
state_of(const struct snapshot *s)
{
	return s->mode == SNAPSHOT_FREE ? "free" :
	    s->mode == SNAPSHOT_FOREIGN ? "foreign" :
	    snapshot_is_cooling(s)	? "cooling" :
					  "held";
}

/* How many columns the first len bytes take, about. */
static size_t
columns_of(const char *text, size_t len)
{
	size_t i, n = 0;

	for (i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

/* How much of text goes on a line: up to a ", " where it must be broken. */
static size_t
line_of(const char *text)
{
	const char *at = text, *comma;
	size_t len = 0, whole = strlen(text);

	if (columns_of(text, whole) <= TEXT_COLUMNS)
		return whole;
	while ((comma = strstr(at, ", ")) != NULL &&
	    (len == 0 ||
		columns_of(text, (size_t)(comma + 1 - text)) <= TEXT_COLUMNS)) {
		len = (size_t)(comma + 1 - text);
		at = comma + 2;
	}
	return len == 0 ? whole : len;
}

/* A line, broken at commas so that it fits 80 columns. */
static int
put_folded(struct buf *out, const char *head, const char *text)
{
	size_t len = line_of(text);

	if (buf_printf(out, "  %-8s %.*s\n", head, (int)len, text) == -1)
		return -1;
	for (text += len; *text != '\0'; text += len) {
		text += strspn(text, " ");
		len = line_of(text);
		if (buf_printf(out, "  %-8s %.*s\n", "", (int)len, text) == -1)
			return -1;
	}
	return 0;
}

static int
put_holders(struct buf *out, const struct snapshot *s)
{
	char who[DESCRIPTION_MAX], left[32], slot[32];
	struct snapshot_holder h;
	size_t i;

	for (i = 0; i < s->holder_count; i++) {
		snapshot_holder(s, i, &h);
		token_describe(h.token, strlen(h.token), who, sizeof(who));
		slot[0] = '\0';
		if (h.slot >= 0)
			snprintf(slot, sizeof(slot), "slot %d, ", (int)h.slot);
		if (put_folded(out, "holder", who) == -1 ||
		    buf_printf(out, "  %-8s %s%s%s\n", "", slot,
			span(h.left_ms, left),
			h.left_ms < 0 ? "" : " left") == -1)
			return -1;
	}
	return 0;
}

static int
put_waiters(struct buf *out, const struct snapshot *s)
{
	char who[DESCRIPTION_MAX], line[DESCRIPTION_MAX + 60], number[32];
	struct snapshot_waiter w;
	size_t i;

	if (s->waiting > 0 &&
	    buf_printf(out, "  waiting  %" PRId64 "\n", s->waiting) == -1)
		return -1;
	for (i = 0; i < s->waiter_count; i++) {
		snapshot_waiter(s, i, &w);
		token_describe(w.token, strlen(w.token), who, sizeof(who));
		snprintf(number, sizeof(number), "%5zu.", i + 1);
		snprintf(line, sizeof(line), "%s, %s%s", kind_of(w.kind), who,
		    w.listens ? "" : ", polls or is gone");
		if (put_folded(out, number, line) == -1)
			return -1;
	}
	if (s->waiting > (int64_t)s->waiter_count && s->waiter_count > 0)
		return buf_puts(out, "    ...\n");
	return 0;
}

static int
put_done(struct buf *out, const struct snapshot *s)
{
	char who[DESCRIPTION_MAX], when[32], took[32], left[32], line[120];
	const struct marker *m = &s->marker;

	if (!s->done)
		return 0;
	token_describe(m->token, strlen(m->token), who, sizeof(who));
	token_time(m->ended_ms, when, sizeof(when));
	snprintf(line, sizeof(line), "%s%sin %s, by", when,
	    when[0] == '\0' ? "" : ", ", span(m->run_ms, took));
	if (put_folded(out, "done", line) == -1 ||
	    put_folded(out, "", who) == -1)
		return -1;
	return buf_printf(out, "  %-8s remembered for %s%s (--once)\n", "",
	    span(s->marker_left_ms, left),
	    s->marker_left_ms < 0 ? "" : " more");
}

int
show_status(struct buf *out, const char *key, const struct snapshot *s)
{
	char shown[4 * 1024 + 1], mode[32];

	log_escape(shown, sizeof(shown), key, strlen(key));
	if (buf_printf(out, "%s: %s", shown, state_of(s)) == -1)
		return -1;
	if (buf_printf(out, "%s%s%s\n", s->mode == SNAPSHOT_FREE ? "" : ", ",
		s->mode == SNAPSHOT_FREE ? "" :
		    s->mode == SNAPSHOT_FOREIGN ?
					   "not by rlock: a " :
					   mode_of(s, mode, sizeof(mode)),
		s->mode == SNAPSHOT_FOREIGN ? s->type :
		    s->holder_count > 1 && s->mode == SNAPSHOT_EXCLUSIVE ?
					      ", by nested runs" :
					      "") == -1)
		return -1;
	if (put_holders(out, s) == -1 || put_waiters(out, s) == -1 ||
	    put_done(out, s) == -1)
		return -1;
	return s->fence < 0 ?
	    0 :
	    buf_printf(out, "  fence    %" PRId64 "\n", s->fence);
}

/* "USER@HOST:PID", or as it is described, into out. */
static void
short_name(const struct snapshot *s, char *out, size_t cap)
{
	struct snapshot_holder h;
	struct token_fields f;
	char more[32] = "";

	if (s->holder_count == 0) {
		snprintf(out, cap, "%s",
		    s->mode == SNAPSHOT_FOREIGN ? s->type : "-");
		return;
	}
	snapshot_holder(s, 0, &h);
	token_read(h.token, strlen(h.token), false, &f);
	if (s->holder_count > 1)
		snprintf(more, sizeof(more), " and %zu more",
		    s->holder_count - 1);
	if (!f.ours)
		token_describe(h.token, strlen(h.token), out, cap);
	else
		snprintf(out, cap, "%s%s@%s:%" PRId64 "%s",
		    f.cooling ? "cooling, " : "", f.user, f.host, f.pid, more);
}

static size_t
column(size_t width)
{
	return width < 3 ? 3 : width < KEY_SHOWN_MAX ? width : KEY_SHOWN_MAX;
}

int
show_list_head(struct buf *out, size_t width)
{
	return buf_printf(out, "%-*s  %-10s  %8s  %4s  %s\n",
	    (int)column(width), "KEY", "MODE", "LEFT", "WAIT", "HOLDER");
}

int
show_list_line(struct buf *out, const char *key, size_t width, size_t columns,
    const struct snapshot *s)
{
	char shown[4 * 1024 + 1], mode[32], left[32], who[DESCRIPTION_MAX];
	char line[8 * 1024];
	size_t len;

	log_escape(shown, sizeof(shown), key, strlen(key));
	short_name(s, who, sizeof(who));
	len = (size_t)snprintf(line, sizeof(line),
	    "%-*s  %-10s  %8s  %4" PRId64 "  %s", (int)column(width), shown,
	    mode_of(s, mode, sizeof(mode)), span(s->left_ms, left), s->waiting,
	    who);
	if (columns > 0)
		len = log_cut(line, len, columns);
	if (buf_put(out, line, len) == -1)
		return -1;
	return buf_puts(out, "\n");
}

static int
json_owner(struct buf *out, const char *token)
{
	struct token_fields f;

	token_read(token, strlen(token), true, &f);
	if (json_text(out, "token", token) == -1 ||
	    json_text(out, "host", f.host) == -1 ||
	    json_text(out, "user", f.user) == -1 ||
	    json_number(out, "pid", f.pid) == -1 ||
	    json_number(out, "started_ms", f.started_ms) == -1)
		return -1;
	return json_text(out, "note", f.note);
}

static int
json_holders(struct buf *out, const struct snapshot *s)
{
	struct snapshot_holder h;
	size_t i;

	if (json_open_list(out, "holders") == -1)
		return -1;
	for (i = 0; i < s->holder_count; i++) {
		snapshot_holder(s, i, &h);
		if (json_open(out, NULL) == -1 ||
		    json_owner(out, h.token) == -1 ||
		    json_number(out, "slot", h.slot) == -1 ||
		    json_number(out, "left_ms", h.left_ms) == -1 ||
		    json_close(out) == -1)
			return -1;
	}
	return json_close_list(out);
}

static int
json_waiters(struct buf *out, const struct snapshot *s)
{
	struct snapshot_waiter w;
	size_t i;

	if (json_number(out, "waiting", s->waiting) == -1 ||
	    json_open_list(out, "waiters") == -1)
		return -1;
	for (i = 0; i < s->waiter_count; i++) {
		snapshot_waiter(s, i, &w);
		if (json_open(out, NULL) == -1 ||
		    json_text(out, "mode", kind_of(w.kind)) == -1 ||
		    json_owner(out, w.token) == -1 ||
		    json_bool(out, "listens", w.listens) == -1 ||
		    json_close(out) == -1)
			return -1;
	}
	return json_close_list(out);
}

static int
json_done(struct buf *out, const struct snapshot *s)
{
	if (!s->done)
		return json_text(out, "done", "");
	if (json_open(out, "done") == -1 ||
	    json_number(out, "ended_ms", s->marker.ended_ms) == -1 ||
	    json_number(out, "run_ms", s->marker.run_ms) == -1 ||
	    json_number(out, "left_ms", s->marker_left_ms) == -1 ||
	    json_owner(out, s->marker.token) == -1)
		return -1;
	return json_close(out);
}

int
show_json(struct buf *out, const char *key, const struct snapshot *s)
{
	char mode[32];
	const char *word = s->mode == SNAPSHOT_SLOTS ?
	    "slots" :
	    s->mode == SNAPSHOT_FREE || s->mode == SNAPSHOT_FOREIGN ?
	    "" :
	    mode_of(s, mode, sizeof(mode));

	if (json_open(out, NULL) == -1 || json_text(out, "key", key) == -1 ||
	    json_text(out, "state", state_of(s)) == -1 ||
	    json_text(out, "mode", word) == -1 ||
	    json_number(out, "slots", s->slots > 0 ? s->slots : -1) == -1 ||
	    json_text(out, "type",
		s->mode == SNAPSHOT_FOREIGN ? s->type : "") == -1 ||
	    json_number(out, "left_ms",
		s->mode == SNAPSHOT_FREE ? -1 : s->left_ms) == -1 ||
	    json_holders(out, s) == -1 || json_waiters(out, s) == -1 ||
	    json_done(out, s) == -1 ||
	    json_number(out, "fence", s->fence) == -1 || json_close(out) == -1)
		return -1;
	return buf_puts(out, "\n");
}
