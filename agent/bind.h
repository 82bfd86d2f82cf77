/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind.h - OwnedTasks::bind_inner (Tokio >= 1.35): an async task exists and gets its owner.
 *
 * Shape: the owner id is stored to word 3 of the header, then the task's id is read through the
 * vtable (word 2, then slot 9). The header is the function's second argument.
 */
#ifndef DIAL9_BIND_H
#define DIAL9_BIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BIND_MAX 4096 /* candidate bytes kept in one file; further ones are counted */

struct image;
struct scan_hit;
struct starts;

struct binds {
	uint64_t *stores; /* addresses where such a store may stand, rising */
	size_t cnt, cap, left_cnt;
};

struct bind_place {
	uint64_t func; /* start of the function the store is in */
	uint64_t store; /* the store itself */
	uint8_t header_reg; /* holds the header at `store` */
	bool is_inlined; /* the header is not the function's second argument */
};

/* Takes a SCAN_STORE_18 hit. 0 or -ENOMEM. */
int bind_hit(struct binds *b, const struct scan_hit *hit);
/* Decodes candidate i. -ENOENT: it is not bind_inner. */
int bind_prove(const struct binds *b, size_t i, struct image *img, const struct starts *starts,
	       struct bind_place *ret);
void bind_done(struct binds *b);

#endif /* DIAL9_BIND_H */
