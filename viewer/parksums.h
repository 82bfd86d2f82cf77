/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parksums.h - do switches that a recorder added up (agent:Parks) fit into their time?
 *
 * Of one such event: it ends after it began and not after its stamp, what it sums up is not longer than
 * it is, and the polls that lost their CPU did so at least once and for less than PARKSUMS_SHORT_NS each.
 * (Of the other sums one may hold time and no count: a sleep counts where it ends.) Of one thread: the
 * events follow each other, its CPU time does not run back, and what it was off its CPU by events of
 * their own (agent:OffCpu) within the same time fits in beside the sums.
 *
 * Events come in the order of the file, in which lanes may stand one after the other; two are compared by
 * their stamps, whichever comes first.
 */
#ifndef DIAL9_PARKSUMS_H
#define DIAL9_PARKSUMS_H

#include <stdbool.h>
#include <stdint.h>

#define PARKSUMS_SHORT_NS 1000000u /* longer ones have events of their own */
#define PARKSUMS_THREADS_MAX 4096 /* threads in a table; at the next one all are forgotten */

struct d9_ev;
struct parksums;

struct parksums *parksums_new(void); /* NULL: out of memory */
void parksums_free(struct parksums *p);

/* Events are missing here: nothing before is compared with what follows. */
void parksums_forget(struct parksums *p);

/* An agent:Parks. false: something of the above does not hold. */
bool parksums_add(struct parksums *p, const struct d9_ev *ev);

/* An agent:OffCpu. */
void parksums_off_cpu(struct parksums *p, const struct d9_ev *ev);

#endif /* DIAL9_PARKSUMS_H */
