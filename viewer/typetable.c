// SPDX-License-Identifier: Apache-2.0
/* typetable.c - rows by label: labels are small numbers, so an array finds the row. */
#include "typetable.h"

#include "labels.h"

#include <stdlib.h>
#include <string.h>

struct typetable *typetable_new(void)
{
	struct typetable *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->cap = 64;
	t->rows = calloc(t->cap, sizeof(*t->rows));
	if (!t->rows) {
		free(t);
		return NULL;
	}
	t->rows[0].label = LABEL_OTHER;
	t->cnt = 1;
	return t;
}

void typetable_free(struct typetable *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->cnt; i++) {
		histogram_done(&t->rows[i].poll);
		histogram_done(&t->rows[i].wait);
		histogram_done(&t->rows[i].queued);
		histogram_done(&t->rows[i].run);
	}
	free(t->rows);
	free(t->by_label);
	free(t);
}

static int typetable_grow_index(struct typetable *t, uint32_t label)
{
	uint32_t cnt = t->by_label_cnt ? t->by_label_cnt : 1024;
	uint32_t *grown;

	while (cnt <= label)
		cnt *= 2;
	grown = realloc(t->by_label, cnt * sizeof(*grown));
	if (!grown)
		return -1;
	memset(grown + t->by_label_cnt, 0, (cnt - t->by_label_cnt) * sizeof(*grown));
	t->by_label = grown;
	t->by_label_cnt = cnt;
	return 0;
}

uint32_t typetable_add(struct typetable *t, uint32_t label)
{
	struct type_row *grown;

	if (label == LABEL_OTHER || t->cnt == TYPETABLE_MAX ||
	    (label >= t->by_label_cnt && typetable_grow_index(t, label) != 0))
		return 0;
	if (t->cnt == t->cap) {
		grown = realloc(t->rows, 2 * (size_t)t->cap * sizeof(*grown));
		if (!grown)
			return 0;
		t->rows = grown;
		t->cap *= 2;
	}
	memset(&t->rows[t->cnt], 0, sizeof(t->rows[0]));
	t->rows[t->cnt].label = label;
	t->by_label[label] = t->cnt;
	return t->cnt++;
}

uint32_t typetable_cnt(const struct typetable *t)
{
	return t->cnt;
}
