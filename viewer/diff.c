// SPDX-License-Identifier: Apache-2.0
/* diff.c - two reports, joined by the names of their types, as text and JSON. */
#include "diff.h"

#include "command.h"
#include "jsonout.h"
#include "labels.h"
#include "notice.h"
#include "passed.h"
#include "plain.h"
#include "progress.h"
#include "report.h"
#include "traceset.h"
#include "typetable.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DIFF_NAME_COLUMNS 50

enum { DIFF_A, DIFF_B, DIFF_SIDES };

struct diff_row {
	const struct type_row *type[DIFF_SIDES]; /* NULL: not in that recording */
	uint32_t label[DIFF_SIDES];
	uint64_t change; /* of the busy time of a second, in ns, whichever way */
};

struct diff {
	struct report *report[DIFF_SIDES];
	struct passed passed[DIFF_SIDES];
	struct diff_row *rows;
	uint32_t rows_cnt;
};

/* What is known of a type on a side; NULL: nothing that passes. */
static const struct type_row *diff_type(struct diff *d, int side, uint32_t row)
{
	struct passed *p = &d->passed[side];

	return filter_has_any(&p->filter) ? passed_type(p, row)
					  : typetable_row(d->report[side]->account.types, row);
}

/* `value` for each second of that recording. */
static uint64_t diff_rate(const struct diff *d, int side, uint64_t value)
{
	uint64_t span_ns = d->passed[side].span_ns;

	return span_ns ? (uint64_t)((double)value * 1e9 / (double)span_ns + 0.5) : 0;
}

static uint64_t diff_busy(const struct diff *d, const struct diff_row *row, int side)
{
	return row->type[side] ? diff_rate(d, side, row->type[side]->busy_ns) : 0;
}

static const char *diff_name(const struct diff *d, const struct diff_row *row, size_t *ret_len)
{
	int side = row->type[DIFF_A] ? DIFF_A : DIFF_B;

	return labels_text(d->report[side]->labels, row->label[side], ret_len);
}

static int diff_compare(const void *left, const void *right, void *ctx)
{
	const struct diff_row *a = left, *b = right;
	int order = (a->change < b->change) - (a->change > b->change);
	const char *a_name, *b_name;
	size_t a_len, b_len;

	if (order)
		return order;
	a_name = diff_name(ctx, a, &a_len);
	b_name = diff_name(ctx, b, &b_len);
	order = memcmp(a_name, b_name, a_len < b_len ? a_len : b_len);
	return order ? order : (a_len > b_len) - (a_len < b_len);
}

/* The row of A whose type has this name, or a new one. */
static struct diff_row *diff_row(struct diff *d, const char *name, size_t len, const uint32_t *of_a)
{
	uint32_t label = labels_put(d->report[DIFF_A]->labels, name, len);
	uint32_t row = label < labels_cnt(d->report[DIFF_A]->labels) ? of_a[label] : 0;

	return row ? &d->rows[row - 1] : &d->rows[d->rows_cnt++];
}

static int diff_join(struct diff *d)
{
	const struct report *a = d->report[DIFF_A], *b = d->report[DIFF_B];
	/* labels of B that A lacks get numbers behind A's: there is room for all */
	uint32_t *of_a = calloc((size_t)labels_cnt(a->labels) + b->types_cnt + 1, sizeof(*of_a));

	d->rows = calloc((size_t)a->types_cnt + b->types_cnt + 1, sizeof(*d->rows));
	if (!d->rows || !of_a) {
		free(of_a);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < a->types_cnt; i++) {
		const struct type_row *t = diff_type(d, DIFF_A, a->types[i]);

		if (!t)
			continue;
		d->rows[d->rows_cnt].type[DIFF_A] = t;
		d->rows[d->rows_cnt++].label[DIFF_A] = t->label;
		of_a[t->label] = d->rows_cnt;
	}
	for (uint32_t i = 0; i < b->types_cnt; i++) {
		const struct type_row *t = diff_type(d, DIFF_B, b->types[i]);
		struct diff_row *row;
		const char *name;
		size_t len;

		if (!t)
			continue;
		name = labels_text(b->labels, t->label, &len);
		row = diff_row(d, name, len, of_a);
		row->type[DIFF_B] = t;
		row->label[DIFF_B] = t->label;
	}
	free(of_a);
	for (uint32_t i = 0; i < d->rows_cnt; i++) {
		uint64_t was = diff_busy(d, &d->rows[i], DIFF_A);
		uint64_t is = diff_busy(d, &d->rows[i], DIFF_B);

		d->rows[i].change = was > is ? was - is : is - was;
	}
	qsort_r(d->rows, d->rows_cnt, sizeof(*d->rows), diff_compare, d);
	return 0;
}

