// SPDX-License-Identifier: Apache-2.0
// test_stacktree.c - stacks laid over each other. links: viewer
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "viewer/labels.h"
#include "viewer/stacktree.h"

static void test_tree(void **state)
{
	struct labels *labels = labels_new();
	struct stacktree t = { 0 };
	const char *const names[] = { "a", "b", "c", "d" };
	uint32_t l[4];
	const struct stacktree_node *n;

	(void)state;
	for (int i = 0; i < 4; i++)
		l[i] = labels_put(labels, names[i], 1);
	assert_int_equal(stacktree_add(&t, (uint32_t[]){ l[0], l[1] }, 2, 3), 0);
	assert_int_equal(stacktree_add(&t, (uint32_t[]){ l[0], l[3] }, 2, 5), 0);
	assert_int_equal(stacktree_add(&t, (uint32_t[]){ l[0], l[2] }, 2, 5), 0);
	assert_int_equal(stacktree_add(&t, (uint32_t[]){ l[0] }, 1, 7), 0);
	assert_int_equal(stacktree_add(&t, (uint32_t[]){ l[1] }, 1, 30), 0);
	assert_int_equal(stacktree_sort(&t, labels), 0);
	assert_int_equal(t.nodes[0].total, 50);
	n = &t.nodes[t.nodes[0].child]; /* the heaviest: b at the outside, not the b within a */
	assert_int_equal(n->label, l[1]);
	assert_int_equal(n->total, 30);
	n = &t.nodes[n->next];
	assert_int_equal(n->label, l[0]);
	assert_int_equal(n->total, 20);
	assert_int_equal(n->self, 7);
	assert_int_equal(n->next, 0);
	n = &t.nodes[n->child]; /* equal weights by name: c, d; then b */
	assert_int_equal(n->label, l[2]);
	n = &t.nodes[n->next];
	assert_int_equal(n->label, l[3]);
	n = &t.nodes[n->next];
	assert_int_equal(n->label, l[1]);
	assert_int_equal(n->total, 3);
	assert_int_equal(n->next, 0);
	stacktree_done(&t);
	labels_free(labels);
}

static void test_empty(void **state)
{
	struct labels *labels = labels_new();
	struct stacktree t = { 0 };

	(void)state;
	assert_int_equal(stacktree_sort(&t, labels), 0);
	assert_int_equal(t.cnt, 0);
	stacktree_done(&t);
	labels_free(labels);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
