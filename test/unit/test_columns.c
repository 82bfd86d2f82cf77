// SPDX-License-Identifier: Apache-2.0
/* test_columns.c - events joined into polls, parks, waits; lookups; records. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "eventscript.h"
#include "test/unit/scratch.h"
#include "viewer/core/columns.h"
#include "viewer/core/index.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void save(struct eventscript *s, const char *name, size_t cut)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, s->enc.buf, s->enc.len - cut), s->enc.len - cut);
	close(fd);
	d9_pool_free(s->pool);
}

static struct columns *open_files(const char *a, const char *b, bool is_gap)
{
	static const struct index_opt opt = { .cache_dir = "" };
	char path_a[256], path_b[256];
	struct index_file files[2] = { { path_a, false }, { path_b, is_gap } };
	struct columns *c = NULL;

	snprintf(path_a, sizeof(path_a), "%s/%s", scratch, a);
	snprintf(path_b, sizeof(path_b), "%s/%s", scratch, b ? b : "");
	assert_int_equal(index_open(&c, files, b ? 2 : 1, &opt), 0);
	return c;
}

static void assert_text(const struct columns *c, uint32_t text, const char *want)
{
	size_t len;
	const char *p = columns_text(c, text, &len);

	assert_int_equal(len, strlen(want));
	assert_memory_equal(p, want, len);
}

/* Polls of one worker: whole, cut by the next start, inferred, handed off; a stray end. */
static void test_polls(void **state)
{
	struct eventscript *s = eventscript_begin();
	uint32_t place = eventscript_str(s, "a.rs:1:1"), lane;
	struct columns *c;

	(void)state;
	SCRIPT_PUT(s, poll_end, 50, .worker_id = 3);
	SCRIPT_PUT(s, poll_start, 100, .worker_id = 3, .task_id = 7, .spawn_loc = place,
		   .local_queue = 5);
	SCRIPT_PUT(s, poll_end, 130, .worker_id = 3);
	SCRIPT_PUT(s, poll_start, 200, .worker_id = 3, .task_id = 7, .spawn_loc = place);
	SCRIPT_PUT(s, poll_start, 300, .worker_id = 3, .task_id = 8, .spawn_loc = place);
	SCRIPT_PUT(s, agent_inferred_end, 340, .worker_id = 3, .task_id = 8, .rule = 2);
	SCRIPT_PUT(s, poll_end, 340, .worker_id = 3);
	SCRIPT_PUT(s, poll_start, 400, .worker_id = 3, .task_id = 7, .spawn_loc = place);
	SCRIPT_PUT(s, poll_end, 440, .worker_id = 3);
	SCRIPT_PUT(s, agent_inferred_end, 440, .worker_id = 3, .task_id = 7, .rule = 5);
	SCRIPT_PUT(s, poll_start, 500, .worker_id = 3, .task_id = 7, .spawn_loc = place);
	SCRIPT_PUT(s, worker_park, 550, .worker_id = 3, .tid = 9);
	SCRIPT_PUT(s, worker_unpark, 650, .worker_id = 3, .tid = 9, .sched_wait_ns = 11,
		   .has_sched_wait_ns = true);
	save(s, "polls.bin", 0);
	c = open_files("polls.bin", NULL, false);
	lane = columns_worker(c, 3);
	assert_int_equal(lane, 0);
	assert_int_equal(columns_worker(c, 4), COLUMNS_NONE);
	assert_int_equal(c->odd.stray_ends, 1);
	assert_int_equal(c->polls.cnt, 5);
	assert_int_equal(c->lanes.polls_to[lane] - c->lanes.polls_from[lane], 5);
	assert_int_equal(c->polls.dur_ns[0], 30);
	assert_int_equal(c->polls.queue[0], 5);
	assert_int_equal(c->tasks.id[c->polls.task[0]], 7);
	assert_text(c, c->polls.place[0], "a.rs:1:1");
	assert_int_equal(c->polls.flags[1], COLUMNS_POLL_CUT);
	assert_int_equal(c->polls.dur_ns[1], 0);
	assert_int_equal(c->polls.flags[2], COLUMNS_POLL_INFERRED);
	assert_int_equal(c->polls.dur_ns[2], 40);
	assert_int_equal(c->polls.flags[3], COLUMNS_POLL_HANDOFF);
	assert_int_equal(c->polls.dur_ns[3], 40);
	assert_int_equal(c->polls.flags[4], COLUMNS_POLL_CUT);
	assert_int_equal(c->parks.cnt, 1);
	assert_int_equal(c->parks.dur_ns[0], 100);
	assert_int_equal(c->parks.delay_ns[0], 11);
	assert_int_equal(columns_poll_at(c, lane, 99), COLUMNS_NONE);
	assert_int_equal(columns_poll_at(c, lane, 100), 0);
	assert_int_equal(columns_poll_at(c, lane, 299), 1);
	assert_int_equal(columns_poll_at(c, lane, UINT64_MAX), 4);
	assert_int_equal(c->odd.first_ns, 50);
	assert_int_equal(c->odd.last_ns, 650);
	index_close(c);
}

