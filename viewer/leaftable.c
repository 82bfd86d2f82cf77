// SPDX-License-Identifier: Apache-2.0
/* leaftable.c - addresses by hash, sorted by name at the end. */
#include "leaftable.h"

#include "labels.h"
#include "format/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAFTABLE_SLOTS (2 * LEAFTABLE_MAX)

struct leaf {
	uint64_t addr;
	uint64_t samples, in_polls;
	uint32_t label;
	uint32_t depth; /* inline depth of the name, plus 1; 0 = no name yet */
};

struct leaftable {
	struct leaf leaves[LEAFTABLE_MAX]; /* 0 is "(other)" */
	uint32_t cnt;
	uint32_t slots[LEAFTABLE_SLOTS]; /* 0 = free */
};

struct leaftable *leaftable_new(void)
{
	struct leaftable *t = calloc(1, sizeof(*t)); /* pages are touched as it fills */

	if (!t)
		return NULL;
	t->leaves[0] = (struct leaf){ .label = LABEL_OTHER, .depth = 1 };
	t->cnt = 1;
	return t;
}

void leaftable_free(struct leaftable *t)
{
	free(t);
}

static uint32_t leaftable_slot(const struct leaftable *t, uint64_t addr)
{
	uint32_t at = (uint32_t)((addr * 0x9e3779b97f4a7c15ull) >> 40) % LEAFTABLE_SLOTS;

	while (t->slots[at] && t->leaves[t->slots[at]].addr != addr)
		at = (at + 1) % LEAFTABLE_SLOTS;
	return at;
}

uint32_t leaftable_find(struct leaftable *t, uint64_t addr)
{
	uint32_t at = leaftable_slot(t, addr);

	if (!t->slots[at] && t->cnt < LEAFTABLE_MAX) {
		t->leaves[t->cnt] = (struct leaf){ .addr = addr, .label = LABEL_UNKNOWN };
		t->slots[at] = t->cnt++;
	}
	return t->slots[at];
}

void leaftable_count(struct leaftable *t, uint32_t leaf, int is_in_poll)
{
	t->leaves[leaf].samples++;
	t->leaves[leaf].in_polls += is_in_poll ? 1 : 0;
}

void leaftable_name(struct leaftable *t, const struct d9_ev *ev, struct labels *labels)
{
	uint64_t addr, depth = d9_u64(ev, D9F_symbol_inline_depth, 0);
	struct leaf *leaf;

	if (!d9_value_u64(d9_val(ev, D9F_symbol_addr), &addr))
		return;
	leaf = &t->leaves[t->slots[leaftable_slot(t, addr)]];
	if (leaf == t->leaves) /* not the top of any stack */
		return;
	depth = depth < UINT32_MAX - 1 ? depth + 1 : UINT32_MAX;
	if (depth < leaf->depth)
		return;
	leaf->depth = (uint32_t)depth;
	leaf->label = labels_field(labels, ev, D9F_symbol_symbol_name);
}

static int leaftable_compare_names(const void *left, const void *right)
{
	const struct leaf_row *a = left, *b = right;

	if (a->label != b->label)
		return (a->label > b->label) - (a->label < b->label);
	return (a->addr > b->addr) - (a->addr < b->addr);
}

static int leaftable_compare_counts(const void *left, const void *right, void *ctx)
{
	const struct leaf_row *a = left, *b = right;
	int order = (a->samples < b->samples) - (a->samples > b->samples);

	if (order == 0)
		order = labels_compare(ctx, a->label, b->label);
	return order ? order : (a->addr > b->addr) - (a->addr < b->addr);
}

int leaftable_rows(const struct leaftable *t, const struct labels *labels,
		   struct leaf_row **ret_rows, uint32_t *ret_cnt)
{
	struct leaf_row *rows = calloc(t->cnt, sizeof(*rows));
	uint32_t cnt = 0, kept = 0;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->cnt; i++)
		if (t->leaves[i].samples)
			rows[cnt++] =
				(struct leaf_row){ t->leaves[i].label, t->leaves[i].addr,
						   t->leaves[i].samples, t->leaves[i].in_polls };
	qsort(rows, cnt, sizeof(*rows), leaftable_compare_names);
	for (uint32_t i = 0; i < cnt; i++) {
		if (kept > 0 && rows[i].label != LABEL_UNKNOWN &&
		    rows[i].label == rows[kept - 1].label) {
			rows[kept - 1].samples += rows[i].samples;
			rows[kept - 1].in_polls += rows[i].in_polls;
			continue;
		}
		rows[kept++] = rows[i];
	}
	qsort_r(rows, kept, sizeof(*rows), leaftable_compare_counts, (void *)labels);
	*ret_rows = rows;
	*ret_cnt = kept;
	return 0;
}
