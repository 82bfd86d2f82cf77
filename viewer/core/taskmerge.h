/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taskmerge.h - each task's polls and wakes, merged by time: which wake led to which poll.
 *
 * A wait runs from the first wake since the task's poll before began to the start of its next
 * poll; if that wake came while the task was polled, from that poll's end. Where the end was not
 * seen, the wait's start is unknown. Linear in polls and wakes.
 */
#ifndef DIAL9_TASKMERGE_H
#define DIAL9_TASKMERGE_H

struct columns;
struct gather;

/* Makes tasks, task_polls, task_wakes, task_slots; fills polls.ready_ns, polls.wake, wakes.flags.
 * Needs polls and wakes. 0 or -ENOMEM. */
int taskmerge_run(struct columns *c, struct gather *g);

#endif /* DIAL9_TASKMERGE_H */
