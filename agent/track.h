/* SPDX-License-Identifier: Apache-2.0 */
/*
 * track.h - from wire records in time order to dial9 events: tasks, workers, runtimes.
 *
 * Keeps who polls what where: a worker id per (runtime, worker index), contiguous per runtime;
 * a name per future type or spawn place; the tasks alive. Knows no files, no BPF and no ELF: what
 * it needs from those comes through struct track_ops, and what it finds goes to emit.h.
 */
#ifndef DIAL9_TRACK_H
#define DIAL9_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct emit;
struct track;
struct wire_head;
struct seat;

#define TRACK_TASKS_MAX (1u << 20) /* tasks remembered; a further one is emitted by its type, counted */
#define TRACK_WORKERS_MAX 1024
#define TRACK_RUNTIMES_MAX 256 /* the blocks local-<tid> and unknown-<owner> included */

/* Answers from the rooms to the left; each returns 0 or a negative errno, and may be slow (they
 * are asked once per thread, type, spawn place or runtime). `ctx` is track_options.ctx. */
struct track_ops {
	/* the multi_thread seat of a thread. Asked for every thread that polls async tasks, so that
	 * the answerer can tell BPF about it in any case (struct wire_thread: is_worker; and the
	 * queue's address if there is a seat). */
	int (*seat)(void *ctx, pid_t tid, struct seat *ret);
	/* enum seat_flavor of a scheduler word */
	int (*flavor)(void *ctx, uint64_t scheduler, int *ret);
	/* future type of a vtable (never fails: "vtable+0x1234@buildid" at worst), is it blocking */
	int (*type)(void *ctx, uint64_t vtable, char *name, size_t sz, bool *is_blocking);
	/* "file:line:col" of a Location in the target's memory */
	int (*location)(void *ctx, uint64_t location, char *place, size_t sz);
	/* "file:line:col" of the code that spawned */
	int (*spawn_place)(void *ctx, uint64_t return_addr, char *place, size_t sz);
	/* global queue depth and alive tasks; either may be unknown */
	int (*runtime)(void *ctx, uint64_t scheduler, uint64_t owner_id, uint64_t owned_tasks,
		       int64_t *global_depth, int64_t *alive); /* -1 = unknown */
	/* thread name, for CPU samples and runtime names */
	int (*thread_name)(void *ctx, pid_t tid, char *name, size_t sz);
};

struct track_options {
	const struct track_ops *ops;
	void *ctx;
	const char *runtime_name; /* DIAL9_RUNTIME_NAME, NULL = derive */
	bool has_exact_ends; /* return sites are attached (level full) */
	bool has_task_events; /* spawn, end: level full and DIAL9_TASK_TRACKING_ENABLED */
	bool has_bind; /* bind_inner is probed: spawns are dated by it, not by the id counter */
	bool has_raise; /* panics are seen */
	bool has_wakes; /* every effective wake is recorded (levels wakes and full) */
};

int track_open(const struct track_options *o, struct emit *e, struct track **ret);
void track_close(struct track *t);

/* One record, whole, of a known kind and size (event.h has checked). Never fails: what cannot be
 * used is counted in struct track_stats. */
void track_record(struct track *t, const struct wire_head *rec, size_t sz);

/* A thread that exists at attach time, before its first record: gives workers their ids early. */
void track_thread(struct track *t, pid_t tid);

/* Are switches of some thread added up at the moment? And has one of these not told of them for long
 * (PARKS_STALE_NS)? BPF tells when the threads are listed. */
bool track_has_summed(const struct track *t);
bool track_is_stale(const struct track *t, uint64_t now_ns);

/* Called at each tick (pace.h) with the time up to which records have been handed over: RuntimeMetrics,
 * deferred spawns, timeouts. */
void track_tick(struct track *t, uint64_t now_ns);

struct track_level { /* what is recorded from now on; fields as in track_options */
	bool has_polls, has_exact_ends, has_task_events, has_bind, has_raise, has_wakes;
	bool ends_polls; /* whose starts are seen are others: what is open ends here, inferred */
};

/* The level changes at ts_ns, between the records before and after it. Without polls the open ones
 * end there, inferred, and further starts are ignored. */
void track_level(struct track *t, const struct track_level *l, uint64_t ts_ns);

/* Records of `kind` were lost in [from_ns, to_ns]: open polls and pairs of that time are no longer
 * certain. The loss itself is written by emit_loss. */
void track_loss(struct track *t, int kind, uint64_t cnt, uint64_t from_ns, uint64_t to_ns);

/* End of recording: closes what is open, marked as inferred. */
void track_finish(struct track *t, uint64_t now_ns);

struct track_stats {
	uint64_t polls, nested_polls, blocking_polls, wakes, spawns, ends, parks, unparks;
	uint64_t cpu_samples, off_cpu;
	uint64_t parks_summed; /* without events of their own (agent:Parks) */
	uint64_t inferred_ends; /* poll ends not seen but deduced; hand-offs are not among them */
	uint64_t unpaired_ends; /* ends without a start: attached mid-poll */
	uint64_t unknown_worker; /* polls on a thread whose worker is not known */
	uint64_t tasks_over_cap;
	uint64_t handoffs; /* block_in_place moves */
	uint64_t alive; /* tasks older than the recording (agent:Alive) */
	uint64_t tasks_now; /* remembered at this moment */
	uint64_t ids_drawn, ids_foreign; /* from id counters; of counters found not to be Tokio's */
	uint64_t counters_confirmed;
	uint64_t used_records, ignored_records;
	uint64_t ignored_by[32]; /* by enum wire_kind: records that became no event, e.g. counters */
};

void track_stats(const struct track *t, struct track_stats *ret);

#endif /* DIAL9_TRACK_H */
