/* SPDX-License-Identifier: Apache-2.0 */
/*
 * invariants.h - what must hold of every recording, checked moment by moment.
 *
 * Some checks look at moments in file order, the others in time order. A check is judged only
 * where the recording claims to hold what it needs (agent.has, see facts.h).
 */
#ifndef DIAL9_INVARIANTS_H
#define DIAL9_INVARIANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "moment.h"
#include "spans.h"

struct facts;
struct tasktable;

/*
 * Tokio gives a task back before the poll function returns, so another worker may begin to poll it
 * before this poll's end is stamped. Time on CPU in which both seem to poll, up to this, is that.
 */
#define INVARIANTS_OVERLAP_NS 100000

enum invariant {
	INVARIANT_POLLS, /* starts and ends alternate per worker */
	INVARIANT_PARKS, /* parks and unparks alternate per worker */
	INVARIANT_TIME, /* time does not go backwards per worker, in file order */
	INVARIANT_ONE_WORKER, /* no task on two workers at once */
	INVARIANT_IDS, /* no id is spawned twice without an end between */
	INVARIANT_ENDED, /* no task is polled after its end */
	INVARIANT_NESTED, /* nested polls lie inside a poll of their worker, or one in the other */
	INVARIANT_BLOCKING, /* polls of blocking tasks follow each other per thread, or nest */
	INVARIANT_SUMS, /* switches that were added up fit into their time (parksums.h) */
	INVARIANT_FIELDS, /* events hold the fields they must have */
	INVARIANT_POOLS, /* pool ids name something */
	INVARIANT_NUMBERS, /* segment numbers have no holes */
	INVARIANT_CNT
};

/* What it says, for people; a short name, for programs. */
const char *invariant_text(enum invariant i);
const char *invariant_name(enum invariant i);

struct invariant_result {
	bool is_judged;
	uint64_t looked; /* events, or files, it was asked of */
	uint64_t broken;
	uint64_t first_ns, first_worker, first_task; /* where it broke first; 0 where it has none */
};

struct invariants_worker {
	bool is_polling, is_parked;
	bool has_polled, has_parked; /* since the start or the last gap */
	uint64_t task, start_ns; /* of the open poll */
	uint64_t overlap_ns,
		overlap_off_ns; /* another worker polls it since; off CPU within that */
	bool has_file_ns;
	uint64_t file_ns; /* stamp of its last event in file order */
	struct spans nested; /* within the open poll */
};

struct invariants {
	struct invariant_result results[INVARIANT_CNT];
	struct tasktable *tasks;
	struct spans_threads *threads; /* of blocking tasks, by tid */
	struct invariants_worker *workers; /* MOMENT_WORKERS_MAX of them */
	uint32_t level; /* set of MOMENT_HAS_*, of all types */
	bool has_level, is_partial; /* the first MOMENT_LEVEL came; some types are at a lower one */
	bool has_wakes; /* of all types; from has_level on */
	bool had_gap; /* tasks may be older than what is known of them */
	uint64_t polls, unexplained; /* polls without a spawn, wake or Alive before them */
	uint64_t overlaps; /* polls of one task that overlap as INVARIANTS_OVERLAP_NS says */
};

/* 0 or -ENOMEM; invariants_done frees what it holds, in either case. */
int invariants_init(struct invariants *v);
void invariants_done(struct invariants *v);

/* A moment, in the order of the file. */
void invariants_in_file(struct invariants *v, const struct moment *m);

/* A moment, in the order of time (a reorder_put callback; ctx is the struct; 0 or -ENOMEM). */
int invariants_moment(void *ctx, const struct moment *m);

void invariants_break(struct invariants *v, enum invariant i, uint64_t cnt, uint64_t ts_ns,
		      uint64_t worker, uint64_t task);

/* Events are missing between the last moment and the next. 0 or -ENOMEM. */
int invariants_gap(struct invariants *v);

/* Decides which are judged. */
void invariants_finish(struct invariants *v, const struct facts *facts);

#endif /* DIAL9_INVARIANTS_H */
