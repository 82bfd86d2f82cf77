/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idmap.h - 64-bit keys to 32-bit numbers, in one fixed block: the table of the event path.
 *
 * Open addressing with linear probing; at most half full, so that a look-up is one or two cache
 * lines. Nothing moves in memory but by idmap_del, nothing is allocated after idmap_new.
 */
#ifndef DIAL9_IDMAP_H
#define DIAL9_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDMAP_NONE UINT32_MAX /* "not there"; never a value */

struct idmap_slot {
	uint64_t key;
	uint32_t value_plus_1; /* 0: free, so that untouched pages stay untouched */
	uint32_t pad;
};

struct idmap {
	struct idmap_slot *slots;
	uint32_t mask, cnt, max;
	unsigned shift;
};

/* Room for `max` keys (1..2^28). 0, -EINVAL, -ENOMEM. The struct is the caller's. */
int idmap_init(struct idmap *m, uint32_t max);
void idmap_done(struct idmap *m);

/* false: the map holds `max` keys already. An existing key gets the new value. */
bool idmap_put(struct idmap *m, uint64_t key, uint32_t value);
void idmap_del(struct idmap *m, uint64_t key);
void idmap_clear(struct idmap *m);

/* Sequential keys (thread and task ids) spread evenly. */
static inline uint32_t idmap_home(const struct idmap *m, uint64_t key)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> m->shift);
}

/* The value, IDMAP_NONE if the key is not there. */
static inline uint32_t idmap_get(const struct idmap *m, uint64_t key)
{
	uint32_t i = idmap_home(m, key);

	while (m->slots[i].value_plus_1) {
		if (m->slots[i].key == key)
			return m->slots[i].value_plus_1 - 1;
		i = (i + 1) & m->mask;
	}
	return IDMAP_NONE;
}

#endif /* DIAL9_IDMAP_H */
