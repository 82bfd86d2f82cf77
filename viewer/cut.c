// SPDX-License-Identifier: Apache-2.0
/* cut.c - for each table: how many rows are kept before each row; then all values, renumbered. */
#include "cut.h"

#include "core/columns.h"
#include "core/tables.h"
#include "scope.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct cut {
	const struct columns *c;
	/* by table: cnt + 1 numbers, kept rows before each row; NULL: all are kept */
	uint32_t *before[TABLES_CNT];
};

static bool cut_keeps(const struct cut *x, uint32_t table, uint32_t row)
{
	const uint32_t *before = x->before[table];

	return !before || before[row + 1] > before[row];
}

static uint32_t cut_row(const struct cut *x, uint32_t table, uint32_t row)
{
	if (row == COLUMNS_NONE || !cut_keeps(x, table, row))
		return COLUMNS_NONE;
	return x->before[table] ? x->before[table][row] : row;
}

/* Marks in before[row + 1], made sums by cut_sum. */
static uint32_t *cut_marks(struct cut *x, uint32_t table)
{
	return x->before[table] = calloc((size_t)tables_rows(x->c, table) + 1, sizeof(uint32_t));
}

static void cut_sum(const struct cut *x, uint32_t table)
{
	uint32_t *before = x->before[table], cnt = tables_rows(x->c, table);

	for (uint32_t i = 0; i < cnt; i++)
		before[i + 1] += before[i];
}

static int cut_by_scope(struct cut *x, const struct scope *s, uint32_t table)
{
	uint32_t *marks = cut_marks(x, table), cnt = tables_rows(x->c, table);

	if (!marks)
		return -ENOMEM;
	for (uint32_t i = 0; i < cnt; i++)
		marks[i + 1] = scope_row(s, table, i);
	if (table != TABLES_tasks)
		cut_sum(x, table);
	return 0;
}

/* A table each of whose rows stands for a row of another. */
static int cut_by_link(struct cut *x, uint32_t table, const uint32_t *link, uint32_t of)
{
	uint32_t *marks = cut_marks(x, table), cnt = tables_rows(x->c, table);

	if (!marks)
		return -ENOMEM;
	for (uint32_t i = 0; i < cnt; i++)
		marks[i + 1] = cut_keeps(x, of, link[i]);
	cut_sum(x, table);
	return 0;
}

static void cut_name(const struct cut *x, uint32_t *marks, uint32_t table, const uint32_t *task)
{
	uint32_t cnt = tables_rows(x->c, table);

	for (uint32_t i = 0; i < cnt; i++)
		if (task[i] != COLUMNS_NONE && cut_keeps(x, table, i))
			marks[task[i] + 1] = 1;
}

static int cut_choose(struct cut *x, const struct scope *s)
{
	static const uint32_t chosen[] = { TABLES_polls,   TABLES_parks, TABLES_wakes,
					   TABLES_samples, TABLES_offs,	 TABLES_queues,
					   TABLES_records, TABLES_tasks };
	const struct columns *c = x->c;
	uint32_t *tasks;
	int err = 0;

	for (size_t i = 0; err == 0 && i < sizeof(chosen) / sizeof(chosen[0]); i++)
		err = cut_by_scope(x, s, chosen[i]);
	if (err)
		return err;
	tasks = x->before[TABLES_tasks];
	cut_name(x, tasks, TABLES_polls, c->polls.task);
	cut_name(x, tasks, TABLES_wakes, c->wakes.task);
	cut_name(x, tasks, TABLES_wakes, c->wakes.waker);
	cut_name(x, tasks, TABLES_offs, c->offs.task);
	cut_sum(x, TABLES_tasks);
	err = cut_by_link(x, TABLES_task_polls, c->task_polls.poll, TABLES_polls);
	if (err == 0)
		err = cut_by_link(x, TABLES_task_wakes, c->task_wakes.wake, TABLES_wakes);
	if (err == 0)
		err = cut_by_link(x, TABLES_bads, c->bads.poll, TABLES_polls);
	if (err == 0 && !cut_marks(x, TABLES_nodes)) /* no marks: none is kept */
		err = -ENOMEM;
	return err;
}

