/* SPDX-License-Identifier: Apache-2.0 */
/*
 * side.h - one of the two traces, as arrays: ours (dial9-agent) or theirs (dial9 in the process).
 *
 * Times are ns of CLOCK_MONOTONIC. A side owns all that hangs on it; strings (spawn locations,
 * runtime names) are numbered by one table that both sides share, so that equal numbers are equal
 * strings; 0 is the empty one. Running out of memory or a file that is not a trace ends the
 * program with a message: this is a test tool.
 */
#ifndef TRUTH_SIDE_H
#define TRUTH_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIDE_OPEN UINT64_MAX /* end of a poll or park whose end is not in the trace */
#define SIDE_NONE UINT32_MAX

enum poll_kind {
	POLL_PLAIN,
	POLL_INNER, /* ours: inside another poll on the same thread */
	POLL_HANDED, /* ours: lost its worker in block_in_place; end_ns is the real end */
};

struct side_poll {
	uint64_t task, start_ns, end_ns;
	uint64_t worker;
	uint32_t queue, loc;
	uint32_t mate; /* index on the other side, SIDE_NONE */
	uint8_t kind;
	uint8_t rule; /* ours: how its end was inferred, 0 exact */
	bool has_queue; /* the depth is a measurement */
	bool is_cold; /* theirs: the first since the worker slept or was in a long poll */
};

struct side_wake {
	uint64_t woken, waker, ts_ns;
	uint64_t next_ns; /* theirs: next event of the same thread */
	uint32_t worker;
	bool is_claimed;
};

struct side_birth {
	uint64_t task, ts_ns;
	uint64_t worker; /* UINT64_MAX: off a worker */
	uint32_t loc;
	uint32_t mate;
	bool has_wakes; /* theirs: spawned through dial9 */
};

struct side_death {
	uint64_t task, ts_ns;
	uint32_t mate;
};

struct side_park {
	uint64_t worker, from_ns, to_ns;
	uint32_t tid;
	bool is_claimed;
	bool is_guess; /* ours: the kernel did not report the switch-in, an event after it ends it */
};

struct side_metric {
	uint64_t ts_ns;
	uint32_t runtime, queue, alive;
	bool has_queue, has_alive;
};

struct side_task { /* ours: agent:Blocking, agent:Alive, agent:TaskEnd */
	uint64_t task;
	uint64_t start_ns, end_ns; /* agent:Blocking */
	uint8_t what; /* 'b', 'a', 'e' */
	uint8_t cause; /* 'e' */
};

struct side_member {
	uint32_t runtime;
	uint64_t worker;
};

/* Arrays that grow; each begins with the same three members. */
#define SIDE_VEC(type) \
	struct { \
		type *at; \
		size_t cnt, cap; \
	}

struct side {
	SIDE_VEC(struct side_poll) polls; /* by task, then start */
	SIDE_VEC(struct side_wake) wakes; /* by woken task, then time */
	SIDE_VEC(struct side_birth) births; /* by task */
	SIDE_VEC(struct side_death) deaths; /* by task */
	SIDE_VEC(struct side_park) parks; /* by tid, then time */
	SIDE_VEC(struct side_metric) metrics; /* by runtime, then time */
	SIDE_VEC(struct side_task) tasks; /* by task */
	SIDE_VEC(struct side_member) members; /* worker ids of runtimes */
	uint64_t first_ns, last_ns;
	uint64_t lost; /* events in agent:Loss; unmatched stacks are no loss */
	uint64_t flaws; /* starts inside an open poll, ends without a start */
};

/* Reads a file, or every trace.N.* of a directory and of those in it, in order of N. */
void side_load(struct side *s, const char *path, bool is_ours);
void side_free(struct side *s);

/* First index in an array sorted by task that is not below (task, ns). */
size_t side_poll_at(const struct side *s, uint64_t task, uint64_t start_ns);
size_t side_wake_at(const struct side *s, uint64_t task, uint64_t ts_ns);
const struct side_birth *side_birth_of(const struct side *s, uint64_t task);
const struct side_death *side_death_of(const struct side *s, uint64_t task);
const struct side_task *side_task_of(const struct side *s, uint64_t task, uint8_t what);

const char *side_str(uint32_t id);

#endif
