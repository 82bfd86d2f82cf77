/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crews.h - the workers of each runtime: who could have done another's work, and who slept meanwhile.
 *
 * Only lanes of workers that polled or parked count. A runtime of one worker is a crew of one.
 */
#ifndef DIAL9_CREWS_H
#define DIAL9_CREWS_H

#include <stdbool.h>
#include <stdint.h>

#include "sleepgrid.h"

struct columns;
struct scope;

struct crew {
	uint32_t runtime; /* text; 0: no name recorded */
	uint32_t *lanes; /* rows of lanes */
	uint32_t cnt;
};

struct crews {
	const struct columns *c; /* borrowed */
	struct crew *at;
	uint32_t cnt;
	uint32_t *of_lane; /* number of each lane's crew, or COLUMNS_NONE */
	uint64_t *parked_before; /* by row of parks, and one more: time asleep in all rows before */
	struct sleepgrid grid; /* by lane */
};

/* All crews, whatever a filter asks. 0 or -ENOMEM; crews_done frees in either case. */
int crews_init(struct crews *x, const struct columns *c);
void crews_done(struct crews *x);

/* Does any worker of it pass? */
bool crews_pass(const struct crews *x, uint32_t crew, const struct scope *s);

/* Time that a lane's worker slept in [from, to): parked, without what it then waited for a CPU. */
uint64_t crews_parked(const struct crews *x, uint32_t lane, uint64_t from_ns, uint64_t to_ns);

/* How many others of its crew slept for more than half of [from, to). */
uint32_t crews_idle_peers(const struct crews *x, uint32_t lane, uint64_t from_ns, uint64_t to_ns);

/* Is it a task that somebody spawned? The task that a worker itself is for Tokio, whose id some
 * recorders note as the waker of what the driver wakes, is never polled and has no type. */
bool crews_is_task(const struct columns *c, uint32_t task);

/* End of a poll, of a park; the part of it that was sleep. They never overflow. */
uint64_t crews_poll_end(const struct columns *c, uint32_t poll);
uint64_t crews_park_end(const struct columns *c, uint32_t park);
uint64_t crews_asleep(const struct columns *c, uint32_t park);

#endif /* DIAL9_CREWS_H */
