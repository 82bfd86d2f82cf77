// SPDX-License-Identifier: Apache-2.0
/* test_filter.c - what each filter lets pass. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "eventscript.h"
#include "viewer/command.h"
#include "viewer/filter.h"
#include "viewer/labels.h"
#include "viewer/tasktable.h"

static void test_nothing_asked(void **state)
{
	const struct request req = { 0 };
	struct filter f;

	(void)state;
	filter_init(&f, &req);
	filter_base(&f, 1000);
	assert_false(filter_has_any(&f));
	assert_true(filter_time(&f, 0));
	assert_true(filter_time(&f, UINT64_MAX));
	assert_true(filter_worker(&f, MOMENT_NO_WORKER));
	assert_true(filter_task(&f, 0));
	assert_true(filter_type(&f, NULL, NULL, TASK_TYPE_NONE));
}

static void test_times(void **state)
{
	struct request req = { .has_from = true,
			       .from_ns = 10,
			       .from_relative = true,
			       .has_to = true,
			       .to_ns = 2000 };
	struct filter f;

	(void)state;
	filter_init(&f, &req);
	filter_base(&f, 1000);
	assert_true(filter_has_any(&f));
	assert_false(filter_time(&f, 1009));
	assert_true(filter_time(&f, 1010)); /* both ends belong to it */
	assert_true(filter_time(&f, 2000));
	assert_false(filter_time(&f, 2001));
}

static void test_task_and_worker(void **state)
{
	const struct request req = { .has_task = true, .task = 7, .has_worker = true, .worker = 3 };
	struct filter f;

	(void)state;
	filter_init(&f, &req);
	assert_true(filter_task(&f, 7));
	assert_false(filter_task(&f, 8));
	assert_false(filter_task(&f, 0)); /* of no task: not this one */
	assert_true(filter_worker(&f, 3));
	assert_false(filter_worker(&f, 2));
	assert_false(filter_worker(&f, MOMENT_NO_WORKER));
}

static void take(void *ctx, const struct d9_ev *ev)
{
	filter_event(ctx, ev);
}

static void test_runtime(void **state)
{
	const struct request req = { .runtime = "io" };
	const struct d9_pair facts[] = { { { "runtime.io", 10 }, { "2,17,99999", 10 } },
					 { { "runtime.io2", 11 }, { "5", 1 } },
					 { { "runtime.", 8 }, { "6", 1 } } };
	struct eventscript *s = eventscript_begin();
	struct filter f;

	(void)state;
	filter_init(&f, &req);
	SCRIPT_PUT(s, segment_metadata, 1, .entries = facts, .entries_cnt = 3);
	eventscript_each(s, take, &f);
	assert_true(filter_worker(&f, 2));
	assert_true(filter_worker(&f, 17));
	assert_false(filter_worker(&f, 5)); /* of another whose name begins alike */
	assert_false(filter_worker(&f, 6));
	assert_false(filter_worker(&f, 99999)); /* no such worker can be */
}

static void test_type(void **state)
{
	const struct request req = { .type = "net::" };
	struct labels *labels = labels_new();
	struct typetable *types = typetable_new();
	struct filter f;
	uint32_t in, out;

	(void)state;
	in = typetable_find(types, labels_put(labels, "app::net::serve", 15));
	out = typetable_find(types, labels_put(labels, "app::disk::sync", 15));
	filter_init(&f, &req);
	for (int i = 0; i < 2; i++) { /* the answer is kept */
		assert_true(filter_type(&f, types, labels, in));
		assert_false(filter_type(&f, types, labels, out));
	}
	assert_false(filter_type(&f, types, labels, TASK_TYPE_NONE));
	assert_false(filter_type(&f, types, labels, TYPETABLE_MAX));
	typetable_free(types);
	labels_free(labels);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_asked),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_task_and_worker),
		cmocka_unit_test(test_runtime),
		cmocka_unit_test(test_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
