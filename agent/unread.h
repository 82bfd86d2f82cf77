/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unread.h - which workers' poll starts carry the length of their run queue, told in the metadata.
 *
 * The field is mandatory, so an unread length is 0 on the wire. At each place of the file the
 * metadata before it says which zeros are none: `tokio.local_queue` (false: nothing was read so far;
 * partial: the workers in `agent.local_queue_unread` carry none; true: all do) and, while nothing
 * was read, `agent.unknown`. A worker enters the list before its first unread poll start is written,
 * and leaves it UNREAD_HOLD_NS after the last one.
 */
#ifndef DIAL9_UNREAD_H
#define DIAL9_UNREAD_H

#include <stdbool.h>
#include <stdint.h>

struct emit;
struct runtimes;
struct worker;

#define UNREAD_HOLD_NS 100000000ull /* so that a worker read now and then does not fill the file */

struct unread { /* zeroed at first */
	bool has_any; /* a length was read */
	uint32_t listed_cnt;
};

/* A poll start of `w` is about to be written. */
void unread_note(struct unread *u, struct emit *e, struct worker *w, bool is_read, uint64_t ts_ns);

/* At each tick (pace.h). */
void unread_tick(struct unread *u, struct emit *e, struct runtimes *rs, uint64_t now_ns);

#endif /* DIAL9_UNREAD_H */
