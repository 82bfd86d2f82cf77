/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parks.h - the switches of busy threads at level stat, added up by BPF: agent:Parks.
 *
 * BPF's sums only grow; what lies between two records of a thread becomes one event. A record that
 * was lost costs precision in time and no switch, one that says nothing new is no event.
 */
#ifndef DIAL9_PARKS_H
#define DIAL9_PARKS_H

#include <stdbool.h>
#include <stdint.h>

struct track;
struct wire_parks;

/* A sleeping thread's sums are asked for when they are older than this. */
#define PARKS_STALE_NS 1000000000ull

bool parks_record(struct track *t, const struct wire_parks *rec);

/*
 * Is there a thread whose switches are added up, and which has not told of them for PARKS_STALE_NS?
 * now_ns ~0: for however short.
 */
bool parks_are_stale(const struct track *t, uint64_t now_ns);

#endif /* DIAL9_PARKS_H */
