// SPDX-License-Identifier: Apache-2.0
/* track_records.c - records as BPF would send them, given to a fixture's track. */
#include "test/unit/track_fixture.h"

#include <string.h>

#define HEAD(k, f)                                                 \
	{                                                          \
		.ts_ns = ts, .tid = tid, .kind = (k), .flags = (f) \
	}

void fx_record(struct fixture *self, const void *rec, size_t sz)
{
	self->records++;
	track_record(self->track, rec, sz);
}

void fx_owner(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t owner, uint64_t scheduler)
{
	struct wire_owner r = { .head = HEAD(WIRE_OWNER, 0),
				.owner_id = owner,
				.scheduler = scheduler };

	fx_record(self, &r, sizeof(r));
}

void fx_seated(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t handle, uint32_t index,
	       uint32_t cnt)
{
	struct wire_seat r = {
		.head = HEAD(WIRE_SEAT, 0), .handle = handle, .index = index, .workers_cnt = cnt
	};

	fx_record(self, &r, sizeof(r));
}

static void start(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t task, uint32_t owner,
		  uint8_t depth, uint64_t vtable)
{
	struct wire_poll_start r = { .head = HEAD(WIRE_POLL_START, 0),
				     .task_id = task,
				     .vtable = vtable,
				     .owner_id = owner,
				     .local_queue = 3,
				     .depth = depth };

	fx_record(self, &r, sizeof(r));
}

void fx_start(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t task, uint32_t owner,
	      uint8_t depth)
{
	start(self, ts, tid, task, owner, depth, 0xa000 + task % 7);
}

void fx_blocking(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t task, uint8_t depth)
{
	start(self, ts, tid, task, 0, depth, FX_BLOCKING_VT);
}

void fx_end(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t task, uint8_t depth,
	    uint8_t flags)
{
	struct wire_poll_end r = { .head = HEAD(WIRE_POLL_END, flags),
				   .task_id = task,
				   .depth = depth,
				   .rule = flags & WIRE_END_INFERRED ? 2 : 0 };

	fx_record(self, &r, sizeof(r));
}

void fx_wake(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t woken, uint64_t waker)
{
	struct wire_wake r = { .head = HEAD(WIRE_WAKE, 0), .woken_id = woken, .waker_id = waker };

	fx_record(self, &r, sizeof(r));
}

void fx_draw(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t id, uint32_t counter)
{
	struct wire_spawn_id r = { .head = HEAD(WIRE_SPAWN_ID, 0),
				   .task_id = id,
				   .counter = counter };

	fx_record(self, &r, sizeof(r));
}

void fx_bind(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t id, uint64_t return_addr)
{
	struct wire_bind r = { .head = HEAD(WIRE_BIND, 0),
			       .task_id = id,
			       .vtable = 0xa000 + id % 7,
			       .return_addr = return_addr,
			       .owned_tasks = 0x7000 };

	fx_record(self, &r, sizeof(r));
}

void fx_shutdown(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t task)
{
	struct wire_shutdown r = { .head = HEAD(WIRE_SHUTDOWN, 0), .task_id = task };

	fx_record(self, &r, sizeof(r));
}

void fx_out(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t task, int syscall,
	    uint8_t flags, uint32_t state, size_t frames_cnt)
{
	uint64_t buf[sizeof(struct wire_switch_out) / 8 + WIRE_FRAMES_MAX] = { 0 };
	struct wire_switch_out r = { .head = HEAD(WIRE_SWITCH_OUT, flags),
				     .task_id = task,
				     .cpu_time_ns = ts / 2,
				     .syscall = syscall,
				     .prev_state = state,
				     .cpu = 1,
				     .frames_cnt = (uint16_t)frames_cnt };

	memcpy(buf, &r, sizeof(r));
	for (size_t i = 0; i < frames_cnt; i++)
		buf[sizeof(r) / 8 + i] = 0x5000 + i;
	fx_record(self, buf, sizeof(r) + 8 * frames_cnt);
}

static void record_in(struct fixture *self, uint64_t ts, uint32_t tid, uint8_t flags, uint64_t out_ns,
		      uint64_t runnable_ns)
{
	struct wire_switch_in r = { .head = HEAD(WIRE_SWITCH_IN, flags),
				    .out_ns = out_ns,
				    .runnable_ns = runnable_ns,
				    .cpu_time_ns = ts / 2 };

	fx_record(self, &r, sizeof(r));
}

void fx_in(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t out_ns, uint64_t runnable_ns)
{
	record_in(self, ts, tid, 0, out_ns, runnable_ns);
}

void fx_in_unseen(struct fixture *self, uint64_t ts, uint32_t tid, uint64_t out_ns, uint64_t runnable_ns)
{
	record_in(self, ts, tid, WIRE_IN_INFERRED, out_ns, runnable_ns);
}

void fx_sample(struct fixture *self, uint64_t ts, uint32_t tid, const char *comm, size_t frames_cnt)
{
	uint64_t buf[sizeof(struct wire_cpu_sample) / 8 + WIRE_FRAMES_MAX] = { 0 };
	struct wire_cpu_sample r = { .head = HEAD(WIRE_CPU_SAMPLE, 0),
				     .cpu = 2,
				     .frames_cnt = (uint16_t)frames_cnt };

	memcpy(r.comm, comm, strnlen(comm, sizeof(r.comm)));
	memcpy(buf, &r, sizeof(r));
	for (size_t i = 0; i < frames_cnt; i++)
		buf[sizeof(r) / 8 + i] = 0x6000 + i;
	fx_record(self, buf, sizeof(r) + 8 * frames_cnt);
}

void fx_exit(struct fixture *self, uint64_t ts, uint32_t tid)
{
	struct wire_life r = { .head = HEAD(WIRE_THREAD_EXIT, 0) };

	fx_record(self, &r, sizeof(r));
}
