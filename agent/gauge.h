/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gauge.h - RuntimeMetricsEvent of each live runtime: its global queue and its tasks alive, read
 * from memory, and the metadata's word on which of the two is known (agent.unknown).
 */
#ifndef DIAL9_GAUGE_H
#define DIAL9_GAUGE_H

#include <stdbool.h>
#include <stdint.h>

struct emit;
struct runtimes;
struct tasklists;
struct track_options;

/* One event of each live MULTI and CURRENT runtime. `lists` helps to find them in memory; `has_all`:
 * every task was seen since it was spawned, so that our own count will do where memory does not
 * tell. A value is named unknown before the first event that carries none is written. */
void gauges_sample(struct runtimes *rs, const struct track_options *o, struct emit *e,
		   const struct tasklists *lists, uint64_t now_ns, bool has_all);

#endif /* DIAL9_GAUGE_H */
