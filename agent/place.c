// SPDX-License-Identifier: Apache-2.0
/* place.c - see place.h. */
#include "agent/place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/emit.h"
#include "agent/keymap.h"
#include "agent/log.h"
#include "agent/names.h"
#include "agent/track.h"

#define NO_NAME 0u /* the empty string: the address has no name */

struct places {
	const struct track_ops *ops;
	void *ctx;
	struct emit *e;
	struct keymap types_by_vtable, locations, callers; /* the latter two: address -> name */
	uint32_t types_cnt;
	struct place_type types[PLACES_TYPES_MAX + 1]; /* the last one is what is over the cap */
};

int places_new(const struct track_options *o, struct emit *e, struct places **ret)
{
	struct places *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->ops = o->ops;
	p->ctx = o->ctx;
	p->e = e;
	p->types[PLACES_TYPES_MAX].name = NAMES_UNKNOWN;
	if (keymap_init(&p->types_by_vtable, PLACES_TYPES_MAX) ||
	    keymap_init(&p->locations, PLACES_SPAWNS_MAX) ||
	    keymap_init(&p->callers, PLACES_SPAWNS_MAX)) {
		places_free(p);
		return -ENOMEM;
	}
	*ret = p;
	return 0;
}

void places_free(struct places *p)
{
	if (!p)
		return;
	keymap_done(&p->types_by_vtable);
	keymap_done(&p->locations);
	keymap_done(&p->callers);
	free(p);
}

struct place_type *places_type(struct places *p, uint64_t vtable)
{
	uint32_t at = keymap_get(&p->types_by_vtable, vtable);
	char name[NAMES_LEN_MAX] = "";
	struct place_type *type;

	if (at != KEYMAP_NONE)
		return &p->types[at];
	if (p->types_cnt == PLACES_TYPES_MAX)
		return &p->types[PLACES_TYPES_MAX];
	type = &p->types[p->types_cnt];
	type->vtable = vtable;
	type->name = NAMES_UNKNOWN;
	if (!p->ops->type(p->ctx, vtable, name, sizeof(name), &type->is_blocking))
		type->name = emit_name(p->e, name, strnlen(name, sizeof(name)));
	else
		log_debug("task type at 0x%llx has no name", (unsigned long long)vtable);
	keymap_put(&p->types_by_vtable, vtable, p->types_cnt++);
	return type;
}

typedef int (*ask_fn)(void *ctx, uint64_t addr, char *place, size_t sz);

static uint32_t ask(struct places *p, struct keymap *known, ask_fn fn, uint64_t addr)
{
	uint32_t name = addr ? keymap_get(known, addr) : NO_NAME;
	char place[NAMES_LEN_MAX] = "";

	if (name != KEYMAP_NONE)
		return name;
	if (known->cnt == known->max)
		return NO_NAME;
	name = fn(p->ctx, addr, place, sizeof(place)) ?
		       NO_NAME :
		       emit_name(p->e, place, strnlen(place, sizeof(place)));
	keymap_put(known, addr, name);
	return name;
}

uint32_t places_spawn(struct places *p, uint64_t location, uint64_t return_addr, uint64_t vtable)
{
	uint32_t name = ask(p, &p->locations, p->ops->location, location);

	if (name == NO_NAME)
		name = ask(p, &p->callers, p->ops->spawn_place, return_addr);
	return name == NO_NAME ? places_type(p, vtable)->name : name;
}
