/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typetable.h - what is counted for each task type (spawn place, or the future's type).
 *
 * At TYPETABLE_MAX types every further one is counted in row 0, "(other)".
 */
#ifndef DIAL9_TYPETABLE_H
#define DIAL9_TYPETABLE_H

#include <stdint.h>

#include "histogram.h"

#define TYPETABLE_MAX 4096 /* rows; a full histogram of each is 30 KiB, most use 5 */

struct type_row {
	uint32_t label;
	uint64_t spawned, seen, ended; /* seen: alive before any spawn of it was seen */
	uint64_t cancelled, panicked;
	uint64_t polls; /* begun; those whose end is known are in `poll` */
	uint64_t busy_ns; /* in its polls, without polls of others nested in them */
	uint64_t off_cpu_ns; /* of it: the thread had no CPU */
	uint64_t samples; /* of CPU, in its polls */
	uint64_t wakes, redundant_wakes; /* redundant: it was woken already */
	uint64_t self_wakes; /* by its own poll */
	struct histogram poll, wait; /* durations of polls, from wake to poll */
	uint64_t blocking; /* blocking-pool tasks of this type that ended */
	struct histogram queued, run; /* theirs, from queue to start and start to end */
};

struct typetable { /* for the functions below alone */
	struct type_row *rows;
	uint32_t cnt, cap;
	uint32_t *by_label; /* row of each label, 0 = none yet */
	uint32_t by_label_cnt;
};

struct typetable *typetable_new(void); /* NULL: out of memory */
void typetable_free(struct typetable *t);

/* Row number of a label that has none yet; 0 at the cap or out of memory. */
uint32_t typetable_add(struct typetable *t, uint32_t label);

/* Row number of a label, made if need be; 0 at the cap or out of memory. */
static inline uint32_t typetable_find(struct typetable *t, uint32_t label)
{
	if (label < t->by_label_cnt && t->by_label[label])
		return t->by_label[label];
	return typetable_add(t, label);
}

/* A row; the pointer is good until the next typetable_find. */
static inline struct type_row *typetable_row(const struct typetable *t, uint32_t row)
{
	return &t->rows[row];
}

uint32_t typetable_cnt(const struct typetable *t); /* row 0 included */

#endif /* DIAL9_TYPETABLE_H */
