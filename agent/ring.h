/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - drains the kernel's rings into order.h, on the caller's timer; nothing wakes it up.
 */
#ifndef DIAL9_RING_H
#define DIAL9_RING_H

#include <stddef.h>
#include <stdint.h>

#include "order.h"

/* How long a record may lie between its stamp and its place in the ring before it counts as late:
 * a probe preempted right there comes back within this time on all but a starved machine. */
#define RING_WINDOW_NS 50000000ull
#define RING_STALL_NS 500000000ull /* a ring stuck on an unfinished record is waited for this long */

struct probe;
struct rings;

int rings_open(const struct probe *p, size_t ring_sz, struct rings **ret);
void rings_close(struct rings *r);

/*
 * Takes what the rings hold and hands on, in time order, what is older than the window. All of it
 * with `is_last`. Returns the time up to which records have been handed on. Bytes that are no
 * record are counted (rings_bad), never used.
 */
uint64_t rings_drain(struct rings *r, uint64_t now_ns, int is_last, order_cb cb, void *ctx);

uint64_t rings_bad(const struct rings *r); /* records of unknown kind or wrong size */
uint64_t rings_late(const struct rings *r); /* handed on out of order */

#endif /* DIAL9_RING_H */
