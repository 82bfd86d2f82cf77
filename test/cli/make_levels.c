// SPDX-License-Identifier: Apache-2.0
/*
 * make_levels.c - a recording whose level changes, for the page: `make_levels DIR`.
 *
 * DIR/levels-7/: 0 to 100 ms full, to 200 ms stat ("over budget"), to 300 ms full without two types,
 * with a loss in it; trace.1.bin is missing; 400 to 500 ms full again. Two workers, one task on the
 * first, a poll of 1 ms each 2 ms where polls are recorded; at stat its parks are added up, and it is seen
 * without CPU twice (8 ms in clock_nanosleep, 1 ms preempted) and in one sample. The other one parks throughout.
 */
#include "tracescript.h"

static void level(uint64_t ms, const char *name, const char *types, const char *ends,
		  const char *reason)
{
	PUT(agent_level, ms * 1000, .pid = 7, .level = str(name), .types = str(types),
	    .ends = str(ends), .reason = str(reason));
}

static void polls(uint64_t from_ms, uint64_t to_ms)
{
	for (uint64_t ms = from_ms; ms < to_ms; ms += 2)
		poll(ms * 1000, ms * 1000 + 1000, 0, 11);
}

static void parks(uint64_t from_ms, uint64_t to_ms)
{
	for (uint64_t ms = from_ms; ms < to_ms; ms += 10) {
		PUT(worker_park, ms * 1000, .worker_id = 1, .tid = 9);
		PUT(worker_unpark, ms * 1000 + 9000, .worker_id = 1, .tid = 9);
	}
}

/* Worker 0 parked for 63 of 100 ms, 40 times, and got no CPU for 2 ms after. */
static const struct d9_any_field parks_fields[] = {
	{ "worker_id", D9_T_VARINT }, { "from_ns", D9_T_VARINT },   { "to_ns", D9_T_VARINT },
	{ "parks", D9_T_VARINT },     { "parked_ns", D9_T_VARINT }, { "delayed_ns", D9_T_VARINT }
};
static const struct d9_any_def parks_def = { 100, "agent:Parks", false, 6, parks_fields };

static void added_up(uint64_t from_ms, uint64_t to_ms)
{
	const uint64_t u[] = { 0,      T0 + from_ms * 1000000, T0 + to_ms * 1000000, 40, 63000000,
			       2000000 };
	struct d9_value values[6];

	for (int i = 0; i < 6; i++)
		values[i] = (struct d9_value){ .type = D9_T_VARINT, .u = u[i] };
	check(d9_put_any_schema(&enc, &parks_def), "schema");
	check(d9_put_any(&enc, T0 + to_ms * 1000000, &parks_def, values), "agent:Parks");
}

/* The task, where its polls are not recorded. */
static const struct d9_any_field sample_fields[] = { { "tid", D9_T_U32 }, { "task_id", D9_T_VARINT } };
static const struct d9_any_def sample_def = { 101, "agent:Sample", false, 2, sample_fields };

static void glimpses(uint64_t ms)
{
	const struct d9_value sample[] = { { .type = D9_T_U32, .u = 8 },
					   { .type = D9_T_VARINT, .u = 11 } };

	PUT(agent_off_cpu, ms * 1000 + 8000, .tid = 8, .worker_id = 0, .has_worker_id = true,
	    .task_id = 11, .has_task_id = true, .out_ns = T0 + ms * 1000000, .reason = 1,
	    .syscall = 230, .has_syscall = true);
	PUT(agent_off_cpu, ms * 1000 + 9500, .tid = 8, .worker_id = 0, .has_worker_id = true,
	    .task_id = 11, .has_task_id = true, .out_ns = T0 + ms * 1000000 + 8500000);
	check(d9_put_any_schema(&enc, &sample_def), "schema");
	check(d9_put_any(&enc, T0 + ms * 1000000 + 9600000, &sample_def, sample), "agent:Sample");
}

static void segment(void)
{
	const struct d9_pair facts[] = { pair("runtime.main", "0,1"), pair("process.pid", "7") };

	begin();
	PUT(segment_metadata, 0, .entries = facts, .entries_cnt = 2);
}

int main(int argc, char **argv)
{
	script_open(argc, argv);
	if (mkdir("levels-7", 0755) != 0)
		check(-errno, "levels-7");
	segment();
	level(0, "full", "", "exact", "asked for");
	polls(0, 100);
	parks(0, 100);
	level(100, "stat", "", "none", "over budget");
	parks(100, 160);
	glimpses(160);
	parks(160, 200);
	added_up(100, 200);
	level(200, "full", "", "exact", "within budget");
	level(200, "stat", "src/hot.rs:3:9", "none", "within budget");
	level(200, "stat", "<img src=x onerror=alert(1)>", "none", "within budget");
	polls(200, 300);
	parks(200, 300);
	PUT(agent_loss, 260000, .kind = str("PollEndEvent"), .cause = str("ring full"), .count = 12,
	    .from_ns = T0 + 250000000);
	end("levels-7/trace.0.bin", D9_RAW, 0, 0);
	segment();
	level(400, "full", "", "exact", "asked for");
	polls(400, 500);
	parks(400, 500);
	end("levels-7/trace.2.bin", D9_RAW, 0, 0);
	d9_pool_free(pool);
	return 0;
}
