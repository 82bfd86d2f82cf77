// SPDX-License-Identifier: Apache-2.0
/* htmlgraph.c - what is drawn in a page that stands alone, as SVG. */
#include "html.h"

#include "core/columns.h"
#include "core/pyramid.h"
#include "export.h"
#include "labels.h"
#include "plain.h"
#include "stacktree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LANE_HEIGHT 18u
#define LANE_LEFT 90u /* for its name */
#define FLAME_WIDTH 1000.0
#define FLAME_ROW 16u
#define FLAME_LEAST 1.0 /* narrower ones are left out, with all that they call */
#define FLAME_LETTER 6.1
#define FLAME_STACK_MAX 512u /* frames of one stack, from the outermost on */

/* ---- lanes ---- */

static unsigned int lane_level(const struct pyramid_cell *cell, uint64_t cell_ns)
{
	double share = cell_ns ? (double)cell->sum / (double)cell_ns : 0;

	if (cell->sum == 0)
		return 0;
	return share >= 1 ? 8 : 1 + (unsigned int)(share * 7.999);
}

/* Neighbours of one level are one rectangle. */
static void lane_cells(FILE *out, const struct pyramid_cell *cells, uint64_t cell_ns, uint32_t row)
{
	for (uint32_t i = 0, end; i < HTML_CELLS; i = end) {
		unsigned int level = lane_level(&cells[i], cell_ns);

		for (end = i + 1; end < HTML_CELLS && lane_level(&cells[end], cell_ns) == level;)
			end++;
		if (level)
			fprintf(out,
				"<rect class=\"b%u\" x=\"%u\" y=\"%u\" width=\"%u\" "
				"height=\"14\"/>\n",
				level, LANE_LEFT + i, row * LANE_HEIGHT + 2, end - i);
	}
}

static void lane_marks(FILE *out, const struct pyramid_cell *cells, uint32_t row)
{
	for (uint32_t i = 0; i < HTML_CELLS; i++)
		if (cells[i].cnt)
			fprintf(out,
				"<rect class=\"bad\" x=\"%u\" y=\"%u\" width=\"2\" "
				"height=\"4\"/>\n",
				LANE_LEFT + i, row * LANE_HEIGHT);
}

void html_lanes(FILE *out, const struct columns *c)
{
	static const size_t sz = HTML_CELLS * sizeof(struct pyramid_cell);
	struct pyramid_cell *cells = malloc(sz);
	uint64_t from_ns = c->odd.first_ns, to_ns = c->odd.last_ns + 1;
	uint32_t workers = 0, rows;
	char name[EXPORT_LANE_SZ];

	while (workers < c->lanes.cnt && c->lanes.kind[workers] == COLUMNS_WORKER)
		workers++;
	rows = workers < HTML_LANES_MAX ? workers : HTML_LANES_MAX;
	if (!cells || rows == 0 || to_ns - from_ns <= HTML_CELLS) {
		fputs("<p class=\"note\">Nothing to draw.</p>\n", out);
		free(cells);
		return;
	}
	fprintf(out,
		"<svg viewBox=\"0 0 %u %u\" role=\"img\" aria-label=\"busy time of each "
		"worker\">\n",
		LANE_LEFT + HTML_CELLS, rows * LANE_HEIGHT);
	for (uint32_t i = 0; i < rows; i++) {
		export_lane_name(c, i, name);
		fprintf(out,
			"<text x=\"0\" y=\"%u\">%s</text><rect class=\"back\" x=\"%u\" y=\"%u\" "
			"width=\"%u\" height=\"14\"/>\n",
			i * LANE_HEIGHT + 13, name, LANE_LEFT, i * LANE_HEIGHT + 2, HTML_CELLS);
		if (pyramid_query(c, PYRAMID_POLLS, i, from_ns, to_ns, HTML_CELLS, cells) == 0)
			lane_cells(out, cells, (to_ns - from_ns) / HTML_CELLS, i);
		if (pyramid_query(c, PYRAMID_BAD_LONG, i, from_ns, to_ns, HTML_CELLS, cells) == 0)
			lane_marks(out, cells, i);
	}
	fputs("</svg>\n<p class=\"note\">Darker is busier. Red marks: polls of 10 ms and "
	      "more.</p>\n",
	      out);
	if (rows < workers)
		fprintf(out, "<p class=\"note\">%u more workers are not drawn.</p>\n",
			workers - rows);
	free(cells);
}

/* ---- flame ---- */

struct flame {
	FILE *out;
	const struct stacktree *t;
	const struct labels *labels;
	bool is_off;
};

static void flame_name(FILE *out, const char *p, size_t len, double width)
{
	char text[4 * 200 + 1];
	size_t columns = (size_t)(width / FLAME_LETTER);

	if (columns < 4)
		return;
	plain_cut(text, sizeof(text), p, len, columns < 200 ? columns : 200);
	html_safe(out, text, strlen(text));
}

