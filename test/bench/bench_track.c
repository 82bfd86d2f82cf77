// SPDX-License-Identifier: Apache-2.0
/*
 * bench_track.c - what one wire record costs in user space: track and emit alone, then with the
 * order before them, then with the segment's compression behind them; and what an event takes on disk.
 *
 *   bench_track [records] [workers]      default 2,000,000 records, 4 workers
 *
 * The records are those of tracksim.h. Times are CPU time of this thread, the best of five runs. Prints one figure a line: name, value, unit.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/emit.h"
#include "agent/metadata.h"
#include "agent/order.h"
#include "agent/seat.h"
#include "agent/track.h"
#include "bpf/wire.h"
#include "test/bench/tracksim.h"

#define RUNS 5
#define TICK_NS 10000000ull
#define WINDOW_NS 50000000ull /* as ring.h */
#define LANES 2
#define LANE_SZ (64u << 20)

/* ---- the target's answers ---- */

static int ask_seat(void *ctx, pid_t tid, struct seat *ret)
{
	*ret = (struct seat){.handle = TRACKSIM_HANDLE,
			     .index = (uint32_t)tid - 1000,
			     .workers_cnt = *(uint32_t *)ctx,
			     .has_core = true};
	return 0;
}

static int ask_flavor(void *ctx, uint64_t scheduler, int *ret)
{
	(void)ctx;
	(void)scheduler;
	*ret = SEAT_MULTI_THREAD;
	return 0;
}

static int ask_type(void *ctx, uint64_t vtable, char *name, size_t sz, bool *is_blocking)
{
	(void)ctx;
	snprintf(name, sz, "server::handler::{async_fn_env#%llu}", (unsigned long long)vtable);
	*is_blocking = false;
	return 0;
}

static int ask_place(void *ctx, uint64_t addr, char *place, size_t sz)
{
	(void)ctx;
	snprintf(place, sz, "src/server/handler.rs:%llu:13", (unsigned long long)addr);
	return 0;
}

static int ask_runtime(void *ctx, uint64_t scheduler, uint64_t owner_id, uint64_t owned_tasks,
		       int64_t *depth, int64_t *alive)
{
	(void)ctx;
	(void)scheduler;
	(void)owner_id;
	(void)owned_tasks;
	*depth = 3;
	*alive = TRACKSIM_TASKS;
	return 0;
}

static int ask_thread_name(void *ctx, pid_t tid, char *name, size_t sz)
{
	(void)ctx;
	(void)tid;
	snprintf(name, sz, "tokio-rt-worker");
	return 0;
}

static const struct track_ops ops = {ask_seat,	ask_flavor,  ask_type,	     ask_place,
				     ask_place, ask_runtime, ask_thread_name};

/* ---- the sink ---- */

struct out {
	struct d9_sink *zstd; /* NULL = bytes go nowhere */
	size_t header_each_sz; /* rotate after this many bytes, 0 = never */
	size_t since_sz;
};

static int out_write(void *ctx, const void *frames, size_t sz)
{
	struct out *o = ctx;

	o->since_sz += sz;
	return o->zstd ? d9_sink_write(o->zstd, frames, sz, NULL) : 0;
}

static bool out_should_rotate(void *ctx, uint64_t now_ns)
{
	struct out *o = ctx;

	(void)now_ns;
	return o->header_each_sz && o->since_sz >= o->header_each_sz;
}

static int out_rotate(void *ctx, uint64_t now_ns, const uint64_t *addrs, size_t addrs_cnt)
{
	(void)now_ns;
	(void)addrs;
	(void)addrs_cnt;
	((struct out *)ctx)->since_sz = 0;
	return 0;
}

static const struct emit_sink out_sink = {out_write, out_should_rotate, out_rotate};

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

struct result {
	double ns_per_record, raw_per_event, disk_per_event;
	uint64_t events;
};

struct replay {
	struct track *t;
	struct emit *e;
	uint64_t tick_ns;
};

static void replay_record(void *ctx, const struct wire_head *rec, size_t sz)
{
	struct replay *r = ctx;

	track_record(r->t, rec, sz);
	if (rec->ts_ns < r->tick_ns)
		return;
	r->tick_ns += TICK_NS;
	track_tick(r->t, rec->ts_ns);
	emit_tick(r->e, rec->ts_ns);
}

/* From the rings' lanes, in the rhythm of the recorder; without `o` at once. */
static int replay_all(struct replay *r, const struct tracksim *s, struct order *o)
{
	uint64_t drain_ns = r->tick_ns;
	const uint64_t *p = s->packed;
	int rc = 0;

	for (size_t i = 0; i < s->cnt && rc >= 0; i++, p += 1 + *p / 8) {
		const struct wire_head *rec = (const struct wire_head *)(p + 1);

		if (!o) {
			replay_record(r, rec, *p);
			continue;
		}
		rc = order_add(o, rec->tid % LANES, rec, *p);
		if (rec->ts_ns < drain_ns)
			continue;
		drain_ns += TICK_NS;
		order_flush(o, rec->ts_ns - WINDOW_NS, replay_record, r);
	}
	if (o)
		order_flush(o, UINT64_MAX, replay_record, r);
	return rc < 0 ? rc : 0;
}

