// SPDX-License-Identifier: Apache-2.0
/*
 * make_stat.c - a recording without polls, as dial9-agent makes it most of the time: `make_stat DIR`.
 *
 * DIR/stat-8/, 200 ms at level stat, a CPU sample each ms. Worker 0: task 5 in all samples from 20 to 50
 * ms and from 150 to 165, one sample of no task at 60; task 6 without CPU (clock_nanosleep) from 80 to 110
 * ms, before that five times for 2 ms.
 * Worker 1: task 7, whose type is unknown, in a sample at 30 ms, preempted from 120 to 125; then parked.
 */
#include "tracescript.h"

static uint32_t stack(uint64_t leaf)
{
	const uint64_t frames[] = { leaf, 0x9000 };
	uint32_t id = 0;

	check(d9_intern_stack(&enc, frames, 2, &id), "stack");
	return id;
}

static void sample(uint64_t ms, uint64_t worker, uint64_t task, uint64_t leaf)
{
	uint32_t tid = 100 + (uint32_t)worker;

	if (task)
		PUT(agent_sample, ms * 1000, .tid = tid, .task_id = task);
	PUT(cpu_sample, ms * 1000, .worker_id = worker, .tid = tid, .callchain = stack(leaf),
	    .thread_name = str(worker ? "io-driver" : "tokio-rt"), .has_thread_name = true);
}

static void run(uint64_t from_ms, uint64_t to_ms)
{
	for (uint64_t ms = from_ms; ms <= to_ms; ms++)
		sample(ms, 0, 5, 0x1000);
}

static void nap(uint64_t from_ms, uint64_t to_ms)
{
	PUT(agent_off_cpu, to_ms * 1000, .tid = 100, .worker_id = 0, .has_worker_id = true,
	    .task_id = 6, .has_task_id = true, .out_ns = T0 + from_ms * 1000000, .reason = 1,
	    .syscall = 230, .has_syscall = true, .callchain = stack(0x2000), .has_callchain = true);
}

static void symbol(uint64_t addr, const char *name)
{
	check(d9_put_symbol(&enc, 0,
			    &(struct d9_symbol){ .addr = addr,
						 .symbol_name = str(name),
						 .source_file = str("") }),
	      "symbol");
}

int main(int argc, char **argv)
{
	const struct d9_pair facts[] = {
		pair("agent.has", "WorkerParkEvent,WorkerUnparkEvent,CpuSampleEvent,agent:Sample,"
				  "agent:OffCpu,agent:Alive,agent:Parks"),
		pair("cpu.profile.frequency_hz", "1000"),
		pair("runtime.main", "0,1"),
		pair("process.pid", "8"),
	};

	script_open(argc, argv);
	if (mkdir("stat-8", 0755) != 0)
		check(-errno, "stat-8");
	begin();
	PUT(segment_metadata, 0, .entries = facts, .entries_cnt = 4);
	PUT(agent_level, 0, .pid = 8, .level = str("stat"), .types = str(""), .ends = str("none"),
	    .reason = str("start"));
	PUT(worker_park, 0, .worker_id = 0, .tid = 100);
	PUT(agent_alive, 10, .task_id = 5, .vtable = 0x5000, .type = str("src/main.rs:20:9"));
	PUT(agent_alive, 20, .task_id = 6, .vtable = 0x6000, .type = str("src/io.rs:7:1"));
	PUT(worker_unpark, 10000, .worker_id = 0, .tid = 100);
	run(20, 30);
	sample(30, 1, 7, 0x3000);
	run(31, 50);
	sample(60, 0, 0, 0x4000);
	for (uint64_t ms = 61; ms < 76; ms += 3)
		nap(ms, ms + 2);
	nap(80, 110);
	PUT(agent_off_cpu, 125000, .tid = 101, .worker_id = 1, .has_worker_id = true, .task_id = 7,
	    .has_task_id = true, .out_ns = T0 + 120000000, .callchain = stack(0x3000),
	    .has_callchain = true);
	PUT(worker_park, 126000, .worker_id = 1, .tid = 101);
	run(150, 165);
	PUT(worker_unpark, 190000, .worker_id = 1, .tid = 101);
	PUT(worker_park, 200000, .worker_id = 0, .tid = 100);
	symbol(0x1000, "app::crunch");
	symbol(0x2000, "app::nap");
	symbol(0x9000, "app::poll");
	end("stat-8/trace.0.bin", D9_RAW, 0, 0);
	d9_pool_free(pool);
	return 0;
}
