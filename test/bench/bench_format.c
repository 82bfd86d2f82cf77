// SPDX-License-Identifier: Apache-2.0
/*
 * bench_format.c - what an event costs in the trace format: ns to encode, ns to decode, bytes on
 * disk by compression level and by order of events. The events are simulated: two workers, tasks
 * that play ping-pong through channels, timers, spawns, parks; stamps jitter as real ones do.
 *
 *   bench_format [EVENTS]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "format/trace.h"

#define WORKERS 2u
#define PAIRS 24u /* ping-pong */
#define TIMERS 400u
#define QUEUE 1024u /* power of two, above the number of tasks */
#define TYPES 12u

struct sim_event {
	uint64_t ts_ns;
	uint64_t seq; /* stable order of equal stamps */
	enum d9_event kind;
	uint8_t worker;
	uint16_t queue;
	uint32_t task, other;
	uint64_t cpu_ns;
};

struct worker {
	uint64_t now_ns, cpu_ns;
	uint32_t queue[QUEUE], head, tail;
	uint32_t lifo; /* 0 none */
};

static struct worker workers[WORKERS];
static uint64_t timer_due_ns[TIMERS];
static struct sim_event *events;
static size_t event_cnt, event_cap;
static uint64_t rng = 88172645463325252ull;

static uint64_t rand64(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	return rng ^= rng << 17;
}

/* Log-normal, as durations on real machines roughly are. */
static uint64_t around(double median, double spread)
{
	double u1 = (double)(rand64() >> 11) / 9007199254740992.0 + 1e-12;
	double u2 = (double)(rand64() >> 11) / 9007199254740992.0;

	return (uint64_t)(median * exp(spread * sqrt(-2 * log(u1)) * cos(6.283185307179586 * u2)));
}

static void emit(enum d9_event kind, unsigned int w, uint64_t ts_ns, uint32_t task, uint32_t other)
{
	struct worker *k = &workers[w];

	if (event_cnt == event_cap)
		return;
	events[event_cnt] = (struct sim_event){
		.ts_ns = ts_ns,
		.seq = event_cnt,
		.kind = kind,
		.worker = (uint8_t)w,
		.queue = (uint16_t)(k->tail - k->head),
		.task = task,
		.other = other,
		.cpu_ns = k->cpu_ns,
	};
	event_cnt++;
}

static uint32_t timer_task(uint32_t i)
{
	return 2 * PAIRS + 16 + i;
}

static void wake(struct worker *k, unsigned int w, uint32_t waker, uint32_t woken, uint64_t ts_ns)
{
	emit(D9_EV_WAKE, w, ts_ns, waker, woken);
	if (waker && !k->lifo)
		k->lifo = woken;
	else
		k->queue[k->tail++ % QUEUE] = woken;
}

static void poll_one(struct worker *k, unsigned int w, uint32_t task)
{
	uint64_t start_ns = k->now_ns, len_ns;

	emit(D9_EV_POLL_START, w, start_ns, task, task % TYPES);
	if (task < timer_task(0)) { /* half of a pair: wakes the other */
		len_ns = around(900, 0.35);
		wake(k, w, task, ((task - 16) ^ 1) + 16, start_ns + len_ns / 2);
	} else {
		len_ns = around(4000, 0.8);
		timer_due_ns[task - timer_task(0)] = start_ns + around(4e6, 0.5);
	}
	k->now_ns = start_ns + len_ns;
	emit(D9_EV_POLL_END, w, k->now_ns, task, 0);
	k->cpu_ns += len_ns;
	k->now_ns += around(160, 0.3);
}

