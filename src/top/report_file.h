/* SPDX-License-Identifier: MIT */
/*
 * report_file: the JSON object of --report.
 */
#ifndef RLOCK_REPORT_FILE_H
#define RLOCK_REPORT_FILE_H

#include "words/config.h"
#include "words/outcome.h"

/*
 * Write one JSON object about the run to a new file beside cfg->report and
 * rename it there, so that a reader never sees half of it.  What is not a
 * regular file is left alone.  A failure is one line on stderr: it costs the
 * run nothing.
 */
void report_file_write(const struct config *, const struct outcome *,
    int status);

#endif
