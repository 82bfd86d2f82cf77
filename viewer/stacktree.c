// SPDX-License-Identifier: Apache-2.0
/* stacktree.c - nodes in one array, children as lists. */
#include "stacktree.h"

#include "labels.h"

#include <errno.h>
#include <stdlib.h>

#define STACKTREE_ROOM 256u

void stacktree_done(struct stacktree *t)
{
	free(t->nodes);
	*t = (struct stacktree){ 0 };
}

/* The number of a new node; 0 at the cap, which *ret_err tells from out of memory. */
static uint32_t stacktree_new(struct stacktree *t, uint32_t label, int *ret_err)
{
	uint32_t room = t->room ? 2 * t->room : STACKTREE_ROOM;
	struct stacktree_node *grown;

	if (t->cnt == STACKTREE_MAX)
		return 0;
	if (t->cnt == t->room) {
		grown = realloc(t->nodes, room * sizeof(*grown));
		if (!grown) {
			*ret_err = -ENOMEM;
			return 0;
		}
		t->nodes = grown;
		t->room = room;
	}
	t->nodes[t->cnt] = (struct stacktree_node){ .label = label };
	return t->cnt++;
}

static uint32_t stacktree_child(struct stacktree *t, uint32_t parent, uint32_t label, int *ret_err)
{
	uint32_t node = t->nodes[parent].child;

	while (node && t->nodes[node].label != label)
		node = t->nodes[node].next;
	if (node)
		return node;
	node = stacktree_new(t, label, ret_err);
	if (!node)
		return 0;
	t->nodes[node].next = t->nodes[parent].child;
	t->nodes[parent].child = node;
	return node;
}

int stacktree_add(struct stacktree *t, const uint32_t *labels, uint32_t cnt, uint64_t weight)
{
	uint32_t at = 0, child;
	int err = 0;

	if (!t->cnt)
		stacktree_new(t, LABEL_UNKNOWN, &err);
	if (err)
		return err;
	t->nodes[0].total += weight;
	for (uint32_t i = 0; i < cnt; i++) {
		child = stacktree_child(t, at, labels[i], &err);
		if (err)
			return err;
		if (!child) {
			t->cut++;
			break;
		}
		at = child;
		t->nodes[at].total += weight;
	}
	t->nodes[at].self += weight;
	return 0;
}

struct stacktree_order {
	const struct stacktree *t;
	const struct labels *labels;
};

static int stacktree_compare(const void *left, const void *right, void *ctx)
{
	const struct stacktree_order *o = ctx;
	const struct stacktree_node *a = &o->t->nodes[*(const uint32_t *)left];
	const struct stacktree_node *b = &o->t->nodes[*(const uint32_t *)right];
	int order = (a->total < b->total) - (a->total > b->total);

	return order ? order : labels_compare(o->labels, a->label, b->label);
}

int stacktree_sort(struct stacktree *t, const struct labels *labels)
{
	struct stacktree_order o = { t, labels };
	uint32_t *order = calloc(t->cnt + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->cnt; i++) {
		uint32_t cnt = 0;

		for (uint32_t node = t->nodes[i].child; node; node = t->nodes[node].next)
			order[cnt++] = node;
		if (cnt < 2)
			continue;
		qsort_r(order, cnt, sizeof(*order), stacktree_compare, &o);
		for (uint32_t k = 0; k < cnt; k++)
			t->nodes[order[k]].next = k + 1 < cnt ? order[k + 1] : 0;
		t->nodes[i].child = order[0];
	}
	free(order);
	return 0;
}
