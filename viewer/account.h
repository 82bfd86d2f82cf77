/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.h - moments in time order to what the report says of tasks, workers and polls.
 *
 * Definitions. A wait runs from the first wake since the task's previous poll began to the start
 * of its next poll; if the wake came while the task was being polled, from that poll's end. A poll
 * whose end or start was not seen has no duration, and so has one that agent:InferredEnd says was
 * only closed for the recording (rules 5 and up). Each moment costs constant time and allocates
 * nothing but table growth.
 */
#ifndef DIAL9_ACCOUNT_H
#define DIAL9_ACCOUNT_H

#include <stdint.h>

#include "busyruns.h"
#include "longpolls.h"
#include "moment.h"

struct d9_ev;
struct histogram;
struct labels;
struct leaftable;
struct tasktable;
struct typetable;
struct watch;
struct workertable;

struct account_off { /* times without CPU inside polls, by what the thread did */
	uint64_t cnt, sum_ns, max_ns;
};

struct account {
	struct labels *labels; /* borrowed */
	const struct watch *watch; /* borrowed; NULL after account_init */
	struct tasktable *tasks;
	struct typetable *types;
	struct typetable *blocking; /* account_blocking's, until account_finish adds it to types */
	struct workertable *workers;
	struct leaftable *leaves;
	struct longpolls longest;
	struct account_off off[MOMENT_SYSCALL + MOMENT_SYSCALL_MAX + 1];
	uint32_t level; /* set of MOMENT_HAS_*, of all types; 0 before the first MOMENT_LEVEL ... */
	bool has_level; /* ... of which this says that it came */
	bool is_partial; /* some types are recorded at a lower level */
	uint64_t waits_cut; /* woken in a poll whose end was not seen before the next began */
	uint64_t stray_ends; /* poll ends without a start */
	uint64_t unknown_ends; /* ends of tasks never seen before */
	uint64_t nested_polls, block_in_places, block_in_place_ns;
	uint64_t samples, samples_in_polls, samples_between, samples_blocking, samples_unknown;
	uint64_t samples_blind; /* on workers while polls were not recorded */
	/* of those in polls: known by the task id that the thread held (agent:Sample); and of these, of
	 * a task whose type is not known */
	uint64_t samples_by_id, samples_untyped;
	struct busyruns runs;
	uint64_t over_worker_cap; /* moments of worker ids of MOMENT_WORKERS_MAX and more */
	int err; /* -ENOMEM once a table could not grow: the figures are then too small */
};

/* 0 or -ENOMEM. account_done frees what it holds, in either case. */
int account_init(struct account *a, struct labels *labels);
void account_done(struct account *a);

/* Counts a value; a failure is kept in a->err. */
void account_add(struct account *a, struct histogram *h, uint64_t value);

/* One moment, in time order. ctx is the account; always 0 (an `out` of relay.h). */
int account_moment(void *ctx, const struct moment *m);

/* A moment that comes soon: fetches what account_moment will look up. Changes nothing. */
void account_ahead(void *ctx, const struct moment *m);

/*
 * Blocking-pool tasks and block_in_place, whose events need no order. These two and the table of
 * leaves but for its counts may be used by one thread while another calls account_moment. 0 or
 * -ENOMEM.
 */
int account_blocking(struct account *a, const struct d9_ev *ev);
void account_block_in_place(struct account *a, const struct d9_ev *ev);

/* Events are missing between the last moment and the next. */
void account_gap(struct account *a);

/* The same, and the recorder was started again between them. */
void account_session(struct account *a);

void account_finish(struct account *a, uint64_t first_ns, uint64_t last_ns);

/* The row of the task's type; NULL: the task or its type is not known. Good until a type is added. */
const struct type_row *account_type_of(const struct account *a, uint64_t task);

#endif /* DIAL9_ACCOUNT_H */
