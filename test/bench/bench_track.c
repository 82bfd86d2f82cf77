// SPDX-License-Identifier: Apache-2.0
/*
 * bench_track.c - what one wire record costs in user space: track and emit alone, then with the
 * segment's compression, and what an event takes on disk.
 *
 *   bench_track [records] [workers]      default 2,000,000 records, 4 workers
 *
 * The records are those of a server at work: per poll 3/4 of a wake, now and then a spawn and an
 * end, a park, a CPU sample; made beforehand, in time order, from a fixed seed. Times are CPU time
 * of this thread, the best of five runs. Prints one figure a line: name, value, unit.
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
#include "agent/seat.h"
#include "agent/track.h"
#include "bpf/wire.h"

#define TASKS 256
#define FRAMES 24
#define STACKS 300
#define WORKERS_MAX 64
#define RUNS 5
#define HANDLE 0x7f0000001000ull

struct record {
	size_t sz;
	union {
		struct wire_head head;
		struct wire_poll_start start;
		struct wire_poll_end end;
		struct wire_wake wake;
		struct wire_spawn_id draw;
		struct wire_bind bind;
		struct wire_switch_out out;
		struct wire_switch_in in;
		struct wire_cpu_sample sample;
		uint64_t words[6 + FRAMES];
	};
};

struct sim { /* makes the records */
	struct record *at;
	size_t cnt, max;
	uint64_t *packed; /* the same, one behind the other as in a ring: size, record, size, ... */
	uint64_t seed, next_id;
	uint64_t tasks[TASKS], polled_by[TASKS];
	struct {
		uint64_t now, task, cpu;
		uint32_t slot;
		int step;
	} workers[WORKERS_MAX];
	uint32_t workers_cnt;
};

static uint64_t rnd(struct sim *s, uint64_t n)
{
	s->seed ^= s->seed << 13;
	s->seed ^= s->seed >> 7;
	s->seed ^= s->seed << 17;
	return s->seed % n;
}

/* Skewed like real durations: most are short, some a hundred times as long. */
static uint64_t duration(struct sim *s, uint64_t typical)
{
	return typical / 2 + rnd(s, typical) + (rnd(s, 20) ? 0 : rnd(s, 20 * typical)) +
	       (rnd(s, 500) ? 0 : rnd(s, 200 * typical));
}

static struct record *add(struct sim *s, uint32_t w, uint8_t kind, size_t sz)
{
	struct record *r = &s->at[s->cnt++];

	memset(r, 0, sz);
	r->sz = sz;
	r->head = (struct wire_head){
		.ts_ns = s->workers[w].now, .tid = 1000 + w, .kind = kind, .target = 1};
	return r;
}

static void spawn(struct sim *s, uint32_t w, uint32_t slot)
{
	uint64_t id = s->next_id++;
	struct record *r = add(s, w, WIRE_SPAWN_ID, sizeof(struct wire_spawn_id));

	r->draw.task_id = id;
	s->workers[w].now += 900;
	r = add(s, w, WIRE_BIND, sizeof(struct wire_bind));
	r->bind.task_id = id;
	r->bind.vtable = 0xa000 + id % 12 * 0x60;
	r->bind.return_addr = 0x400000 + id % 15 * 0x33;
	r->bind.spawner_id = s->workers[w].task;
	r->bind.owned_tasks = HANDLE + 0x40;
	s->tasks[slot] = id;
}

