/* SPDX-License-Identifier: MIT */
/*
 * series: see series.h.
 */
#include "top/series.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "# Written by rlock --metrics; version 1.\n"
#define VALUE_MAX (INT64_MAX / 4)

void
series_init(struct series *s, const struct series_def *defs, size_t count)
{
	*s = (struct series) { .defs = defs, .def_count = count };
}

void
series_release(struct series *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		free(s->samples[i].labels);
	free(s->samples);
	s->samples = NULL;
	s->count = s->cap = 0;
}

static struct sample *
find(struct series *s, size_t def, const char *labels, size_t len)
{
	struct sample *sample;
	size_t i;

	for (i = 0; i < s->count; i++) {
		sample = &s->samples[i];
		if (sample->def == def && strlen(sample->labels) == len &&
		    memcmp(sample->labels, labels, len) == 0)
			return sample;
	}
	return NULL;
}

/* A new one; NULL without memory. */
static struct sample *
append(struct series *s, size_t def, const char *labels, size_t len)
{
	size_t cap = s->cap == 0 ? 64 : 2 * s->cap;
	struct sample *samples;

	if (s->count == s->cap) {
		samples = realloc(s->samples, cap * sizeof(*samples));
		if (samples == NULL)
			return NULL;
		s->samples = samples;
		s->cap = cap;
	}
	samples = &s->samples[s->count];
	*samples = (struct sample) { .def = def };
	if ((samples->labels = strndup(labels, len)) == NULL)
		return NULL;
	s->count++;
	return samples;
}

int64_t *
series_at(struct series *s, size_t def, const char *labels)
{
	size_t len = strlen(labels);
	struct sample *sample = find(s, def, labels, len);

	if (sample == NULL)
		sample = append(s, def, labels, len);
	return sample == NULL ? NULL : &sample->value;
}

/* DIGITS[.DIGITS], at most three of these; -1 when it is not. */
static int
read_value(const char *text, size_t len, int64_t *value)
{
	int64_t n = 0;
	int decimals = -1;
	size_t i;

	for (i = 0; i < len; i++) {
		if (text[i] == '.' && decimals == -1 && i > 0) {
			decimals = 0;
			continue;
		}
		if (text[i] < '0' || text[i] > '9' || decimals == 3 ||
		    n > VALUE_MAX / 10000)
			return -1;
		n = 10 * n + (text[i] - '0');
		if (decimals >= 0)
			decimals++;
	}
	if (len == 0 || decimals == 0)
		return -1;
	for (decimals = decimals < 0 ? 0 : decimals; decimals < 3; decimals++)
		n *= 10;
	*value = n;
	return 0;
}

/* The '}' that ends the labels: one within quotes does not. */
static const char *
end_of_labels(const char *p, const char *end)
{
	int quoted = 0;

	for (; p < end; p++) {
		if (*p == '\\' && quoted && p + 1 < end)
			p++;
		else if (*p == '"')
			quoted = !quoted;
		else if (*p == '}' && !quoted)
			return p;
	}
	return NULL;
}

static int
read_sample(struct series *s, const char *line, const char *end)
{
	const char *open = memchr(line, '{', (size_t)(end - line));
	const char *close = open == NULL ? NULL : end_of_labels(open, end);
	struct sample *sample;
	size_t len, def;

	if (close == NULL || end - close < 3 || close[1] != ' ')
		return -1;
	len = (size_t)(open - line);
	for (def = 0; def < s->def_count; def++)
		if (strlen(s->defs[def].name) == len &&
		    memcmp(s->defs[def].name, line, len) == 0)
			break;
	len = (size_t)(close - open - 1);
	if (def == s->def_count ||
	    (sample = append(s, def, open + 1, len)) == NULL)
		return -1;
	return read_value(close + 2, (size_t)(end - close - 2), &sample->value);
}

int
series_read(struct series *s, const char *text, size_t len, const char **why)
{
	const char *end = text + len, *line, *stop;

	*why = "rlock has not written it";
	if (len == 0)
		return 0;
	if (len < strlen(HEAD) || memcmp(text, HEAD, strlen(HEAD)) != 0)
		return -1;
	*why = "it is damaged";
	for (line = text + strlen(HEAD); line < end; line = stop + 1) {
		stop = memchr(line, '\n', (size_t)(end - line));
		if (stop == NULL)
			return -1;
		if (*line != '#' && read_sample(s, line, stop) == -1)
			return -1;
	}
	return 0;
}

static int
put_sample(struct buf *out, const char *name, const struct sample *sample)
{
	int64_t whole = sample->value / 1000, rest = sample->value % 1000;

	if (buf_printf(out, "%s{%s} %" PRId64, name, sample->labels, whole) ==
	    -1)
		return -1;
	if (rest != 0 && buf_printf(out, ".%03d", (int)rest) == -1)
		return -1;
	return buf_puts(out, "\n");
}

int
series_write(const struct series *s, struct buf *out)
{
	size_t def, i;

	if (buf_puts(out, HEAD) == -1)
		return -1;
	for (def = 0; def < s->def_count; def++) {
		if (s->defs[def].head != NULL &&
		    buf_puts(out, s->defs[def].head) == -1)
			return -1;
		for (i = 0; i < s->count; i++)
			if (s->samples[i].def == def &&
			    put_sample(out, s->defs[def].name,
				&s->samples[i]) == -1)
				return -1;
	}
	return 0;
}
