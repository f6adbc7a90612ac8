/* SPDX-License-Identifier: MIT */
/*
 * info: the fields of what INFO answers, "NAME:VALUE" lines in sections.
 * Source: the INFO command's page; Valkey keeps the names.
 */
#ifndef RLOCK_INFO_H
#define RLOCK_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The value of name into out; false when text (NULL: nothing) has none. */
bool info_text(const char *text, const char *name, char *out, size_t cap);

/* The same as a number; fallback when there is none. */
int64_t info_number(const char *text, const char *name, int64_t fallback);

/* Of "a=1,b=2", the value of name. */
bool info_part(const char *value, const char *name, char *out, size_t cap);

#endif
