/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasklist.h - Tokio's OwnedTasks lists: where each lies, whose it is, how many of its tasks live.
 *
 * A spawn tells the list's address, a poll its owner id; the first poll of a task spawned before
 * our eyes ties the two together. A list is named by a small number that fits struct task.
 */
#ifndef DIAL9_TASKLIST_H
#define DIAL9_TASKLIST_H

#include <stdint.h>

#define TASKLISTS_MAX 255 /* further lists are not counted: TASK_NO_LIST */

struct tasklist {
	uint64_t owned_tasks; /* address in the target, 0 = not seen */
	uint32_t owner_id; /* 0 = not seen */
	int64_t alive; /* spawned or first seen, and not ended */
};

struct tasklists {
	uint32_t cnt;
	struct tasklist at[TASKLISTS_MAX];
};

/* A task was bound to the list at this address. */
uint8_t tasklists_bound(struct tasklists *ls, uint64_t owned_tasks);

/* First poll of a task: `list` is what tasklists_bound gave, TASK_NO_LIST if its spawn was not
 * seen. Returns the list it is counted in from now on. */
uint8_t tasklists_polled(struct tasklists *ls, uint8_t list, uint32_t owner_id);

/* A task of the list has ended. */
void tasklists_ended(struct tasklists *ls, uint8_t list);

/* NULL = not seen. */
const struct tasklist *tasklists_by_owner(const struct tasklists *ls, uint32_t owner_id);

#endif /* DIAL9_TASKLIST_H */
