// SPDX-License-Identifier: Apache-2.0
/*
 * make_big.c - a trace of any size, for the viewer's measurements: the same bytes for the same
 * arguments. Tasks of 12 types wake each other on W workers, each polled by one worker at a time,
 * with parks, samples, times off CPU, queue samples, and now and then a poll that is long, late or
 * blocked.
 *
 *   make_big DIR EVENTS [WORKERS [raw|gzip|zstd [EACH]]]   DIR/trace.N.bin[.zst], of 4 M events or EACH
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/trace.h"

#define SEGMENT_EVENTS 4000000u
#define WORKERS_MAX 200u
#define TASKS 20000u
#define TYPES 12u
#define STACKS 400u
#define T0 5000000000000ull
#define UNIX_T0 1790000000000000000ull
#define BUF_SZ (1u << 20)
#define METRICS_NS 10000000ull

static uint8_t buf[BUF_SZ];
static struct d9_enc enc;
static struct d9_pool *pool;
static struct d9_sink *sink;
static int fd = -1;
static uint64_t events, in_segment, limit, segment_events = SEGMENT_EVENTS;
static unsigned int segment, workers = 16;
static const char *dir, *suffix = ".zst";
static uint64_t now_ns[WORKERS_MAX], cpu_ns[WORKERS_MAX];
static uint32_t next_task[WORKERS_MAX];
static uint64_t polled_to_ns[TASKS + 1]; /* end of each task's last poll */
static uint64_t rng = 88172645463325252ull, metrics_ns = T0;

static uint64_t rand64(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	return rng ^= rng << 17;
}

static void die(const char *what, int rc)
{
	fprintf(stderr, "make_big: %s: %s\n", what, d9_strerror(rc));
	exit(1);
}

static void flush(void)
{
	int rc = enc.len ? d9_sink_write(sink, enc.buf, enc.len, NULL) : 0;

	if (rc)
		die("writing", rc);
	d9_enc_drain(&enc);
}

