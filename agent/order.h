/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - records of many rings into one stream in time order, within a bounded window.
 *
 * A record is stamped, then reserved in its CPU's ring: within a ring the order is nearly right
 * (a preempted probe may come a little late), between rings it is not. Records wait here until
 * nothing older can still come, then leave in order. A record that comes after younger ones have
 * left is handed on at once and counted as late. Memory is fixed at the start.
 */
#ifndef DIAL9_ORDER_H
#define DIAL9_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct order;
struct wire_head;

typedef void (*order_cb)(void *ctx, const struct wire_head *rec, size_t sz);

/* Room for about `lane_sz` bytes of records in each of `lanes_cnt` lanes (one per ring): rounded up
 * to whole chunks of 64 KiB, at least two, each of which may stay empty at its end. -ENOMEM. */
int order_new(unsigned lanes_cnt, size_t lane_sz, struct order **ret);
void order_free(struct order *o);

/* Copies one checked record into a lane. 0; 1 = taken, but there is no room for another of the
 * largest size: flush first. A record for which there is no room at all is refused, -ENOSPC. */
int order_add(struct order *o, unsigned lane, const struct wire_head *rec, size_t sz);

/* Hands on, in order, every record stamped up to `upto_ns`. */
void order_flush(struct order *o, uint64_t upto_ns, order_cb cb, void *ctx);

/* Stamp of the youngest record of a lane ever added, 0 = none. */
uint64_t order_lane_last(const struct order *o, unsigned lane);

/* Records that came too late to be in order. */
uint64_t order_late(const struct order *o);

#endif /* DIAL9_ORDER_H */
