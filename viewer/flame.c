// SPDX-License-Identifier: Apache-2.0
/*
 * flame.c - weights of (task type, stack) pairs, and once all names are known the tree of them.
 */
#include "flame.h"

#include "command.h"
#include "jsonout.h"
#include "labels.h"
#include "plain.h"
#include "report.h"
#include "stacktable.h"
#include "stacktree.h"
#include "study.h"
#include "typetable.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define FLAME_UNTYPED (WATCH_NO_TYPE - 1) /* inside a task whose type is not known */
#define FLAME_NAME_COLUMNS 100
#define FLAME_DEPTH_MAX (4 * STACKTABLE_DEPTH_MAX) /* names, inlined ones included */
#define FLAME_SHOWN_PERMILLE 10 /* of the whole: what is less is left out of the text */

struct flame_key {
	uint32_t type, stack;
};

struct flame_pair {
	struct flame_key key;
	uint64_t weight;
	UT_hash_handle hh;
};

struct flame {
	struct flame_pair *pairs;
	struct stacktree tree;
	uint64_t events;
};

static void flame_count(struct study *s, uint32_t type, uint32_t stack, uint64_t weight)
{
	struct flame *own = s->own;
	struct flame_key key = { type, stack };
	struct flame_pair *pair;

	own->events++;
	HASH_FIND(hh, own->pairs, &key, sizeof(key), pair);
	if (!pair) {
		pair = calloc(1, sizeof(*pair));
		if (!pair) {
			s->err = -ENOMEM;
			return;
		}
		pair->key = key;
		HASH_ADD(hh, own->pairs, key, sizeof(pair->key), pair);
	}
	pair->weight += weight;
}

static void flame_sample(struct study *s, const struct moment *m, uint32_t worker, uint32_t type)
{
	(void)worker;
	if (type == WATCH_NO_TYPE && m->task)
		type = FLAME_UNTYPED;
	if (!s->req->off_cpu)
		flame_count(s, type, m->stack, 1);
}

static void flame_off(struct study *s, const struct moment *m, uint32_t type)
{
	if (s->req->off_cpu && m->ts_ns > m->a)
		flame_count(s, type == WATCH_NO_TYPE ? FLAME_UNTYPED : type, m->stack,
			    m->ts_ns - m->a);
}

/* Puts the names of an address, "outer;inlined;innermost", as labels. */
static uint32_t flame_names(struct labels *labels, uint32_t label, uint64_t addr, uint32_t *to,
			    uint32_t room)
{
	uint32_t cnt = 0;
	size_t len, at = 0;
	const char *text;
	char hex[24];

	if (label == LABEL_UNKNOWN) {
		snprintf(hex, sizeof(hex), "0x%" PRIx64, addr);
		to[0] = labels_put(labels, hex, strlen(hex));
		return room ? 1 : 0;
	}
	text = labels_text(labels, label, &len);
	while (at < len && cnt < room) {
		const char *end = memchr(text + at, ';', len - at);
		size_t part = end ? (size_t)(end - text) - at : len - at;

		to[cnt++] = labels_put(labels, text + at, part);
		text = labels_text(labels, label, &len); /* it may have moved */
		at += part + 1;
	}
	return cnt;
}

static uint32_t flame_root(const struct report *r, uint32_t type)
{
	const char *name = type == WATCH_NO_TYPE ? "(outside polls)" : "(type unknown)";

	if (type == WATCH_NO_TYPE || type == FLAME_UNTYPED)
		return labels_put(r->labels, name, strlen(name));
	return typetable_row(r->account.types, type)->label;
}

static int flame_add(struct study *s, const struct flame_pair *pair)
{
	static uint32_t labels[FLAME_DEPTH_MAX];
	const struct report *r = s->report;
	struct flame *own = s->own;
	const uint64_t *frames;
	uint32_t frames_cnt, cnt = 1;

	labels[0] = flame_root(r, pair->key.type);
	frames = stacktable_frames(r->stacks, pair->key.stack, &frames_cnt);
	for (uint32_t i = frames_cnt; i-- > 0 && cnt < FLAME_DEPTH_MAX;)
		cnt += flame_names(r->labels, stacktable_label(r->stacks, frames[i]), frames[i],
				   labels + cnt, FLAME_DEPTH_MAX - cnt);
	return stacktree_add(&own->tree, labels, cnt, pair->weight);
}

static int flame_finish(struct study *s)
{
	struct flame *own = s->own;
	int err = 0;

	for (const struct flame_pair *p = own->pairs; p && !err; p = p->hh.next)
		err = flame_add(s, p);
	return err ? err : stacktree_sort(&own->tree, s->report->labels);
}

static bool flame_is_known(const struct study *s)
{
	return s->req->off_cpu ? s->report->has_off : s->report->account.samples > 0;
}

static void flame_name(FILE *out, const struct study *s, uint32_t label)
{
	char name[4 * FLAME_NAME_COLUMNS + 1];
	size_t len;
	const char *text = labels_text(s->report->labels, label, &len);

	plain_cut(name, sizeof(name), text, len, FLAME_NAME_COLUMNS);
	fputs(name, out);
}

