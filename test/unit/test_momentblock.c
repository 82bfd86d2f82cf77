// SPDX-License-Identifier: Apache-2.0
/* test_momentblock.c - one block in the order of time. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/momentblock.h"

#include <stdlib.h>

static void add(struct momentblock *b, uint64_t ts_ns)
{
	uint32_t number = b->cnt;

	*momentblock_next(b) = (struct moment){ .ts_ns = ts_ns, .label = number };
	momentblock_add(b);
}

static void is_ordered(struct momentblock *b, uint32_t cnt)
{
	assert_int_equal(b->cnt, cnt);
	momentblock_sort(b);
	for (uint32_t i = 1; i < cnt; i++) {
		const struct moment *x = momentblock_at(b, i - 1), *y = momentblock_at(b, i);

		assert_true(x->ts_ns < y->ts_ns || (x->ts_ns == y->ts_ns && x->label < y->label));
	}
}

static void test_in_order_already(void **state)
{
	struct momentblock *b = momentblock_new();

	(void)state;
	for (uint64_t i = 0; i < MOMENTBLOCK_CNT; i++)
		add(b, i / 3);
	assert_true(b->is_sorted);
	is_ordered(b, MOMENTBLOCK_CNT);
	assert_int_equal(b->least_ns, 0);
	assert_int_equal(b->most_ns, (MOMENTBLOCK_CNT - 1) / 3);
	free(b);
}

/* Spans that digits sort and one too wide for them; full and not; again after it was emptied. */
static void test_any_order(void **state)
{
	static const uint64_t spans[] = { 2, 1000, 1ull << 30, 1ull << 52, 1ull << 53, UINT64_MAX };
	static const uint32_t cnts[] = { 1, 2, 1000, MOMENTBLOCK_CNT };
	struct momentblock *b = momentblock_new();
	uint64_t seed = 5;

	(void)state;
	for (size_t k = 0; k < sizeof(spans) / sizeof(spans[0]); k++) {
		for (size_t c = 0; c < sizeof(cnts) / sizeof(cnts[0]); c++) {
			momentblock_clear(b);
			for (uint32_t i = 0; i < cnts[c]; i++) {
				seed ^= seed << 13;
				seed ^= seed >> 7;
				seed ^= seed << 17;
				add(b, UINT64_MAX - seed % spans[k]);
			}
			is_ordered(b, cnts[c]);
		}
	}
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_order_already),
		cmocka_unit_test(test_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