static uint64_t diff_rows(const struct request *req, const struct diff *d)
{
	return req->limit && req->limit < d->rows_cnt ? req->limit : d->rows_cnt;
}

/* "was > is", with a mark in front if it more than doubled or halved. */
static void diff_pair(FILE *out, bool has_a, uint64_t was, bool has_b, uint64_t is,
		      const char *(*text)(char to[PLAIN_SZ], uint64_t value))
{
	char a[PLAIN_SZ], b[PLAIN_SZ];
	bool is_much = has_a && has_b && (was > 2 * is || is > 2 * was);

	fprintf(out, " %8s > %-8s%c", has_a ? text(a, was) : "-", has_b ? text(b, is) : "-",
		is_much ? (is > was ? '+' : '-') : ' ');
}

static const char *diff_count(char to[PLAIN_SZ], uint64_t value)
{
	snprintf(to, PLAIN_SZ, "%" PRIu64, value);
	return to;
}

static void diff_text_row(FILE *out, const struct diff *d, const struct diff_row *row)
{
	const struct type_row *a = row->type[DIFF_A], *b = row->type[DIFF_B];
	char name[4 * DIFF_NAME_COLUMNS + 1];
	size_t len;
	const char *text = diff_name(d, row, &len);

	diff_pair(out, a, diff_busy(d, row, DIFF_A), b, diff_busy(d, row, DIFF_B), plain_duration);
	diff_pair(out, a, a ? diff_rate(d, DIFF_A, a->polls) : 0, b,
		  b ? diff_rate(d, DIFF_B, b->polls) : 0, diff_count);
	diff_pair(out, a && a->poll.cnt, a ? histogram_quantile(&a->poll, 990) : 0,
		  b && b->poll.cnt, b ? histogram_quantile(&b->poll, 990) : 0, plain_duration);
	diff_pair(out, a && a->wait.cnt, a ? histogram_quantile(&a->wait, 990) : 0,
		  b && b->wait.cnt, b ? histogram_quantile(&b->wait, 990) : 0, plain_duration);
	plain_cut_type(name, sizeof(name), text, len, DIFF_NAME_COLUMNS);
	fprintf(out, " %s\n", name);
}

static void diff_text(FILE *out, const struct request *req, const struct diff *d)
{
	char text[PLAIN_SZ];

	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct report *r = d->report[side];

		fprintf(out, "%c  ", "AB"[side]);
		plain_write(out, r->recording->name, strlen(r->recording->name));
		fprintf(out, "  %s, %" PRIu64 " events, %" PRIu64 " lost%s%s\n",
			plain_duration(text, r->span_ns), r->coverage.events,
			coverage_lost(&r->coverage), r->has_polls ? "" : "; no polls recorded",
			r->has_waits ? "" : "; no wakes recorded");
		filter_text(out, &d->passed[side].filter);
	}
	fputs("\nTYPES, A > B; + more than doubled, - more than halved\n", out);
	fprintf(out, " %-20s %-20s %-20s %-20s %s\n", "     busy a second", "    polls a second",
		"      poll p99", "      wait p99", "type");
	for (uint64_t i = 0; i < diff_rows(req, d); i++)
		diff_text_row(out, d, &d->rows[i]);
	if (diff_rows(req, d) < d->rows_cnt)
		fprintf(out, "  %" PRIu64 " of %" PRIu32 ": --limit 0 prints all\n",
			diff_rows(req, d), d->rows_cnt);
}

