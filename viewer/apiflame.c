// SPDX-License-Identifier: Apache-2.0
/* apiflame.c - stacks folded into a tree: CPU samples, or time without CPU. */
#include "api.h"

#include "apicall.h"
#include "jsonout.h"

#include <stdlib.h>
#include <string.h>

#define API_NODES_MAX (1u << 18) /* further frames end their stack, counted in `cut` */
#define API_NODES_SHOWN 20000u
#define API_SLOTS (API_NODES_MAX * 2)
#define API_DEPTH_MAX 512u

struct api_node {
	uint64_t label; /* text of a function, or 2^32 + row of a frame without a name */
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
	uint32_t at = 0, next, depth = 0;

	t->nodes[0].value += value;
	for (uint32_t i = c->stacks.frames_to[stack]; i > c->stacks.frames_from[stack]; i--) {
		uint32_t frame = c->stack_frames.frame[i - 1];
		uint32_t from = c->frames.symbols_from[frame], to = c->frames.symbols_to[frame];

		do { /* one step for each inlined function, or one for an address without a name */
			next = depth++ < API_DEPTH_MAX ?
				       api_child(t, at,
						 from < to ? c->symbols.name[from] :
							     (1ull << 32) + frame) :
				       0;
			if (next == 0) {
				t->cut++;
				t->nodes[at].self += value;
				return;
			}
			at = next;
			t->nodes[at].value += value;
		} while (++from < to);
	}
	t->nodes[at].self += value;
}

static void api_put_label(struct api_call *call, uint64_t label)
{
	const struct columns *c = call->c;
	const char *p;
	size_t len;
	char text[24];

	if (label >> 32) {
		snprintf(text, sizeof(text), "0x%llx",
			 (unsigned long long)c->frames.addr[(uint32_t)label]);
		json_text(call->j, text);
		return;
	}
	p = columns_text(c, (uint32_t)label, &len);
	json_bytes(call->j, p, len);
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

struct api_want { /* what to fold */
	uint64_t from_ns, to_ns, source;
	bool is_off, has_task;
	uint32_t task;
	const char *place;
};

/* Where polls were not recorded, the recorder may still have seen which task a thread held. */
static bool api_wants(const struct columns *c, const struct api_want *w, uint32_t poll, uint32_t task)
{
	uint32_t place;

	if (!w->has_task && !w->place)
		return true;
	if (poll < c->polls.cnt)
		task = c->polls.task[poll];
	if (task >= c->tasks.cnt || (w->has_task && task != w->task))
		return false;
	place = poll < c->polls.cnt ? c->polls.place[poll] : c->tasks.place[task];
	return !w->place || api_is(c, place, w->place);
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
		if (!api_wants(c, w, w->is_off ? c->offs.poll[from] : c->samples.poll[from],
			       w->is_off ? c->offs.task[from] : c->samples.task[from]))
			continue;
		if (w->is_off)
			api_add_stack(t, c, c->offs.stack[from], c->offs.dur_ns[from]);
		else if (c->samples.source[from] == w->source)
			api_add_stack(t, c, c->samples.stack[from], 1);
	}
}

/* kind=cpu|sched|off, task=ID, place=TEXT. */
void api_flame(struct api_call *call)
{
	const struct columns *c = call->c;
	const char *kind = call->arg(call->ctx, "kind");
	uint32_t lanes[API_LANES_MAX], cnt;
	struct api_want want = { .place = call->arg(call->ctx, "place"),
				 .has_task = call->arg(call->ctx, "task") != NULL };
	struct api_tree tree = { .cnt = 1 };
	uint64_t id = 0;
	struct json *j;

	want.is_off = kind && strcmp(kind, "off") == 0;
	want.source = kind && strcmp(kind, "sched") == 0;
	if (kind && !want.is_off && !want.source && strcmp(kind, "cpu") != 0) {
		api_bad(call, "kind must be cpu, sched or off");
		return;
	}
	if (!api_span(call, &want.from_ns, &want.to_ns) ||
	    !api_number(call, "task", 0, UINT64_MAX, &id))
		return;
	want.task = columns_task(c, id);
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
