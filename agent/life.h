/* SPDX-License-Identifier: Apache-2.0 */
/* life.h - a task's birth, first sight and end; each is written once. */
#ifndef DIAL9_LIFE_H
#define DIAL9_LIFE_H

#include <stdbool.h>
#include <stdint.h>

struct track;
struct runtime;
struct wire_bind;
struct wire_poll_start;
struct wire_shutdown;
struct wire_spawn_id;

/* agent:TaskEnd.cause */
enum life_cause {
	CAUSE_UNKNOWN = 0,
	CAUSE_CANCELLED = 1,
	CAUSE_SHUTDOWN = 2,
	CAUSE_FINISHED_OR_PANICKED = 3,
	CAUSE_PANICKED = 4,
	CAUSE_FINISHED = 5,
};

bool life_spawn_id(struct track *t, const struct wire_spawn_id *rec);
bool life_bind(struct track *t, const struct wire_bind *rec);
bool life_shutdown(struct track *t, const struct wire_shutdown *rec);

/* An async task is polled for a list of `rt` (NULL = of no known runtime). Announces it if it is
 * new; returns the emit_name of its spawn place or type. */
uint32_t life_polled(struct track *t, const struct wire_poll_start *rec, const struct runtime *rt);

/* It is over. false: it was over before. */
bool life_end(struct track *t, uint64_t task_id, uint64_t ts_ns, enum life_cause cause);

#endif /* DIAL9_LIFE_H */