/* One step of one worker's life. */
static void step(struct sim *s, uint32_t w)
{
	uint32_t slot = s->workers[w].slot;
	struct record *r;

	switch (s->workers[w].step) {
	case 0: /* begin a poll of a task that nobody polls */
		do
			slot = (uint32_t)rnd(s, TASKS);
		while (s->polled_by[slot]);
		s->workers[w].slot = slot;
		s->polled_by[slot] = 1;
		s->workers[w].task = s->tasks[slot];
		r = add(s, w, WIRE_POLL_START, sizeof(r->start));
		r->start.task_id = s->tasks[slot];
		r->start.vtable = 0xa000 + s->tasks[slot] % 12 * 0x60;
		r->start.owner_id = 1;
		r->start.local_queue = (uint16_t)rnd(s, 12);
		s->workers[w].now += duration(s, 1200);
		break;
	case 1: /* wake another, or spawn */
		if (!rnd(s, 200)) {
			uint32_t other = (uint32_t)rnd(s, TASKS);

			if (!s->polled_by[other])
				spawn(s, w, other);
		} else if (rnd(s, 4)) {
			r = add(s, w, WIRE_WAKE, sizeof(r->wake));
			r->wake.woken_id = s->tasks[rnd(s, TASKS)];
			r->wake.waker_id = s->workers[w].task;
		}
		s->workers[w].now += duration(s, 1800);
		break;
	case 2:
		if (!rnd(s, 1500)) {
			r = add(s, w, WIRE_CPU_SAMPLE, sizeof(r->sample) + 8 * FRAMES);
			memcpy(r->sample.comm, "tokio-rt-worker", 16);
			r->sample.frames_cnt = FRAMES;
			for (uint64_t i = 0, stack = rnd(s, STACKS); i < FRAMES; i++)
				r->words[6 + i] = 0x555500000000ull + (stack * (i / 4) + i) * 0x91;
		}
		r = add(s, w, WIRE_POLL_END, sizeof(r->end));
		r->end.task_id = s->workers[w].task;
		if (s->workers[w].task != s->tasks[slot])
			r->head.flags = WIRE_END_TASK_ENDED; /* its slot has a new task */
		s->polled_by[slot] = 0;
		s->workers[w].now += duration(s, 500);
		break;
	default: /* sleep now and then */
		if (rnd(s, 15))
			break;
		r = add(s, w, WIRE_SWITCH_OUT, sizeof(r->out));
		r->out.cpu_time_ns = s->workers[w].cpu += duration(s, 40000);
		r->out.syscall = rnd(s, 2) ? 202 : 281;
		r->out.prev_state = 1;
		s->workers[w].now += duration(s, 30000);
		r = add(s, w, WIRE_SWITCH_IN, sizeof(r->in));
		r->in.runnable_ns = s->workers[w].now - duration(s, 1500);
		r->in.cpu_time_ns = s->workers[w].cpu;
		s->workers[w].now += duration(s, 600);
		break;
	}
	s->workers[w].step = (s->workers[w].step + 1) % 4;
}

static void simulate(struct sim *s)
{
	for (uint32_t i = 0; i < TASKS; i++)
		s->tasks[i] = s->next_id++;
	while (s->cnt + 16 < s->max) {
		uint32_t first = 0;

		for (uint32_t w = 1; w < s->workers_cnt; w++)
			if (s->workers[w].now < s->workers[first].now)
				first = w;
		step(s, first);
	}
}

/* A switch-in and a bind are made ahead of their worker's turn: put them in order. */
static int by_time(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	return (x->head.ts_ns > y->head.ts_ns) - (x->head.ts_ns < y->head.ts_ns);
}

static int pack(struct sim *s)
{
	uint64_t *p;

	s->packed = malloc(s->cnt * (sizeof(struct record) + 8));
	if (!s->packed)
		return -ENOMEM;
	p = s->packed;
	for (size_t i = 0; i < s->cnt; i++) {
		*p++ = s->at[i].sz;
		memcpy(p, s->at[i].words, s->at[i].sz);
		p += s->at[i].sz / 8;
	}
	return 0;
}

/* ---- the target's answers ---- */