static void cut_put(void *to, uint32_t at, uint8_t sz, uint64_t value)
{
	switch (sz) {
	case 1:
		((uint8_t *)to)[at] = (uint8_t)value;
		break;
	case 2:
		((uint16_t *)to)[at] = (uint16_t)value;
		break;
	case 4:
		((uint32_t *)to)[at] = (uint32_t)value;
		break;
	default:
		((uint64_t *)to)[at] = value;
		break;
	}
}

static void cut_column(const struct cut *x, uint32_t table, uint32_t column, struct columns *to)
{
	const struct tables_column *k = &tables_columns[column];
	uint32_t cnt = tables_rows(x->c, table), at = 0;
	void *p;

	memcpy(&p, (const char *)to + k->at, sizeof(p));
	for (uint32_t i = 0; i < cnt; i++) {
		uint64_t value;

		if (!cut_keeps(x, table, i))
			continue;
		value = tables_value(x->c, column, i);
		if (k->kind == TABLES_REF || k->kind == TABLES_LINK)
			value = cut_row(x, k->of, (uint32_t)value);
		else if (k->kind != TABLES_NUM && x->before[k->of])
			value = x->before[k->of][value];
		cut_put(p, at++, k->sz, value);
	}
}

/* A power of two, at least twice the tasks, whatever the file says. */
static uint32_t cut_slots_cnt(uint32_t tasks)
{
	uint32_t cnt = 2;

	while (cnt / 2 < tasks && cnt < 1u << 31)
		cnt *= 2;
	return cnt;
}

/* Open addressing does not bear holes: all tasks find a place anew. */
static void cut_slots(struct columns *to)
{
	uint32_t *slots = tables_mut(to->task_slots.task), mask = to->task_slots.cnt - 1, at;

	for (uint32_t i = 0; i < to->task_slots.cnt; i++)
		slots[i] = COLUMNS_NONE;
	for (uint32_t i = 0; i < to->tasks.cnt; i++) {
		at = columns_slot(to->tasks.id[i], to->odd.task_seed) & mask;
		while (slots[at] != COLUMNS_NONE)
			at = (at + 1) & mask;
		slots[at] = i;
	}
}

static void cut_tasks(struct columns *to)
{
	uint64_t *busy = tables_mut(to->tasks.busy_ns), *worst = tables_mut(to->tasks.worst_ns);

	memset(busy, 0, to->tasks.cnt * sizeof(*busy));
	memset(worst, 0, to->tasks.cnt * sizeof(*worst));
	for (uint32_t i = 0; i < to->polls.cnt; i++) {
		uint32_t task = to->polls.task[i];

		if (task == COLUMNS_NONE)
			continue;
		busy[task] += to->polls.dur_ns[i];
		if (to->polls.dur_ns[i] > worst[task])
			worst[task] = to->polls.dur_ns[i];
	}
}

int cut_make(const struct columns *c, const struct scope *s, struct columns **ret)
{
	struct cut x = { .c = c };
	struct columns *to = calloc(1, sizeof(*to));
	int err = to ? cut_choose(&x, s) : -ENOMEM;

	for (uint32_t t = 0; err == 0 && t < TABLES_CNT; t++) {
		uint32_t cnt = tables_rows(c, t);

		if (t == TABLES_task_slots) {
			err = tables_alloc(to, t,
					   cut_slots_cnt(x.before[TABLES_tasks][c->tasks.cnt]));
			continue;
		}
		err = tables_alloc(to, t, x.before[t] ? x.before[t][cnt] : cnt);
		for (uint32_t i = tables_all[t].columns_from;
		     err == 0 && i < tables_all[t].columns_to; i++)
			cut_column(&x, t, i, to);
	}
	for (uint32_t t = 0; t < TABLES_CNT; t++)
		free(x.before[t]);
	if (err) {
		cut_free(to);
		return err;
	}
	to->odd = c->odd;
	cut_slots(to);
	cut_tasks(to);
	*ret = to;
	return 0;
}

void cut_free(struct columns *c)
{
	if (c)
		tables_free(c);
	free(c);
}

int cut_asked(const struct columns *c, const struct request *req, struct columns **ret)
{
	struct scope s;
	int err = scope_init(&s, c, req);

	*ret = NULL;
	if (err == 0 && scope_has_any(&s))
		err = cut_make(c, &s, ret);
	scope_done(&s);
	return err;
}
