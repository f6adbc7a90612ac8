/* SPDX-License-Identifier: MIT */
/*
 * utf8: telling characters from bytes that are none.
 */
#ifndef RLOCK_UTF8_H
#define RLOCK_UTF8_H

#include <stddef.h>

/* Bytes of the UTF-8 character at text, which ends in a NUL, or 0 when it is
 * none (RFC 3629). */
size_t utf8_len(const unsigned char *text);

#endif
