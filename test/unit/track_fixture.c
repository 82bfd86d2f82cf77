// SPDX-License-Identifier: Apache-2.0
/* track_fixture.c - see track_fixture.h. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/log.h"
#include "test/unit/track_fixture.h"

/* ---- the sink ---- */

static int sink_write(void *ctx, const void *frames, size_t sz)
{
	struct fixture *self = ctx;

	if (self->write_error)
		return self->write_error;
	while (self->sz + sz > self->cap) {
		self->cap = self->cap ? 2 * self->cap : 1u << 20;
		self->bytes = realloc(self->bytes, self->cap);
		assert_non_null(self->bytes);
	}
	memcpy(self->bytes + self->sz, frames, sz);
	self->sz += sz;
	return 0;
}

static bool sink_should_rotate(void *ctx, uint64_t now_ns)
{
	struct fixture *self = ctx;

	(void)now_ns;
	return self->should_rotate;
}

static int sink_rotate(void *ctx, uint64_t now_ns, const uint64_t *addrs, size_t addrs_cnt)
{
	struct fixture *self = ctx;

	(void)now_ns;
	if (self->rotate_error)
		return self->rotate_error;
	for (size_t i = 1; i < addrs_cnt; i++)
		assert_true(addrs[i - 1] < addrs[i]);
	self->addrs_cnt = addrs_cnt;
	self->should_rotate = false;
	self->write_error = 0;
	assert_true(self->segments_cnt < 64);
	self->segment_at[self->segments_cnt++] = self->sz;
	return 0;
}

/* ---- the target ---- */

static int world_seat(void *ctx, pid_t tid, struct seat *ret)
{
	struct fixture_world *w = &((struct fixture *)ctx)->world;

	w->seat_calls++;
	for (size_t i = 0; i < w->threads_cnt; i++) {
		if (w->threads[i].tid != tid || !w->threads[i].seat.handle)
			continue;
		*ret = w->threads[i].seat;
		return 0;
	}
	return -ENOENT;
}

static int world_flavor(void *ctx, uint64_t scheduler, int *ret)
{
	((struct fixture *)ctx)->world.flavor_calls++;
	*ret = scheduler >> 32 & 1   ? SEAT_MULTI_THREAD
	       : scheduler >> 32 & 2 ? SEAT_CURRENT_THREAD
				     : SEAT_UNKNOWN;
	return *ret == SEAT_UNKNOWN ? -ENOENT : 0;
}

static int world_type(void *ctx, uint64_t vtable, char *name, size_t sz, bool *is_blocking)
{
	((struct fixture *)ctx)->world.type_calls++;
	snprintf(name, sz, "type@%llx", (unsigned long long)vtable);
	*is_blocking = vtable == FX_BLOCKING_VT;
	return 0;
}

static int world_location(void *ctx, uint64_t location, char *place, size_t sz)
{
	(void)ctx;
	snprintf(place, sz, "src/loc.rs:%llu:1", (unsigned long long)location);
	return 0;
}

static int world_spawn_place(void *ctx, uint64_t return_addr, char *place, size_t sz)
{
	(void)ctx;
	if (return_addr == 0xdead)
		return -ENOENT;
	snprintf(place, sz, "src/call.rs:%llu:5", (unsigned long long)return_addr);
	return 0;
}

static int world_runtime(void *ctx, uint64_t scheduler, uint64_t owner_id, uint64_t owned_tasks,
			 int64_t *depth, int64_t *alive)
{
	(void)scheduler;
	(void)owner_id;
	(void)owned_tasks;
	*depth = ((struct fixture *)ctx)->world.depth;
	*alive = ((struct fixture *)ctx)->world.alive;
	return 0;
}

static int world_thread_name(void *ctx, pid_t tid, char *name, size_t sz)
{
	struct fixture_world *w = &((struct fixture *)ctx)->world;

	for (size_t i = 0; i < w->threads_cnt; i++) {
		if (w->threads[i].tid != tid || !w->threads[i].name[0])
			continue;
		snprintf(name, sz, "%s", w->threads[i].name);
		return 0;
	}
	return -ESRCH;
}

static const struct track_ops world_ops = { world_seat,	      world_flavor,	 world_type,
					    world_location,   world_spawn_place, world_runtime,
					    world_thread_name };

