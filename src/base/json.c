/* SPDX-License-Identifier: MIT */
/*
 * json: see json.h.
 */
#include "base/json.h"

#include <inttypes.h>
#include <stddef.h>

#include "base/utf8.h"

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

/* A comma if something is before it, and the name if there is one. */
static int
put_name(struct buf *out, const char *name)
{
	char last = out->len == 0 ? '{' : out->data[out->len - 1];

	if (last != '{' && last != '[' && last != '\n' &&
	    buf_puts(out, ", ") == -1)
		return -1;
	if (name == NULL)
		return 0;
	return put_string(out, name) == -1 ? -1 : buf_puts(out, ": ");
}

int
json_open(struct buf *out, const char *name)
{
	return put_name(out, name) == -1 ? -1 : buf_puts(out, "{");
}

int
json_close(struct buf *out)
{
	return buf_puts(out, "}");
}

int
json_open_list(struct buf *out, const char *name)
{
	return put_name(out, name) == -1 ? -1 : buf_puts(out, "[");
}

int
json_close_list(struct buf *out)
{
	return buf_puts(out, "]");
}

int
json_text(struct buf *out, const char *name, const char *text)
{
	if (put_name(out, name) == -1)
		return -1;
	return *text == '\0' ? buf_puts(out, "null") : put_string(out, text);
}

int
json_number(struct buf *out, const char *name, int64_t value)
{
	if (put_name(out, name) == -1)
		return -1;
	return value < 0 ? buf_puts(out, "null") :
			   buf_printf(out, "%" PRId64, value);
}

int
json_bool(struct buf *out, const char *name, bool value)
{
	if (put_name(out, name) == -1)
		return -1;
	return buf_puts(out, value ? "true" : "false");
}
