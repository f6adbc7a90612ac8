/* SPDX-License-Identifier: MIT */
/*
 * say: see say.h.  The words are RESP, and the codec reads them back.
 */
#include "redis/say.h"

#include <inttypes.h>
#include <string.h>

#include "redis/codec.h"

int
say_text(struct buf *out, const char *text)
{
	return buf_printf(out, "$%zu\r\n%s\r\n", strlen(text), text);
}

int
say_number(struct buf *out, int64_t value)
{
	return buf_printf(out, ":%" PRId64 "\r\n", value);
}

int
say_word(struct buf *out, enum script_code code, const char *text)
{
	if (buf_puts(out, "*2\r\n") == -1 || say_number(out, code) == -1)
		return -1;
	return say_text(out, text);
}

int
say_held(struct buf *out, const char *holder, int64_t left_ms)
{
	if (buf_puts(out, "*5\r\n") == -1 ||
	    say_number(out, SCRIPT_HELD) == -1 || say_text(out, holder) == -1 ||
	    say_number(out, left_ms) == -1 || say_number(out, 0) == -1)
		return -1;
	return say_number(out, 1);
}

int
say_ours(struct buf *out, int slot)
{
	if (buf_puts(out, "*4\r\n") == -1 || say_number(out, SCRIPT_OK) == -1 ||
	    say_number(out, 0) == -1 || say_number(out, slot) == -1)
		return -1;
	return say_text(out, "");
}

int
say_gone(struct buf *out)
{
	return buf_printf(out, "*1\r\n:%d\r\n", SCRIPT_GONE);
}

int
say_free(struct buf *out)
{
	return buf_puts(out,
	    "*9\r\n$0\r\n\r\n$4\r\nnone\r\n:-2\r\n*0\r\n:0\r\n*0\r\n"
	    "$0\r\n\r\n:-2\r\n$0\r\n\r\n");
}

struct reply *
say_reply(const struct buf *text)
{
	struct codec *codec = codec_new();
	struct reply *reply = NULL;

	if (codec == NULL)
		return NULL;
	codec_feed(codec, text->data, text->len);
	if (codec_next(codec, &reply) == -1)
		reply = NULL;
	codec_free(codec);
	return reply;
}
