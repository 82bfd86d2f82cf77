// SPDX-License-Identifier: Apache-2.0
/* test_levelspans.c - spans of agent:Level, losses, and holes between segments. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "columnscript.h"
#include "viewer/levels.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct columns *columns;
static struct levels levels;

static int teardown(void **state)
{
	(void)state;
	levels_done(&levels);
	index_close(columns);
	columns = NULL;
	return 0;
}

static void level(struct eventscript *s, uint64_t ns, const char *name, const char *types,
		  const char *ends, const char *reason)
{
	SCRIPT_PUT(s, agent_level, ns, .pid = 1, .level = eventscript_str(s, name),
		   .types = eventscript_str(s, types), .ends = eventscript_str(s, ends),
		   .reason = eventscript_str(s, reason));
}

static void poll(struct eventscript *s, uint64_t from_ns, uint64_t to_ns)
{
	SCRIPT_PUT(s, poll_start, from_ns, .worker_id = 0, .task_id = 1);
	SCRIPT_PUT(s, poll_end, to_ns, .worker_id = 0);
}

static void is_text(uint32_t text, const char *want)
{
	size_t len;
	const char *p = columns_text(columns, text, &len);

	assert_int_equal(len, strlen(want));
	assert_memory_equal(p, want, len);
}

static void is_span(uint32_t i, uint64_t from_ns, uint64_t to_ns, const char *name, bool polls,
		    bool wakes, uint32_t dropped_cnt)
{
	const struct levels_span *s = &levels.spans[i];

	assert_true(i < levels.spans_cnt);
	assert_int_equal(s->from_ns, from_ns);
	assert_int_equal(s->to_ns, to_ns);
	is_text(s->level, name);
	assert_int_equal(s->has_polls, polls);
	assert_int_equal(s->has_wakes, wakes);
	assert_int_equal(s->dropped_to - s->dropped_from, dropped_cnt);
}

static void test_spans(void **state)
{
	struct eventscript *s = eventscript_begin();

	(void)state;
	level(s, 900, "full", "", "exact", "start"); /* before the first poll: from there */
	poll(s, 1000, 1100);
	level(s, 2000, "full", "", "exact", "start"); /* a new segment says it again */
	level(s, 3000, "full", "", "exact", "budget");
	level(s, 3000, "stat", "hot", "none", "budget");
	level(s, 3000, "stat", "(3 more)", "none", "budget");
	level(s, 3500, "full", "", "exact", "budget"); /* again, with its types */
	level(s, 3500, "stat", "hot", "none", "budget");
	level(s, 3500, "stat", "(3 more)", "none", "budget");
	level(s, 4000, "full", "", "exact", "budget"); /* one fewer: that is new */
	level(s, 4000, "stat", "hot", "none", "budget");
	level(s, 5000, "stat", "", "none", "budget");
	level(s, 5000, "polls", "", "inferred",
	      "asked"); /* the same moment: the first never held */
	level(s, 6000, "wakes", "", "none", "no site");
	poll(s, 6500, 7000);
	level(s, 9000, "stat", "", "none", "end"); /* after everything */
	columns = columnscript_end(s);
	assert_int_equal(levels_of(columns, &levels), 0);
	assert_int_equal(levels.spans_cnt, 5);
	is_span(0, 1000, 3000, "full", true, true, 0);
	is_span(1, 3000, 4000, "full", true, true, 2);
	is_text(levels.dropped[levels.spans[1].dropped_from], "hot");
	is_text(levels.dropped[levels.spans[1].dropped_from + 1], "(3 more)");
	is_text(levels.spans[1].reason, "budget");
	is_span(2, 4000, 5000, "full", true, true, 1);
	is_text(levels.dropped[levels.spans[2].dropped_from], "hot");
	is_span(3, 5000, 6000, "polls", true, false, 0);
	is_span(4, 6000, 7001, "wakes", false, true, 0);
	assert_int_equal(levels.over_cap + levels.holes_cnt + levels.losses_cnt, 0);
}

static void test_nothing_said(void **state)
{
	struct eventscript *s = eventscript_begin();

	(void)state;
	level(s, 1000, "stat", "a type alone", "none", "budget"); /* of no span */
	poll(s, 1000, 1100);
	columns = columnscript_end(s);
	assert_int_equal(levels_of(columns, &levels), 0);
	assert_int_equal(levels.spans_cnt + levels.dropped_cnt, 0);
}

