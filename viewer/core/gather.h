/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.h - events in file order, taken apart into rows that settle.h puts in order.
 * take.h does it event by event; this is what it works on.
 *
 * Constant time an event. Strings, stacks, tasks and lanes become numbers here, by first sight;
 * lane 0 is that of no worker.
 */
#ifndef DIAL9_GATHER_H
#define DIAL9_GATHER_H

#include "columns.h"
#include "dict.h"
#include "rows.h"

#include <stdbool.h>

struct d9_ev;
struct d9_schema;
struct d9_value;

enum gather_kind {
	GATHER_START,
	GATHER_END,
	GATHER_PARK,
	GATHER_UNPARK,
	GATHER_INFERRED /* agent:InferredEnd */
};

struct gather_moment { /* what a worker does */
	uint64_t ts_ns;
	uint16_t lane;
	uint8_t kind, rule; /* rule: of INFERRED */
	uint32_t task; /* of parks: row of `parks` */
	uint32_t place;
	uint16_t queue;
};
struct gather_park {
	uint64_t cpu_ns, delay_ns;
	uint32_t tid;
};
struct gather_span { /* a nested poll or a blocking task: start and end in one event */
	uint64_t ts_ns;
	uint16_t lane;
	uint32_t task, place;
	uint64_t end_ns, ready_ns;
};
struct gather_wake {
	uint64_t ts_ns;
	uint16_t lane;
	uint32_t task, waker;
};
struct gather_sample {
	uint64_t ts_ns;
	uint16_t lane;
	uint8_t source;
	bool is_loose; /* set by settle: no worker was told, so its lane is found by its thread */
	uint32_t tid, stack, thread, task;
};
struct gather_off {
	uint64_t ts_ns;
	uint16_t lane, syscall;
	uint8_t reason;
	bool is_loose; /* as of a sample */
	uint32_t tid, task, stack;
	uint64_t end_ns;
};
struct gather_queue {
	uint64_t ts_ns;
	uint16_t lane; /* 0 */
	uint32_t runtime, depth, alive;
};
struct gather_record {
	uint64_t ts_ns;
	uint16_t lane; /* 0 */
	uint32_t schema;
	uint64_t bytes;
};
struct gather_clock {
	uint64_t ts_ns;
	uint16_t lane; /* 0 */
	uint64_t realtime_ns;
};
struct gather_binding { /* from ts_ns on, a thread is this worker */
	uint64_t ts_ns;
	uint16_t lane;
	uint32_t tid;
};
struct gather_task {
	uint64_t id, spawn_ns, end_ns;
	uint32_t place;
	uint8_t cause, flags;
};
struct gather_symbol {
	uint32_t frame, depth, name, file, line;
};
struct gather_segment {
	uint32_t name, err;
	uint64_t first_ns, last_ns, events, bytes;
};
struct gather_fact {
	uint32_t key, value;
};

#define GATHER_POOLED 65536u /* entries of each cache of pool ids, a power of two */
struct gather_pooled {
	uint64_t batch; /* 0 empty */
	uint32_t pool_id, number;
};

#define GATHER_SCHEMAS 256u /* a power of two */
struct gather_schema {
	uint64_t batch;
	const struct d9_schema *schema;
	uint32_t number;
};

struct gather {
	struct columns_odd odd;
	struct dict texts, stacks, frames, lanes, schemas;
	struct rows moments, parks, spans, wakes, samples, offs, queues, records, record_bytes,
		clocks, bindings, tasks, symbols, segments, facts;
	uint32_t *task_slots, task_slots_cnt;
	uint64_t seed;
	size_t *gaps; /* moments with this number or above come after a gap */
	size_t gaps_cnt, file_from;
	uint32_t session; /* text of agent.session */
	uint16_t worker_lanes[1024]; /* of small worker ids; 0 not yet known */
	uint32_t tid_of[1024]; /* the thread last seen on such a lane */
	struct gather_pooled *pooled_texts, *pooled_stacks;
	struct gather_segment segment;
	struct gather_sampled { /* the last agent:Sample: its CPU sample follows */
		uint64_t ts_ns;
		uint32_t tid, task;
	} sampled;
	struct gather_schema schema_of[GATHER_SCHEMAS];
	uint64_t batch; /* of the record being taken */
	uint64_t batch_base; /* makes batch numbers differ between files; never goes back */
	bool is_kept; /* settled and gathered into again: rows stay (live.h) */
	int err; /* the first failure: -ENOMEM, -E2BIG */
};

#define GATHER_ROWS 15
#define GATHER_DICTS 5
/* All its tables, in an order of their own. */
void gather_parts(struct gather *g, struct rows *rows[GATHER_ROWS],
		  struct dict *dicts[GATHER_DICTS]);

int gather_init(struct gather *g); /* 0 or -ENOMEM; gather_free in either case */
void gather_free(struct gather *g);

/* A file begins (its name; take_event takes its events), and how it ended (0 or negative, as d9_src_next). */
void gather_begin(struct gather *g, const char *name, bool is_after_gap);
void gather_end(struct gather *g, int err, uint64_t bytes);

/* All bytes of its rows and names. */
uint64_t gather_sz(const struct gather *g);
/* The rows of a table are in the columns: they are freed, but where the gather is kept. */
void gather_done(struct gather *g, struct rows *r);

/* Failures are kept in g->err; a row is then NULL, a number 0. */
void *gather_row(struct gather *g, struct rows *r);
uint16_t gather_lane(struct gather *g, enum columns_lane kind, uint64_t id);
uint32_t gather_task(struct gather *g, uint64_t id); /* COLUMNS_NONE for id 0 */
void gather_forget_tasks(struct gather *g, size_t cnt); /* all but the first cnt */
struct gather_task *gather_task_row(struct gather *g, uint32_t task); /* NULL for COLUMNS_NONE */
uint32_t gather_frame(struct gather *g, uint64_t addr);
/* An agent:Sample; and the task that it names for the CPU sample of that thread and stamp, or NONE. */
void gather_sampled(struct gather *g, const struct d9_ev *ev);
uint32_t gather_sampled_task(const struct gather *g, uint64_t ts_ns, uint32_t tid);
/* Events are missing before this file. */
void gather_gap(struct gather *g);

/* Numbers of a string or stack value; 0 for anything else. */
uint32_t gather_text(struct gather *g, const struct d9_ev *ev, const struct d9_value *v);
uint32_t gather_stack(struct gather *g, const struct d9_ev *ev, const struct d9_value *v);

#endif /* DIAL9_GATHER_H */
