/* SPDX-License-Identifier: Apache-2.0 */
/*
 * critpath.h - the critical path to a poll's end, walked back through wakes.
 *
 * From the end of a poll back to its start it ran; from there back to when its task became runnable
 * it was ready. What made it so is the poll that woke it (up to the wake), or its own poll before,
 * if it was woken while it ran. So the steps leave no gap and their lengths sum to the path's. It
 * ends where no task made the wake (driver, timer, another thread), at a spawn, or where what came
 * before is not recorded.
 */
#ifndef DIAL9_CRITPATH_H
#define DIAL9_CRITPATH_H

#include <stdint.h>

struct columns;

#define CRITPATH_STEPS_MAX 10000u

enum critpath_root {
	CRITPATH_OUTSIDE, /* woken by no task: driver, timer, a thread of no task */
	CRITPATH_SPAWN, /* the task's first poll */
	CRITPATH_UNKNOWN, /* no wake of it was recorded */
	CRITPATH_LONG, /* CRITPATH_STEPS_MAX */
};
#define CRITPATH_ROOTS 4

struct critpath_step { /* latest first */
	uint32_t poll; /* row of polls */
	uint64_t ready_ns; /* runnable since; start_ns if that is not known */
	uint64_t start_ns, to_ns; /* ran from, to */
};

/*
 * Tells each step of the path that ends with `poll` (at its end). Returns why it ended; *ret_from_ns
 * is where it began. Times never run forward from step to step.
 */
enum critpath_root critpath_walk(const struct columns *c, uint32_t poll,
				 void (*step)(void *ctx, const struct critpath_step *s), void *ctx,
				 uint64_t *ret_from_ns);

/* "driver, timer or another thread", ... */
const char *critpath_root_name(enum critpath_root root);

#endif /* DIAL9_CRITPATH_H */
