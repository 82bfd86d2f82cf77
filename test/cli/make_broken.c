// SPDX-License-Identifier: Apache-2.0
/*
 * make_broken.c - writes one trace for each invariant of `dial9-view verify`, broken once, and one
 * with names that attack a terminal: `make_broken DIR`. Times are in microseconds from T0.
 */
#include "tracescript.h"

/* One file for each invariant, broken once. */
static void broken_polls(void)
{
	spawn(5, 1, "t");
	spawn(6, 2, "t");
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
	spawn(5, 1, "t");
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
	spawn(10, 7, "t");
	spawn(20, 7, "t");
	PUT(task_terminate, 30, .task_id = 7);
	spawn(40, 7, "t"); /* fine: it had ended */
}

static void broken_ended(void)
{
	spawn(10, 7, "t");
	PUT(task_terminate, 20, .task_id = 7);
	poll(30, 40, 0, 7);
}

static void broken_nested(void)
{
	spawn(5, 1, "t");
	spawn(6, 2, "t");
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

/* Of 100 us, begun `from` us after T0. */
static void sums(uint32_t tid, uint64_t from, uint64_t parked_us, uint64_t cpu_us)
{
	PUT(agent_parks, from + 100, .tid = tid, .worker_id = 2, .has_worker_id = true,
	    .from_ns = T0 + from * 1000, .to_ns = T0 + (from + 100) * 1000, .parks = 3,
	    .parked_ns = parked_us * 1000, .cpu_time_ns = cpu_us * 1000);
}

static void broken_sums(void)
{
	sums(7, 100, 90, 5);
	sums(7, 200, 101, 10); /* more than there was */
	sums(8, 200, 50, 10);
	sums(7, 299, 50, 15); /* begins before the one before ends */
	PUT(agent_off_cpu, 380, .tid = 8, .out_ns = T0 + 310000);
	sums(8, 300, 31, 20); /* and 70 us by itself */
	sums(8, 400, 50, 19); /* it takes CPU time back */
	PUT(agent_parks, 600, .tid = 9, .from_ns = T0 + 500000, .to_ns = T0 + 600000,
	    .polls_preempted_ns = 1); /* in no poll */
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
	spawn(20, 1, "t");
	poll(30, 40, 0, 1);
	PUT(poll_start, 50, .worker_id = 0, .task_id = 1, .spawn_loc = str("\x1b[2Jwipe"));
	PUT(poll_end, 60, .worker_id = 0);
}

static void one(const char *path, void (*events)(void))
{
	begin();
	preamble(0, "one", 7);
	events();
	end(path, D9_RAW, 0, 0);
}

int main(int argc, char **argv)
{
	script_open(argc, argv);
	one("polls.bin", broken_polls);
	one("parks.bin", broken_parks);
	one("time.bin", broken_time);
	one("workers.bin", broken_workers);
	one("ids.bin", broken_ids);
	one("ended.bin", broken_ended);
	one("nested.bin", broken_nested);
	one("blocking.bin", broken_blocking);
	one("sums.bin", broken_sums);
	one("fields.bin", broken_fields);
	one("pools.bin", broken_pools);
	begin();
	hostile();
	end("hostile.bin", D9_RAW, 0, 0);
	d9_pool_free(pool);
	return 0;
}
