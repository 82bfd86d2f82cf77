// SPDX-License-Identifier: Apache-2.0
/* test_leaftable.c - sampled addresses and their names. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "eventscript.h"
#include "viewer/labels.h"
#include "viewer/leaftable.h"

#include <stdlib.h>
#include <string.h>

struct fixture {
	struct leaftable *table;
	struct labels *labels;
};

static void name(void *ctx, const struct d9_ev *ev)
{
	struct fixture *f = ctx;

	leaftable_name(f->table, ev, f->labels);
}

static void symbol(struct eventscript *s, uint64_t addr, const char *text, uint64_t depth)
{
	SCRIPT_PUT(s, symbol, 0, .addr = addr, .symbol_name = eventscript_str(s, text),
		   .inline_depth = depth, .source_file = eventscript_str(s, ""));
}

static void check(const struct fixture *f, const struct leaf_row *row, const char *want,
		  uint64_t samples)
{
	size_t len;
	const char *text = labels_text(f->labels, row->label, &len);

	assert_int_equal(len, strlen(want));
	assert_memory_equal(text, want, len);
	assert_int_equal(row->samples, samples);
}

static void test_names_add_up(void **state)
{
	struct fixture f = { leaftable_new(), labels_new() };
	struct eventscript *s = eventscript_begin();
	struct leaf_row *rows = NULL;
	uint32_t cnt = 0;

	(void)state;
	for (int i = 0; i < 3; i++)
		leaftable_count(f.table, leaftable_find(f.table, 0x100), i == 0);
	leaftable_count(f.table, leaftable_find(f.table, 0x104), 1);
	leaftable_count(f.table, leaftable_find(f.table, 0x900), 0);
	leaftable_count(f.table, leaftable_find(f.table, 0x800), 0);
	leaftable_find(f.table, 0x700); /* no sample: no row */
	symbol(s, 0x100, "inner", 2); /* the innermost wins, in whatever order they come */
	symbol(s, 0x100, "outer", 0);
	symbol(s, 0x104, "outer", 0);
	symbol(s, 0x104, "inner", 1);
	symbol(s, 0x555, "nobody", 0); /* on no stack's top */
	eventscript_each(s, name, &f);
	assert_int_equal(leaftable_rows(f.table, f.labels, &rows, &cnt), 0);
	assert_int_equal(cnt, 3);
	check(&f, &rows[0], "inner", 4);
	assert_int_equal(rows[0].in_polls, 2);
	check(&f, &rows[1], "(unknown)", 1);
	assert_int_equal(rows[1].addr, 0x800); /* by address where names are equal */
	assert_int_equal(rows[2].addr, 0x900);
	free(rows);
	leaftable_free(f.table);
	labels_free(f.labels);
}

static void test_cap(void **state)
{
	struct leaftable *t = leaftable_new();

	(void)state;
	for (uint64_t addr = 1; addr < LEAFTABLE_MAX; addr++)
		assert_int_equal(leaftable_find(t, addr * 8), addr);
	assert_int_equal(leaftable_find(t, 4), 0);
	assert_int_equal(leaftable_find(t, 80), 10);
	leaftable_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_add_up),
		cmocka_unit_test(test_cap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
