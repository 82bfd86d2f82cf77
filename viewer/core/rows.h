/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - rows of one size gathered in file order, and the order they are wanted in.
 */
#ifndef DIAL9_ROWS_H
#define DIAL9_ROWS_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#define ROWS_MAX (UINT32_MAX - 1) /* rows; one more is -E2BIG */

struct rows {
	char *p;
	size_t cnt, cap, sz; /* sz: bytes of a row, set by the owner before the first row */
};

/* What a row that is to be ordered begins with. */
struct rows_key {
	uint64_t ts_ns;
	uint16_t lane;
};

/* Room for one more. 0, -ENOMEM or -E2BIG. */
int rows_grow(struct rows *r);
void rows_free(struct rows *r);
void *rows_copy(const struct rows *r); /* all rows, to be freed; NULL: no memory */

/* One more row, zeroed or not; NULL: see rows_grow's errors, put into *err. */
static inline void *rows_add(struct rows *r, int *err)
{
	if (r->cnt == r->cap) {
		int got = rows_grow(r);

		if (got) {
			*err = got;
			return NULL;
		}
	}
	return r->p + r->sz * r->cnt++;
}

static inline void *rows_at(const struct rows *r, size_t i)
{
	return r->p + r->sz * i;
}

/*
 * The numbers of the rows by lane, then time, then file order: *ret is cnt numbers, to be freed;
 * from[lanes_cnt + 1] where each lane begins in it. lane_of (may be NULL) renames lanes.
 * Linear where each lane is in time order, else a merge of the runs that are. 0 or -ENOMEM.
 */
int rows_order(const struct rows *r, const uint16_t *lane_of, uint32_t lanes_cnt, uint32_t *from,
	       uint32_t **ret);

/* Sorts numbers[cnt] by times[number], keeping the order of equals. 0 or -ENOMEM. */
int rows_sort(uint32_t *numbers, size_t cnt, const void *times, size_t stride);

#endif /* DIAL9_ROWS_H */
