/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placetable.h - a row of a caller's own kind for each task type (a text) that is asked for.
 *
 * A row is row_sz bytes, begins with a uint32_t that holds the text, and is zero otherwise.
 */
#ifndef DIAL9_PLACETABLE_H
#define DIAL9_PLACETABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct placetable {
	size_t row_sz; /* set by the owner, all else zero */
	void *rows;
	uint32_t cnt, cap;
	uint32_t *slots; /* open addressing: row + 1, 0 = free */
	uint32_t slots_cnt;
};

/* The row of a type, made if there is none; good until the next call. NULL: out of memory. */
void *placetable_row(struct placetable *t, uint32_t place);

/* Frees; the rows too, unless they were taken over. */
void placetable_done(struct placetable *t, bool with_rows);

#endif /* DIAL9_PLACETABLE_H */
