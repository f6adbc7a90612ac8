/* SPDX-License-Identifier: MIT */
/*
 * crc16: see crc16.h.  Bit by bit: it is for short keys.
 */
#include "base/crc16.h"

uint16_t
crc16_of(const void *data, size_t len)
{
	const unsigned char *p = data;
	unsigned int crc = 0, bit;

	for (; len > 0; len--, p++) {
		crc ^= (unsigned int)*p << 8;
		for (bit = 0; bit < 8; bit++)
			crc =
			    (crc & 0x8000) != 0 ? crc << 1 ^ 0x1021 : crc << 1;
		crc &= 0xffff;
	}
	return (uint16_t)crc;
}
