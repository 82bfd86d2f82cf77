/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.h - what one recording did not get, counted by kind and cause.
 *
 * BPF counts what it could not hand over or could not read (struct wire_counts). Each increase is
 * told twice: as an agent:Loss event in the trace and in the summary at the end.
 */
#ifndef DIAL9_LOSSES_H
#define DIAL9_LOSSES_H

#include <stdint.h>

#include <linux/types.h>

#include "bpf/wire.h"

struct emit;
struct probe;
struct summary;
struct track;

struct losses { /* all borrowed; zeroed otherwise */
	struct probe *probe;
	unsigned slot;
	struct emit *emit;
	struct track *track;
	struct summary *summary;
	struct wire_counts counts; /* as last seen; before the first look 0 */
	uint64_t counts_ns; /* of that look */
	struct wire_counts flaws_told;
	uint64_t flaws_ns;
};

/* `kind` and `cause`: literals. From from_ns up to now_ns `cnt` of them were lost. */
void losses_add(struct losses *l, uint64_t now_ns, const char *kind, const char *cause,
		uint64_t cnt, uint64_t from_ns);

/* Every tick: records that found no room in a ring since the last look. Reads l->counts anew. */
void losses_tick(struct losses *l, uint64_t now_ns);

/* Once a second: what BPF saw but could not read or keep; it is many and of one kind. */
void losses_second(struct losses *l, uint64_t now_ns);

#endif /* DIAL9_LOSSES_H */
