/* SPDX-License-Identifier: Apache-2.0 */
/*
 * behind.h - what stood between a wake and its poll, and whom to blame.
 *
 * Of each worker the last slices of time are kept with running sums, so that the parts of a wait
 * cost two searches, however many polls lie in it. The harm of a poll is the ready time of others
 * on its worker while it ran; waits mark only the first and the last slice they cover, and the
 * marks are summed when a slice leaves (linear in slices and waits).
 *
 * Kept: BEHIND_SLICES_MAX slices a worker, BEHIND_TOTAL_MAX in all. A wait that began before the
 * oldest kept slice is unknown up to it, and charges nobody for that time.
 */
#ifndef DIAL9_BEHIND_H
#define DIAL9_BEHIND_H

#include <stdbool.h>
#include <stdint.h>

#include "watch.h"

#define BEHIND_SLICES_MAX (1u << 14)
#define BEHIND_TOTAL_MAX (1u << 20)

struct behind;

struct behind_parts { /* of a wait, by WATCH_*; they sum to its length */
	uint64_t ns[WATCH_STATES];
};

struct behind_harm {
	uint32_t worker, type, nr; /* type: row of the type table */
	uint64_t task, start_ns, end_ns;
	uint64_t ns, victims; /* ready time of others during it; waits that it delayed */
};

/* `harm` (may be NULL) is told of each poll that delayed somebody. NULL: out of memory. */
struct behind *behind_new(void (*harm)(void *ctx, const struct behind_harm *h), void *ctx);
void behind_free(struct behind *b);

/* In the order of watch.h. 0 or -ENOMEM. */
int behind_slice(struct behind *b, const struct watch_slice *s);

/* The parts of a wait that ends where its worker's last slice ends, by that worker's states. */
void behind_parts(const struct behind *b, const struct watch_wait *w, struct behind_parts *ret);

/* Was another worker parked for more than ns since the wait began, as far as it is known? */
bool behind_idle(const struct behind *b, const struct watch_wait *w, uint64_t ns);

/* Tells `told` of each poll the wait stood behind, as far as it is kept, oldest first; `ns` of the
 * harm is the time they share. */
void behind_polls(const struct behind *b, const struct watch_wait *w,
		  void (*told)(void *ctx, const struct behind_harm *h), void *ctx);

/* Charges a wait to the polls it stood behind. */
void behind_charge(struct behind *b, const struct watch_wait *w);

/* Tells of all harm not yet told. */
void behind_finish(struct behind *b);

#endif /* DIAL9_BEHIND_H */
