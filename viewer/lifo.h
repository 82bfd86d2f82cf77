/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lifo.h - tasks that stood in a worker's LIFO slot behind a long poll while others slept.
 *
 * Tokio puts the task that a poll wakes last into a slot of that worker, to be polled next; most
 * releases let no other worker steal it from there. A stall: task B is woken inside a poll of A,
 * is the very next to be polled on that worker, that poll of A went on for LIFO_NS and more after
 * the wake, and another worker of the runtime slept for more than half of that time.
 */
#ifndef DIAL9_LIFO_H
#define DIAL9_LIFO_H

#include <stdint.h>

struct crews;
struct scope;

#define LIFO_NS 1000000ull

struct lifo_type { /* of the woken tasks */
	uint32_t place; /* text */
	uint64_t cnt, ns, worst_ns;
	uint32_t worst, behind; /* rows of polls: B's, and that of A before it */
	uint32_t peers; /* that slept meanwhile, at the worst */
};

struct lifo {
	struct lifo_type *at; /* most time first */
	uint32_t cnt;
	uint64_t ns, stalls;
	uint64_t woken_polls; /* polls whose wake came from a poll on the same worker */
};

/* 0 or -ENOMEM; lifo_done frees in either case. */
int lifo_of(const struct crews *x, const struct scope *s, struct lifo *ret);
void lifo_done(struct lifo *l);

#endif /* DIAL9_LIFO_H */
