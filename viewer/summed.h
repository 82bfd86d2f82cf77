/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summed.h - parks of busy threads that a recorder added up (agent:Parks), of a recording in memory.
 *
 * They have no rows among `parks`: how long they were is known for a window of time (100 ms mostly), and
 * not where in it. Whoever shows them beside parks of their own says that they are sums.
 */
#ifndef DIAL9_SUMMED_H
#define DIAL9_SUMMED_H

#include <stdbool.h>
#include <stdint.h>

struct columns;

struct summed {
	uint32_t lane; /* of its worker, COLUMNS_NONE if it is not known */
	uint64_t from_ns, to_ns; /* from < to */
	uint64_t parks, parked_ns, delayed_ns; /* asleep; then runnable, but without a CPU */
};

struct summed_iter { /* {0} at first */
	uint32_t schema, record; /* numbers + 1 */
};

/* The next one, in the order of the file. false: there is none. */
bool summed_next(const struct columns *c, struct summed_iter *it, struct summed *ret);

/* As much of `value` as falls to [from_ns, to_ns), as if it were spread evenly over the window. */
uint64_t summed_part(const struct summed *s, uint64_t value, uint64_t from_ns, uint64_t to_ns);

/* How a window is called where it stands as one piece: "parks added up: 63 % of this". */
#define SUMMED_NAME_SZ 48
const char *summed_name(const struct summed *s, char text[SUMMED_NAME_SZ]);

/*
 * What falls to [from_ns, to_ns), by lane: `ret` (calloc'ed, free it) has as many as the recording has
 * lanes. 0 or -ENOMEM.
 */
int summed_lanes(const struct columns *c, uint64_t from_ns, uint64_t to_ns, struct summed **ret);

#endif /* DIAL9_SUMMED_H */
