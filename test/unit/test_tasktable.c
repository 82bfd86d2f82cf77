// SPDX-License-Identifier: Apache-2.0
/* test_tasktable.c - growth, ended tasks, the cap. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/tasktable.h"

static void test_find_and_get(void **state)
{
	struct tasktable *t = tasktable_new();

	(void)state;
	assert_null(tasktable_find(t, 5));
	assert_null(tasktable_find(t, 0));
	assert_null(tasktable_get(t, 0)); /* 0 names no task */
	for (uint64_t id = 1; id <= 100000; id++)
		tasktable_get(t, id)->wake_ns = id;
	for (uint64_t id = 1; id <= 100000; id++) {
		assert_non_null(tasktable_find(t, id));
		assert_int_equal(tasktable_find(t, id)->wake_ns, id);
		assert_int_equal(tasktable_find(t, id)->type, TASK_TYPE_NONE);
	}
	assert_null(tasktable_find(t, 100001));
	assert_int_equal(tasktable_over_cap(t), 0);
	tasktable_forget_states(t);
	assert_int_equal(tasktable_find(t, 77)->wake_ns, 0);
	tasktable_free(t);
}

/* Many short-lived tasks need no more room than those alive. */
static void test_ended_tasks_make_room(void **state)
{
	struct tasktable *t = tasktable_new();

	(void)state;
	for (uint64_t id = 1; id <= 4 * (uint64_t)TASKTABLE_MAX; id++) {
		struct task *task = tasktable_get(t, id);

		assert_non_null(task);
		tasktable_end(t, task);
	}
	assert_int_equal(tasktable_over_cap(t), 0);
	tasktable_free(t);
}

static void test_revive(void **state)
{
	struct tasktable *t = tasktable_new();
	struct task *task = tasktable_get(t, 9);

	(void)state;
	task->flags |= TASK_SPAWNED;
	task->type = 3;
	tasktable_end(t, task);
	tasktable_end(t, task);
	assert_true(task->flags & TASK_ENDED);
	tasktable_revive(t, task);
	assert_int_equal(task->flags, 0);
	assert_int_equal(task->type, TASK_TYPE_NONE);
	assert_int_equal(task->id, 9);
	tasktable_free(t);
}

static void test_cap(void **state)
{
	struct tasktable *t = tasktable_new();
	uint64_t kept = 0;

	(void)state;
	for (uint64_t id = 1; id <= TASKTABLE_MAX + 1000; id++)
		kept += tasktable_get(t, id) != NULL;
	assert_int_equal(kept, TASKTABLE_MAX);
	assert_int_equal(tasktable_over_cap(t), 1000);
	assert_non_null(tasktable_get(t, 12345)); /* known ones are found as before */
	for (uint64_t id = 1; id <= TASKTABLE_MAX / 4; id++)
		tasktable_end(t, tasktable_find(t, id));
	assert_non_null(tasktable_get(t, TASKTABLE_MAX + 5000)); /* there is room again */
	tasktable_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find_and_get),
		cmocka_unit_test(test_ended_tasks_make_room),
		cmocka_unit_test(test_revive),
		cmocka_unit_test(test_cap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