static size_t thread_at(struct fixture *self, pid_t tid)
{
	struct fixture_world *w = &self->world;

	for (size_t i = 0; i < w->threads_cnt; i++)
		if (w->threads[i].tid == tid)
			return i;
	assert_true(w->threads_cnt < FX_TIDS_MAX);
	w->threads[w->threads_cnt].tid = tid;
	return w->threads_cnt++;
}

void fx_seat(struct fixture *self, pid_t tid, uint64_t handle, uint32_t index, uint32_t cnt,
	     bool has_core)
{
	self->world.threads[thread_at(self, tid)].seat = (struct seat){
		.handle = handle, .index = index, .workers_cnt = cnt, .has_core = has_core
	};
}

void fx_unseat(struct fixture *self, pid_t tid)
{
	self->world.threads[thread_at(self, tid)].seat = (struct seat){ 0 };
}

void fx_name(struct fixture *self, pid_t tid, const char *name)
{
	snprintf(self->world.threads[thread_at(self, tid)].name, 16, "%s", name);
}

/* ---- open, close ---- */

static const struct emit_sink sink = { sink_write, sink_should_rotate, sink_rotate };

void fx_open(struct fixture *self, const struct track_options *o)
{
	struct track_options full = { .has_exact_ends = true,
				      .has_task_events = true,
				      .has_bind = true,
				      .has_raise = true,
				      .has_wakes = true };
	struct emit_options eo = { .sink = &sink,
				   .ctx = self,
				   .level = { 77, "full", "", "exact", "start" } };

	*self = (struct fixture){ .world = { .depth = -1, .alive = -1 } };
	self->options = o ? *o : full;
	self->options.ops = &world_ops;
	self->options.ctx = self;
	self->segments_cnt = 1;
	assert_int_equal(metadata_new(&self->metadata), 0);
	eo.metadata = self->metadata;
	assert_int_equal(emit_open(&eo, 1000, &self->emit), 0);
	assert_int_equal(track_open(&self->options, self->emit, &self->track), 0);
	self->events = calloc(FX_EVENTS_MAX, sizeof(*self->events));
	assert_non_null(self->events);
}

void fx_close(struct fixture *self)
{
	track_close(self->track);
	emit_close(self->emit);
	metadata_free(self->metadata);
	free(self->bytes);
	free(self->events);
}

/* ---- for tests that begin alike ---- */

struct fixture fx;

int fx_setup(void **state)
{
	(void)state;
	log_set_level(LOG_ERROR);
	fx_open(&fx, NULL);
	return 0;
}

int fx_teardown(void **state)
{
	(void)state;
	fx_close(&fx);
	return 0;
}

int fx_setup_workers(void **state)
{
	(void)state;
	fx_open(&fx, NULL);
	fx_workers(FX_RT, FX_OWNER, true);
	return 0;
}

int fx_setup_threads(void **state)
{
	fx_setup_workers(state);
	for (pid_t tid = 101; tid < 101 + FX_WORKERS; tid++)
		track_thread(fx.track, tid);
	return 0;
}

void fx_workers(uint64_t handle, uint32_t owner, bool is_named)
{
	for (uint32_t i = 0; i < FX_WORKERS; i++) {
		fx_seat(&fx, (pid_t)(101 + i), handle, i, FX_WORKERS, true);
		if (is_named)
			fx_name(&fx, (pid_t)(101 + i), "tokio-rt-worker");
	}
	fx_owner(&fx, 1000, 101, owner, handle);
}

uint64_t fx_poll_once(uint32_t tid, uint32_t owner, uint64_t ts)
{
	static uint64_t task = 1000;
	size_t before;

	fx_decode(&fx);
	before = fx_cnt(&fx, D9_EV_POLL_START);
	task++;
	fx_start(&fx, ts, tid, task, owner, 0);
	fx_end(&fx, ts + 1, tid, task, 0, 0);
	fx_decode(&fx);
	assert_int_equal(fx_check_alternation(&fx), 0);
	if (fx_cnt(&fx, D9_EV_POLL_START) == before)
		return UINT64_MAX;
	return fx_nth(&fx, D9_EV_POLL_START, before)->u[D9F_poll_start_worker_id];
}

const char *fx_meta(const char *key)
{
	const char *v = metadata_get(fx.metadata, key);

	return v ? v : "(unset)";
}
