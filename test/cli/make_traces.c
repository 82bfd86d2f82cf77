// SPDX-License-Identifier: Apache-2.0
/*
 * make_traces.c - writes the traces that the tests of dial9-view read: `make_traces DIR`.
 *
 * Small recordings whose figures can be worked out by hand; the working is beside each event here,
 * the results stand in the .expected files. Times are in microseconds from T0.
 */
#include "format/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define T0 1000000000ull
#define UNIX_T0 1700000000000000000ull /* 2023-11-14 22:13:20 UTC */
#define BUF_SZ (1u << 20)

static uint8_t buf[BUF_SZ];
static struct d9_enc enc;
static struct d9_pool *pool;
static const char *session = "1"; /* agent.session of the next segments */

static void check(int err, const char *what)
{
	if (err == 0)
		return;
	fprintf(stderr, "make_traces: %s: %s\n", what, d9_strerror(err));
	exit(1);
}

#define PUT(name, us, ...) \
	check(d9_put_##name(&enc, T0 + (us)*1000ull, &(struct d9_##name){ __VA_ARGS__ }), #name)

static uint32_t str(const char *text)
{
	uint32_t id = 0;

	check(d9_intern_str(&enc, text, strlen(text), &id), text);
	return id;
}

static uint32_t stack(uint64_t leaf)
{
	const uint64_t frames[] = { leaf, 0x9000 };
	uint32_t id = 0;

	check(d9_intern_stack(&enc, frames, 2, &id), "stack");
	return id;
}

static void begin(void)
{
	d9_enc_init(&enc, buf, sizeof(buf), pool);
	check(d9_enc_begin(&enc), "header");
}

/* Writes what was encoded, without the last `cut` bytes; `flip` turns over the byte in the middle
 * of the compressed file. */
static void end(const char *path, enum d9_compression compression, size_t cut, int flip)
{
	const struct d9_sink_opt opt = { .compression = compression };
	struct d9_sink *sink = NULL;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
	struct stat st;
	uint8_t byte = 0;

	if (fd < 0)
		check(-errno, path);
	check(d9_sink_new(&sink, &opt), path);
	check(d9_sink_start(sink, fd), path);
	check(d9_sink_write(sink, enc.buf, enc.len - cut, NULL), path);
	check(d9_sink_finish(sink), path);
	d9_sink_free(sink);
	if (flip) {
		if (fstat(fd, &st) != 0 || pread(fd, &byte, 1, st.st_size / 2) != 1)
			check(-EIO, path);
		byte ^= 0xff;
		if (pwrite(fd, &byte, 1, st.st_size / 2) != 1)
			check(-EIO, path);
	}
	close(fd);
}

static struct d9_pair pair(const char *key, const char *value)
{
	return (struct d9_pair){ { key, (uint32_t)strlen(key) },
				 { value, (uint32_t)strlen(value) } };
}

/* What each segment of dial9-agent begins with. */
static void preamble(uint64_t us, const char *service, uint32_t pid)
{
	const struct d9_pair facts[] = {
		pair("agent.has", "PollStartEvent,PollEndEvent,WakeEventEvent,TaskSpawnEvent,"
				  "TaskTerminateEvent,agent:Alive,agent:OffCpu"),
		pair("agent.unknown", "WorkerParkEvent.cpu_time_ns,WorkerUnparkEvent.cpu_time_ns"),
		pair("tokio.local_queue", "partial"),
		pair("service_name", service),
		pair("runtime.main", "0,1"),
		pair("agent.session", session),
		pair("process.pid", pid == 44 ? "44" : "43"),
	};

	PUT(clock_sync, us, .realtime_ns = UNIX_T0 + us * 1000);
	PUT(segment_metadata, us, .entries = facts, .entries_cnt = 7);
	PUT(agent_level, us, .pid = pid, .level = str("full"), .types = str(""),
	    .ends = str("exact"), .reason = str("start"));
}

/* alpha, segment 0: 0 to 15000 us */
static void alpha_first(void)
{
	uint32_t a = str("src/main.rs:10:5"), b = str("src/main.rs:20:9");
	uint32_t c = str("src/nested.rs:1:1");

	preamble(0, "alpha", 42);
	/* worker 0 is unknown for 500; its first unpark ends a park whose start nobody saw */
	PUT(worker_unpark, 500, .worker_id = 0, .sched_wait_ns = 100000, .has_sched_wait_ns = true,
	    .tid = 100);
	/* task 1 of type a: polls of 2000, 400 and 100 */
	PUT(task_spawn, 1000, .task_id = 1, .spawn_loc = a, .instrumented = true, .worker_id = 0,
	    .has_worker_id = true);
	PUT(poll_start, 1000, .worker_id = 0, .local_queue = 3, .task_id = 1, .spawn_loc = a);
	/* task 2 of type b on worker 1 (unknown for 2000): a poll of 12000, 10000 of it asleep */
	PUT(agent_alive, 2000, .task_id = 2, .vtable = 0x5000, .type = b);
	PUT(poll_start, 2000, .worker_id = 1, .task_id = 2, .spawn_loc = b);
	PUT(cpu_sample, 2500, .worker_id = 1, .tid = 101, .callchain = stack(0x1000));
	PUT(poll_end, 3000, .worker_id = 0);
	PUT(worker_park, 3500, .worker_id = 0, .tid = 100);
	/* a blocking task: queued 1000, run 2000 */
	PUT(agent_blocking, 7000, .task_id = 9, .tid = 77, .queued_ns = T0 + 4000000,
	    .has_queued_ns = true, .start_ns = T0 + 5000000, .type = str("std::fs::read"));
	/* the wait counts from the first of two wakes: 9000 - 8000 */
	PUT(wake, 8000, .waker_task_id = 0, .woken_task_id = 1, .target_worker = 255);
	PUT(wake, 8200, .waker_task_id = 2, .woken_task_id = 1, .target_worker = 1);
	/* parked 5000, of which 500 ready without a CPU */
	PUT(worker_unpark, 8500, .worker_id = 0, .sched_wait_ns = 500000, .has_sched_wait_ns = true,
	    .tid = 100);
	PUT(poll_start, 9000, .worker_id = 0, .local_queue = 0, .task_id = 1, .spawn_loc = a);
	/* woken while running: the wait counts from that poll's end, 9500 - 9400 */
	PUT(wake, 9200, .waker_task_id = 1, .woken_task_id = 1, .target_worker = 0);
	PUT(poll_end, 9400, .worker_id = 0);
	PUT(poll_start, 9500, .worker_id = 0, .local_queue = 1, .task_id = 1, .spawn_loc = a);
	PUT(poll_end, 9600, .worker_id = 0);
	PUT(task_terminate, 9600, .task_id = 1);
	PUT(agent_task_end, 9600, .task_id = 1, .cause = 4);
	PUT(worker_park, 10000, .worker_id = 0, .tid = 100);
	PUT(agent_self, 10000, .cpu_ns = 100000, .rss_bytes = 4 << 20, .hits = 50,
	    .target_cost_ns = 200000);
	PUT(agent_loss, 12000, .kind = str("wake"), .cause = str("ring full"), .count = 3,
	    .from_ns = T0 + 11000000);
	PUT(agent_off_cpu, 13000, .tid = 101, .worker_id = 1, .has_worker_id = true, .task_id = 2,
	    .has_task_id = true, .out_ns = T0 + 3000000, .reason = 1, .syscall = 35,
	    .has_syscall = true);
	PUT(cpu_sample, 13500, .worker_id = 1, .tid = 101, .callchain = stack(0x2000));
	/* a poll within the poll: 100, not busy time of type b */
	PUT(agent_nested_poll, 13900, .worker_id = 1, .task_id = 4, .outer_task_id = 2,
	    .start_ns = T0 + 13800000, .spawn_loc = c);
	PUT(poll_end, 14000, .worker_id = 1);
	PUT(worker_park, 15000, .worker_id = 1, .tid = 101);
	/* symbols: of 0x1000 the inlined one is the innermost */
	check(d9_put_symbol(&enc, 0,
			    &(struct d9_symbol){ .addr = 0x1000,
						 .symbol_name = str("alpha::work"),
						 .source_file = str("") }),
	      "symbol");
	check(d9_put_symbol(&enc, 0,
			    &(struct d9_symbol){ .addr = 0x1000,
						 .symbol_name = str("alpha::spin"),
						 .inline_depth = 1,
						 .source_file = str("a.rs"),
						 .source_line = 7 }),
	      "symbol");
}

/* alpha, segment 1: 15500 to 20000 us, with the level going down at 18000 */
static void alpha_second(void)
{
	preamble(15500, "alpha", 42);
	PUT(worker_unpark, 16000, .worker_id = 1, .tid = 101); /* delay unknown */
	/* no wake: a poll that nothing explains */
	PUT(poll_start, 16100, .worker_id = 1, .task_id = 2, .spawn_loc = str("src/main.rs:20:9"));
	PUT(poll_end, 16200, .worker_id = 1);
	PUT(worker_park, 17000, .worker_id = 1, .tid = 101);
	PUT(agent_level, 18000, .pid = 42, .level = str("polls"), .types = str(""),
	    .ends = str("inferred"), .reason = str("budget"));
	/* since the first one 1 % and 2 % of 10000 us */
	PUT(agent_self, 20000, .cpu_ns = 200000, .rss_bytes = 4 << 20, .hits = 100,
	    .target_cost_ns = 400000);
}

static void poll(uint64_t from_us, uint64_t to_us, uint64_t worker, uint64_t task)
{
	PUT(poll_start, from_us, .worker_id = worker, .task_id = task, .spawn_loc = str("t"));
	if (to_us)
		PUT(poll_end, to_us, .worker_id = worker);
}

static void spawn(uint64_t us, uint64_t task)
{
	PUT(task_spawn, us, .task_id = task, .spawn_loc = str("t"), .instrumented = true);
}

/* Three tasks on one worker. Task 2 waits 1800, all of it behind task 1; task 3 waits 1600: 1000
 * behind task 1, 500 behind task 2, 100 while its worker is between polls. So the poll of task 1
 * harms two waits by 2800 in all, that of task 2 one by 500. */
static void crowd(void)
{
	const struct d9_pair facts[] = { pair("agent.partial", "WakeEventEvent") };

	PUT(segment_metadata, 500, .entries = facts, .entries_cnt = 1);
	PUT(worker_unpark, 500, .worker_id = 0, .tid = 100);
	PUT(agent_alive, 600, .task_id = 1, .type = str("hog"));
	PUT(agent_alive, 600, .task_id = 2, .type = str("victim"));
	PUT(agent_alive, 600, .task_id = 3, .type = str("victim"));
	PUT(poll_start, 1000, .worker_id = 0, .task_id = 1, .spawn_loc = str("hog"));
	PUT(wake, 1200, .waker_task_id = 1, .woken_task_id = 2, .target_worker = 0);
	PUT(wake, 2000, .waker_task_id = 1, .woken_task_id = 3, .target_worker = 0);
	PUT(poll_end, 3000, .worker_id = 0);
	PUT(poll_start, 3000, .worker_id = 0, .task_id = 2, .spawn_loc = str("victim"));
	PUT(poll_end, 3500, .worker_id = 0);
	PUT(poll_start, 3600, .worker_id = 0, .task_id = 3, .spawn_loc = str("victim"));
	PUT(poll_end, 3700, .worker_id = 0);
	PUT(worker_park, 4000, .worker_id = 0, .tid = 100);
}

/* One file for each invariant, broken once. */
static void broken_polls(void)
{
	spawn(5, 1);
	spawn(6, 2);
	poll(10, 0, 0, 1); /* no end */
	poll(20, 30, 0, 2);
}

static void broken_parks(void)
{
	PUT(worker_unpark, 5, .worker_id = 0); /* fine: parked before anybody looked */
	PUT(worker_park, 10, .worker_id = 0);
	PUT(worker_park, 20, .worker_id = 0);
}

static void broken_time(void)
{
	PUT(worker_park, 20, .worker_id = 0);
	PUT(worker_unpark, 30, .worker_id = 0);
	PUT(worker_park, 25, .worker_id = 0);
}

static void broken_workers(void)
{
	spawn(5, 1);
	PUT(wake, 15, .woken_task_id = 1);
	PUT(wake, 16, .woken_task_id = 1);
	/* 10 to 500 on worker 0, 100 to 400 on worker 1: 400 us both */
	poll(10, 0, 0, 1);
	poll(100, 400, 1, 1);
	PUT(poll_end, 500, .worker_id = 0);
	/* the same again, but worker 0 was off its CPU for all but 90 us of it: no finding */
	PUT(wake, 600, .woken_task_id = 1);
	poll(1000, 0, 0, 1);
	PUT(wake, 1050, .woken_task_id = 1);
	poll(1100, 1400, 1, 1);
	PUT(agent_off_cpu, 1450, .worker_id = 0, .has_worker_id = true, .task_id = 1,
	    .has_task_id = true, .out_ns = T0 + 1140000);
	PUT(poll_end, 1500, .worker_id = 0);
}

static void broken_ids(void)
{
	spawn(10, 7);
	spawn(20, 7);
	PUT(task_terminate, 30, .task_id = 7);
	spawn(40, 7); /* fine: it had ended */
}

static void broken_ended(void)
{
	spawn(10, 7);
	PUT(task_terminate, 20, .task_id = 7);
	poll(30, 40, 0, 7);
}

static void broken_nested(void)
{
	spawn(5, 1);
	spawn(6, 2);
	poll(10, 0, 0, 1);
	PUT(agent_nested_poll, 20, .worker_id = 0, .task_id = 2, .outer_task_id = 1,
	    .start_ns = T0 + 12000);
	PUT(poll_end, 30, .worker_id = 0);
	PUT(wake, 35, .woken_task_id = 2);
	PUT(agent_nested_poll, 50, .worker_id = 0, .task_id = 2, .outer_task_id = 1,
	    .start_ns = T0 + 40000); /* in no poll */
}

static void broken_blocking(void)
{
	PUT(agent_blocking, 20, .task_id = 1, .tid = 7, .start_ns = T0 + 10000);
	PUT(agent_blocking, 25, .task_id = 2, .tid = 8, .start_ns = T0 + 15000);
	PUT(agent_blocking, 30, .task_id = 3, .tid = 7, .start_ns = T0 + 19000);
}

static void broken_fields(void)
{
	static const struct d9_any_field fields[] = { { "worker_id", D9_T_VARINT } };
	static const struct d9_any_def def = { 100, "PollStartEvent", false, 1, fields };
	const struct d9_value value = { .type = D9_T_VARINT, .u = 1 };

	check(d9_put_any_schema(&enc, &def), "schema");
	check(d9_put_any(&enc, T0 + 10000, &def, &value), "event");
}

static void broken_pools(void)
{
	PUT(task_spawn, 10, .task_id = 1, .spawn_loc = 12345, .instrumented = true);
}

/* Every wire type, and names that attack a terminal. */
static void hostile(void)
{
	static const struct d9_any_field fields[] = {
		{ "i", D9_T_I64 },
		{ "f", D9_T_F64 },
		{ "yes", D9_T_BOOL },
		{ "text", D9_T_STRING },
		{ "raw", D9_T_BYTES },
		{ "big", D9_T_VARINT },
		{ "none", D9_T_VARINT | D9_T_OPTIONAL },
		{ "stack", D9_T_STACK },
		{ "\x1b[31mred", D9_T_U16 },
	};
	static const struct d9_any_def def = { 101, "custom:\x1b[2J", false, 9, fields };
	static const uint64_t frames[] = { 1, 0xffffffffffffffffull };
	static const char text[] =
		"tab\there \x1b]0;title\x07 bad\xff\xfe \xe2\x80\xae rtl \"q\" \\";
	const struct d9_value values[] = {
		{ .type = D9_T_I64, .i = -5 },
		{ .type = D9_T_F64, .f = 0.1 },
		{ .type = D9_T_BOOL, .u = 1 },
		{ .type = D9_T_STRING, .cnt = sizeof(text) - 1, .str = text },
		{ .type = D9_T_BYTES, .cnt = 2, .bytes = (const uint8_t *)"\x00\xab" },
		{ .type = D9_T_VARINT, .u = 0xffffffffffffffffull },
		{ .type = D9_T_NONE },
		{ .type = D9_T_STACK, .cnt = 2, .frames = frames },
		{ .type = D9_T_U16, .u = 65535 },
	};

	check(d9_put_any_schema(&enc, &def), "schema");
	check(d9_put_any(&enc, T0 + 10000, &def, values), "event");
	spawn(20, 1);
	poll(30, 40, 0, 1);
	PUT(poll_start, 50, .worker_id = 0, .task_id = 1, .spawn_loc = str("\x1b[2Jwipe"));
	PUT(poll_end, 60, .worker_id = 0);
}

static void one(const char *path, void (*events)(void), bool has_claims)
{
	begin();
	if (has_claims)
		preamble(0, "one", 7);
	events();
	end(path, D9_RAW, 0, 0);
}

/* Events of one thread after the other, as dial9 writes them: the wake stands behind the poll that
 * it caused, and no recorder claims anything. */
static void batches(void)
{
	poll(10, 20, 0, 1);
	poll(120, 150, 0, 1); /* waited 120 - 100 */
	check(d9_enc_begin(&enc), "header");
	PUT(wake, 100, .waker_task_id = 0, .woken_task_id = 1, .target_worker = 1);
	poll(110, 115, 1, 3);
}

static void numbered(uint64_t us)
{
	preamble(us, "beta", 43);
	PUT(worker_park, us + 100, .worker_id = 0, .tid = 5);
	PUT(worker_unpark, us + 200, .worker_id = 0, .tid = 5);
}

static void make_dir(const char *path)
{
	if (mkdir(path, 0777) != 0 && errno != EEXIST)
		check(-errno, path);
}

/* Levels full to 10000 us, then another session from 30000 to 40000, parked at both ends. */
static void sessions(const char *dir, const char *next, uint64_t us, uint32_t pid)
{
	char path[64];

	make_dir(dir);
	session = "1";
	begin();
	preamble(0, "gamma", 43);
	PUT(agent_self, 0, .cpu_ns = 9000000, .target_cost_ns = 9000000);
	PUT(worker_park, 1000, .worker_id = 0, .tid = 5);
	PUT(agent_self, 10000, .cpu_ns = 9100000, .target_cost_ns = 9200000);
	snprintf(path, sizeof(path), "%s/trace.6.bin", dir);
	end(path, D9_RAW, 0, 0);
	session = next;
	begin();
	preamble(us, "gamma", pid);
	PUT(agent_self, us, .cpu_ns = 50000, .target_cost_ns = 50000);
	PUT(worker_park, us + 1000, .worker_id = 0, .tid = 5);
	PUT(agent_self, us + 10000, .cpu_ns = 150000, .target_cost_ns = 250000);
	snprintf(path, sizeof(path), "%s/trace.7.bin", dir);
	end(path, D9_RAW, 0, 0);
	session = "1";
}

int main(int argc, char **argv)
{
	if (argc != 2 || chdir(argv[1]) != 0) {
		fprintf(stderr, "usage: make_traces DIR\n");
		return 2;
	}
	pool = d9_pool_new(0, 0, 0);
	if (!pool)
		check(-ENOMEM, "pool");

	make_dir("traces");
	make_dir("traces/abcd-42");
	begin();
	alpha_first();
	end("traces/abcd-42/trace.0.bin.zst", D9_ZSTD, 0, 0);
	begin();
	alpha_second();
	end("traces/abcd-42/trace.1.bin.zst.active", D9_ZSTD, 0, 0);
	make_dir("traces/efgh-43"); /* segment 1 of 0, 1, 10 is missing: numbers sort as numbers */
	begin();
	numbered(0);
	end("traces/efgh-43/trace.9.bin", D9_RAW, 0, 0);
	begin();
	numbered(1000);
	end("traces/efgh-43/trace.11.bin.gz", D9_GZIP, 0, 0);

	sessions("sessions", "2", 30000, 43);
	sessions("copied", "1", 0, 43);
	sessions("mixed", "1", 30000, 44);

	one("polls.bin", broken_polls, true);
	one("parks.bin", broken_parks, true);
	one("time.bin", broken_time, true);
	one("workers.bin", broken_workers, true);
	one("ids.bin", broken_ids, true);
	one("ended.bin", broken_ended, true);
	one("nested.bin", broken_nested, true);
	one("blocking.bin", broken_blocking, true);
	one("fields.bin", broken_fields, true);
	one("pools.bin", broken_pools, true);
	one("hostile.bin", hostile, false);
	one("crowd.bin", crowd, false);
	one("batches.bin", batches, false);

	begin();
	alpha_first();
	end("cut.bin", D9_RAW, 3, 0); /* in the midst of the last symbol */
	end("cut.bin.active", D9_RAW, 3, 0);
	end("flipped.bin.zst", D9_ZSTD, 0, 1);
	enc.len = 0;
	end("empty.bin", D9_RAW, 0, 0);
	d9_pool_free(pool);
	return 0;
}
