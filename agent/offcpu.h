/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offcpu.h - context switches and CPU samples: parks, blocking inside polls, stacks.
 *
 * A worker that goes to sleep in futex or epoll outside any poll parks; its next switch-in unparks
 * it. Each sleep is a park of its own, also where Tokio's park call sleeps twice (1-2 % of them):
 * nothing is merged. A switch-out inside a poll is held with its stack until the switch-in, and
 * becomes agent:OffCpu and a CpuSampleEvent of source 1 then. A switch-in that BPF has inferred
 * (WIRE_IN_INFERRED) is followed by agent:InferredIn.
 */
#ifndef DIAL9_OFFCPU_H
#define DIAL9_OFFCPU_H

#include <stdbool.h>
#include <stddef.h>

#define OFFCPU_HELD_MAX 1024 /* threads off the CPU inside polls at once; more are ignored, counted */

struct offcpu;
struct thread;
struct track;
struct wire_cpu_sample;
struct wire_switch_in;
struct wire_switch_out;

/* agent:OffCpu.reason */
enum offcpu_reason {
	OFFCPU_PREEMPTED = 0,
	OFFCPU_SLEEPING = 1,
	OFFCPU_UNINTERRUPTIBLE = 2,
	OFFCPU_OTHER = 3,
};

int offcpu_new(struct offcpu **ret);
void offcpu_free(struct offcpu *o);

bool offcpu_out(struct track *t, const struct wire_switch_out *rec, size_t frames_cnt);
bool offcpu_in(struct track *t, const struct wire_switch_in *rec);
bool offcpu_sample(struct track *t, const struct wire_cpu_sample *rec, size_t frames_cnt);

/* The switch-in was lost, or will not come: forget the interval, count its record as ignored. */
void offcpu_drop(struct track *t, struct thread *th);

#endif /* DIAL9_OFFCPU_H */
