// SPDX-License-Identifier: Apache-2.0
/* placetable.c - open addressing over rows that lie one after the other. */
#include "placetable.h"

#include <stdlib.h>
#include <string.h>

static void *placetable_at(const struct placetable *t, uint32_t row)
{
	return (char *)t->rows + row * t->row_sz;
}

static uint32_t placetable_slot(const struct placetable *t, uint32_t place)
{
	uint32_t mask = t->slots_cnt - 1, at = place * 0x9e3779b1u & mask, held;

	for (; t->slots[at]; at = (at + 1) & mask) {
		memcpy(&held, placetable_at(t, t->slots[at] - 1), sizeof(held));
		if (held == place)
			break;
	}
	return at;
}

static bool placetable_grow(struct placetable *t)
{
	uint32_t cap = t->cap ? 2 * t->cap : 64, place;
	void *rows = realloc(t->rows, cap * t->row_sz);
	uint32_t *slots;

	if (!rows)
		return false;
	t->rows = rows;
	slots = calloc(2ull * cap, sizeof(*slots));
	if (!slots)
		return false;
	free(t->slots);
	t->slots = slots;
	t->slots_cnt = 2 * cap;
	t->cap = cap;
	for (uint32_t i = 0; i < t->cnt; i++) {
		memcpy(&place, placetable_at(t, i), sizeof(place));
		t->slots[placetable_slot(t, place)] = i + 1;
	}
	return true;
}

void *placetable_row(struct placetable *t, uint32_t place)
{
	uint32_t at;

	if (t->cnt == t->cap && !placetable_grow(t))
		return NULL;
	at = placetable_slot(t, place);
	if (!t->slots[at]) {
		memset(placetable_at(t, t->cnt), 0, t->row_sz);
		memcpy(placetable_at(t, t->cnt), &place, sizeof(place));
		t->slots[at] = ++t->cnt;
	}
	return placetable_at(t, t->slots[at] - 1);
}

void placetable_done(struct placetable *t, bool with_rows)
{
	if (with_rows)
		free(t->rows);
	free(t->slots);
	*t = (struct placetable){ .row_sz = t->row_sz };
}
