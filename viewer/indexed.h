/* SPDX-License-Identifier: Apache-2.0 */
/*
 * indexed.h - a listed recording as columns: what index.h wants to know of its files, progress on
 * the terminal, and notices about files that were not read to their end.
 */
#ifndef DIAL9_INDEXED_H
#define DIAL9_INDEXED_H

#include <stdbool.h>

#include "traceset.h"

struct columns;
struct progress;

/*
 * Opens a recording (index_close gives it back). 0, or, after a notice, a negative errno.
 * *ret_partial is set if a file is damaged or cannot be read (exit code 3); a notice said which.
 * progress may be NULL.
 */
int indexed_open(const struct traceset_recording *rec, struct progress *progress,
		 struct columns **ret, bool *ret_partial);

/* The same, quietly: of a recording that was read before, so that all has been said of it. */
int indexed_again(const struct traceset_recording *rec, struct columns **ret);

#endif /* DIAL9_INDEXED_H */
