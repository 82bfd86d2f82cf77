/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans.h - spans of time that one thread worked through: do they follow each other, or nest?
 *
 * Spans come in the order of their ends, as events do that are stamped when they are over. The last
 * SPANS_DEPTH that no later one holds are kept; what is older is not compared any more.
 */
#ifndef DIAL9_SPANS_H
#define DIAL9_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#define SPANS_DEPTH 8
#define SPANS_THREADS_MAX 4096 /* threads in a table; at the next one all are forgotten */

struct spans {
	struct {
		uint64_t start_ns, end_ns;
	} kept[SPANS_DEPTH];
	uint32_t cnt;
};

/* false: it overlaps an earlier one in part, ends before one, or ends before its own start. */
bool spans_add(struct spans *s, uint64_t start_ns, uint64_t end_ns);

/* Threads by their number. */
struct spans_thread {
	uint32_t tid; /* never 0 */
	struct spans spans;
};

struct spans_threads;

struct spans_threads *spans_threads_new(void); /* NULL: out of memory */
void spans_threads_free(struct spans_threads *t);
/* The thread's spans, made empty if there are none. NULL for 0, the number of no thread. */
struct spans *spans_of_thread(struct spans_threads *t, uint32_t tid);

#endif /* DIAL9_SPANS_H */