/* level 0: bytes go nowhere. */
static int run(const struct tracksim *s, bool is_ordered, int level, size_t header_each_sz,
	       struct result *ret)
{
	const struct d9_sink_opt zo = {.compression = D9_ZSTD, .level = level};
	uint32_t workers_cnt = s->workers_cnt;
	struct track_options to = {.ops = &ops,
				   .ctx = &workers_cnt,
				   .has_exact_ends = true,
				   .has_task_events = true,
				   .has_bind = true,
				   .has_raise = true,
				   .has_wakes = true};
	struct out out = {.header_each_sz = header_each_sz};
	struct emit_options eo = {
		.sink = &out_sink, .ctx = &out, .level = {1, "full", "", "exact", "bench"}};
	struct wire_owner owner = {
		.head = {.tid = 1000, .kind = WIRE_OWNER}, .owner_id = 1, .scheduler = TRACKSIM_HANDLE};
	struct replay r = {.tick_ns = s->at[0].head.ts_ns};
	struct metadata *m = NULL;
	struct order *o = NULL;
	struct emit_stats st;
	uint64_t from;
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC), rc;

	rc = metadata_new(&m);
	if (!rc && level)
		rc = d9_sink_new(&out.zstd, &zo);
	if (!rc && level)
		rc = d9_sink_start(out.zstd, fd);
	eo.metadata = m;
	if (!rc)
		rc = emit_open(&eo, r.tick_ns, &r.e);
	if (!rc)
		rc = track_open(&to, r.e, &r.t);
	if (!rc && is_ordered)
		rc = order_new(LANES, LANE_SZ, &o);
	if (rc)
		goto out;
	owner.head.ts_ns = r.tick_ns;
	from = cpu_ns();
	track_record(r.t, &owner.head, sizeof(owner));
	rc = replay_all(&r, s, o);
	emit_flush(r.e);
	if (!rc && level)
		rc = d9_sink_finish(out.zstd);
	ret->ns_per_record = (double)(cpu_ns() - from) / (double)s->cnt;
	emit_stats(r.e, &st);
	ret->events = 0;
	for (int i = 0; i < D9_EV_CNT; i++)
		ret->events += st.events[i];
	ret->raw_per_event = (double)st.raw_sz / (double)ret->events;
	if (level)
		ret->disk_per_event = (double)d9_sink_out_sz(out.zstd) / (double)ret->events;
out:
	order_free(o);
	track_close(r.t);
	emit_close(r.e);
	metadata_free(m);
	d9_sink_free(out.zstd);
	close(fd);
	return rc;
}

static int best(const struct tracksim *s, bool is_ordered, int level, size_t header_each_sz,
		struct result *ret)
{
	struct result r;
	int rc;

	ret->ns_per_record = 1e9;
	for (int i = 0; i < RUNS; i++) {
		rc = run(s, is_ordered, level, header_each_sz, &r);
		if (rc)
			return rc;
		if (r.ns_per_record < ret->ns_per_record)
			*ret = r;
	}
	return 0;
}

int main(int argc, char **argv)
{
	size_t records_max = argc > 1 ? strtoull(argv[1], NULL, 0) : 2000000;
	uint32_t workers_cnt = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 4;
	struct tracksim s;
	struct result bare, ordered, level1, level3, headers;
	int rc;

	if (records_max < 1000 || !workers_cnt || workers_cnt > TRACKSIM_WORKERS_MAX) {
		fprintf(stderr, "bench_track: at least 1000 records, 1 to %d workers\n",
			TRACKSIM_WORKERS_MAX);
		return 2;
	}
	rc = tracksim_make(&s, records_max, workers_cnt);
	if (!rc)
		rc = best(&s, false, 0, 0, &bare);
	if (!rc)
		rc = best(&s, true, 0, 0, &ordered);
	if (!rc)
		rc = best(&s, true, 1, 0, &level1);
	if (!rc)
		rc = best(&s, true, 3, 0, &level3);
	if (!rc)
		rc = best(&s, false, 3, EMIT_BATCH_SZ, &headers);
	if (rc) {
		fprintf(stderr, "bench_track: %s\n", d9_strerror(rc));
		return 1;
	}
	printf("records %zu\n", s.cnt);
	printf("events %llu\n", (unsigned long long)bare.events);
	printf("track_emit %.1f ns/record\n", bare.ns_per_record);
	printf("order_track_emit %.1f ns/record\n", ordered.ns_per_record);
	printf("order_track_emit_zstd1 %.1f ns/record\n", level1.ns_per_record);
	printf("order_track_emit_zstd3 %.1f ns/record\n", level3.ns_per_record);
	printf("raw %.2f bytes/event\n", bare.raw_per_event);
	printf("disk_zstd1 %.2f bytes/event\n", level1.disk_per_event);
	printf("disk_zstd3 %.2f bytes/event\n", level3.disk_per_event);
	printf("disk_zstd3_header_per_batch %.2f bytes/event\n", headers.disk_per_event);
	tracksim_free(&s);
	return 0;
}