/* The wait is from the first wake, or from the poll's end; the rest is redundant. */
static void test_waits(void **state)
{
	struct eventscript *s = eventscript_begin();
	struct columns *c;
	uint32_t task;

	(void)state;
	SCRIPT_PUT(s, wake, 100, .woken_task_id = 7, .target_worker = 255);
	SCRIPT_PUT(s, wake, 110, .woken_task_id = 7, .waker_task_id = 9, .target_worker = 1);
	SCRIPT_PUT(s, poll_start, 150, .worker_id = 0, .task_id = 7);
	SCRIPT_PUT(s, wake, 160, .woken_task_id = 7, .waker_task_id = 7, .target_worker = 0);
	SCRIPT_PUT(s, wake, 165, .woken_task_id = 7, .target_worker = 255);
	SCRIPT_PUT(s, poll_end, 170, .worker_id = 0);
	/* another worker, whose events were written before */
	SCRIPT_PUT(s, poll_start, 190, .worker_id = 1, .task_id = 7);
	SCRIPT_PUT(s, poll_end, 195, .worker_id = 1);
	SCRIPT_PUT(s, poll_start, 500, .worker_id = 1, .task_id = 7);
	SCRIPT_PUT(s, poll_end, 505, .worker_id = 1);
	save(s, "waits.bin", 0);
	c = open_files("waits.bin", NULL, false);
	task = columns_task(c, 7);
	assert_int_not_equal(task, COLUMNS_NONE);
	assert_int_equal(columns_task(c, 12345), COLUMNS_NONE);
	assert_int_equal(c->tasks.polls_to[task] - c->tasks.polls_from[task], 3);
	assert_int_equal(c->tasks.wakes_to[task] - c->tasks.wakes_from[task], 4);
	assert_int_equal(c->polls.ready_ns[0], 100);
	assert_int_equal(c->polls.ready_ns[1], 170);
	assert_int_equal(c->polls.ready_ns[2], 0);
	assert_int_equal(c->polls.wake[2], COLUMNS_NONE);
	assert_int_equal(c->wakes.ts_ns[c->polls.wake[0]], 100);
	assert_int_equal(c->wakes.ts_ns[c->polls.wake[1]], 160);
	for (uint32_t i = 0; i < 4; i++) {
		static const uint8_t want[] = { COLUMNS_WAKE_EFFECTIVE, COLUMNS_WAKE_REDUNDANT,
						COLUMNS_WAKE_IN_POLL | COLUMNS_WAKE_SELF,
						COLUMNS_WAKE_REDUNDANT };
		uint32_t wake = c->task_wakes.wake[c->tasks.wakes_from[task] + i];

		assert_int_equal(c->wakes.flags[wake], want[i]);
		assert_int_equal(c->wakes.poll[wake], i == 2 ? 0 : COLUMNS_NONE);
	}
	assert_int_equal(c->tasks.busy_ns[task], 30);
	assert_int_equal(c->tasks.worst_ns[task], 20);
	index_close(c);
}

/* A poll that is open at a gap ends unknown; without the gap it goes on in the next file. */
static void test_gap(void **state)
{
	struct eventscript *s = eventscript_begin();
	struct columns *c;

	(void)state;
	SCRIPT_PUT(s, poll_start, 100, .worker_id = 0, .task_id = 7);
	save(s, "gap.0.bin", 0);
	s = eventscript_begin();
	SCRIPT_PUT(s, poll_end, 180, .worker_id = 0);
	save(s, "gap.1.bin", 0);
	c = open_files("gap.0.bin", "gap.1.bin", false);
	assert_int_equal(c->polls.dur_ns[0], 80);
	assert_int_equal(c->segments.cnt, 2);
	index_close(c);
	c = open_files("gap.0.bin", "gap.1.bin", true);
	assert_int_equal(c->polls.flags[0], COLUMNS_POLL_CUT);
	assert_int_equal(c->odd.stray_ends, 1);
	index_close(c);
}

