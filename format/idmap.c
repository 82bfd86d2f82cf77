// SPDX-License-Identifier: Apache-2.0
/*
 * idmap.c - open addressing, doubled at half full. Emptied by a new generation number, so that a
 * file of headers alone cannot make us clear a large table each time.
 */
#include "idmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "trace.h"

#define IDMAP_SIZE_MIN 64u

void idmap_init(struct idmap *map, uint32_t max)
{
	const void *random = (const void *)getauxval(AT_RANDOM);

	*map = (struct idmap){ .max = max, .gen = 1 };
	if (random)
		memcpy(&map->seed, random, sizeof(map->seed));
}

void idmap_done(struct idmap *map)
{
	free(map->slots);
	map->slots = NULL;
	map->size = 0;
}

void idmap_reset(struct idmap *map)
{
	map->cnt = 0;
	if (++map->gen)
		return;
	/* After 2^32 headers an old entry could look alive again. */
	if (map->size)
		memset(map->slots, 0, map->size * sizeof(*map->slots));
	map->gen = 1;
}

static void slot_fill(struct idmap *map, uint32_t id, const void *p, uint32_t cnt)
{
	uint32_t at = idmap_slot(map, id);

	while (map->slots[at].gen == map->gen)
		at = (at + 1) & (map->size - 1);
	map->slots[at] = (struct idmap_entry){ .gen = map->gen, .id = id, .cnt = cnt, .p = p };
}

static int idmap_grow(struct idmap *map)
{
	struct idmap_entry *old = map->slots;
	uint32_t old_size = map->size;
	uint32_t size = old_size ? old_size * 2 : IDMAP_SIZE_MIN;
	struct idmap_entry *slots;

	if (size < old_size)
		return -D9_E_LIMIT;
	slots = calloc(size, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	map->slots = slots;
	map->size = size;
	for (uint32_t i = 0; i < old_size; i++)
		if (old[i].gen == map->gen)
			slot_fill(map, old[i].id, old[i].p, old[i].cnt);
	free(old);
	return 0;
}

int idmap_put(struct idmap *map, uint32_t id, const void *p, uint32_t cnt)
{
	/* The maps are the decoder's own, so an entry found may be changed in place. */
	struct idmap_entry *e = (struct idmap_entry *)idmap_get(map, id);
	int rc;

	if (e) {
		e->p = p;
		e->cnt = cnt;
		return 0;
	}
	if (map->cnt >= map->max)
		return -D9_E_LIMIT;
	if (map->cnt >= map->size / 2) {
		rc = idmap_grow(map);
		if (rc)
			return rc;
	}
	slot_fill(map, id, p, cnt);
	map->cnt++;
	return 0;
}