static void test_losses(void **state)
{
	struct eventscript *s = eventscript_begin();

	(void)state;
	poll(s, 1000, 5000);
	SCRIPT_PUT(s, agent_loss, 3000, .kind = eventscript_str(s, "polls"),
		   .cause = eventscript_str(s, "ring"), .count = 12, .from_ns = 2000);
	SCRIPT_PUT(s, agent_loss, 4000, .kind = eventscript_str(s, "wakes"),
		   .cause = eventscript_str(s, "ring"), .count = 1, .from_ns = 10); /* before all */
	SCRIPT_PUT(s, agent_loss, 4500, .kind = eventscript_str(s, "wakes"),
		   .cause = eventscript_str(s, "ring"), .count = 2, .from_ns = 9999); /* hostile */
	columns = columnscript_end(s);
	assert_int_equal(levels_of(columns, &levels), 0);
	assert_int_equal(levels.losses_cnt, 3);
	assert_int_equal(levels.losses[0].from_ns, 2000);
	assert_int_equal(levels.losses[0].to_ns, 3000);
	assert_int_equal(levels.losses[0].cnt, 12);
	is_text(levels.losses[0].kind, "polls");
	is_text(levels.losses[0].cause, "ring");
	assert_int_equal(levels.losses[1].from_ns, 1000);
	assert_int_equal(levels.losses[2].from_ns, 4500);
}

static void test_caps(void **state)
{
	struct eventscript *s = eventscript_begin();
	struct levels all;

	(void)state;
	poll(s, 1000, 900000);
	for (uint32_t i = 0; i < 5000; i++) {
		SCRIPT_PUT(s, agent_loss, 1001 + i, .kind = 0, .cause = 0, .count = 1,
			   .from_ns = 1000);
		if (s->enc.cap - s->enc.len < 1024)
			break;
	}
	columns = columnscript_end(s);
	assert_int_equal(levels_of(columns, &all), 0);
	assert_int_equal(all.losses_cnt + all.over_cap, columns->records.cnt);
	levels_done(&all);
}

/* Writes what was encoded as DIR/trace.N.bin. */
static void part(struct eventscript *s, const char *dir, unsigned int nr, char path[64])
{
	FILE *f;

	snprintf(path, 64, "%s/trace.%u.bin", dir, nr);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(s->enc.buf, 1, s->enc.len, f), s->enc.len);
	assert_int_equal(fclose(f), 0);
	d9_pool_free(s->pool);
}

/* Two segments, numbers first and second, with `self_ns` of agent:Self (0: none) in the first. */
static void two(unsigned int first, unsigned int second, uint64_t after_ns, uint64_t self_ns)
{
	static const struct index_opt opt = { .cache_dir = "" };
	char dir[] = "/tmp/dial9-levels-XXXXXX", a[64], b[64];
	struct index_file files[2] = { { a, false }, { b, false } };
	struct eventscript *s;

	assert_non_null(mkdtemp(dir));
	s = eventscript_begin();
	poll(s, 1000, 2000);
	if (self_ns)
		SCRIPT_PUT(s, agent_self, self_ns, .cpu_ns = 1);
	part(s, dir, first, a);
	s = eventscript_begin();
	poll(s, after_ns, after_ns + 1000);
	part(s, dir, second, b);
	assert_int_equal(index_open(&columns, files, 2, &opt), 0);
	unlink(a);
	unlink(b);
	rmdir(dir);
	assert_int_equal(levels_of(columns, &levels), 0);
}

static void test_missing_files(void **state)
{
	(void)state;
	two(3, 5, 8000, 0);
	assert_int_equal(levels.holes_cnt, 1);
	assert_true(levels.holes[0].is_missing);
	assert_int_equal(levels.holes[0].from_ns, 2000);
	assert_int_equal(levels.holes[0].to_ns, 8000);
	is_text(columns->segments.name[levels.holes[0].before], "trace.3.bin");
	is_text(columns->segments.name[levels.holes[0].after], "trace.5.bin");
}

static void test_no_hole(void **state)
{
	(void)state;
	two(3, 4, 8000000000ull,
	    0); /* a recorder that never tells itself: it may have been quiet */
	assert_int_equal(levels.holes_cnt, 0);
}

static void test_agent_was_off(void **state)
{
	(void)state;
	two(3, 4, 8000000000ull, 1000000000ull);
	assert_int_equal(levels.holes_cnt, 1);
	assert_false(levels.holes[0].is_missing);
	assert_int_equal(levels.holes[0].from_ns, 1000000000ull);
	assert_int_equal(levels.holes[0].to_ns, 8000000000ull);
}

static void test_agent_was_quiet(void **state)
{
	(void)state;
	two(3, 4, 8000000000ull, 5500000000ull); /* 5.5 s and 2.5 s: the longest counts */
	assert_int_equal(levels.holes_cnt, 1);
	assert_int_equal(levels.holes[0].to_ns, 5500000000ull);
	teardown(state);
	two(3, 4, 3000001000ull, 1500000000ull);
	assert_int_equal(levels.holes_cnt, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_spans, teardown),
		cmocka_unit_test_teardown(test_nothing_said, teardown),
		cmocka_unit_test_teardown(test_losses, teardown),
		cmocka_unit_test_teardown(test_caps, teardown),
		cmocka_unit_test_teardown(test_missing_files, teardown),
		cmocka_unit_test_teardown(test_no_hole, teardown),
		cmocka_unit_test_teardown(test_agent_was_off, teardown),
		cmocka_unit_test_teardown(test_agent_was_quiet, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
