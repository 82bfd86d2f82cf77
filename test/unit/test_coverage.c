// SPDX-License-Identifier: Apache-2.0
/* test_coverage.c - span, levels, losses, gaps. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "eventscript.h"
#include "viewer/coverage.h"
#include "viewer/labels.h"

#include <stdio.h>
#include <string.h>

static struct coverage c;

static int begin(void **state)
{
	(void)state;
	c = (struct coverage){ .labels = labels_new() };
	return c.labels ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	labels_free(c.labels);
	return 0;
}

static void take(void *ctx, const struct d9_ev *ev)
{
	(void)ctx;
	coverage_event(&c, ev);
}

static void level(struct eventscript *s, uint64_t ts_ns, const char *name, const char *types)
{
	SCRIPT_PUT(s, agent_level, ts_ns, .pid = 9, .level = eventscript_str(s, name),
		   .types = eventscript_str(s, types), .ends = eventscript_str(s, "exact"),
		   .reason = eventscript_str(s, ""));
}

static void test_levels(void **state)
{
	struct eventscript *s = eventscript_begin();

	(void)state;
	SCRIPT_PUT(s, poll_end, 100, .worker_id = 0);
	level(s, 200, "full", "");
	level(s, 300, "polls", "one::type"); /* of one type only: does not end the other */
	level(s, 500, "stat", "");
	level(s, 600, "full", ""); /* comes back: one row */
	SCRIPT_PUT(s, poll_end, 1000, .worker_id = 0);
	eventscript_each(s, take, NULL);
	coverage_finish(&c);
	labels_new_file(c.labels);
	assert_int_equal(c.first_ns, 100);
	assert_int_equal(c.last_ns, 1000);
	assert_int_equal(c.levels_cnt, 2);
	assert_int_equal(c.levels[0].ns, 300 + 400);
	assert_int_equal(c.levels[1].ns, 100);
	assert_int_equal(c.type_levels, 1);
	assert_int_equal(c.types_cnt, 1);
	assert_int_equal(c.types[0].ns, 200);
	assert_int_equal(c.pid, 9);
}

static void test_levels_of_types(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) { /* a segment, and its copy */
		struct eventscript *s = eventscript_begin();

		level(s, 100, "polls", "");
		level(s, 100, "stat", "hot");
		level(s, 100, "stat", "hotter");
		level(s, 300, "polls", ""); /* the same again, as each segment tells */
		level(s, 300, "stat", "hot");
		level(s, 400, "full", "");
		SCRIPT_PUT(s, poll_end, 1000, .worker_id = 0);
		level(s, 1000, "polls", "");
		level(s, 1000, "stat", "hot"); /* until the end, which is now */
		eventscript_each(s, take, NULL);
		coverage_gap(&c);
		labels_new_file(c.labels);
	}
	coverage_finish(&c);
	assert_int_equal(c.types_cnt, 2);
	assert_int_equal(c.types[0].ns, 300);
	assert_int_equal(c.types[1].ns, 200);
	assert_int_equal(c.levels[0].ns + c.levels[1].ns, 900);
}

static void test_more_types_than_are_kept(void **state)
{
	char name[32];

	(void)state;
	for (int i = 0; i < COVERAGE_TYPES_MAX + 5; i++) {
		struct eventscript *s = eventscript_begin();

		snprintf(name, sizeof(name), "type %d", i);
		level(s, 100, "stat", name);
		eventscript_each(s, take, NULL);
		labels_new_file(c.labels);
	}
	assert_int_equal(c.types_cnt, COVERAGE_TYPES_MAX);
	assert_int_equal(c.type_levels, COVERAGE_TYPES_MAX + 5);
}

static void test_gap_is_no_level(void **state)
{
	struct eventscript *s = eventscript_begin();

	(void)state;
	level(s, 100, "full", "");
	SCRIPT_PUT(s, poll_end, 200, .worker_id = 0);
	eventscript_each(s, take, NULL);
	coverage_gap(&c);
	labels_new_file(c.labels);
	s = eventscript_begin();
	level(s, 900, "full", "");
	SCRIPT_PUT(s, poll_end, 1000, .worker_id = 0);
	eventscript_each(s, take, NULL);
	coverage_finish(&c);
	assert_int_equal(c.levels_cnt, 1);
	assert_int_equal(c.levels[0].ns, 100 + 100);
	assert_int_equal(c.gap_ns, 700);
}