static int ask_seat(void *ctx, pid_t tid, struct seat *ret)
{
	*ret = (struct seat){.handle = HANDLE,
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
	*alive = TASKS;
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

/* level 0: bytes go nowhere. */
static int run(const struct sim *s, int level, size_t header_each_sz, struct result *ret)
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
		.head = {.tid = 1000, .kind = WIRE_OWNER}, .owner_id = 1, .scheduler = HANDLE};
	const uint64_t *p = s->packed;
	struct metadata *m = NULL;
	struct emit *e = NULL;
	struct track *t = NULL;
	struct emit_stats st;
	uint64_t from, tick_ns = s->at[0].head.ts_ns;
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC), rc;

	rc = metadata_new(&m);
	if (!rc && level)
		rc = d9_sink_new(&out.zstd, &zo);
	if (!rc && level)
		rc = d9_sink_start(out.zstd, fd);
	eo.metadata = m;
	if (!rc)
		rc = emit_open(&eo, tick_ns, &e);
	if (!rc)
		rc = track_open(&to, e, &t);
	if (rc)
		goto out;
	owner.head.ts_ns = tick_ns;
	from = cpu_ns();
	track_record(t, &owner.head, sizeof(owner));
	for (size_t i = 0; i < s->cnt; i++) {
		const struct wire_head *rec = (const struct wire_head *)(p + 1);

		track_record(t, rec, *p);
		p += 1 + *p / 8;
		if (rec->ts_ns < tick_ns)
			continue;
		tick_ns += 10000000;
		track_tick(t, rec->ts_ns);
		emit_tick(e, rec->ts_ns);
	}
	emit_flush(e);
	if (level)
		rc = d9_sink_finish(out.zstd);
	ret->ns_per_record = (double)(cpu_ns() - from) / (double)s->cnt;
	emit_stats(e, &st);
	ret->events = 0;
	for (int i = 0; i < D9_EV_CNT; i++)
		ret->events += st.events[i];
	ret->raw_per_event = (double)st.raw_sz / (double)ret->events;
	if (level)
		ret->disk_per_event = (double)d9_sink_out_sz(out.zstd) / (double)ret->events;
out:
	track_close(t);
	emit_close(e);
	metadata_free(m);
	d9_sink_free(out.zstd);
	close(fd);
	return rc;
}

static int best(const struct sim *s, int level, size_t header_each_sz, struct result *ret)
{
	struct result r;
	int rc;

	ret->ns_per_record = 1e9;
	for (int i = 0; i < RUNS; i++) {
		rc = run(s, level, header_each_sz, &r);
		if (rc)
			return rc;
		if (r.ns_per_record < ret->ns_per_record)
			*ret = r;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct sim s = {.max = argc > 1 ? strtoull(argv[1], NULL, 0) : 2000000,
			.workers_cnt = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 4,
			.seed = 88172645463325252ull,
			.next_id = 4000};
	struct result bare, level1, level3, headers;
	int rc;

	if (s.max < 1000 || !s.workers_cnt || s.workers_cnt > WORKERS_MAX) {
		fprintf(stderr, "bench_track: at least 1000 records, 1 to %d workers\n", WORKERS_MAX);
		return 2;
	}
	s.at = calloc(s.max, sizeof(*s.at));
	if (!s.at) {
		fprintf(stderr, "bench_track: no memory for %zu records\n", s.max);
		return 1;
	}
	for (uint32_t w = 0; w < s.workers_cnt; w++)
		s.workers[w].now = 1000000000ull + w * 700;
	simulate(&s);
	qsort(s.at, s.cnt, sizeof(*s.at), by_time);
	rc = pack(&s);
	if (!rc)
		rc = best(&s, 0, 0, &bare);
	if (!rc)
		rc = best(&s, 1, 0, &level1);
	if (!rc)
		rc = best(&s, 3, 0, &level3);
	if (!rc)
		rc = best(&s, 3, EMIT_BATCH_SZ, &headers);
	if (rc) {
		fprintf(stderr, "bench_track: %s\n", d9_strerror(rc));
		return 1;
	}
	printf("records %zu\n", s.cnt);
	printf("events %llu\n", (unsigned long long)bare.events);
	printf("track_emit %.1f ns/record\n", bare.ns_per_record);
	printf("track_emit_zstd1 %.1f ns/record\n", level1.ns_per_record);
	printf("track_emit_zstd3 %.1f ns/record\n", level3.ns_per_record);
	printf("raw %.2f bytes/event\n", bare.raw_per_event);
	printf("disk_zstd1 %.2f bytes/event\n", level1.disk_per_event);
	printf("disk_zstd3 %.2f bytes/event\n", level3.disk_per_event);
	printf("disk_zstd3_header_per_batch %.2f bytes/event\n", headers.disk_per_event);
	free(s.packed);
	free(s.at);
	return 0;
}