static void diff_json_side(struct json *j, const struct diff *d, const struct diff_row *row,
			   int side)
{
	const struct type_row *t = row->type[side];

	json_key(j, side == DIFF_A ? "a" : "b");
	if (!t) {
		json_null(j);
		return;
	}
	json_map(j);
	json_put_u64(j, "busy_ns_per_s", diff_busy(d, row, side));
	json_put_u64(j, "polls_per_s", diff_rate(d, side, t->polls));
	json_put_u64(j, "polls", t->polls);
	json_key(j, "poll_p99_ns");
	if (t->poll.cnt)
		json_u64(j, histogram_quantile(&t->poll, 990));
	else
		json_null(j);
	json_key(j, "wait_p99_ns");
	if (t->wait.cnt)
		json_u64(j, histogram_quantile(&t->wait, 990));
	else
		json_null(j);
	json_map_end(j);
}

static void diff_json(const struct request *req, const struct diff *d, struct json *j)
{
	json_map(j);
	json_put_text(j, "schema", "dial9-view.diff/1");
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct report *r = d->report[side];

		json_key(j, side == DIFF_A ? "a" : "b");
		json_map(j);
		json_put_text(j, "name", r->recording->name);
		json_put_u64(j, "span_ns", r->span_ns);
		json_put_u64(j, "events", r->coverage.events);
		json_put_u64(j, "lost", coverage_lost(&r->coverage));
		json_key(j, "has_polls");
		json_bool(j, r->has_polls);
		json_key(j, "has_wakes");
		json_bool(j, r->has_waits);
		json_key(j, "filter");
		json_map(j);
		filter_json(j, &d->passed[side].filter);
		json_map_end(j);
		json_map_end(j);
	}
	json_put_u64(j, "known", d->rows_cnt);
	json_key(j, "types");
	json_list(j);
	for (uint64_t i = 0; i < diff_rows(req, d); i++) {
		size_t len;
		const char *name = diff_name(d, &d->rows[i], &len);

		json_map(j);
		json_put_bytes(j, "type", name, len);
		for (int side = 0; side < DIFF_SIDES; side++)
			diff_json_side(j, d, &d->rows[i], side);
		json_map_end(j);
	}
	json_list_end(j);
	json_map_end(j);
	json_line(j);
}

/* Reads the one recording of a set. */
static int diff_read(struct diff *d, int side, const struct request *req,
		     const struct traceset *set, struct progress *progress)
{
	const char *path = side == DIFF_A ? req->path : req->path_b;
	struct passed *p = &d->passed[side];
	struct report *r;

	if (set->recordings_cnt != 1)
		return notice(EXIT_USAGE,
			      "diff: %s holds %zu recordings: give one of its directories", path,
			      set->recordings_cnt);
	r = d->report[side] = report_new(&set->recordings[0], false);
	if (!r || passed_read(p, r, req, progress) != 0)
		return notice(EXIT_FINDINGS, "%s: out of memory", path);
	return 0;
}

int diff_run(const struct request *req, const struct traceset *set)
{
	struct traceset set_b = { 0 };
	struct diff *d = calloc(1, sizeof(*d)); /* filters are large */
	struct progress progress;
	struct json *json = NULL;
	int code, err;

	if (!d)
		return notice(EXIT_FINDINGS, "%s: out of memory", req->path);
	err = traceset_open(req->path_b, &set_b);
	if (err) {
		code = err == -ENODATA ? EXIT_PARTIAL : EXIT_FINDINGS;
		goto out;
	}
	progress_start(&progress, set->sz + set_b.sz);
	code = diff_read(d, DIFF_A, req, set, &progress);
	if (!code)
		code = diff_read(d, DIFF_B, req, &set_b, &progress);
	if (code)
		goto out;
	json = req->json ? json_open(stdout, true) : NULL;
	if (diff_join(d) != 0 || (req->json && !json)) {
		code = notice(EXIT_FINDINGS, "%s: out of memory", req->path);
		goto out;
	}
	if (json)
		diff_json(req, d, json);
	else
		diff_text(stdout, req, d);
	for (int side = 0; side < DIFF_SIDES; side++)
		if (d->report[side]->exit_code > code)
			code = d->report[side]->exit_code;
out:
	json_close(json);
	for (int side = 0; side < DIFF_SIDES; side++) {
		passed_done(&d->passed[side]);
		report_free(d->report[side]);
	}
	free(d->rows);
	free(d);
	traceset_close(&set_b);
	return code;
}
