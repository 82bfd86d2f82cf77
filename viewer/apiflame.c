// SPDX-License-Identifier: Apache-2.0
/* apiflame.c - stacks folded into a tree: CPU samples, or time without CPU. */
#include "api.h"

#include "apicall.h"
#include "apistack.h"
#include "jsonout.h"

#include <stdlib.h>

#define API_NODES_MAX (1u << 18) /* further frames end their stack, counted in `cut` */
#define API_NODES_SHOWN 20000u
#define API_SLOTS (API_NODES_MAX * 2)

struct api_node {
	uint64_t label; /* apistack.h */
	uint64_t value, self;
	uint32_t parent, child, next; /* first child, next sibling; 0 none */
};

struct api_tree {
	struct api_node *nodes; /* 0 is the root */
	uint32_t cnt;
	uint32_t *slots;
	uint64_t cut;
};

static uint32_t api_child(struct api_tree *t, uint32_t parent, uint64_t label)
{
	uint64_t hash = (label * 0x9e3779b97f4a7c15u) ^ (parent * 0xc2b2ae3d27d4eb4fu);
	uint32_t slot = (uint32_t)(hash >> 40) & (API_SLOTS - 1);
	struct api_node *n;

	for (; t->slots[slot]; slot = (slot + 1) & (API_SLOTS - 1)) {
		n = &t->nodes[t->slots[slot]];
		if (n->parent == parent && n->label == label)
			return t->slots[slot];
	}
	if (t->cnt == API_NODES_MAX)
		return 0;
	n = &t->nodes[t->cnt];
	*n = (struct api_node){ .label = label, .parent = parent, .next = t->nodes[parent].child };
	t->nodes[parent].child = t->cnt;
	t->slots[slot] = t->cnt;
	return t->cnt++;
}

static void api_add_stack(struct api_tree *t, const struct columns *c, uint32_t stack, uint64_t value)
{
	uint64_t labels[API_DEPTH_MAX];
	bool is_cut = false;
	uint32_t at = 0, next, cnt = api_stack_labels(c, stack, labels, &is_cut);

	t->nodes[0].value += value;
	for (uint32_t i = 0; i < cnt; i++) {
		next = api_child(t, at, labels[i]);
		if (next == 0) {
			is_cut = true;
			break;
		}
		at = next;
		t->nodes[at].value += value;
	}
	t->cut += is_cut;
	t->nodes[at].self += value;
}

/* Preorder without recursion: depth, value, self and name of each node worth showing. */
static void api_put_tree(struct api_call *call, const struct api_tree *t)
{
	struct json *j = call->j;
	uint64_t least = t->nodes[0].value / 5000;
	uint32_t at = t->nodes[0].child, depth = 0, shown = 0, small = 0;

	json_key(j, "nodes");
	json_list(j);
	while (at) {
		const struct api_node *n = &t->nodes[at];
		bool is_shown = n->value > least && shown < API_NODES_SHOWN;

		if (is_shown) {
			shown++;
			json_u64(j, depth);
			json_u64(j, n->value);
			json_u64(j, n->self);
			api_put_label(call, n->label);
		} else {
			small++;
		}
		if (is_shown && n->child) {
			at = n->child;
			depth++;
			continue;
		}
		while (at && !t->nodes[at].next) {
			at = t->nodes[at].parent;
			depth -= at != 0;
		}
		if (at)
			at = t->nodes[at].next;
	}
	json_list_end(j);
	json_put_u64(j, "small", small);
}

static void api_fold_lane(struct api_tree *t, const struct columns *c, uint32_t lane,
			  const struct api_want *w)
{
	const uint64_t *times = w->is_off ? c->offs.start_ns : c->samples.ts_ns;
	uint32_t from = w->is_off ? c->lanes.offs_from[lane] : c->lanes.samples_from[lane];
	uint32_t to = w->is_off ? c->lanes.offs_to[lane] : c->lanes.samples_to[lane];

	from = columns_seek(times, from, to, w->from_ns);
	to = columns_seek(times, from, to, w->to_ns);
	for (; from < to; from++) {
		if (!api_wants(c, w, from))
			continue;
		if (w->is_off)
			api_add_stack(t, c, c->offs.stack[from], c->offs.dur_ns[from]);
		else
			api_add_stack(t, c, c->samples.stack[from], 1);
	}
}

/* kind=cpu|sched|off, task=ID, place=TEXT. */
void api_flame(struct api_call *call)
{
	const struct columns *c = call->c;
	uint32_t lanes[API_LANES_MAX], cnt;
	struct api_tree tree = { .cnt = 1 };
	struct api_want want;
	struct json *j;

	if (!api_want_read(call, &want))
		return;
	cnt = api_lanes(call, lanes);
	if (!cnt)
		return;
	tree.nodes = malloc(API_NODES_MAX * sizeof(*tree.nodes));
	tree.slots = calloc(API_SLOTS, sizeof(*tree.slots));
	if (!tree.nodes || !tree.slots) {
		api_bytes(call, NULL, 0);
		goto out;
	}
	tree.nodes[0] = (struct api_node){ 0 };
	for (uint32_t i = 0; i < cnt; i++)
		api_fold_lane(&tree, c, lanes[i], &want);
	j = api_begin(call);
	if (!j)
		goto out;
	json_put_text(j, "unit", want.is_off ? "ns" : "samples");
	json_put_u64(j, "total", tree.nodes[0].value);
	json_put_u64(j, "nowhere", tree.nodes[0].self);
	json_put_u64(j, "cut", tree.cut);
	api_put_tree(call, &tree);
	api_end(call);
out:
	free(tree.nodes);
	free(tree.slots);
}
