/* SPDX-License-Identifier: MIT */
/*
 * crc32: the checksum of gzip, PNG and zlib's crc32(), which programs in other
 * languages have at hand.
 */
#ifndef RLOCK_CRC32_H
#define RLOCK_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32, reflected 0x04c11db7, all ones before and after.  Source: RFC 1952,
 * section 8. */
uint32_t crc32_of(const void *data, size_t len);

#endif