static void self(struct eventscript *s, uint64_t ts_ns, uint64_t cpu_ns)
{
	SCRIPT_PUT(s, agent_self, ts_ns, .cpu_ns = cpu_ns, .target_cost_ns = 2 * cpu_ns);
}

static void test_cost_and_time_stay_in_their_session(void **state)
{
	struct eventscript *s = eventscript_begin();

	(void)state;
	level(s, 100, "full", "");
	self(s, 100, 5000); /* since a start that is not kept: the baseline */
	self(s, 200, 5010);
	eventscript_each(s, take, NULL);
	coverage_session(&c);
	labels_new_file(c.labels);
	s = eventscript_begin();
	level(s, 900, "full", "");
	self(s, 900, 7000); /* more than before, but of another agent */
	self(s, 1000, 7003);
	eventscript_each(s, take, NULL);
	coverage_finish(&c);
	assert_int_equal(c.self_cpu_ns, 10 + 3);
	assert_int_equal(c.target_cost_ns, 20 + 6);
	assert_int_equal(c.self_ns, 100 + 100);
	assert_int_equal(c.levels[0].ns, 100 + 100);
	assert_int_equal(c.pause_ns, 700);
	assert_int_equal(c.gap_ns, 0);
}

static void test_no_time_has_two_levels(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) { /* the same segment twice */
		struct eventscript *s = eventscript_begin();

		level(s, 100, "full", "");
		SCRIPT_PUT(s, poll_end, 300, .worker_id = 0);
		eventscript_each(s, take, NULL);
		coverage_gap(&c);
		labels_new_file(c.labels);
	}
	coverage_finish(&c);
	assert_int_equal(c.levels[0].ns, 200);
}

static void test_single_ends(void **state)
{
	struct eventscript *s = eventscript_begin();

	(void)state;
	level(s, 100, "full", "");
	SCRIPT_PUT(s, agent_inferred_end, 150, .worker_id = 0, .task_id = 1, .rule = 2);
	SCRIPT_PUT(s, agent_level, 200, .pid = 9, .level = eventscript_str(s, "polls"),
		   .types = eventscript_str(s, ""), .ends = eventscript_str(s, "inferred"),
		   .reason = eventscript_str(s, ""));
	SCRIPT_PUT(s, agent_inferred_end, 250, .worker_id = 0, .task_id = 1, .rule = 2);
	eventscript_each(s, take, NULL);
	assert_int_equal(c.single_ends, 1);
	assert_false(coverage_infers(&c, 0));
	assert_true(coverage_infers(&c, 1));
	assert_false(coverage_infers(&c, 2));
}

static void test_losses(void **state)
{
	struct eventscript *s = eventscript_begin();
	uint32_t wake = eventscript_str(s, "wake"), full = eventscript_str(s, "ring full");

	(void)state;
	SCRIPT_PUT(s, agent_loss, 500, .kind = wake, .cause = full, .count = 3, .from_ns = 400);
	SCRIPT_PUT(s, agent_loss, 800, .kind = wake, .cause = full, .count = 4, .from_ns = 300);
	SCRIPT_PUT(s, agent_loss, 900, .kind = full, .cause = wake, .count = 1, .from_ns = 899);
	/* stacks that were cut are there: not lost events */
	SCRIPT_PUT(s, agent_loss, 900, .kind = eventscript_str(s, "Stack"), .cause = wake,
		   .count = 50, .from_ns = 899);
	eventscript_each(s, take, NULL);
	assert_int_equal(c.losses_cnt, 3);
	assert_true(c.losses[2].is_flaw && !c.losses[0].is_flaw);
	assert_int_equal(c.losses[0].count, 7);
	assert_int_equal(c.losses[0].from_ns, 300);
	assert_int_equal(c.losses[0].to_ns, 800);
	assert_int_equal(c.losses[0].ns, 100 + 300); /* 400..500, and of 300..800 what is new behind */
	assert_int_equal(coverage_lost(&c), 8);
}

