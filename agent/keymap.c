// SPDX-License-Identifier: Apache-2.0
/* keymap.c - see keymap.h. */
#include "agent/keymap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int keymap_init(struct keymap *m, uint32_t max)
{
	return keymap_init_near(m, max, 0);
}

int keymap_init_near(struct keymap *m, uint32_t max, unsigned near_bits)
{
	unsigned bits = 3;

	if (!max || max > (1u << 28) || near_bits > 8 || max < (1u << near_bits))
		return -EINVAL;
	while ((1ull << bits) < 2ull * max)
		bits++;
	m->slots = calloc((size_t)1 << bits, sizeof(*m->slots));
	if (!m->slots)
		return -ENOMEM;
	m->mask = (uint32_t)((1ull << bits) - 1);
	m->shift = 64 - bits;
	m->near = (1u << near_bits) - 1;
	m->cnt = 0;
	m->max = max;
	return 0;
}

void keymap_done(struct keymap *m)
{
	free(m->slots);
	m->slots = NULL;
}

bool keymap_put(struct keymap *m, uint64_t key, uint32_t value)
{
	uint32_t i = keymap_home(m, key);

	for (; m->slots[i].value_plus_1; i = (i + 1) & m->mask) {
		if (m->slots[i].key == key) {
			m->slots[i].value_plus_1 = value + 1;
			return true;
		}
	}
	if (m->cnt >= m->max)
		return false;
	m->slots[i] = (struct keymap_slot){.key = key, .value_plus_1 = value + 1};
	m->cnt++;
	return true;
}

void keymap_del(struct keymap *m, uint64_t key)
{
	uint32_t i = keymap_home(m, key), hole, at;

	for (; m->slots[i].value_plus_1; i = (i + 1) & m->mask)
		if (m->slots[i].key == key)
			break;
	if (!m->slots[i].value_plus_1)
		return;
	/* Close the gap: an entry may move back to the hole unless that is before its home. */
	hole = i;
	for (at = (hole + 1) & m->mask; m->slots[at].value_plus_1; at = (at + 1) & m->mask) {
		uint32_t home = keymap_home(m, m->slots[at].key);

		if (((at - home) & m->mask) >= ((at - hole) & m->mask)) {
			m->slots[hole] = m->slots[at];
			hole = at;
		}
	}
	m->slots[hole].value_plus_1 = 0;
	m->cnt--;
}

void keymap_clear(struct keymap *m)
{
	memset(m->slots, 0, ((size_t)m->mask + 1) * sizeof(*m->slots));
	m->cnt = 0;
}
