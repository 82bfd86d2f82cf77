/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - the name of a future type, of a spawn location, of a spawning call: asked once each.
 *
 * The answers come from track_ops, which may be slow (DWARF); they are kept by address.
 */
#ifndef DIAL9_PLACE_H
#define DIAL9_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#define PLACES_TYPES_MAX 16384 /* further types share one entry named "?" */
#define PLACES_SPAWNS_MAX 16384 /* further places fall back to the type; locations and callers */

struct emit;
struct places;
struct track_options;

struct place_type {
	uint64_t vtable;
	uint32_t name; /* emit_name */
	bool is_blocking;
	bool is_launch; /* set by track: tasks of this blocking type are multi_thread workers */
};

int places_new(const struct track_options *o, struct emit *e, struct places **ret);
void places_free(struct places *p);

/* Never NULL. Valid for the life of `p`. */
struct place_type *places_type(struct places *p, uint64_t vtable);

/* Name of the Location at `location`, else of the code at `return_addr`, else of the type; an
 * address of 0 is not asked for. */
uint32_t places_spawn(struct places *p, uint64_t location, uint64_t return_addr, uint64_t vtable);

#endif /* DIAL9_PLACE_H */
