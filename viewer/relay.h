/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay.h - moments handed from who reads them to who takes them in time order, on another thread
 * once there are many.
 *
 * What is handed over goes through a window (reorder.h). The first RELAY_ALONE blocks are taken by
 * the thread that puts them, so that a small trace costs no thread; from then on by a second one,
 * unless the machine has one CPU, no thread can be made, or the owner forbids it. The order of all
 * calls is the same either way. At RELAY_DEPTH blocks that wait, whoever puts waits too.
 *
 * From the first moment put until relay_end, what `out` changes is not the caller's to touch.
 */
#ifndef DIAL9_RELAY_H
#define DIAL9_RELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "moment.h"

#define RELAY_ALONE 64u /* blocks of 2048 moments: some 2 MB of trace */
#define RELAY_DEPTH 32u /* blocks that wait, 4 MB in all */

struct relay;

/* As reorder_new. may_thread: a second thread may call `out` and `ahead`. NULL: no memory. */
struct relay *relay_new(uint32_t cap, int (*out)(void *ctx, const struct moment *m),
			void (*ahead)(void *ctx, const struct moment *m), void *ctx,
			bool may_thread);

/* Also before the end: what waits is dropped. Accepts NULL. */
void relay_free(struct relay *r);

/* Where the next moment is to be written: the same place until relay_put. NULL: no memory. */
struct moment *relay_next(struct relay *r);

/* The moment at relay_next was written. 0, what `out` answered to an earlier one, or -ENOMEM. */
int relay_put(struct relay *r);

/* All put so far is given out, then `then` (or NULL) is called with ctx. As relay_put. */
int relay_flush(struct relay *r, void (*then)(void *ctx));

/* The same, and waits for it: from here on everything is the caller's again. Nothing may be put
 * after it. As relay_put. */
int relay_end(struct relay *r);

uint64_t relay_late(const struct relay *r); /* after relay_end: see reorder_late */
bool relay_is_threaded(const struct relay *r); /* a second thread was made */

#endif /* DIAL9_RELAY_H */
