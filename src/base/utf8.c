/* SPDX-License-Identifier: MIT */
/*
 * utf8: see utf8.h.
 */
#include "base/utf8.h"

size_t
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