/* Nothing to do: sleep to the next timer, fire all that are due. */
static void park(struct worker *k, unsigned int w)
{
	uint64_t due_ns = UINT64_MAX;

	for (uint32_t i = w; i < TIMERS; i += WORKERS)
		due_ns = timer_due_ns[i] < due_ns ? timer_due_ns[i] : due_ns;
	emit(D9_EV_WORKER_PARK, w, k->now_ns, 0, 0);
	if (due_ns > k->now_ns)
		k->now_ns = due_ns;
	k->now_ns += around(30000, 0.4);
	emit(D9_EV_WORKER_UNPARK, w, k->now_ns, 0, 0);
	for (uint32_t i = w; i < TIMERS; i += WORKERS) {
		if (timer_due_ns[i] > k->now_ns)
			continue;
		timer_due_ns[i] = UINT64_MAX;
		k->now_ns += around(120, 0.2);
		wake(k, w, 0, timer_task(i), k->now_ns);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct sim_event *x = a, *y = b;

	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return x->seq < y->seq ? -1 : 1;
}

static uint64_t run_ns; /* by_worker_run: length of a run */

static int by_worker_run(const void *a, const void *b)
{
	const struct sim_event *x = a, *y = b;

	if (x->ts_ns / run_ns != y->ts_ns / run_ns)
		return x->ts_ns / run_ns < y->ts_ns / run_ns ? -1 : 1;
	if (x->worker != y->worker)
		return x->worker < y->worker ? -1 : 1;
	return by_time(a, b);
}

static void simulate(size_t cnt)
{
	event_cap = cnt;
	events = calloc(cnt, sizeof(*events));
	if (!events)
		abort();
	for (unsigned int w = 0; w < WORKERS; w++)
		workers[w].now_ns = 86400000000000ull + w * 700;
	for (uint32_t i = 0; i < TIMERS; i++)
		timer_due_ns[i] = workers[0].now_ns + around(4e6, 1);
	while (event_cnt < event_cap) {
		unsigned int w = workers[0].now_ns <= workers[1].now_ns ? 0 : 1;
		struct worker *k = &workers[w];
		uint32_t task = k->lifo;

		k->lifo = 0;
		if (!task && k->head != k->tail)
			task = k->queue[k->head++ % QUEUE];
		/* a burst of ping-pong ends now and then, else nobody would park */
		if (task && task < timer_task(0) && !(rand64() % 40))
			task = 0;
		if (task)
			poll_one(k, w, task);
		else
			park(k, w);
		if (!task && rand64() % 2)
			k->lifo = 16 + 2 * (uint32_t)(rand64() % PAIRS);
	}
	qsort(events, event_cnt, sizeof(*events), by_time);
}

static int put(struct d9_enc *enc, const struct sim_event *s, const uint32_t *locs)
{
	switch (s->kind) {
	case D9_EV_POLL_START:
		return d9_put_poll_start(
			enc, s->ts_ns,
			&(struct d9_poll_start){ s->worker, s->queue, s->task, locs[s->other] });
	case D9_EV_POLL_END:
		return d9_put_poll_end(enc, s->ts_ns, &(struct d9_poll_end){ s->worker });
	case D9_EV_WAKE:
		return d9_put_wake(enc, s->ts_ns,
				   &(struct d9_wake){ s->task, s->other, s->worker });
	case D9_EV_WORKER_PARK:
		return d9_put_worker_park(enc, s->ts_ns,
					  &(struct d9_worker_park){ s->worker, s->queue, s->cpu_ns,
								    4242 + s->worker });
	default:
		return d9_put_worker_unpark(enc, s->ts_ns,
					    &(struct d9_worker_unpark){ s->worker, s->queue,
									s->cpu_ns, 21000, true,
									4242 + s->worker });
	}
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(int rc)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "bench_format: %s\n", d9_strerror(rc));
	exit(1);
}

/* All events into one batch in buf; its size. */
static size_t encode(uint8_t *buf, size_t cap)
{
	struct d9_pool *pool = d9_pool_new(0, 0, 0);
	uint32_t locs[TYPES];
	struct d9_enc enc;
	char loc[64];

	d9_enc_init(&enc, buf, cap, pool);
	must(d9_enc_begin(&enc));
	for (uint32_t i = 0; i < TYPES; i++) {
		int len = snprintf(loc, sizeof(loc), "src/service/task_%u.rs:%u:17", i, i * 31 + 7);

		must(d9_intern_str(&enc, loc, (size_t)len, &locs[i]));
	}
	for (size_t i = 0; i < event_cnt; i++)
		must(put(&enc, &events[i], locs));
	d9_pool_free(pool);
	return enc.len;
}

