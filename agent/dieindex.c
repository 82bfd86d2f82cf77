// SPDX-License-Identifier: Apache-2.0
/* dieindex.c - sorted tables of units and functions by address. */
#include "dieindex.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define RANGES_OF_ONE_MAX 65536 /* of one unit or function */

struct dieindex_range { /* addresses of a unit or of a function */
	uint64_t low, high;
	uint64_t die_off; /* of a function; of a unit: its number */
};

struct dieindex_table {
	struct dieindex_range *list;
	size_t cnt, cap, max;
};

struct dieindex_unit {
	uint64_t die_off;
	bool is_walked;
	struct dieindex_table functions;
};

struct dieindex {
	Dwarf *dwarf;
	struct dieindex_unit *units;
	size_t units_cnt;
	struct dieindex_table ranges;
	size_t functions_cnt; /* in all units */
};

/* Entries over the cap are left out. */
static int dieindex_add(struct dieindex_table *t, uint64_t low, uint64_t high, uint64_t die_off)
{
	struct dieindex_range *bigger;
	size_t cap;

	/* code that the linker has removed stands at 0 or at the end */
	if (low == 0 || low >= high || t->cnt >= t->max)
		return 0;
	if (t->cnt == t->cap) {
		cap = t->cap ? 2 * t->cap : 256;
		bigger = realloc(t->list, cap * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		t->list = bigger;
		t->cap = cap;
	}
	t->list[t->cnt++] = (struct dieindex_range){ low, high, die_off };
	return 0;
}

static int dieindex_add_ranges(struct dieindex_table *t, Dwarf_Die *die, uint64_t die_off)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;
	int err = 0;

	for (int i = 0; i < RANGES_OF_ONE_MAX && err == 0; i++) {
		at = dwarf_ranges(die, at, &base, &low, &high);
		if (at <= 0)
			break;
		err = dieindex_add(t, low, high, die_off);
	}
	return err;
}

/* By start; of those that start together, the widest first. */
static int dieindex_compare(const void *a, const void *b)
{
	const struct dieindex_range *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->high != y->high)
		return x->high > y->high ? -1 : 1;
	return x->die_off < y->die_off ? -1 : x->die_off > y->die_off;
}

/* The last range that starts at or below `vaddr` and holds it: ranges of functions do not nest,
 * those of units may touch a few others by mistakes of linkers. */
static const struct dieindex_range *dieindex_look(const struct dieindex_table *t, uint64_t vaddr)
{
	size_t low = 0, high = t->cnt;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->list[mid].low <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	for (int i = 0; i < 8 && low > 0; i++, low--)
		if (vaddr < t->list[low - 1].high)
			return &t->list[low - 1];
	return NULL;
}

static int dieindex_add_unit(struct dieindex *x, Dwarf_Die *die, size_t *cap)
{
	struct dieindex_unit *bigger;

	if (x->units_cnt == *cap) {
		*cap = *cap ? 2 * *cap : 64;
		bigger = realloc(x->units, *cap * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		x->units = bigger;
	}
	x->units[x->units_cnt] = (struct dieindex_unit){ .die_off = dwarf_dieoffset(die) };
	return dieindex_add_ranges(&x->ranges, die, x->units_cnt++);
}

int dieindex_open(Dwarf *dwarf, struct dieindex **ret)
{
	struct dieindex *x = calloc(1, sizeof(*x));
	Dwarf_Off off = 0, next, abbrev;
	size_t header_sz, cap = 0;
	uint8_t address_sz, offset_sz;
	Dwarf_Die die;
	int err = 0;

	if (!x)
		return -ENOMEM;
	x->dwarf = dwarf;
	x->ranges.max = DIEINDEX_RANGES_MAX;
	while (err == 0 && x->units_cnt < DIEINDEX_UNITS_MAX &&
	       dwarf_nextcu(dwarf, off, &next, &header_sz, &abbrev, &address_sz, &offset_sz) == 0) {
		if (next <= off)
			break; /* damaged: it would go round for ever */
		if (dwarf_offdie(dwarf, off + header_sz, &die) &&
		    dwarf_tag(&die) == DW_TAG_compile_unit)
			err = dieindex_add_unit(x, &die, &cap);
		off = next;
	}
	if (err == 0 && x->ranges.cnt == 0)
		err = -ENOENT;
	if (err) {
		dieindex_close(x);
		return err;
	}
	qsort(x->ranges.list, x->ranges.cnt, sizeof(*x->ranges.list), dieindex_compare);
	*ret = x;
	return 0;
}

void dieindex_close(struct dieindex *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->units_cnt; i++)
		free(x->units[i].functions.list);
	free(x->units);
	free(x->ranges.list);
	free(x);
}

/* All functions with code, at the top and in namespaces. */
static int dieindex_walk(struct dieindex *x, struct dieindex_unit *unit)
{
	Dwarf_Die path[DIEINDEX_DEPTH_MAX], child;
	size_t depth = 0;
	int err = 0, more;

	unit->is_walked = true;
	unit->functions.max = DIEINDEX_FUNCTIONS_MAX - x->functions_cnt;
	if (!dwarf_offdie(x->dwarf, unit->die_off, &child) || dwarf_child(&child, &path[0]) != 0)
		return -ENOENT;
	for (unsigned i = 0; i < DIEINDEX_DIES_MAX && err == 0; i++) {
		Dwarf_Die *die = &path[depth];
		int tag = dwarf_tag(die);

		if (tag == DW_TAG_subprogram) {
			err = dieindex_add_ranges(&unit->functions, die, dwarf_dieoffset(die));
		} else if ((tag == DW_TAG_namespace || tag == DW_TAG_module) &&
			   depth + 1 < DIEINDEX_DEPTH_MAX && dwarf_child(die, &child) == 0) {
			path[++depth] = child;
			continue;
		}
		while ((more = dwarf_siblingof(&path[depth], &child)) != 0 && depth > 0)
			depth--;
		if (more != 0)
			break;
		path[depth] = child;
	}
	x->functions_cnt += unit->functions.cnt;
	if (unit->functions.cnt)
		qsort(unit->functions.list, unit->functions.cnt, sizeof(*unit->functions.list),
		      dieindex_compare);
	return err;
}

int dieindex_find(struct dieindex *x, uint64_t vaddr, Dwarf_Die *ret_unit, Dwarf_Die *ret_function,
		  uint64_t *ret_low, uint64_t *ret_high)
{
	const struct dieindex_range *r = dieindex_look(&x->ranges, vaddr);
	struct dieindex_unit *unit = r ? &x->units[r->die_off] : NULL;

	if (!unit)
		return -ENOENT;
	if (!unit->is_walked)
		dieindex_walk(x, unit);
	r = dieindex_look(&unit->functions, vaddr);
	if (!r || !dwarf_offdie(x->dwarf, unit->die_off, ret_unit) ||
	    !dwarf_offdie(x->dwarf, r->die_off, ret_function))
		return -ENOENT;
	*ret_low = r->low;
	*ret_high = r->high;
	return 0;
}
