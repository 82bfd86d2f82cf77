// SPDX-License-Identifier: Apache-2.0
/* pools.c - rows that keep their shape. */
#include "pools.h"

#include "gather.h"
#include "tables.h"

#include <stdlib.h>
#include <string.h>

/* Rows in time order: *ret is their numbers, to be freed. */
static int pools_order(const struct rows *r, uint32_t **ret)
{
	uint32_t from[2];

	return rows_order(r, NULL, 1, from, ret);
}

static int pools_queues(struct columns *c, struct gather *g)
{
	struct columns_queues *q = &c->queues;
	uint32_t *order = NULL;
	int err = tables_alloc(c, TABLES_queues, (uint32_t)g->queues.cnt);

	if (err == 0)
		err = pools_order(&g->queues, &order);
	for (uint32_t i = 0; err == 0 && i < q->cnt; i++) {
		const struct gather_queue *from = rows_at(&g->queues, order[i]);

		((uint64_t *)tables_mut(q->ts_ns))[i] = from->ts_ns;
		((uint32_t *)tables_mut(q->runtime))[i] = from->runtime;
		((uint32_t *)tables_mut(q->depth))[i] = from->depth;
		((uint32_t *)tables_mut(q->alive))[i] = from->alive;
	}
	free(order);
	return err;
}

static int pools_clocks(struct columns *c, struct gather *g)
{
	uint32_t *order = NULL;
	int err = tables_alloc(c, TABLES_clocks, (uint32_t)g->clocks.cnt);

	if (err == 0)
		err = pools_order(&g->clocks, &order);
	for (uint32_t i = 0; err == 0 && i < c->clocks.cnt; i++) {
		const struct gather_clock *from = rows_at(&g->clocks, order[i]);

		((uint64_t *)tables_mut(c->clocks.ts_ns))[i] = from->ts_ns;
		((uint64_t *)tables_mut(c->clocks.realtime_ns))[i] = from->realtime_ns;
	}
	free(order);
	return err;
}

/* Schemas out of the strings that record.c made of them. */
static int pools_schemas(struct columns *c, struct gather *g)
{
	struct columns_schemas *s = &c->schemas;
	uint32_t fields = 0;
	const char *key;
	size_t len, at;
	int err = 0;

	for (uint32_t i = 0; i < g->schemas.cnt; i++) {
		key = dict_get(&g->schemas, i, &len);
		for (at = strnlen(key, len) + 1; at + 1 < len; fields++)
			at += 2 + strnlen(key + at + 1, len - at - 1);
	}
	err = tables_alloc(c, TABLES_schemas, g->schemas.cnt);
	if (err == 0)
		err = tables_alloc(c, TABLES_fields, fields);
	fields = 0;
	for (uint32_t i = 0; err == 0 && i < s->cnt; i++) {
		key = dict_get(&g->schemas, i, &len);
		at = strnlen(key, len);
		((uint32_t *)tables_mut(s->name))[i] = dict_put(&g->texts, key, at, &err);
		((uint32_t *)tables_mut(s->fields_from))[i] = fields;
		for (at++; at + 1 < len; fields++) {
			size_t name_len = strnlen(key + at + 1, len - at - 1);

			((uint8_t *)tables_mut(c->fields.type))[fields] = (uint8_t)key[at];
			((uint32_t *)tables_mut(c->fields.name))[fields] =
				dict_put(&g->texts, key + at + 1, name_len, &err);
			at += 2 + name_len;
		}
		((uint32_t *)tables_mut(s->fields_to))[i] = fields;
	}
	return err;
}

static int pools_records(struct columns *c, struct gather *g)
{
	struct columns_records *r = &c->records;
	uint32_t *order = NULL, *cnts;
	int err = tables_alloc(c, TABLES_records, (uint32_t)g->records.cnt);

	if (err == 0)
		err = tables_alloc(c, TABLES_record_bytes, (uint32_t)g->record_bytes.cnt);
	if (err == 0)
		err = pools_order(&g->records, &order);
	if (err == 0 && g->record_bytes.cnt)
		memcpy(tables_mut(c->record_bytes.byte), g->record_bytes.p, g->record_bytes.cnt);
	cnts = tables_mut(c->schemas.records);
	for (uint32_t i = 0; err == 0 && i < r->cnt; i++) {
		const struct gather_record *from = rows_at(&g->records, order[i]);

		((uint64_t *)tables_mut(r->ts_ns))[i] = from->ts_ns;
		((uint64_t *)tables_mut(r->bytes))[i] = from->bytes;
		((uint32_t *)tables_mut(r->schema))[i] = from->schema;
		cnts[from->schema]++;
	}
	free(order);
	return err;
}

static int compare_symbols(const void *left, const void *right)
{
	const struct gather_symbol *a = left, *b = right;

	if (a->frame != b->frame)
		return a->frame < b->frame ? -1 : 1;
	return (a->depth > b->depth) - (a->depth < b->depth);
}

