// SPDX-License-Identifier: Apache-2.0
/* gather.c - names to numbers, and the frame of the gathering. */
#include "gather.h"

#include "format/trace.h"

#include <stdlib.h>
#include <string.h>

#define GATHER_RECORD_SCHEMAS 65536u
#define GATHER_STACK_BYTES (1u << 30)
#define GATHER_NONE COLUMNS_NONE

int gather_init(struct gather *g)
{
	int err = 0;

	memset(g, 0, sizeof(*g));
	dict_init(&g->texts, COLUMNS_TEXTS_MAX, COLUMNS_TEXT_BYTES_MAX, 1);
	dict_init(&g->stacks, COLUMNS_STACKS_MAX, GATHER_STACK_BYTES, 0);
	dict_init(&g->frames, UINT32_MAX - 1, UINT32_MAX, 0);
	dict_init(&g->lanes, COLUMNS_LANES_MAX, UINT32_MAX, 0);
	dict_init(&g->schemas, GATHER_RECORD_SCHEMAS, UINT32_MAX, 0);
	g->seed = dict_seed();
	g->sampled.task = GATHER_NONE;
	g->moments.sz = sizeof(struct gather_moment);
	g->parks.sz = sizeof(struct gather_park);
	g->spans.sz = sizeof(struct gather_span);
	g->wakes.sz = sizeof(struct gather_wake);
	g->samples.sz = sizeof(struct gather_sample);
	g->offs.sz = sizeof(struct gather_off);
	g->queues.sz = sizeof(struct gather_queue);
	g->records.sz = sizeof(struct gather_record);
	g->record_bytes.sz = 1;
	g->clocks.sz = sizeof(struct gather_clock);
	g->bindings.sz = sizeof(struct gather_binding);
	g->tasks.sz = sizeof(struct gather_task);
	g->symbols.sz = sizeof(struct gather_symbol);
	g->segments.sz = sizeof(struct gather_segment);
	g->facts.sz = sizeof(struct gather_fact);
	g->pooled_texts = calloc(GATHER_POOLED, sizeof(*g->pooled_texts));
	g->pooled_stacks = calloc(GATHER_POOLED, sizeof(*g->pooled_stacks));
	if (!g->pooled_texts || !g->pooled_stacks)
		return -ENOMEM;
	dict_put(&g->texts, "", 0, &err);
	dict_put(&g->texts, "(other)", 7, &err);
	dict_put(&g->stacks, "", 0, &err);
	dict_put(&g->lanes, "", 0, &err);
	return err;
}

void gather_free(struct gather *g)
{
	struct rows *rows[GATHER_ROWS];
	struct dict *dicts[GATHER_DICTS];

	gather_parts(g, rows, dicts);
	for (size_t i = 0; i < GATHER_ROWS; i++)
		rows_free(rows[i]);
	for (size_t i = 0; i < GATHER_DICTS; i++)
		dict_free(dicts[i]);
	free(g->task_slots);
	free(g->gaps);
	free(g->pooled_texts);
	free(g->pooled_stacks);
}

void gather_parts(struct gather *g, struct rows *rows[GATHER_ROWS], struct dict *dicts[GATHER_DICTS])
{
	struct rows *const all_rows[GATHER_ROWS] = {
		&g->moments, &g->parks,	  &g->spans,	    &g->wakes,	&g->samples,
		&g->offs,    &g->queues,  &g->records,	    &g->clocks, &g->bindings,
		&g->tasks,   &g->symbols, &g->record_bytes, &g->facts,	&g->segments
	};
	struct dict *const all_dicts[GATHER_DICTS] = { &g->texts, &g->stacks, &g->frames, &g->lanes,
						       &g->schemas };

	memcpy(rows, all_rows, sizeof(all_rows));
	memcpy(dicts, all_dicts, sizeof(all_dicts));
}

