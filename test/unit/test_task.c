// SPDX-License-Identifier: Apache-2.0
/* test_task.c - the task table against a plain array; growth, aging, ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "agent/task.h"
#include "agent/tasklist.h"

#define IDS 5000

static void test_against_array(void **state)
{
	static uint32_t model[IDS]; /* id -> name + 1, 0 = not there */
	struct tasks *t = NULL;
	size_t cnt = 0;

	(void)state;
	srand(7);
	assert_int_equal(tasks_new(&t), 0);
	for (int step = 0; step < 400000; step++) {
		uint64_t i = (uint64_t)rand() % IDS, id = 1 + i * (i % 3 ? 1 : 0x10001);
		struct task *task = tasks_find(t, id);

		assert_int_equal(task != NULL, model[i] != 0);
		if (task) {
			assert_int_equal(task->id, id);
			assert_int_equal(task->name, model[i] - 1);
		}
		if (!task && rand() % 2) {
			task = tasks_add(t, id);
			assert_non_null(task);
			assert_int_equal(task->list, TASK_NO_LIST);
			task->name = (uint32_t)step;
			model[i] = (uint32_t)step + 1;
			cnt++;
		} else if (task && rand() % 2) {
			tasks_end(t, id);
			assert_true(tasks_has_ended(t, id));
			model[i] = 0;
			cnt--;
		}
		assert_int_equal(tasks_cnt(t), cnt);
	}
	tasks_free(t);
}

static void test_grows_in_ticks_only(void **state)
{
	struct tasks *t = NULL;
	uint64_t id = 1, refused = 0;

	(void)state;
	assert_int_equal(tasks_new(&t), 0);
	for (; id <= 100000; id++)
		refused += !tasks_add(t, id);
	assert_true(refused > 0 && refused < 100000 - 50000);
	tasks_tick(t, false);
	assert_non_null(tasks_add(t, id++));
	for (; tasks_cnt(t) < TASKS_MAX; id++) {
		if (!tasks_add(t, id))
			tasks_tick(t, false);
	}
	tasks_tick(t, false);
	assert_null(tasks_add(t, id));
	assert_non_null(tasks_find(t, 1));
	assert_null(tasks_add(t, 0));
	assert_null(tasks_find(t, 0));
	/* where ends are not seen, what is not polled gives way */
	tasks_tick(t, true);
	assert_int_equal(tasks_cnt(t), TASKS_MAX);
	tasks_find(t, 1)->is_fresh = true;
	tasks_tick(t, true);
	assert_int_equal(tasks_cnt(t), 1);
	assert_non_null(tasks_find(t, 1));
	tasks_free(t);
}

static void test_ends_are_remembered(void **state)
{
	struct tasks *t = NULL;

	(void)state;
	assert_int_equal(tasks_new(&t), 0);
	tasks_end(t, 5); /* never there */
	assert_true(tasks_has_ended(t, 5));
	assert_false(tasks_has_ended(t, 6));
	assert_false(tasks_has_ended(t, 0));
	tasks_end(t, 5 + TASKS_ENDED_MAX); /* the latest per place */
	assert_false(tasks_has_ended(t, 5));
	tasks_free(t);
}

static void test_lists(void **state)
{
	static struct tasklists ls;
	uint8_t a, b;

	(void)state;
	a = tasklists_bound(&ls, 0x1000);
	assert_int_equal(tasklists_bound(&ls, 0x1000), a);
	b = tasklists_bound(&ls, 0x2000);
	assert_int_not_equal(a, b);
	assert_null(tasklists_by_owner(&ls, 7));
	assert_int_equal(tasklists_polled(&ls, a, 7), a);
	assert_int_equal(tasklists_by_owner(&ls, 7)->owned_tasks, 0x1000);
	assert_int_equal(tasklists_by_owner(&ls, 7)->alive, 2);
	assert_int_equal(tasklists_polled(&ls, TASK_NO_LIST, 7), a); /* older task */
	assert_int_equal(tasklists_by_owner(&ls, 7)->alive, 3);
	tasklists_ended(&ls, a);
	assert_int_equal(tasklists_by_owner(&ls, 7)->alive, 2);
	/* the address of list 7 has become list 8 */
	assert_int_equal(tasklists_bound(&ls, 0x1000), a);
	b = tasklists_polled(&ls, a, 8);
	assert_int_not_equal(a, b);
	assert_int_equal(tasklists_by_owner(&ls, 7)->alive, 2);
	assert_int_equal(tasklists_by_owner(&ls, 8)->alive, 1);
	assert_int_equal(tasklists_by_owner(&ls, 8)->owned_tasks, 0x1000);
	for (uint32_t i = 0; i < 1000; i++)
		tasklists_bound(&ls, 0x9000 + i);
	assert_int_equal(tasklists_bound(&ls, 1), TASK_NO_LIST);
	tasklists_ended(&ls, TASK_NO_LIST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_array),
		cmocka_unit_test(test_grows_in_ticks_only),
		cmocka_unit_test(test_ends_are_remembered),
		cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
