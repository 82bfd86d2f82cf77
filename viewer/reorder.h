/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reorder.h - moments in time order, through a window of bounded size.
 *
 * The window fills, is sorted (stably: equal stamps keep their file order) and gives out its oldest
 * part. What comes so late that its place has gone out already is given out at once and counted.
 * Input that is in order, or made of a few runs that are, costs a copy and a comparison each.
 */
#ifndef DIAL9_REORDER_H
#define DIAL9_REORDER_H

#include <stddef.h>
#include <stdint.h>

#include "moment.h"

/* Moments kept at most, 58 bytes each, in blocks of 116 KiB that are taken as they are needed; as
 * many again at worst in blocks that are half used. dial9-agent hands its events on by worker a few times a second; others write thread after thread,
 * each for many seconds. */
#define REORDER_SMALL (1u << 19)
#define REORDER_LARGE (1u << 21)

struct momentblock;
struct reorder;

/* `out` takes the moments in order; nonzero from it stops and is handed back. `ahead` (or NULL) is
 * shown most of them a little before, so that what `out` will touch is in the cache by then.
 * NULL: no memory. */
struct reorder *reorder_new(uint32_t cap, int (*out)(void *ctx, const struct moment *m),
			    void (*ahead)(void *ctx, const struct moment *m), void *ctx);
void reorder_free(struct reorder *r);

/* 0, what `out` answered, or -ENOMEM. */
int reorder_put(struct reorder *r, const struct moment *m);

/*
 * A block of moments at once, filled by the caller but not sorted (momentblock.h); it is taken over.
 * Either this or reorder_put fills a window. As reorder_put.
 */
int reorder_take(struct reorder *r, struct momentblock *b);

/* A block that is not needed any more, as it was left; NULL: there is none. The caller's. */
struct momentblock *reorder_spare(struct reorder *r);

/* Gives out all that is kept. */
int reorder_flush(struct reorder *r);

uint64_t reorder_late(const struct reorder *r); /* moments given out of order */

#endif /* DIAL9_REORDER_H */