uint64_t gather_sz(const struct gather *g)
{
	uint64_t sz = sizeof(*g) + 2 * GATHER_POOLED * sizeof(*g->pooled_texts);
	struct rows *rows[GATHER_ROWS];
	struct dict *dicts[GATHER_DICTS];

	gather_parts((struct gather *)(uintptr_t)g, rows, dicts); /* only read here */
	for (size_t i = 0; i < GATHER_ROWS; i++)
		sz += rows[i]->cnt * rows[i]->sz;
	for (size_t i = 0; i < GATHER_DICTS; i++)
		sz += dicts[i]->bytes_cap +
		      (dicts[i]->ends_cap + dicts[i]->slots_cnt) * sizeof(*dicts[i]->ends);
	return sz + g->task_slots_cnt * sizeof(*g->task_slots);
}

void gather_done(struct gather *g, struct rows *r)
{
	if (!g->is_kept)
		rows_free(r);
}

void *gather_row(struct gather *g, struct rows *r)
{
	return rows_add(r, &g->err);
}

/* ---- numbers ---- */

static bool gather_known(const struct gather *g, const struct gather_pooled *p,
			 const struct d9_ev *ev, const struct d9_value *v)
{
	return p->batch == g->batch_base + ev->batch && p->pool_id == v->pool_id;
}

uint32_t gather_text(struct gather *g, const struct d9_ev *ev, const struct d9_value *v)
{
	struct d9_str s = d9_value_str(v);
	struct gather_pooled *p;

	if (!s.p || s.len == 0)
		return 0;
	if (v->type != D9_T_PSTRING)
		return dict_put(&g->texts, s.p, s.len, &g->err);
	p = &g->pooled_texts[v->pool_id & (GATHER_POOLED - 1)];
	if (!gather_known(g, p, ev, v))
		*p = (struct gather_pooled){ g->batch_base + ev->batch, v->pool_id,
					     dict_put(&g->texts, s.p, s.len, &g->err) };
	return p->number;
}

uint32_t gather_frame(struct gather *g, uint64_t addr)
{
	return dict_put(&g->frames, &addr, sizeof(addr), &g->err);
}

uint32_t gather_stack(struct gather *g, const struct d9_ev *ev, const struct d9_value *v)
{
	struct gather_pooled *p = NULL;
	uint32_t *frames, number;

	if (!v || (v->type != D9_T_PSTACK && v->type != D9_T_STACK) || !v->frames || v->cnt == 0)
		return 0;
	if (v->type == D9_T_PSTACK) {
		p = &g->pooled_stacks[v->pool_id & (GATHER_POOLED - 1)];
		if (gather_known(g, p, ev, v))
			return p->number;
	}
	frames = malloc(v->cnt * sizeof(*frames));
	if (!frames) {
		g->err = -ENOMEM;
		return 0;
	}
	for (uint32_t i = 0; i < v->cnt; i++)
		frames[i] = gather_frame(g, v->frames[i]);
	number = dict_put(&g->stacks, frames, v->cnt * sizeof(*frames), &g->err);
	free(frames);
	if (p)
		*p = (struct gather_pooled){ g->batch_base + ev->batch, v->pool_id, number };
	return number;
}

uint16_t gather_lane(struct gather *g, enum columns_lane kind, uint64_t id)
{
	uint32_t key[2] = { kind, (uint32_t)id };
	uint16_t *known = kind == COLUMNS_WORKER && id < 1024 ? &g->worker_lanes[id] : NULL;
	uint16_t lane;

	if (known && *known)
		return *known;
	if (id > UINT32_MAX) {
		g->odd.over_cap++;
		return 0;
	}
	lane = (uint16_t)dict_put(&g->lanes, key, sizeof(key), &g->err);
	if (known)
		*known = lane;
	return lane;
}

