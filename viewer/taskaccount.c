// SPDX-License-Identifier: Apache-2.0
/* taskaccount.c - the part of the account that follows tasks from spawn to end. */
#include "taskaccount.h"

#include "account.h"
#include "tasktable.h"
#include "typetable.h"

#include <stddef.h>

/* Gives a task its type when it is first known; a task is counted in its type only then. */
void taskaccount_type(struct account *a, struct task *t, uint32_t type)
{
	struct type_row *row = typetable_row(a->types, type);

	if (t->type != TASK_TYPE_NONE)
		return;
	t->type = type;
	if (t->flags & TASK_SPAWNED) {
		row->spawned++;
	} else {
		t->flags |= TASK_ALIVE;
		row->seen++;
	}
}

void taskaccount_spawn(struct account *a, const struct moment *m)
{
	struct task *t = tasktable_get(a->tasks, m->task);

	if (!t)
		return;
	/* a task that was seen alive before its spawn (late event) is not counted twice */
	if (t->flags & TASK_ENDED)
		tasktable_revive(a->tasks, t);
	t->flags |= TASK_SPAWNED;
	taskaccount_type(a, t, typetable_find(a->types, m->label));
}

void taskaccount_alive(struct account *a, const struct moment *m)
{
	struct task *t = tasktable_get(a->tasks, m->task);

	if (t && !(t->flags & TASK_ENDED))
		taskaccount_type(a, t, typetable_find(a->types, m->label));
}

void taskaccount_end(struct account *a, const struct moment *m)
{
	struct task *t = tasktable_find(a->tasks, m->task);

	if (!t || t->type == TASK_TYPE_NONE)
		a->unknown_ends++;
	else if (!(t->flags & TASK_ENDED))
		typetable_row(a->types, t->type)->ended++;
	if (t)
		tasktable_end(a->tasks, t);
}

void taskaccount_cause(struct account *a, const struct moment *m)
{
	struct task *t = tasktable_find(a->tasks, m->task);

	if (!t || t->type == TASK_TYPE_NONE)
		return;
	typetable_row(a->types, t->type)->cancelled += m->a == 1;
	typetable_row(a->types, t->type)->panicked += m->a == 4;
}

void taskaccount_wake(struct account *a, const struct moment *m)
{
	struct task *t = tasktable_get(a->tasks, m->task);
	struct type_row *row;

	if (!t || (t->flags & TASK_ENDED))
		return;
	row = t->type == TASK_TYPE_NONE ? NULL : typetable_row(a->types, t->type);
	if (row)
		row->wakes++;
	if (t->wake_ns || (t->flags & TASK_WOKEN_RUNNING)) {
		if (row)
			row->redundant_wakes++;
	} else if (t->flags & TASK_RUNNING) {
		t->flags |= TASK_WOKEN_RUNNING;
	} else {
		t->wake_ns = m->ts_ns;
	}
}