static void test_samples_and_offs(void **state)
{
	static const uint64_t frames[] = { 0x1000, 0x2000 };
	struct eventscript *s = eventscript_begin();
	struct columns *c;
	uint32_t stack, frame, symbol;

	(void)state;
	assert_int_equal(d9_intern_stack(&s->enc, frames, 2, &stack), 0);
	SCRIPT_PUT(s, worker_unpark, 10, .worker_id = 2, .tid = 77);
	SCRIPT_PUT(s, poll_start, 100, .worker_id = 2, .task_id = 7);
	SCRIPT_PUT(s, cpu_sample, 120, .worker_id = 255, .tid = 77, .callchain = stack);
	SCRIPT_PUT(s, agent_off_cpu, 150, .tid = 77, .worker_id = 2, .has_worker_id = true,
		   .task_id = 7, .has_task_id = true, .out_ns = 130, .reason = 1, .syscall = 202,
		   .has_syscall = true);
	SCRIPT_PUT(s, poll_end, 170, .worker_id = 2);
	SCRIPT_PUT(s, cpu_sample, 180, .worker_id = 255, .tid = 78, .callchain = stack);
	SCRIPT_PUT(s, symbol, 0, .addr = 0x1000, .symbol_name = eventscript_str(s, "outer"));
	SCRIPT_PUT(s, symbol, 0, .addr = 0x1000, .symbol_name = eventscript_str(s, "inner"),
		   .inline_depth = 1);
	save(s, "samples.bin", 0);
	c = open_files("samples.bin", NULL, false);
	assert_int_equal(c->lanes.cnt, 2);
	assert_int_equal(c->lanes.kind[1], COLUMNS_NOWHERE);
	assert_int_equal(c->samples.cnt, 2);
	assert_int_equal(c->samples.lane[0], 0);
	assert_int_equal(c->samples.poll[0], 0);
	assert_int_equal(c->samples.lane[1], 1);
	assert_int_equal(c->samples.poll[1], COLUMNS_NONE);
	assert_int_equal(c->offs.dur_ns[0], 20);
	assert_int_equal(c->offs.poll[0], 0);
	assert_int_equal(c->polls.off_ns[0], 20);
	assert_int_equal(c->offs.syscall[0], 202);
	stack = c->samples.stack[0];
	assert_int_equal(stack, c->samples.stack[1]);
	assert_int_equal(c->stacks.frames_to[stack] - c->stacks.frames_from[stack], 2);
	frame = c->stack_frames.frame[c->stacks.frames_from[stack]];
	assert_int_equal(c->frames.addr[frame], 0x1000);
	assert_true(columns_symbol(c, frame, 0, &symbol));
	assert_text(c, c->symbols.name[symbol], "inner");
	assert_true(columns_symbol(c, frame, 1, &symbol));
	assert_text(c, c->symbols.name[symbol], "outer");
	assert_false(columns_symbol(c, frame, 2, &symbol));
	assert_false(columns_symbol(c, c->stack_frames.frame[c->stacks.frames_from[stack] + 1], 0,
				    &symbol));
	index_close(c);
}

