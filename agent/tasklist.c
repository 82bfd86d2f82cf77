// SPDX-License-Identifier: Apache-2.0
/* tasklist.c - see tasklist.h. */
#include "agent/tasklist.h"

#include <stddef.h>

#include "agent/task.h"

_Static_assert(TASKLISTS_MAX <= TASK_NO_LIST, "a list's number fits struct task");

static uint8_t add(struct tasklists *ls, uint64_t owned_tasks, uint32_t owner_id)
{
	if (ls->cnt == TASKLISTS_MAX)
		return TASK_NO_LIST;
	ls->at[ls->cnt] = (struct tasklist){owned_tasks, owner_id, 1};
	return (uint8_t)ls->cnt++;
}

uint8_t tasklists_bound(struct tasklists *ls, uint64_t owned_tasks)
{
	/* backwards: memory of a dropped runtime may be a list again, the latest one counts */
	for (uint32_t i = ls->cnt; i-- > 0;) {
		if (ls->at[i].owned_tasks != owned_tasks)
			continue;
		ls->at[i].alive++;
		return (uint8_t)i;
	}
	return add(ls, owned_tasks, 0);
}

uint8_t tasklists_polled(struct tasklists *ls, uint8_t list, uint32_t owner_id)
{
	uint64_t owned_tasks = 0;

	if (list < ls->cnt && ls->at[list].owner_id == owner_id)
		return list;
	if (list < ls->cnt && !ls->at[list].owner_id) {
		ls->at[list].owner_id = owner_id;
		return list;
	}
	/* Not bound before our eyes, or bound to an address that had another owner before. */
	if (list < ls->cnt) {
		ls->at[list].alive--;
		owned_tasks = ls->at[list].owned_tasks;
	}
	for (uint32_t i = 0; i < ls->cnt; i++) {
		if (ls->at[i].owner_id != owner_id)
			continue;
		ls->at[i].alive++;
		return (uint8_t)i;
	}
	return add(ls, owned_tasks, owner_id);
}

void tasklists_ended(struct tasklists *ls, uint8_t list)
{
	if (list < ls->cnt)
		ls->at[list].alive--;
}

const struct tasklist *tasklists_by_owner(const struct tasklists *ls, uint32_t owner_id)
{
	for (uint32_t i = 0; i < ls->cnt; i++)
		if (ls->at[i].owner_id == owner_id)
			return &ls->at[i];
	return NULL;
}
