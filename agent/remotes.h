/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remotes.h - the array by which the workers of a multi_thread runtime reach each other.
 *
 * A Handle holds a boxed slice of Remotes, one per worker in the order of their indexes, each two
 * Arcs: the worker's run queue and its unparker, in an order the compiler chose. Nothing else in
 * a Handle looks like it, so it proves both a Handle and a worker's index.
 */
#ifndef DIAL9_REMOTES_H
#define DIAL9_REMOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "memory.h"

#define REMOTES_MAX 1024 /* workers of one runtime; a larger one is not recognized */
#define REMOTES_HANDLE_WORDS 192 /* of a Handle, searched for the slice */

struct remotes {
	uint64_t addr; /* of the slice */
	uint32_t cnt;
	uint16_t handle_off; /* where the Handle keeps (addr, cnt) */
	uint64_t words[2 * REMOTES_MAX];
};

struct queue_shape { /* of a run queue in its ArcInner; same for a whole build */
	bool is_proven;
	uint8_t column; /* 0 or 1: which of the two Arcs of a Remote is the queue */
	uint8_t buffer_off, head_off, tail_off;
};

/* Looks at (handle + off) only. 0, -ENOENT when that is no array of Remotes, -ESRCH, -E2BIG. */
int remotes_at(struct memory *m, uint64_t handle, uint16_t off, struct remotes *ret);

/* Searches the Handle. Same results. */
int remotes_find(struct memory *m, uint64_t handle, struct remotes *ret);

/*
 * Which column is the queue and where its words are, from the queues as they stand. Needs one
 * that has been used: until then -EAGAIN. Otherwise 0.
 */
int remotes_prove(struct memory *m, const struct remotes *r, struct queue_shape *ret);

/* The words at `arc` can be a run queue of that (proven) shape. 0, -ENOENT, -ESRCH, -E2BIG. */
int queue_check(struct memory *m, const struct queue_shape *q, uint64_t arc);

#endif /* DIAL9_REMOTES_H */
