/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moment.h - the events that tell who ran when, in one fixed shape that can be kept and sorted.
 *
 * report and verify need events in time order, which files do not promise: other recorders write
 * one thread's events after the other's. A moment is what those two need of an event.
 */
#ifndef DIAL9_MOMENT_H
#define DIAL9_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

struct d9_ev;
struct labels;

enum moment_kind {
	MOMENT_POLL_START, /* worker, task, label = place */
	MOMENT_POLL_END, /* worker */
	MOMENT_PARK, /* worker, tid */
	MOMENT_UNPARK, /* worker, tid; has_a: a = sched_wait_ns */
	MOMENT_SPAWN, /* task, label = place */
	MOMENT_END, /* task */
	MOMENT_TASK_END, /* task; a = cause */
	MOMENT_WAKE, /* task = woken; a = waker's task, 0 none */
	MOMENT_ALIVE, /* task, label = type */
	MOMENT_SAMPLE, /* worker (MOMENT_NO_WORKER unknown), tid; label = leaf (leaftable.h); task =
			* agent:Sample's; a = ns for which it stands, 0 unknown; has_a: it would
			* have a task if there were one */
	MOMENT_OFF_CPU, /* worker or none, tid, task or 0; a = out_ns; label = enum moment_off, or
			 * MOMENT_SYSCALL + number */
	MOMENT_NESTED, /* worker, task, label = place; a = start_ns */
	MOMENT_BLOCKING, /* task, tid, label = type; a = start_ns */
	MOMENT_INFERRED, /* worker, task; a = rule: the poll end beside it was not seen */
	MOMENT_PARKS, /* worker, tid, label = parks; a = from_ns, b = to_ns, c = delayed_ns, task = parked_ns */
	MOMENT_LEVEL, /* label = set of MOMENT_HAS_*; has_a: for the type a (a label) alone */
	MOMENT_KIND_CNT
};

#define MOMENT_WORKERS_MAX 4096 /* worker ids; events of a greater id are counted and left out */
#define MOMENT_NO_WORKER UINT16_MAX
#define MOMENT_BLOCKING_WORKER 254 /* dial9's id of the blocking pool, in samples only */
#define MOMENT_UNKNOWN_WORKER 255 /* likewise: no worker, or not known */

/* What is recorded from a MOMENT_LEVEL on. Each segment begins with one: most change nothing. */
#define MOMENT_HAS_POLLS 1
#define MOMENT_HAS_WAKES 2
#define MOMENT_HAS_TASKS 4 /* spawns and ends */
#define MOMENT_HAS_ALL 7

enum moment_off { MOMENT_OFF_PREEMPTED, MOMENT_OFF_OTHER, MOMENT_SYSCALL };
#define MOMENT_FUTEX (MOMENT_SYSCALL + 202)
#define MOMENT_SYSCALL_MAX 1023 /* greater numbers count as MOMENT_OFF_OTHER */

struct moment {
	uint64_t ts_ns, task, a;
	uint64_t b, c; /* of MOMENT_PARKS alone */
	uint32_t label, tid;
	uint32_t stack; /* of samples and times off CPU, where stacks are kept (stacktable.h) */
	uint16_t worker;
	uint8_t kind;
	bool has_a;
};

/*
 * The moment of an event: 1 and *m, else what it holds means nothing: 0 if the event is of no such
 * kind, -D9_E_BAD_VALUE if it lacks a field it must have. `label`, `a` and has_a of samples are left 0. labels may be NULL: labels are then 0.
 */
int moment_of(const struct d9_ev *ev, struct labels *labels, struct moment *m);

#endif /* DIAL9_MOMENT_H */
