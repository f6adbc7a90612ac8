/* SPDX-License-Identifier: MIT */
/*
 * crc32: see crc32.h.  A bit at a time: it is asked once in a run, of a few
 * bytes.
 */
#include "base/crc32.h"

uint32_t
crc32_of(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint32_t crc = UINT32_MAX;
	int bit;

	for (; len > 0; len--) {
		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
	}
	return ~crc;
}