static void decode(const uint8_t *buf, size_t sz)
{
	struct d9_src *src;
	struct d9_ev ev;
	uint64_t cnt = 0, sum = 0;
	double start;
	int rc;

	start = now_s();
	must(d9_src_open_mem(&src, buf, sz, NULL));
	for (; (rc = d9_src_next(src, &ev)) == 1; cnt++)
		sum += ev.ts_ns + d9_u64(&ev, 0, 0);
	must(rc);
	printf("decode %.1f ns/event (%llu events, check %llx)\n",
	       (now_s() - start) / (double)cnt * 1e9, (unsigned long long)cnt,
	       (unsigned long long)sum);
	if (cnt != event_cnt)
		must(-D9_E_BAD_VALUE);
	d9_src_close(src);
}

/* Compressed bytes and ns per event, with a flush each second of trace time as the recorder does. */
static void pack(const uint8_t *buf, size_t sz, enum d9_compression kind, int level)
{
	double secs = (double)(events[event_cnt - 1].ts_ns - events[0].ts_ns) * 1e-9;
	size_t step = (size_t)((double)sz / (secs > 1 ? secs : 1)) + 1, used;
	struct d9_sink_opt opt = { .compression = kind, .level = level };
	char path[] = "/tmp/bench_formatXXXXXX";
	struct d9_sink *sink;
	int fd = mkstemp(path);
	double start;

	unlink(path);
	must(d9_sink_new(&sink, &opt));
	must(d9_sink_start(sink, fd));
	start = now_s();
	for (size_t at = 0; at < sz; at += used) {
		must(d9_sink_write(sink, buf + at, step < sz - at ? step : sz - at, &used));
		must(d9_sink_flush(sink));
	}
	must(d9_sink_finish(sink));
	printf("  %s %2d: %5.2f bytes/event %6.1f ns/event\n", kind == D9_ZSTD ? "zstd" : "gzip",
	       level, (double)d9_sink_out_sz(sink) / (double)event_cnt,
	       (now_s() - start) / (double)event_cnt * 1e9);
	d9_sink_free(sink);
	close(fd);
}

static void sizes(const char *what, uint8_t *buf, size_t cap)
{
	size_t sz = encode(buf, cap);

	printf("%s: %.2f bytes/event raw\n", what, (double)sz / (double)event_cnt);
	for (int level = 1; level <= 6; level++)
		pack(buf, sz, D9_ZSTD, level);
	pack(buf, sz, D9_GZIP, 1);
}

int main(int argc, char **argv)
{
	size_t cnt = argc > 1 ? strtoul(argv[1], NULL, 10) : 2000000, cap, sz;
	uint64_t by_kind[D9_EV_CNT] = { 0 };
	uint8_t *buf;
	double start;

	if (cnt < 1000 || cnt > 100000000) {
		fprintf(stderr, "bench_format: events must be from 1000 to 100000000\n");
		return 2;
	}
	cap = cnt * 40 + (1u << 20);
	buf = malloc(cap);
	if (!buf)
		must(-D9_E_ROOM);
	memset(buf, 0, cap); /* page faults are not the encoder's */
	simulate(cnt);
	for (size_t i = 0; i < event_cnt; i++)
		by_kind[events[i].kind]++;
	printf("%zu events in %.2f s of trace:", event_cnt,
	       (double)(events[event_cnt - 1].ts_ns - events[0].ts_ns) * 1e-9);
	for (unsigned int i = 0; i < D9_EV_CNT; i++)
		if (by_kind[i])
			printf(" %s %.1f %%", d9_event_def((enum d9_event)i)->name,
			       100.0 * (double)by_kind[i] / (double)event_cnt);
	printf("\n");
	for (int i = 0; i < 3; i++) {
		start = now_s();
		sz = encode(buf, cap);
		printf("encode %.1f ns/event\n", (now_s() - start) / (double)event_cnt * 1e9);
		decode(buf, sz);
	}
	sizes("time order", buf, cap);
	for (run_ns = 1000000; run_ns <= 1000000000; run_ns *= 10) {
		char what[64];

		qsort(events, event_cnt, sizeof(*events), by_worker_run);
		snprintf(what, sizeof(what), "runs of one worker, %llu ms",
			 (unsigned long long)(run_ns / 1000000));
		sizes(what, buf, cap);
		qsort(events, event_cnt, sizeof(*events), by_time);
	}
	free(buf);
	free(events);
	return 0;
}
