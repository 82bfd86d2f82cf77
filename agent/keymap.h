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
};

/* Room for `max` keys (1..2^28). 0, -EINVAL, -ENOMEM. The struct is the caller's. */
int keymap_init(struct keymap *m, uint32_t max);
void keymap_done(struct keymap *m);

/* false: the map holds `max` keys already. An existing key gets the new value. */
bool keymap_put(struct keymap *m, uint64_t key, uint32_t value);
void keymap_del(struct keymap *m, uint64_t key);
void keymap_clear(struct keymap *m);

/* Sequential keys (thread and task ids) spread evenly. */
static inline uint32_t keymap_home(const struct keymap *m, uint64_t key)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> m->shift);
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
