/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keymap.h - 64-bit keys to 32-bit numbers, in one fixed block: the table of the event path.
 *
 * Open addressing with linear probing; at most half full, so that a look-up is one or two cache
 * lines. Nothing moves in memory but by keymap_del, nothing is allocated after keymap_new.
 */
#ifndef DIAL9_KEYMAP_H
#define DIAL9_KEYMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEYMAP_NONE UINT32_MAX /* "not there"; never a value */

struct keymap_slot {
	uint64_t key;
	uint32_t value_plus_1; /* 0: free, so that untouched pages stay untouched */
	uint32_t pad;
};

struct keymap {
	struct keymap_slot *slots;
	uint32_t mask, cnt, max;
	unsigned shift;
	uint32_t near; /* a run of near + 1 keys that follow each other lies together */
};

/* Room for `max` keys (1..2^28). 0, -EINVAL, -ENOMEM. The struct is the caller's. */
int keymap_init(struct keymap *m, uint32_t max);
/* For keys that are given out one after the other and soon forgotten: 2^near_bits (at most 8) of
 * them, from a multiple of that on, lie beside each other, so that few cache lines are met anew. */
int keymap_init_near(struct keymap *m, uint32_t max, unsigned near_bits);
void keymap_done(struct keymap *m);

/* false: the map holds `max` keys already. An existing key gets the new value. */
bool keymap_put(struct keymap *m, uint64_t key, uint32_t value);
void keymap_del(struct keymap *m, uint64_t key);
void keymap_clear(struct keymap *m);

/* Sequential keys (thread and task ids) spread evenly, or runs of them do. */
static inline uint32_t keymap_home(const struct keymap *m, uint64_t key)
{
	uint32_t home = (uint32_t)(((key & ~(uint64_t)m->near) * 0x9e3779b97f4a7c15ull) >> m->shift);

	return (home & ~m->near) | ((uint32_t)key & m->near);
}

/* The value, KEYMAP_NONE if the key is not there. */
static inline uint32_t keymap_get(const struct keymap *m, uint64_t key)
{
	uint32_t i = keymap_home(m, key);

	while (m->slots[i].value_plus_1) {
		if (m->slots[i].key == key)
			return m->slots[i].value_plus_1 - 1;
		i = (i + 1) & m->mask;
	}
	return KEYMAP_NONE;
}

#endif /* DIAL9_KEYMAP_H */