static void test_records_and_facts(void **state)
{
	static const struct d9_any_field fields[] = { { "n", D9_T_VARINT },
						      { "f", D9_T_F64 },
						      { "s", D9_T_STRING },
						      { "o", D9_T_U8 | D9_T_OPTIONAL } };
	static const struct d9_any_def def = { 100, "my:Event", false, 4, fields };
	const struct d9_value values[] = { { .type = D9_T_VARINT, .u = UINT64_MAX },
					   { .type = D9_T_F64, .f = 0.5 },
					   { .type = D9_T_STRING, .str = "hi", .cnt = 2 },
					   { .type = D9_T_NONE } };
	const struct d9_pair facts[] = { { { "runtime.api", 11 }, { "0,2", 3 } },
					 { { "k", 1 }, { "v", 1 } } };
	struct eventscript *s = eventscript_begin();
	struct columns_iter it = { 0 };
	struct columns_value v;
	struct columns *c;
	uint64_t real, bits;
	double half = 0.5;

	(void)state;
	SCRIPT_PUT(s, segment_metadata, 10, .entries = facts, .entries_cnt = 2);
	SCRIPT_PUT(s, clock_sync, 20, .realtime_ns = 1000020);
	SCRIPT_PUT(s, poll_start, 100, .worker_id = 2, .task_id = 7);
	assert_int_equal(d9_put_any_schema(&s->enc, &def), 0);
	assert_int_equal(d9_put_any(&s->enc, 200, &def, values), 0);
	SCRIPT_PUT(s, runtime_metrics, 300, .runtime_name = eventscript_str(s, "api"),
		   .global_queue_depth = 4, .alive_tasks = 9);
	save(s, "records.bin", 0);
	c = open_files("records.bin", NULL, false);
	assert_text(c, c->lanes.runtime[columns_worker(c, 2)], "api");
	assert_text(c, columns_fact(c, "k"), "v");
	assert_int_equal(columns_fact(c, "none"), COLUMNS_NONE);
	assert_true(columns_realtime(c, 120, &real));
	assert_int_equal(real, 1000120);
	assert_true(columns_realtime(c, 15, &real));
	assert_int_equal(real, 1000015);
	assert_int_equal(c->queues.cnt, 1);
	assert_int_equal(c->queues.depth[0], 4);
	assert_int_equal(c->queues.alive[0], 9);
	assert_int_equal(c->records.cnt, 1);
	assert_text(c, c->schemas.name[c->records.schema[0]], "my:Event");
	assert_true(columns_record_next(c, 0, &it, &v));
	assert_text(c, v.name, "n");
	assert_true(v.u == UINT64_MAX);
	assert_true(columns_record_next(c, 0, &it, &v));
	memcpy(&bits, &half, sizeof(bits));
	assert_true(v.type == D9_T_F64 && v.u == bits);
	assert_true(columns_record_next(c, 0, &it, &v));
	assert_text(c, (uint32_t)v.u, "hi");
	assert_true(columns_record_next(c, 0, &it, &v));
	assert_int_equal(v.type, D9_T_NONE);
	assert_false(columns_record_next(c, 0, &it, &v));
	index_close(c);
}

/* Events of two threads, one after the other in the file, and a cut tail. */
static void test_out_of_order(void **state)
{
	struct eventscript *s = eventscript_begin();
	struct columns *c;

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		SCRIPT_PUT(s, poll_start, 10000 + i * 10, .worker_id = 1, .task_id = 1 + i % 3);
		SCRIPT_PUT(s, poll_end, 10004 + i * 10, .worker_id = 1);
	}
	for (uint64_t i = 0; i < 100; i++) {
		SCRIPT_PUT(s, poll_start, 9000 + i * 10, .worker_id = 1, .task_id = 1 + i % 3);
		SCRIPT_PUT(s, poll_end, 9004 + i * 10, .worker_id = 1);
	}
	save(s, "order.bin", 1);
	c = open_files("order.bin", NULL, false);
	assert_int_equal(c->polls.cnt, 200);
	assert_int_equal(c->segments.err[0], D9_E_TRUNCATED);
	for (uint32_t i = 0; i < 200; i++) {
		assert_int_equal(c->polls.start_ns[i], 9000 + i * 10);
		assert_int_equal(c->polls.dur_ns[i], i == 99 ? 0 : 4); /* its end was cut off */
	}
	for (uint32_t t = 0; t < c->tasks.cnt; t++)
		for (uint32_t k = c->tasks.polls_from[t] + 1; k < c->tasks.polls_to[t]; k++)
			assert_true(c->task_polls.poll[k - 1] < c->task_polls.poll[k]);
	index_close(c);
}

static void test_no_file(void **state)
{
	const struct index_file file = { "/nonexistent/dial9", false };
	struct columns *c = NULL;

	(void)state;
	assert_int_equal(index_open(&c, &file, 1, NULL), -2 /* ENOENT */);
	assert_null(c);
	index_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_polls),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_samples_and_offs),
		cmocka_unit_test(test_records_and_facts),
		cmocka_unit_test(test_out_of_order),
		cmocka_unit_test(test_no_file),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