/* Frames and their symbols; of several names for one place and depth (each segment brings its
 * own) one is kept. */
static int pools_frames(struct columns *c, struct gather *g)
{
	struct gather_symbol *s = rows_copy(&g->symbols);
	uint32_t kept = 0, at = 0, *from, *to;
	size_t len;
	int err = s ? tables_alloc(c, TABLES_frames, g->frames.cnt) : -ENOMEM;

	if (err)
		goto out;
	qsort(s, g->symbols.cnt, sizeof(*s), compare_symbols);
	for (size_t i = 0; i < g->symbols.cnt; i++)
		if (kept == 0 || compare_symbols(&s[kept - 1], &s[i]) != 0)
			s[kept++] = s[i];
	err = tables_alloc(c, TABLES_symbols, kept);
	if (err)
		goto out;
	from = tables_mut(c->frames.symbols_from);
	to = tables_mut(c->frames.symbols_to);
	for (uint32_t i = 0; i < c->frames.cnt; i++) {
		memcpy((uint64_t *)tables_mut(c->frames.addr) + i, dict_get(&g->frames, i, &len),
		       8);
		from[i] = at;
		for (; at < kept && s[at].frame == i; at++) {
			((uint32_t *)tables_mut(c->symbols.name))[at] = s[at].name;
			((uint32_t *)tables_mut(c->symbols.file))[at] = s[at].file;
			((uint32_t *)tables_mut(c->symbols.line))[at] = s[at].line;
		}
		to[i] = at;
	}
out:
	free(s);
	return err;
}

static int pools_facts(struct columns *c, struct gather *g)
{
	struct columns_segments *s = &c->segments;
	int err = tables_alloc(c, TABLES_facts, (uint32_t)g->facts.cnt);

	if (err == 0)
		err = tables_alloc(c, TABLES_segments, (uint32_t)g->segments.cnt);
	for (uint32_t i = 0; err == 0 && i < c->facts.cnt; i++) {
		const struct gather_fact *f = rows_at(&g->facts, i);

		((uint32_t *)tables_mut(c->facts.key))[i] = f->key;
		((uint32_t *)tables_mut(c->facts.value))[i] = f->value;
	}
	for (uint32_t i = 0; err == 0 && i < s->cnt; i++) {
		const struct gather_segment *from = rows_at(&g->segments, i);

		((uint32_t *)tables_mut(s->name))[i] = from->name;
		((uint64_t *)tables_mut(s->first_ns))[i] = from->first_ns;
		((uint64_t *)tables_mut(s->last_ns))[i] = from->last_ns;
		((uint64_t *)tables_mut(s->events))[i] = from->events;
		((uint64_t *)tables_mut(s->bytes))[i] = from->bytes;
		((uint32_t *)tables_mut(s->err))[i] = from->err;
	}
	return err;
}

/* A dict as a table of ranges over a table of its elements, elem_sz bytes each. */
static int pools_dict(struct columns *c, const struct dict *d, uint32_t table, uint32_t elems,
		      uint32_t elem_sz)
{
	uint32_t *from, *to;
	int err = tables_alloc(c, table, d->cnt);

	if (err == 0)
		err = tables_alloc(c, elems, (uint32_t)(d->bytes_sz / elem_sz));
	if (err)
		return err;
	from = tables_mut(table == TABLES_texts ? c->texts.bytes_from : c->stacks.frames_from);
	to = tables_mut(table == TABLES_texts ? c->texts.bytes_to : c->stacks.frames_to);
	for (uint32_t i = 0; i < d->cnt; i++) {
		from[i] = i ? to[i - 1] : 0;
		to[i] = d->ends[i] / elem_sz;
	}
	if (d->bytes_sz)
		memcpy(tables_mut(table == TABLES_texts ? (const void *)c->text_bytes.byte
							: c->stack_frames.frame),
		       d->bytes, d->bytes_sz);
	return 0;
}

int pools_run(struct columns *c, struct gather *g)
{
	int err = pools_queues(c, g);

	if (err == 0)
		err = pools_clocks(c, g);
	if (err == 0)
		err = pools_schemas(c, g);
	if (err == 0)
		err = pools_records(c, g);
	if (err == 0)
		err = pools_frames(c, g);
	if (err == 0)
		err = pools_facts(c, g);
	if (err == 0)
		err = pools_dict(c, &g->stacks, TABLES_stacks, TABLES_stack_frames, 4);
	if (err == 0)
		err = pools_dict(c, &g->texts, TABLES_texts, TABLES_text_bytes, 1);
	c->odd.over_cap +=
		g->texts.over_cnt + g->stacks.over_cnt + g->lanes.over_cnt + g->schemas.over_cnt;
	return err;
}