#define PUT(name, ts, ...)                                   \
	do {                                                 \
		const struct d9_##name e_ = { __VA_ARGS__ }; \
		if (enc.cap - enc.len < D9_ENC_BUF_MIN)      \
			flush();                             \
		int rc_ = d9_put_##name(&enc, ts, &e_);      \
		if (rc_)                                     \
			die(#name, rc_);                     \
		events++;                                    \
		in_segment++;                                \
	} while (0)

static uint32_t str(const char *text)
{
	uint32_t id;

	if (enc.cap - enc.len < D9_ENC_BUF_MIN)
		flush();
	if (d9_intern_str(&enc, text, strlen(text), &id) != 0)
		die("string", -ENOMEM);
	return id;
}

static uint32_t type_of(uint32_t task)
{
	char text[64];

	snprintf(text, sizeof(text), "src/service_%u.rs:%u:9", task % TYPES, 40 + task % TYPES);
	return str(text);
}

static uint32_t stack_of(uint64_t number)
{
	uint64_t frames[24];
	uint32_t id;

	for (uint32_t i = 0; i < 24; i++)
		frames[i] = 0x555500001000ull + (i < 8 ? number % STACKS * 64 : 0) + i * 65536;
	if (enc.cap - enc.len < D9_ENC_BUF_MIN)
		flush();
	if (d9_intern_stack(&enc, frames, 24, &id) != 0)
		die("stack", -ENOMEM);
	return id;
}

static void names(uint64_t ts)
{
	for (uint32_t i = 0; i < STACKS; i++)
		for (uint32_t k = 0; k < 8; k++) {
			char text[64];

			snprintf(text, sizeof(text), "service::handler_%u::step_%u", i, k);
			PUT(symbol, 0, 0x555500001000ull + i * 64 + k * 65536, 0, str(text), 0,
			    str("src/handler.rs"), 10 + k);
		}
	for (uint32_t k = 8; k < 24; k++) {
		char text[64];

		snprintf(text, sizeof(text), "tokio::runtime::frame_%u", k);
		PUT(symbol, 0, 0x555500001000ull + k * 65536, 0, str(text), 0, str(""), 0);
	}
	(void)ts;
}

static void segment_end(uint64_t ts)
{
	int rc;

	if (fd < 0)
		return;
	names(ts);
	flush();
	rc = d9_sink_finish(sink);
	if (rc || close(fd) != 0)
		die("finishing", rc);
	fd = -1;
}

static void segment_begin(uint64_t ts)
{
	char path[4096], list[WORKERS_MAX * 5] = "";
	struct d9_pair pairs[4];
	int rc;

	snprintf(path, sizeof(path), "%s/trace.%u.bin%s", dir, segment++, suffix);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		die(path, -errno);
	rc = d9_sink_start(sink, fd);
	if (rc == 0)
		rc = d9_enc_begin(&enc);
	if (rc)
		die(path, rc);
	for (unsigned int i = 0; i < workers; i++)
		sprintf(list + strlen(list), "%s%u", i ? "," : "", i);
	pairs[0] = (struct d9_pair){ { "runtime.main", 12 }, { list, (uint32_t)strlen(list) } };
	pairs[1] = (struct d9_pair){ { "process.pid", 11 }, { "4242", 4 } };
	pairs[2] = (struct d9_pair){ { "agent.version", 13 }, { "0", 1 } };
	pairs[3] = (struct d9_pair){ { "tokio.poll_coverage", 19 }, { "all", 3 } };
	PUT(segment_metadata, ts, pairs, 4);
	PUT(clock_sync, ts, UNIX_T0 + (ts - T0));
	in_segment = 0;
}

/* What a worker polls next: the task it woke last, unless another worker polls that just now.
 * Workers take their turns in order of time, so the ends of polls under way are known. */
static uint32_t pick(unsigned int w)
{
	uint32_t task = next_task[w] ? next_task[w] : 1 + (uint32_t)(rand64() % TASKS);

	while (polled_to_ns[task] > now_ns[w])
		task = 1 + (uint32_t)(rand64() % TASKS);
	return task;
}

/* One poll of one worker, and what comes with it. */
static void step(unsigned int w)
{
	uint32_t task = pick(w), woken;
	uint64_t r = rand64(), dur = 2000 + r % 18000, start = now_ns[w];
	uint64_t kind = (r >> 20) % 100000;

	if (kind < 3)
		dur = 12000000 + r % 40000000; /* long */
	else if (kind < 300)
		dur += r % 900000;
	PUT(poll_start, start, w, (r >> 40) % 12, task, type_of(task));
	next_task[w] = 0;
	for (uint64_t i = 0; i < (r >> 36) % 3; i++) {
		woken = 1 + (uint32_t)(rand64() % TASKS);
		PUT(wake, start + dur / 4 * (i + 1), task, woken, (uint8_t)w);
		next_task[w] = woken;
	}
	if (kind >= 100 && kind < 130)
		PUT(agent_off_cpu, start + dur / 2 + 1500000, 5000 + w, w, true, task, true,
		    start + dur / 2, 1, 202, true, stack_of(r), true);
	if (kind >= 100 && kind < 130)
		dur += 3000000; /* blocked */
	if (kind >= 1000 && kind < 2500)
		PUT(cpu_sample, start + dur - dur / 8, w, 5000 + w, 0, str("tokio-worker"), true,
		    stack_of(r >> 8), w % 8, true);
	PUT(poll_end, start + dur, w);
	polled_to_ns[task] = start + dur;
	cpu_ns[w] += dur;
	now_ns[w] = start + dur + 300 + r % 700;
	if ((r >> 50) % 6)
		return;
	PUT(worker_park, now_ns[w], w, 0, cpu_ns[w], 5000 + w);
	now_ns[w] += 5000 + (r >> 12) % 60000;
	PUT(worker_unpark, now_ns[w], w, 0, cpu_ns[w], (r >> 30) % 20000, true, 5000 + w);
	now_ns[w] += 500;
}

static unsigned int earliest(void)
{
	unsigned int best = 0;

	for (unsigned int i = 1; i < workers; i++)
		if (now_ns[i] < now_ns[best])
			best = i;
	return best;
}

int main(int argc, char **argv)
{
	struct d9_sink_opt opt = { .compression = D9_ZSTD };
	int rc;

	if (argc < 3) {
		fprintf(stderr, "usage: make_big DIR EVENTS [WORKERS [raw|gzip|zstd [EACH]]]\n");
		return 2;
	}
	dir = argv[1];
	limit = strtoull(argv[2], NULL, 10);
	if (argc > 3)
		workers = (unsigned int)atoi(argv[3]);
	if (workers == 0 || workers > WORKERS_MAX)
		workers = WORKERS_MAX;
	if (argc > 5)
		segment_events = strtoull(argv[5], NULL, 10);
	if (argc > 4 && strcmp(argv[4], "zstd") != 0) {
		opt.compression = strcmp(argv[4], "raw") == 0 ? D9_RAW : D9_GZIP;
		suffix = opt.compression == D9_RAW ? "" : ".gz";
	}
	pool = d9_pool_new(0, 0, 0);
	rc = d9_sink_new(&sink, &opt);
	if (!pool || rc)
		die("starting", rc ? rc : -ENOMEM);
	d9_enc_init(&enc, buf, sizeof(buf), pool);
	for (unsigned int i = 0; i < workers; i++)
		now_ns[i] = T0 + i * 137;
	while (events < limit) {
		unsigned int w = earliest();

		if (fd >= 0 && in_segment >= segment_events)
			segment_end(now_ns[w]);
		if (fd < 0)
			segment_begin(now_ns[w]);
		for (; metrics_ns <= now_ns[w]; metrics_ns += METRICS_NS)
			PUT(runtime_metrics, metrics_ns, str("main"), (uint32_t)(rand64() % 50),
			    TASKS);
		step(w);
	}
	segment_end(now_ns[0]);
	d9_sink_free(sink);
	d9_pool_free(pool);
	printf("%llu events, %u segments\n", (unsigned long long)events, segment);
	return 0;
}
