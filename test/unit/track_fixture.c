// SPDX-License-Identifier: Apache-2.0
/* track_fixture.c - see track_fixture.h. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/track_fixture.h"

/* ---- the sink ---- */

static int sink_write(void *ctx, const void *frames, size_t sz)
{
	struct fixture *fx = ctx;

	if (fx->write_error)
		return fx->write_error;
	while (fx->sz + sz > fx->cap) {
		fx->cap = fx->cap ? 2 * fx->cap : 1u << 20;
		fx->bytes = realloc(fx->bytes, fx->cap);
		assert_non_null(fx->bytes);
	}
	memcpy(fx->bytes + fx->sz, frames, sz);
	fx->sz += sz;
	return 0;
}

static bool sink_should_rotate(void *ctx, uint64_t now_ns)
{
	struct fixture *fx = ctx;

	(void)now_ns;
	return fx->should_rotate;
}

static int sink_rotate(void *ctx, uint64_t now_ns, const uint64_t *addrs, size_t addrs_cnt)
{
	struct fixture *fx = ctx;

	(void)now_ns;
	if (fx->rotate_error)
		return fx->rotate_error;
	for (size_t i = 1; i < addrs_cnt; i++)
		assert_true(addrs[i - 1] < addrs[i]);
	fx->addrs_cnt = addrs_cnt;
	fx->should_rotate = false;
	fx->write_error = 0;
	assert_true(fx->segments_cnt < 64);
	fx->segment_at[fx->segments_cnt++] = fx->sz;
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
	*ret = scheduler >> 32 & 1   ? SEAT_MULTI_THREAD :
	       scheduler >> 32 & 2 ? SEAT_CURRENT_THREAD :
				       SEAT_UNKNOWN;
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

static const struct track_ops world_ops = {world_seat,	    world_flavor,  world_type,	     world_location,
					   world_spawn_place, world_runtime, world_thread_name};

static size_t thread_at(struct fixture *fx, pid_t tid)
{
	struct fixture_world *w = &fx->world;

	for (size_t i = 0; i < w->threads_cnt; i++)
		if (w->threads[i].tid == tid)
			return i;
	assert_true(w->threads_cnt < FX_TIDS_MAX);
	w->threads[w->threads_cnt].tid = tid;
	return w->threads_cnt++;
}

void fx_seat(struct fixture *fx, pid_t tid, uint64_t handle, uint32_t index, uint32_t cnt,
	     bool has_core)
{
	fx->world.threads[thread_at(fx, tid)].seat = (struct seat){
		.handle = handle, .index = index, .workers_cnt = cnt, .has_core = has_core};
}

void fx_unseat(struct fixture *fx, pid_t tid)
{
	fx->world.threads[thread_at(fx, tid)].seat = (struct seat){0};
}

void fx_name(struct fixture *fx, pid_t tid, const char *name)
{
	snprintf(fx->world.threads[thread_at(fx, tid)].name, 16, "%s", name);
}

/* ---- open, close ---- */

static const struct emit_sink sink = {sink_write, sink_should_rotate, sink_rotate};

void fx_open(struct fixture *fx, const struct track_options *o)
{
	struct track_options full = {.has_exact_ends = true,
				     .has_task_events = true,
				     .has_bind = true,
				     .has_raise = true,
				     .has_wakes = true};
	struct emit_options eo = {.sink = &sink,
				  .ctx = fx,
				  .level = {77, "full", "", "exact", "start"}};

	*fx = (struct fixture){.world = {.depth = -1, .alive = -1}};
	fx->options = o ? *o : full;
	fx->options.ops = &world_ops;
	fx->options.ctx = fx;
	fx->segments_cnt = 1;
	assert_int_equal(metadata_new(&fx->metadata), 0);
	eo.metadata = fx->metadata;
	assert_int_equal(emit_open(&eo, 1000, &fx->emit), 0);
	assert_int_equal(track_open(&fx->options, fx->emit, &fx->track), 0);
	fx->events = calloc(FX_EVENTS_MAX, sizeof(*fx->events));
	assert_non_null(fx->events);
}

void fx_close(struct fixture *fx)
{
	track_close(fx->track);
	emit_close(fx->emit);
	metadata_free(fx->metadata);
	free(fx->bytes);
	free(fx->events);
}

/* ---- records ---- */

#define HEAD(k, f) {.ts_ns = ts, .tid = tid, .kind = (k), .flags = (f)}

void fx_record(struct fixture *fx, const void *rec, size_t sz)
{
	fx->records++;
	track_record(fx->track, rec, sz);
}

void fx_owner(struct fixture *fx, uint64_t ts, uint32_t tid, uint64_t owner, uint64_t scheduler)
{
	struct wire_owner r = {.head = HEAD(WIRE_OWNER, 0), .owner_id = owner, .scheduler = scheduler};

	fx_record(fx, &r, sizeof(r));
}

void fx_seated(struct fixture *fx, uint64_t ts, uint32_t tid, uint64_t handle, uint32_t index,
	       uint32_t cnt)
{
	struct wire_seat r = {
		.head = HEAD(WIRE_SEAT, 0), .handle = handle, .index = index, .workers_cnt = cnt};

	fx_record(fx, &r, sizeof(r));
}

static void start(struct fixture *fx, uint64_t ts, uint32_t tid, uint64_t task, uint32_t owner,
		  uint8_t depth, uint64_t vtable)
{
	struct wire_poll_start r = {.head = HEAD(WIRE_POLL_START, 0),
				    .task_id = task,
				    .vtable = vtable,
				    .owner_id = owner,
				    .local_queue = 3,
				    .depth = depth};

	fx_record(fx, &r, sizeof(r));
}

void fx_start(struct fixture *fx, uint64_t ts, uint32_t tid, uint64_t task, uint32_t owner,
	      uint8_t depth)
{
	start(fx, ts, tid, task, owner, depth, 0xa000 + task % 7);
}

void fx_blocking(struct fixture *fx, uint64_t ts, uint32_t tid, uint64_t task, uint8_t depth)
{
	start(fx, ts, tid, task, 0, depth, FX_BLOCKING_VT);
}

void fx_end(struct fixture *fx, uint64_t ts, uint32_t tid, uint64_t task, uint8_t depth,
	    uint8_t flags)
{
	struct wire_poll_end r = {.head = HEAD(WIRE_POLL_END, flags),
				  .task_id = task,
				  .depth = depth,
				  .rule = flags & WIRE_END_INFERRED ? 2 : 0};

	fx_record(fx, &r, sizeof(r));
}

void fx_wake(struct fixture *fx, uint64_t ts, uint32_t tid, uint64_t woken, uint64_t waker)
{
	struct wire_wake r = {.head = HEAD(WIRE_WAKE, 0), .woken_id = woken, .waker_id = waker};

	fx_record(fx, &r, sizeof(r));
}

void fx_draw(struct fixture *fx, uint64_t ts, uint32_t tid, uint64_t id, uint32_t counter)
{
	struct wire_spawn_id r = {
		.head = HEAD(WIRE_SPAWN_ID, 0), .task_id = id, .counter = counter};

	fx_record(fx, &r, sizeof(r));
}

void fx_bind(struct fixture *fx, uint64_t ts, uint32_t tid, uint64_t id, uint64_t return_addr)
{
	struct wire_bind r = {.head = HEAD(WIRE_BIND, 0),
			      .task_id = id,
			      .vtable = 0xa000 + id % 7,
			      .return_addr = return_addr,
			      .owned_tasks = 0x7000};

	fx_record(fx, &r, sizeof(r));
}

void fx_shutdown(struct fixture *fx, uint64_t ts, uint32_t tid, uint64_t task)
{
	struct wire_shutdown r = {.head = HEAD(WIRE_SHUTDOWN, 0), .task_id = task};

	fx_record(fx, &r, sizeof(r));
}

void fx_out(struct fixture *fx, uint64_t ts, uint32_t tid, uint64_t task, int syscall,
	    uint8_t flags, uint32_t state, size_t frames_cnt)
{
	uint64_t buf[sizeof(struct wire_switch_out) / 8 + WIRE_FRAMES_MAX] = {0};
	struct wire_switch_out r = {.head = HEAD(WIRE_SWITCH_OUT, flags),
				    .task_id = task,
				    .cpu_time_ns = ts / 2,
				    .syscall = syscall,
				    .prev_state = state,
				    .cpu = 1,
				    .frames_cnt = (uint16_t)frames_cnt};

	memcpy(buf, &r, sizeof(r));
	for (size_t i = 0; i < frames_cnt; i++)
		buf[sizeof(r) / 8 + i] = 0x5000 + i;
	fx_record(fx, buf, sizeof(r) + 8 * frames_cnt);
}

void fx_in(struct fixture *fx, uint64_t ts, uint32_t tid, uint64_t out_ns, uint64_t runnable_ns)
{
	struct wire_switch_in r = {.head = HEAD(WIRE_SWITCH_IN, 0),
				   .out_ns = out_ns,
				   .runnable_ns = runnable_ns,
				   .cpu_time_ns = ts / 2};

	fx_record(fx, &r, sizeof(r));
}

void fx_sample(struct fixture *fx, uint64_t ts, uint32_t tid, const char *comm, size_t frames_cnt)
{
	uint64_t buf[sizeof(struct wire_cpu_sample) / 8 + WIRE_FRAMES_MAX] = {0};
	struct wire_cpu_sample r = {
		.head = HEAD(WIRE_CPU_SAMPLE, 0), .cpu = 2, .frames_cnt = (uint16_t)frames_cnt};

	memcpy(r.comm, comm, strnlen(comm, sizeof(r.comm)));
	memcpy(buf, &r, sizeof(r));
	for (size_t i = 0; i < frames_cnt; i++)
		buf[sizeof(r) / 8 + i] = 0x6000 + i;
	fx_record(fx, buf, sizeof(r) + 8 * frames_cnt);
}

void fx_exit(struct fixture *fx, uint64_t ts, uint32_t tid)
{
	struct wire_life r = {.head = HEAD(WIRE_THREAD_EXIT, 0)};

	fx_record(fx, &r, sizeof(r));
}

/* ---- decoding ---- */

static void copy_field(struct fx_event *to, int field, const struct d9_value *v)
{
	if (!v)
		return;
	to->has[field] = true;
	switch (v->type) {
	case D9_T_PSTRING:
	case D9_T_STRING:
		snprintf(to->str[field], sizeof(to->str[0]), "%.*s", (int)v->cnt,
			 v->str ? v->str : "<unresolved>");
		break;
	case D9_T_PSTACK:
		assert_true(v->frames || !v->cnt);
		snprintf(to->str[field], sizeof(to->str[0]), "%u:%llx", v->cnt,
			 v->cnt ? (unsigned long long)v->frames[0] : 0ull);
		to->u[field] = v->cnt;
		break;
	case D9_T_MAP:
		to->u[field] = v->cnt;
		break;
	default:
		assert_true(d9_value_u64(v, &to->u[field]));
		break;
	}
}

void fx_decode(struct fixture *fx)
{
	struct d9_dec *dec = NULL;
	struct d9_ev ev;
	int rc;

	emit_flush(fx->emit);
	fx->events_cnt = 0;
	assert_int_equal(d9_dec_new(&dec, NULL), 0);
	assert_int_equal(d9_dec_feed(dec, fx->bytes, fx->sz), 0);
	while ((rc = d9_dec_next(dec, &ev)) == 1) {
		struct fx_event *to = &fx->events[fx->events_cnt++];
		const struct d9_event_def *def = d9_event_def(ev.schema->kind);

		assert_true(fx->events_cnt < FX_EVENTS_MAX);
		assert_non_null(def);
		*to = (struct fx_event){
			.kind = ev.schema->kind, .ts_ns = ev.ts_ns, .batch = ev.batch};
		for (int f = 0; f < def->field_cnt; f++)
			copy_field(to, f, d9_val(&ev, f));
	}
	assert_int_equal(rc, 0);
	assert_int_equal(d9_dec_end(dec), 0);
	assert_int_equal(d9_dec_stats(dec)->unresolved, 0);
	d9_dec_free(dec);
}

const struct fx_event *fx_nth(const struct fixture *fx, enum d9_event kind, size_t n)
{
	for (size_t i = 0; i < fx->events_cnt; i++)
		if (fx->events[i].kind == kind && !n--)
			return &fx->events[i];
	return NULL;
}

size_t fx_cnt(const struct fixture *fx, enum d9_event kind)
{
	size_t cnt = 0;

	for (size_t i = 0; i < fx->events_cnt; i++)
		cnt += fx->events[i].kind == kind;
	return cnt;
}

size_t fx_check_alternation(const struct fixture *fx)
{
	bool *is_open = calloc(EMIT_WORKERS_MAX, sizeof(*is_open));
	size_t open_cnt = 0;

	assert_non_null(is_open);
	for (size_t i = 0; i < fx->events_cnt; i++) {
		const struct fx_event *e = &fx->events[i];
		bool is_start = e->kind == D9_EV_POLL_START;

		if (!is_start && e->kind != D9_EV_POLL_END)
			continue;
		assert_true(e->u[0] < EMIT_WORKERS_MAX && e->u[0] != 254 && e->u[0] != 255);
		assert_int_equal(is_open[e->u[0]], !is_start);
		is_open[e->u[0]] = is_start;
		open_cnt += is_start ? 1 : (size_t)-1;
	}
	free(is_open);
	return open_cnt;
}

void fx_check_counts(const struct fixture *fx)
{
	struct track_stats ts;
	struct emit_stats es;
	uint64_t ignored = 0;

	track_stats(fx->track, &ts);
	emit_stats(fx->emit, &es);
	for (size_t i = 0; i < 16; i++)
		ignored += ts.ignored_by[i];
	assert_int_equal(ts.used_records + ts.ignored_records, fx->records);
	assert_int_equal(ignored, ts.ignored_records);
	for (int k = 0; k < D9_EV_CNT; k++)
		assert_int_equal(es.events[k], fx_cnt(fx, (enum d9_event)k));
	assert_int_equal(ts.polls, es.events[D9_EV_POLL_START] + es.lost[D9_EV_POLL_START]);
	assert_int_equal(ts.wakes, es.events[D9_EV_WAKE] + es.lost[D9_EV_WAKE]);
	assert_int_equal(ts.spawns, es.events[D9_EV_TASK_SPAWN] + es.lost[D9_EV_TASK_SPAWN]);
}
