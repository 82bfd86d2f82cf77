/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler.h - which kind of scheduler the Arc in a task belongs to.
 *
 * multi_thread: an array of Remotes. LocalSet: two ring buffers of tasks in one small object.
 * current_thread: a list of owned tasks, and neither of those.
 */
#ifndef DIAL9_SCHEDULER_H
#define DIAL9_SCHEDULER_H

#include "census.h"
#include "seat.h"

/*
 * `remotes` is filled when it is multi_thread. `remotes_off` is where the build is known to keep
 * them, 0 = search. 0, -ENOENT (a LocalSet, or nothing that is known), -ESRCH, -E2BIG.
 */
int scheduler_judge(const struct census_handle *h, uint16_t remotes_off, struct remotes *remotes,
		    enum seat_flavor *ret);

#endif /* DIAL9_SCHEDULER_H */