static bool gather_task_room(struct gather *g)
{
	uint32_t cnt = g->task_slots_cnt ? 2 * g->task_slots_cnt : 4096, at;
	uint32_t *slots;

	if (g->tasks.cnt < g->task_slots_cnt / 2)
		return true;
	slots = cnt ? malloc(cnt * sizeof(*slots)) : NULL;
	if (!slots)
		return false;
	memset(slots, 0xff, cnt * sizeof(*slots));
	for (uint32_t i = 0; i < g->tasks.cnt; i++) {
		const struct gather_task *t = rows_at(&g->tasks, i);

		at = columns_slot(t->id, g->seed) & (cnt - 1);
		while (slots[at] != GATHER_NONE)
			at = (at + 1) & (cnt - 1);
		slots[at] = i;
	}
	free(g->task_slots);
	g->task_slots = slots;
	g->task_slots_cnt = cnt;
	return true;
}

uint32_t gather_task(struct gather *g, uint64_t id)
{
	struct gather_task *t;
	uint32_t at, mask;

	if (id == 0)
		return GATHER_NONE;
	if (!gather_task_room(g)) {
		g->err = -ENOMEM;
		return GATHER_NONE;
	}
	mask = g->task_slots_cnt - 1;
	for (at = columns_slot(id, g->seed) & mask; g->task_slots[at] != GATHER_NONE;
	     at = (at + 1) & mask) {
		t = rows_at(&g->tasks, g->task_slots[at]);
		if (t->id == id)
			return g->task_slots[at];
	}
	t = gather_row(g, &g->tasks);
	if (!t)
		return GATHER_NONE;
	*t = (struct gather_task){ .id = id };
	return g->task_slots[at] = (uint32_t)g->tasks.cnt - 1;
}

/* Each was put behind those before it: taken out from the last one on, none leaves a hole that
 * another was found across. */
void gather_forget_tasks(struct gather *g, size_t cnt)
{
	uint32_t mask = g->task_slots_cnt - 1, at;

	while (g->tasks.cnt > cnt) {
		const struct gather_task *t = rows_at(&g->tasks, --g->tasks.cnt);

		at = columns_slot(t->id, g->seed) & mask;
		while (g->task_slots[at] != g->tasks.cnt)
			at = (at + 1) & mask;
		g->task_slots[at] = GATHER_NONE;
	}
}

struct gather_task *gather_task_row(struct gather *g, uint32_t task)
{
	return task == GATHER_NONE ? NULL : rows_at(&g->tasks, task);
}

void gather_sampled(struct gather *g, const struct d9_ev *ev)
{
	g->sampled = (struct gather_sampled){
		ev->ts_ns,
		(uint32_t)d9_u64(ev, D9F_agent_sample_tid, 0),
		gather_task(g, d9_u64(ev, D9F_agent_sample_task_id, 0)),
	};
}

uint32_t gather_sampled_task(const struct gather *g, uint64_t ts_ns, uint32_t tid)
{
	return g->sampled.ts_ns == ts_ns && g->sampled.tid == tid ? g->sampled.task : COLUMNS_NONE;
}

void gather_gap(struct gather *g)
{
	size_t *p;

	if (g->gaps_cnt && g->gaps[g->gaps_cnt - 1] == g->file_from)
		return;
	p = realloc(g->gaps, (g->gaps_cnt + 1) * sizeof(*p));
	if (!p) {
		g->err = -ENOMEM;
		return;
	}
	g->gaps = p;
	g->gaps[g->gaps_cnt++] = g->file_from;
}

void gather_begin(struct gather *g, const char *name, bool is_after_gap)
{
	g->segment =
		(struct gather_segment){ .name = dict_put(&g->texts, name, strlen(name), &g->err) };
	g->file_from = g->moments.cnt;
	g->batch_base += 1ull << 32;
	memset(g->tid_of, 0, sizeof(g->tid_of));
	if (is_after_gap)
		gather_gap(g);
}

void gather_end(struct gather *g, int err, uint64_t bytes)
{
	struct gather_segment *s = gather_row(g, &g->segments);

	g->segment.err = (uint32_t)-err;
	g->segment.bytes = bytes;
	if (s)
		*s = g->segment;
}