/* The kinds that FORMAT.md names: the events are there. */
static void test_flaws(void **state)
{
	static const char *const kinds[] = { "Stack",	   "Parks",  "Order",
					     "ReturnSite", "TaskId", "SwitchTime" };
	struct eventscript *s = eventscript_begin();

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		SCRIPT_PUT(s, agent_loss, 500, .kind = eventscript_str(s, kinds[i]),
			   .cause = eventscript_str(s, "c"), .count = 7, .from_ns = 400);
	eventscript_each(s, take, NULL);
	assert_int_equal(c.losses_cnt, sizeof(kinds) / sizeof(kinds[0]));
	for (size_t i = 0; i < c.losses_cnt; i++)
		assert_true(c.losses[i].is_flaw);
	assert_int_equal(coverage_lost(&c), 0);
}

static void test_more_losses_than_rows(void **state)
{
	struct eventscript *s = eventscript_begin();
	char name[32];

	(void)state;
	for (int i = 0; i < COVERAGE_LOSSES_MAX - 1; i++) {
		name[0] = (char)('a' + i % 26);
		name[1] = (char)('a' + i / 26);
		name[2] = '\0';
		SCRIPT_PUT(s, agent_loss, 500, .kind = eventscript_str(s, name),
			   .cause = eventscript_str(s, name), .count = 1, .from_ns = 1);
	}
	eventscript_each(s, take, NULL);
	labels_new_file(c.labels);
	s = eventscript_begin();
	for (int i = 0; i < 5; i++) {
		name[0] = (char)('A' + i);
		name[1] = '\0';
		SCRIPT_PUT(s, agent_loss, 500, .kind = eventscript_str(s, name),
			   .cause = eventscript_str(s, name), .count = 1, .from_ns = 1);
	}
	eventscript_each(s, take, NULL);
	assert_int_equal(c.losses_cnt, COVERAGE_LOSSES_MAX);
	assert_int_equal(coverage_lost(&c), COVERAGE_LOSSES_MAX + 4); /* none is forgotten */
}

static void test_metadata_and_wall_stamps(void **state)
{
	struct eventscript *s = eventscript_begin();
	const struct d9_pair old = { { "service_name", 12 }, { "old", 3 } };
	const struct d9_pair now = { { "service_name", 12 }, { "new", 3 } };
	const char *text;
	size_t len;

	(void)state;
	SCRIPT_PUT(s, segment_metadata, 1700000000000000000ull, .entries = &old, .entries_cnt = 1);
	SCRIPT_PUT(s, segment_metadata, 5, .entries = &now, .entries_cnt = 1);
	SCRIPT_PUT(s, symbol, 0, .addr = 1, .symbol_name = eventscript_str(s, "x"),
		   .source_file = eventscript_str(s, ""));
	eventscript_each(s, take, NULL);
	assert_false(c.has_span); /* neither has a place in time */
	assert_int_equal(c.facts_cnt, 1);
	text = labels_text(c.labels, coverage_fact(&c, "service_name"), &len);
	assert_int_equal(len, 3);
	assert_memory_equal(text, "new", 3);
	assert_int_equal(coverage_fact(&c, "service"), LABEL_UNKNOWN);
}

#define COVERAGE_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		COVERAGE_TEST(test_levels),
		COVERAGE_TEST(test_levels_of_types),
		COVERAGE_TEST(test_more_types_than_are_kept),
		COVERAGE_TEST(test_gap_is_no_level),
		COVERAGE_TEST(test_cost_and_time_stay_in_their_session),
		COVERAGE_TEST(test_no_time_has_two_levels),
		COVERAGE_TEST(test_single_ends),
		COVERAGE_TEST(test_losses),
		COVERAGE_TEST(test_flaws),
		COVERAGE_TEST(test_more_losses_than_rows),
		COVERAGE_TEST(test_metadata_and_wall_stamps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
