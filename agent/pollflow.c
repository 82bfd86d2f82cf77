// SPDX-License-Identifier: Apache-2.0
/* pollflow.c - control flow of one function, instruction by instruction. */
#include "pollflow.h"

#include "code.h"
#include "image.h"
#include "resumed.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX /* no destination inside the function */
#define LEA_REACH 64u /* bytes before an indirect jump in which its table's address is loaded */

struct pollflow_step { /* the instruction that begins at this byte */
	uint32_t dest; /* offset that it jumps to, or NOWHERE */
	uint32_t table; /* 1 + index in tables; 0 = none */
	uint8_t len; /* 0 = none begins here */
	bool goes_on; /* to the next instruction */
	bool is_call;
};

struct pollflow_table {
	uint64_t vaddr;
	uint32_t *dests; /* offsets in the function */
	size_t cnt;
};

struct pollflow {
	struct image *img;
	uint64_t start;
	uint32_t sz;
	struct pollflow_step *steps; /* one a byte */
	struct pollflow_table *tables; /* by order of the code */
	size_t tables_cnt;
	uint64_t calls[POLLFLOW_CALLS_MAX];
	size_t calls_cnt;
	uint32_t *stack; /* of a walk, one a byte at most */
	uint8_t *seen;
};

static uint32_t pollflow_offset(const struct pollflow *p, uint64_t vaddr)
{
	return vaddr >= p->start && vaddr - p->start < p->sz ? (uint32_t)(vaddr - p->start)
							     : NOWHERE;
}

static void pollflow_add_call(struct pollflow *p, uint64_t dest)
{
	for (size_t i = 0; i < p->calls_cnt; i++)
		if (p->calls[i] == dest)
			return;
	if (p->calls_cnt < POLLFLOW_CALLS_MAX)
		p->calls[p->calls_cnt++] = dest;
}

/* Remembers a table by its address; its entries are read when all addresses are known. */
static int pollflow_add_table(struct pollflow *p, struct pollflow_step *step, uint64_t vaddr)
{
	struct pollflow_table *bigger;

	if (p->tables_cnt == POLLFLOW_TABLES_MAX)
		return 0;
	bigger = realloc(p->tables, (p->tables_cnt + 1) * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	p->tables = bigger;
	p->tables[p->tables_cnt++] = (struct pollflow_table){ .vaddr = vaddr };
	step->table = (uint32_t)p->tables_cnt;
	return 0;
}

static int pollflow_decode(struct pollflow *p)
{
	uint64_t last_lea = 0; /* address last loaded that is no code */
	uint32_t last_lea_off = 0;
	struct code_op op;
	int err = 0;

	for (uint32_t off = 0; off < p->sz && err == 0;) {
		struct pollflow_step *step = &p->steps[off];

		if (code_read(p->img, p->start + off, &op))
			return off == 0 ? -EILSEQ : 0;
		step->len = op.len;
		step->dest = NOWHERE;
		step->goes_on = op.flow == CODE_NEXT || op.flow == CODE_BRANCH ||
				op.flow == CODE_CALL || op.flow == CODE_CALL_INDIRECT;
		step->is_call = op.flow == CODE_CALL || op.flow == CODE_CALL_INDIRECT;
		if (op.flow == CODE_JUMP || op.flow == CODE_BRANCH)
			step->dest = pollflow_offset(p, op.dest);
		if (op.flow == CODE_CALL || (op.flow == CODE_JUMP && step->dest == NOWHERE))
			pollflow_add_call(p, op.dest);
		if (op.lea_to != CODE_NONE && op.mem_addr &&
		    pollflow_offset(p, op.mem_addr) == NOWHERE) {
			last_lea = op.mem_addr;
			last_lea_off = off;
		}
		if (op.flow == CODE_JUMP_INDIRECT && last_lea && off - last_lea_off <= LEA_REACH)
			err = pollflow_add_table(p, step, last_lea);
		off += op.len;
	}
	return err;
}

/* 32-bit distances from the table itself, up to the next table or the first that leads outside. */
static int pollflow_read_table(struct pollflow *p, struct pollflow_table *t)
{
	int32_t entries[POLLFLOW_TABLE_MAX];
	size_t max =
		image_read_some(p->img, t->vaddr, entries, sizeof(entries)) / sizeof(entries[0]);

	for (size_t i = 0; i < p->tables_cnt; i++)
		if (p->tables[i].vaddr > t->vaddr && (p->tables[i].vaddr - t->vaddr) / 4 < max)
			max = (size_t)(p->tables[i].vaddr - t->vaddr) / 4;
	t->dests = malloc((max ? max : 1) * sizeof(*t->dests));
	if (!t->dests)
		return -ENOMEM;
	for (; t->cnt < max; t->cnt++) {
		uint64_t dest = t->vaddr + (uint64_t)(int64_t)entries[t->cnt];
		uint32_t off = pollflow_offset(p, dest);

		if (off == NOWHERE || p->steps[off].len == 0)
			break;
		t->dests[t->cnt] = off;
	}
	return 0;
}

int pollflow_open(struct image *img, uint64_t start, uint64_t end, struct pollflow **ret)
{
	struct pollflow *p;
	int err;

	if (end <= start || end - start > POLLFLOW_FUNC_SZ_MAX)
		return -E2BIG;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->img = img;
	p->start = start;
	p->sz = (uint32_t)(end - start);
	p->steps = calloc(p->sz, sizeof(*p->steps));
	p->stack = malloc(p->sz * sizeof(*p->stack));
	p->seen = malloc(p->sz);
	err = p->steps && p->stack && p->seen ? pollflow_decode(p) : -ENOMEM;
	for (size_t i = 0; i < p->tables_cnt && err == 0; i++)
		err = pollflow_read_table(p, &p->tables[i]);
	if (err) {
		pollflow_close(p);
		return err;
	}
	*ret = p;
	return 0;
}

void pollflow_close(struct pollflow *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->tables_cnt; i++)
		free(p->tables[i].dests);
	free(p->tables);
	free(p->steps);
	free(p->stack);
	free(p->seen);
	free(p);
}

