/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idmap.h - a reader's pool: 32-bit id, as the file chose it, to a string or a stack.
 */
#ifndef DIAL9_IDMAP_H
#define DIAL9_IDMAP_H

#include <stdint.h>

struct idmap_entry {
	uint32_t gen; /* in use if equal to the map's */
	uint32_t id;
	uint32_t cnt;
	const void *p;
};

struct idmap {
	struct idmap_entry *slots;
	uint64_t seed;
	uint32_t size, cnt, max, gen;
};

/* max: most entries between two resets. Allocates nothing yet. */
void idmap_init(struct idmap *map, uint32_t max);
void idmap_done(struct idmap *map);
void idmap_reset(struct idmap *map);

/* A second entry with the same id replaces the first. 0, -D9_E_LIMIT, -ENOMEM. */
int idmap_put(struct idmap *map, uint32_t id, const void *p, uint32_t cnt);

/* File ids are free to collide on purpose, so the hash is seeded from the process's random bytes. */
static inline uint32_t idmap_slot(const struct idmap *map, uint32_t id)
{
	uint64_t h = (id ^ map->seed) * 0x9e3779b97f4a7c15ull;

	h = (h ^ (h >> 32) ^ map->seed) * 0xd6e8feb86659fd93ull;
	return (uint32_t)(h >> 32) & (map->size - 1);
}

/* NULL: no such id. */
static inline const struct idmap_entry *idmap_get(const struct idmap *map, uint32_t id)
{
	if (!map->size)
		return 0;
	for (uint32_t at = idmap_slot(map, id);; at = (at + 1) & (map->size - 1)) {
		const struct idmap_entry *e = &map->slots[at];

		if (e->gen != map->gen)
			return 0;
		if (e->id == id)
			return e;
	}
}

#endif
