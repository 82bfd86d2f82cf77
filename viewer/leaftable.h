/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaftable.h - the addresses that CPU samples hit, and their names once these come.
 *
 * Symbols follow the samples they name (they are appended when a segment is sealed). Of an
 * address with inlined frames the innermost name counts. At LEAFTABLE_MAX addresses further ones
 * share entry 0, "(other)".
 */
#ifndef DIAL9_LEAFTABLE_H
#define DIAL9_LEAFTABLE_H

#include <stdint.h>

struct d9_ev;
struct labels;
struct leaftable;

#define LEAFTABLE_MAX 131072

struct leaf_row { /* by name, or by address where there is none */
	uint32_t label; /* LABEL_UNKNOWN: no name */
	uint64_t addr; /* then: where */
	uint64_t samples, in_polls;
};

struct leaftable *leaftable_new(void); /* NULL: out of memory */
void leaftable_free(struct leaftable *t);

/* Entry of an address; 0 at the cap. */
uint32_t leaftable_find(struct leaftable *t, uint64_t addr);

/* One more sample at an entry. */
void leaftable_count(struct leaftable *t, uint32_t leaf, int is_in_poll);

/* Takes a name from a SymbolTableEntry. */
void leaftable_name(struct leaftable *t, const struct d9_ev *ev, struct labels *labels);

/*
 * The counted entries, those of one name added up, most samples first (then by name, then by
 * address). The caller frees *ret_rows. 0 or -ENOMEM.
 */
int leaftable_rows(const struct leaftable *t, const struct labels *labels,
		   struct leaf_row **ret_rows, uint32_t *ret_cnt);

#endif /* DIAL9_LEAFTABLE_H */