static void flame_tree(FILE *out, const struct study *s, uint32_t node, int depth)
{
	const struct flame *own = s->own;
	const struct stacktree *t = &own->tree;
	uint64_t least = s->req->limit ? t->nodes[0].total * FLAME_SHOWN_PERMILLE / 1000 : 0;
	char text[PLAIN_SZ];

	for (; node; node = t->nodes[node].next) {
		const struct stacktree_node *n = &t->nodes[node];

		if (n->total < least)
			continue;
		fprintf(out, "  %7s", plain_share(text, n->total, t->nodes[0].total));
		if (s->req->off_cpu)
			fprintf(out, " %8s", plain_duration(text, n->total));
		else
			fprintf(out, " %8" PRIu64, n->total);
		fprintf(out, "  %*s", depth, "");
		flame_name(out, s, n->label);
		fputc('\n', out);
		flame_tree(out, s, n->child, depth + 1);
	}
}

/* A ';' within a name ("[u8; 4]") would be read as another frame. */
static void flame_folded_name(FILE *out, const struct study *s, uint32_t label, bool is_inner)
{
	size_t len, part;
	const char *text = labels_text(s->report->labels, label, &len);

	fputs(is_inner ? ";" : "", out);
	for (; len; text += part, len -= part) {
		const char *end = memchr(text, ';', len);

		part = end ? (size_t)(end - text) : len;
		plain_write(out, text, part);
		if (!end)
			break;
		fputc(',', out);
		part++;
	}
}

/* Lines of the subtree under `path`, its frames joined by ';'. */
static void flame_folded(FILE *out, const struct study *s, uint32_t node, uint32_t *path,
			 uint32_t depth)
{
	const struct flame *own = s->own;
	const struct stacktree *t = &own->tree;

	for (; node; node = t->nodes[node].next) {
		const struct stacktree_node *n = &t->nodes[node];

		path[depth] = n->label;
		if (n->self) {
			for (uint32_t i = 0; i <= depth; i++)
				flame_folded_name(out, s, path[i], i > 0);
			fprintf(out, " %" PRIu64 "\n", n->self);
		}
		flame_folded(out, s, n->child, path, depth + 1);
	}
}

static void flame_text(FILE *out, struct study *s)
{
	static uint32_t path[FLAME_DEPTH_MAX + 1];
	const struct flame *own = s->own;
	uint32_t first = own->tree.cnt ? own->tree.nodes[0].child : 0;
	char text[PLAIN_SZ];

	if (s->req->folded) {
		flame_folded(out, s, first, path, 0);
		return;
	}
	if (!flame_is_known(s)) {
		fprintf(out, "\n%s: unknown, not recorded\n",
			s->req->off_cpu ? "OFF CPU IN POLLS" : "CPU SAMPLES");
		return;
	}
	if (s->req->off_cpu)
		fprintf(out, "\nOFF CPU IN POLLS: %" PRIu64 " times, %s\n", own->events,
			plain_duration(text, own->tree.cnt ? own->tree.nodes[0].total : 0));
	else
		fprintf(out, "\nCPU SAMPLES: %" PRIu64 "\n", own->events);
	flame_tree(out, s, first, 0);
	if (own->tree.cut)
		fprintf(out, "  %" PRIu64 " stacks cut at the tree's cap\n", own->tree.cut);
}

static void flame_json_node(struct json *j, const struct study *s, uint32_t node)
{
	const struct flame *own = s->own;
	const struct stacktree *t = &own->tree;

	json_list(j);
	for (; node; node = t->nodes[node].next) {
		const struct stacktree_node *n = &t->nodes[node];
		size_t len;
		const char *text = labels_text(s->report->labels, n->label, &len);

		json_map(j);
		json_put_bytes(j, "name", text, len);
		json_put_u64(j, "total", n->total);
		json_put_u64(j, "self", n->self);
		json_key(j, "children");
		flame_json_node(j, s, n->child);
		json_map_end(j);
	}
	json_list_end(j);
}

static void flame_json(struct json *j, struct study *s)
{
	const struct flame *own = s->own;

	json_put_text(j, "unit", s->req->off_cpu ? "ns" : "samples");
	if (flame_is_known(s))
		json_put_u64(j, "events", own->events);
	else
		json_put_null(j, "events");
	json_key(j, "roots");
	flame_json_node(j, s, own->tree.cnt ? own->tree.nodes[0].child : 0);
}

static void flame_done(struct study *s)
{
	struct flame *own = s->own;
	struct flame_pair *pair, *next;

	HASH_ITER(hh, own->pairs, pair, next) {
		HASH_DEL(own->pairs, pair);
		free(pair);
	}
	stacktree_done(&own->tree);
}

int flame_run(const struct request *req, const struct traceset *set)
{
	static const struct study_ops ops = {
		.schema = "dial9-view.flame/1",
		.own_sz = sizeof(struct flame),
		.with_stacks = true,
		.off = flame_off,
		.sample = flame_sample,
		.finish = flame_finish,
		.text = flame_text,
		.json = flame_json,
		.done = flame_done,
	};

	return study_run(req, set, &ops);
}
