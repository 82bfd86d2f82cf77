/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracksim.h - wire records of a server at work, made beforehand for bench_track.c: per poll 3/4 of a
 * wake, now and then a spawn and an end, a park, a CPU sample; in time order, from a fixed seed.
 */
#ifndef DIAL9_TRACKSIM_H
#define DIAL9_TRACKSIM_H

#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/wire.h"

#define TRACKSIM_TASKS 256
#define TRACKSIM_FRAMES 24
#define TRACKSIM_WORKERS_MAX 64
#define TRACKSIM_HANDLE 0x7f0000001000ull

struct tracksim_record {
	size_t sz;
	union {
		struct wire_head head;
		struct wire_poll_start start;
		struct wire_poll_end end;
		struct wire_wake wake;
		struct wire_spawn_id draw;
		struct wire_bind bind;
		struct wire_switch_out out;
		struct wire_switch_in in;
		struct wire_cpu_sample sample;
		uint64_t words[6 + TRACKSIM_FRAMES];
	};
};

struct tracksim { /* makes the records */
	struct tracksim_record *at;
	size_t cnt, max;
	uint64_t *packed; /* the same, one behind the other as in a ring: size, record, size, ... */
	uint64_t seed, next_id;
	uint64_t tasks[TRACKSIM_TASKS], polled_by[TRACKSIM_TASKS];
	struct {
		uint64_t now, task, cpu;
		uint32_t slot;
		int step;
	} workers[TRACKSIM_WORKERS_MAX];
	uint32_t workers_cnt;
};

/* At least 1000 records of 1 to TRACKSIM_WORKERS_MAX workers. 0, -ENOMEM. */
int tracksim_make(struct tracksim *s, size_t records_max, uint32_t workers_cnt);
void tracksim_free(struct tracksim *s);

#endif /* DIAL9_TRACKSIM_H */
