/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seatlearn.h - hands the way to a worker's seat to BPF as soon as it is learnt (seat.h finds it).
 *
 * Once BPF tells the seats nobody asks seat.h any more; so what the first look could not tell (where
 * the words of a run queue stand, while none has been used) is looked for from here.
 */
#ifndef DIAL9_SEATLEARN_H
#define DIAL9_SEATLEARN_H

#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "bpf/wire.h"

#define SEATLEARN_NS 100000000ull /* between two looks at a layout that is not whole */
#define SEATLEARN_LOOKS 50 /* after so many it goes on, but at this pace: */
#define SEATLEARN_SLOW_NS 1000000000ull
#define SEATLEARN_THREADS 32 /* threads looked at each time, one after the other */

struct probe;
struct roster;
struct seats;

struct seatlearn { /* all borrowed; left = -EAGAIN, the rest 0 at first */
	struct seats *seats;
	struct roster *roster;
	struct probe *probe;
	unsigned slot;
	int left; /* of seats_layout at the last look */
	uint64_t next_ns;
	size_t at; /* the thread whose turn it is */
	uint32_t looks_cnt;
	struct wire_seat_layout layout; /* what BPF was told last */
};

/* Looks and tells, if anything is left to learn and it is time. */
void seatlearn_tick(struct seatlearn *l, uint64_t now_ns);

#endif /* DIAL9_SEATLEARN_H */