static void pollflow_push(const struct pollflow *p, size_t *top, uint32_t off)
{
	if (off >= p->sz || p->seen[off] || p->steps[off].len == 0)
		return;
	p->seen[off] = 1;
	p->stack[(*top)++] = off;
}

static void pollflow_push_next(const struct pollflow *p, size_t *top, uint32_t off)
{
	const struct pollflow_step *step = &p->steps[off];
	const struct pollflow_table *t = step->table ? &p->tables[step->table - 1] : NULL;

	if (step->goes_on)
		pollflow_push(p, top, off + step->len);
	if (step->dest != NOWHERE)
		pollflow_push(p, top, step->dest);
	for (size_t i = 0; t && i < t->cnt; i++)
		pollflow_push(p, top, t->dests[i]);
}

static bool pollflow_leads_to(const struct pollflow *p, uint32_t from, uint32_t to)
{
	const struct pollflow_step *step = &p->steps[from];
	const struct pollflow_table *t = step->table ? &p->tables[step->table - 1] : NULL;

	if ((step->goes_on && from + step->len == to) || step->dest == to)
		return true;
	for (size_t i = 0; t && i < t->cnt; i++)
		if (t->dests[i] == to)
			return true;
	return false;
}

/* Marks in p->seen all that can be reached from the dispatches of the panic at `site`. */
static void pollflow_walk(const struct pollflow *p, uint32_t site)
{
	size_t top = 0;

	memset(p->seen, 0, p->sz);
	for (uint32_t off = 0; off < p->sz; off++)
		if (p->steps[off].len && off != site && pollflow_leads_to(p, off, site))
			pollflow_push_next(p, &top, off);
	while (top > 0) {
		uint32_t off = p->stack[--top];

		pollflow_push_next(p, &top, off);
	}
}

/*
 * Calls that never return have no way on: the panic itself, and whatever stands right before one,
 * since a dispatch is what leads to it. Cold blocks of panics lie next to each other.
 */
static void pollflow_cut(struct pollflow *p, const struct resumed_site *sites, size_t cnt)
{
	for (uint32_t off = 0; off < p->sz; off += p->steps[off].len ? p->steps[off].len : 1u) {
		struct pollflow_step *step = &p->steps[off];
		uint64_t next = p->start + off + step->len;

		for (size_t i = 0; step->is_call && i < cnt; i++)
			if (next == sites[i].vaddr ||
			    p->start + off == sites[i].vaddr + RESUMED_LEA_SZ)
				step->goes_on = false;
	}
}

int pollflow_outermost(struct pollflow *p, const struct resumed_site *sites, size_t cnt)
{
	uint8_t reached_by[POLLFLOW_SITES_MAX] = { 0 }; /* how many others reach it */
	bool reaches_all[POLLFLOW_SITES_MAX];
	int found = -ENOENT;

	if (cnt == 0 || cnt > POLLFLOW_SITES_MAX)
		return -ENOENT;
	pollflow_cut(p, sites, cnt);
	for (size_t a = 0; a < cnt; a++) {
		uint32_t site = pollflow_offset(p, sites[a].vaddr);

		reaches_all[a] = site != NOWHERE;
		if (site == NOWHERE)
			continue;
		pollflow_walk(p, site);
		for (size_t b = 0; b < cnt; b++) {
			uint32_t other = pollflow_offset(p, sites[b].vaddr);

			if (b == a)
				continue;
			if (other != NOWHERE && p->seen[other])
				reached_by[b]++;
			else
				reaches_all[a] = false;
		}
	}
	for (size_t a = 0; a < cnt; a++)
		if (reaches_all[a] && reached_by[a] == 0)
			found = (int)a;
	return found;
}

size_t pollflow_calls(const struct pollflow *p, const uint64_t **ret)
{
	*ret = p->calls;
	return p->calls_cnt;
}
