// SPDX-License-Identifier: Apache-2.0
/*
 * make_traces.c - writes the traces that the tests of dial9-view read: `make_traces DIR`.
 *
 * Small recordings whose figures can be worked out by hand; the working is beside each event here,
 * the results stand in the .expected files. Times are in microseconds from T0.
 */
#include "tracescript.h"

#include <sys/stat.h>

static uint32_t stack(uint64_t leaf)
{
	const uint64_t frames[] = { leaf, 0x9000 };
	uint32_t id = 0;

	check(d9_intern_stack(&enc, frames, 2, &id), "stack");
	return id;
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
	script_open(argc, argv);
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

	begin();
	crowd();
	end("crowd.bin", D9_RAW, 0, 0);
	begin();
	batches();
	end("batches.bin", D9_RAW, 0, 0);

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
