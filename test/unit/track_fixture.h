/* SPDX-License-Identifier: Apache-2.0 */
/*
 * track_fixture.h - a track and emit stage over memory, for unit tests: wire records in, decoded
 * events out (track_output.c). The target is played by struct fixture_world.
 */
#ifndef DIAL9_TRACK_FIXTURE_H
#define DIAL9_TRACK_FIXTURE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/emit.h"
#include "agent/metadata.h"
#include "agent/seat.h"
#include "agent/track.h"
#include "bpf/wire.h"

#define FX_FIELDS_MAX 16
#define FX_EVENTS_MAX 200000
#define FX_TIDS_MAX 64

struct fx_event { /* a decoded event; fields by their D9F_ number */
	enum d9_event kind;
	uint64_t ts_ns;
	bool has[FX_FIELDS_MAX];
	uint64_t u[FX_FIELDS_MAX];
	char str[FX_FIELDS_MAX][64]; /* strings cut, stacks as "3:aa,bb,cc" */
	uint64_t batch;
};

struct fixture_world { /* answers of the target; schedulers with bit 32 set are multi_thread,
	* with bit 33 current_thread, else neither */
	struct {
		pid_t tid;
		struct seat seat;
		char name[16];
	} threads[FX_TIDS_MAX];
	size_t threads_cnt;
	int64_t depth, alive; /* what memory says of each runtime, -1 = unknown */
	int seat_calls, type_calls, flavor_calls;
};

struct fixture {
	struct fixture_world world;
	struct track_options options;
	struct metadata *metadata;
	struct emit *emit;
	struct track *track;
	uint8_t *bytes; /* all segments one behind the other */
	size_t sz, cap;
	size_t segment_at[64];
	size_t segments_cnt;
	size_t addrs_cnt; /* at the last rotation */
	bool should_rotate; /* one shot */
	int write_error, rotate_error; /* returned while set */
	struct fx_event *events;
	size_t events_cnt;
	uint64_t records; /* given to track_record */
};

#define FX_MULTI(n) (0x100000000ull + (n))
#define FX_CURRENT(n) (0x200000000ull + (n))
#define FX_BLOCKING_VT 0xb10cull /* its type is blocking */

/* `o` NULL: level full. */
void fx_open(struct fixture *self, const struct track_options *o);
void fx_close(struct fixture *self);

/* The answer of track_ops.seat for tid: worker `index` of `cnt` of runtime `handle`. */
void fx_seat(struct fixture *self, pid_t tid, uint64_t handle, uint32_t index, uint32_t cnt,
	     bool has_core);
void fx_unseat(struct fixture *self, pid_t tid);
void fx_name(struct fixture *self, pid_t tid, const char *name);

void fx_record(struct fixture *self, const void *rec, size_t sz);
void fx_owner(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t owner, uint64_t scheduler);
void fx_seated(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t handle, uint32_t index,
	       uint32_t cnt);
void fx_start(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t task, uint32_t owner,
	      uint8_t depth);
void fx_blocking(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t task, uint8_t depth);
void fx_end(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t task, uint8_t depth,
	    uint8_t flags);
void fx_wake(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t woken, uint64_t waker);
void fx_draw(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t id, uint32_t counter);
void fx_bind(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t id, uint64_t return_addr);
void fx_shutdown(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t task);
void fx_out(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t task, int syscall,
	    uint8_t flags, uint32_t state, size_t frames_cnt);
void fx_in(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t out_ns, uint64_t runnable_ns);
void fx_in_unseen(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t out_ns, uint64_t runnable_ns);
void fx_sample(struct fixture *self, uint64_t ts, uint32_t tid, const char *comm,
	       size_t frames_cnt);
void fx_exit(struct fixture *self, uint64_t ts, uint32_t tid);

/* Flushes and decodes everything written so far; fails the test on damage. */
void fx_decode(struct fixture *self);

/* The n-th event of a kind (0 = first), NULL if there are fewer; how many there are. */
const struct fx_event *fx_nth(const struct fixture *self, enum d9_event kind, size_t n);
size_t fx_cnt(const struct fixture *self, enum d9_event kind);

/* Starts and ends alternate per worker over all that was decoded; returns the number left open. */
size_t fx_check_alternation(const struct fixture *self);
/* used + ignored = given, and events by kind agree with the bytes. */
void fx_check_counts(const struct fixture *self);

/* ---- for tests that begin alike: one fixture, set up before each test ---- */
extern struct fixture fx;

int fx_setup(void **state);
int fx_teardown(void **state);

#define FX_TEST(f) cmocka_unit_test_setup_teardown(f, fx_setup, fx_teardown)
#define FX_WORKERS 4
#define FX_RT FX_MULTI(0x10) /* of fx_setup_workers */
#define FX_OWNER 5
#define FX_WORKERS_TEST(f) cmocka_unit_test_setup_teardown(f, fx_setup_workers, fx_teardown)

/* Threads 101.. are workers 0.. of runtime `handle`, whose task list is `owner`. */
void fx_workers(uint64_t handle, uint32_t owner, bool is_named);
int fx_setup_workers(void **state); /* the same of FX_RT, named */
int fx_setup_threads(void **state); /* ... and the threads are known before their first record */
/* Polls one task of list `owner` on `tid`; the worker id it was written with, UINT64_MAX = none. */
uint64_t fx_poll_once(uint32_t tid, uint32_t owner, uint64_t ts);
/* A key of the metadata, "(unset)" without it. */
const char *fx_meta(const char *key);

#endif /* DIAL9_TRACK_FIXTURE_H */
