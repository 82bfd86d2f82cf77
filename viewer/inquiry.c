// SPDX-License-Identifier: Apache-2.0
/* inquiry.c - from a listed recording through its columns to the analysis, and out. */
#include "inquiry.h"

#include "command.h"
#include "core/columns.h"
#include "core/index.h"
#include "indexed.h"
#include "jsonout.h"
#include "notice.h"
#include "plain.h"
#include "series.h"
#include "traceset.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void inquiry_head(FILE *out, const struct inquiry *q)
{
	plain_write(out, q->name, strlen(q->name));
	if (scope_has_any(&q->scope))
		fputs("  (what the filters let pass)", out);
	fputc('\n', out);
	recorded_text(out, &q->recorded);
}

static int inquiry_one(void *ctx, const struct request *req, const struct traceset_recording *rec,
		       struct json *json, struct progress *progress, int *exit_code)
{
	const struct inquiry_ops *ops = ctx;
	struct inquiry q = { .req = req, .name = rec->name };
	struct columns *c = NULL;
	bool is_partial = false;
	int err;

	if (indexed_open(rec, progress, &c, &is_partial) != 0) {
		*exit_code = EXIT_FINDINGS;
		return 0;
	}
	if (is_partial && *exit_code < EXIT_PARTIAL)
		*exit_code = EXIT_PARTIAL;
	q.c = c;
	q.base_ns = scope_base(c);
	q.own = calloc(1, ops->own_sz);
	err = q.own ? scope_init(&q.scope, c, req) : -ENOMEM;
	recorded_of(c, &q.recorded);
	if (err == 0)
		err = ops->work(&q);
	if (err == 0 && json) {
		json_map(json);
		json_put_text(json, "recording", q.name);
		recorded_json(json, &q.recorded);
		ops->json(json, &q);
		json_map_end(json);
	} else if (err == 0) {
		inquiry_head(stdout, &q);
		ops->text(stdout, &q);
	}
	if (q.own)
		ops->done(&q);
	free(q.own);
	scope_done(&q.scope);
	index_close(c);
	return err;
}

int inquiry_run(const struct request *req, const struct traceset *set,
		const struct inquiry_ops *ops)
{
	const struct series_ops series = { .schema = ops->schema, .one = inquiry_one };

	return series_run(req, set, &series, (void *)ops);
}

void inquiry_when(FILE *out, const struct inquiry *q, uint64_t ts_ns)
{
	char text[PLAIN_SZ];

	fputs(plain_since(text, q->base_ns, ts_ns), out);
}

void inquiry_duration(FILE *out, int width, bool is_known, uint64_t ns)
{
	char text[PLAIN_SZ];

	fprintf(out, " %*s", width, is_known ? plain_duration(text, ns) : "-");
}

void inquiry_type(FILE *out, const struct inquiry *q, uint32_t place)
{
	char name[4 * 60 + 1];
	size_t len;
	const char *text = columns_text(q->c, place, &len);

	plain_cut_type(name, sizeof(name), len ? text : "-", len ? len : 1, 60);
	fputs(name, out);
}

void inquiry_json_type(struct json *j, const struct inquiry *q, const char *key, uint32_t place)
{
	size_t len;
	const char *text = columns_text(q->c, place, &len);

	if (len)
		json_put_bytes(j, key, text, len);
	else
		json_put_null(j, key);
}

static bool inquiry_counts(const struct columns *c, uint32_t poll)
{
	return c->lanes.kind[c->polls.lane[poll]] == COLUMNS_WORKER;
}

const char *inquiry_handle(char to[INQUIRY_HANDLE_SZ], const struct columns *c, uint32_t poll)
{
	uint32_t task = poll == COLUMNS_NONE ? COLUMNS_NONE : c->polls.task[poll], nr = 0;

	if (task == COLUMNS_NONE) {
		snprintf(to, INQUIRY_HANDLE_SZ, "-");
		return to;
	}
	for (uint32_t i = c->tasks.polls_from[task]; i < c->tasks.polls_to[task]; i++) {
		nr += inquiry_counts(c, c->task_polls.poll[i]);
		if (c->task_polls.poll[i] == poll)
			break;
	}
	if (inquiry_counts(c, poll))
		snprintf(to, INQUIRY_HANDLE_SZ, "p:%" PRIu64 ".%" PRIu32, c->tasks.id[task], nr);
	else
		snprintf(to, INQUIRY_HANDLE_SZ, "t:%" PRIu64, c->tasks.id[task]);
	return to;
}

uint32_t inquiry_poll(const struct columns *c, uint64_t task, uint32_t nr)
{
	uint32_t row = columns_task(c, task);

	if (row == COLUMNS_NONE)
		return COLUMNS_NONE;
	for (uint32_t i = c->tasks.polls_from[row]; i < c->tasks.polls_to[row]; i++)
		if (inquiry_counts(c, c->task_polls.poll[i]) && --nr == 0)
			return c->task_polls.poll[i];
	return COLUMNS_NONE;
}

uint32_t inquiry_rows(const struct inquiry *q, uint32_t cnt)
{
	return q->req->limit && q->req->limit < cnt ? (uint32_t)q->req->limit : cnt;
}

void inquiry_more(FILE *out, const struct inquiry *q, uint32_t cnt)
{
	uint32_t rows = inquiry_rows(q, cnt);

	if (rows < cnt)
		fprintf(out, "  %" PRIu32 " of %" PRIu32 ": --limit 0 prints all\n", rows, cnt);
}