static void flame_node(const struct flame *f, uint32_t node, uint32_t depth, double x, double width)
{
	const struct stacktree_node *n = &f->t->nodes[node];
	char value[PLAIN_SZ], share[PLAIN_SZ];
	size_t len;
	const char *p = labels_text(f->labels, n->label, &len);

	if (f->is_off)
		plain_duration(value, n->total);
	else
		snprintf(value, sizeof(value), "%llu samples", (unsigned long long)n->total);
	fprintf(f->out,
		"<g><rect class=\"f%u\" x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%u\"/><title>",
		n->label % 3, x, depth * FLAME_ROW, width, FLAME_ROW);
	html_bytes(f->out, p, len);
	fprintf(f->out, ": %s, %s</title>", value,
		plain_share(share, n->total, f->t->nodes[0].total));
	if (width >= 4 * FLAME_LETTER) {
		fprintf(f->out, "<text x=\"%.2f\" y=\"%u\">", x + 2, depth * FLAME_ROW + 11);
		flame_name(f->out, p, len, width - 4);
		fputs("</text>", f->out);
	}
	fputs("</g>\n", f->out);
}

/* Preorder with the way down kept: no depth of a trace is a depth of our stack. */
static uint32_t flame_walk(const struct flame *f, bool is_drawn)
{
	struct {
		uint32_t node;
		double x;
	} way[HTML_FLAME_DEPTH];
	const struct stacktree_node *nodes = f->t->nodes;
	uint32_t depth = 0, deepest = 0;
	double width;

	way[0].node = nodes[0].child;
	way[0].x = 0;
	for (;;) {
		uint32_t at = way[depth].node;

		if (at == 0) {
			if (depth == 0)
				return deepest;
			depth--;
			continue;
		}
		width = FLAME_WIDTH * (double)nodes[at].total / (double)nodes[0].total;
		way[depth].node = nodes[at].next;
		if (width < FLAME_LEAST)
			continue;
		if (is_drawn)
			flame_node(f, at, depth, way[depth].x, width);
		deepest = depth + 1 > deepest ? depth + 1 : deepest;
		if (depth + 1 < HTML_FLAME_DEPTH) {
			way[depth + 1].node = nodes[at].child;
			way[depth + 1].x = way[depth].x;
		}
		way[depth].x += width;
		if (depth + 1 < HTML_FLAME_DEPTH)
			depth++;
	}
}

static uint32_t flame_label(struct labels *labels, const struct columns *c, uint32_t text)
{
	size_t len;
	const char *p = columns_text(c, text, &len);

	return labels_put(labels, p, len);
}

static int flame_stack(struct stacktree *t, struct labels *labels, const struct columns *c,
		       uint32_t stack, uint64_t weight)
{
	uint32_t way[FLAME_STACK_MAX], cnt = 0;
	char addr[24];

	for (uint32_t k = c->stacks.frames_to[stack]; k > c->stacks.frames_from[stack]; k--) {
		uint32_t frame = c->stack_frames.frame[k - 1];
		uint32_t from = c->frames.symbols_from[frame], to = c->frames.symbols_to[frame];

		if (from == to && cnt < FLAME_STACK_MAX) {
			snprintf(addr, sizeof(addr), "0x%llx",
				 (unsigned long long)c->frames.addr[frame]);
			way[cnt++] = labels_put(labels, addr, strlen(addr));
		}
		for (; from < to && cnt < FLAME_STACK_MAX; from++)
			way[cnt++] = flame_label(labels, c, c->symbols.name[from]);
	}
	return cnt ? stacktree_add(t, way, cnt, weight) : 0;
}

/* Sum of each stack's weight. */
static void flame_weigh(const struct columns *c, bool is_off, uint64_t *weights)
{
	for (uint32_t i = 0; !is_off && i < c->samples.cnt; i++)
		weights[c->samples.stack[i]] += c->samples.source[i] == 0;
	for (uint32_t i = 0; is_off && i < c->offs.cnt; i++)
		weights[c->offs.stack[i]] +=
			c->offs.poll[i] == COLUMNS_NONE ? 0 : c->offs.dur_ns[i];
}

int html_flame(FILE *out, const struct columns *c, int is_off)
{
	uint64_t *weights = calloc(c->stacks.cnt, sizeof(*weights));
	struct labels *labels = labels_new();
	struct stacktree tree = { 0 };
	struct flame f = { out, &tree, labels, is_off };
	uint32_t depth;
	int err = weights && labels ? 0 : -ENOMEM;

	if (err == 0)
		flame_weigh(c, is_off, weights);
	for (uint32_t i = 1; err == 0 && i < c->stacks.cnt; i++)
		if (weights[i])
			err = flame_stack(&tree, labels, c, i, weights[i]);
	if (err == 0 && tree.cnt)
		err = stacktree_sort(&tree, labels);
	if (err == 0 && (tree.cnt == 0 || tree.nodes[0].total == 0)) {
		fputs("<p class=\"note\">None recorded.</p>\n", out);
	} else if (err == 0) {
		depth = flame_walk(&f, false);
		fprintf(out, "<svg viewBox=\"0 0 %.0f %u\" role=\"img\" aria-label=\"stacks\">\n",
			FLAME_WIDTH, depth * FLAME_ROW);
		flame_walk(&f, true);
		fputs("</svg>\n", out);
	}
	stacktree_done(&tree);
	labels_free(labels);
	free(weights);
	return err;
}
