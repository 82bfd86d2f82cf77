// SPDX-License-Identifier: Apache-2.0
/* filter.c - each question of a filter, answered in constant time. */
#include "filter.h"

#include "command.h"
#include "jsonout.h"
#include "labels.h"
#include "plain.h"
#include "tasktable.h"
#include "format/trace.h"

#include <inttypes.h>
#include <string.h>

void filter_init(struct filter *f, const struct request *req)
{
	memset(f, 0, sizeof(*f));
	f->req = req;
	f->from_ns = req->has_from ? req->from_ns : 0;
	f->to_ns = req->has_to ? req->to_ns : UINT64_MAX;
}

void filter_base(struct filter *f, uint64_t first_ns)
{
	if (f->req->has_from && f->req->from_relative)
		f->from_ns = first_ns + f->req->from_ns;
	if (f->req->has_to && f->req->to_relative)
		f->to_ns = first_ns + f->req->to_ns;
}

static void filter_add_workers(struct filter *f, struct d9_str ids)
{
	for (uint32_t at = 0; at < ids.len; at++) {
		uint32_t id = 0;

		for (; at < ids.len && ids.p[at] >= '0' && ids.p[at] <= '9'; at++)
			if (id < MOMENT_WORKERS_MAX)
				id = id * 10 + (uint32_t)(ids.p[at] - '0');
		if (id < MOMENT_WORKERS_MAX)
			f->workers[id / 8] |= (uint8_t)(1u << id % 8);
	}
}

void filter_event(struct filter *f, const struct d9_ev *ev)
{
	const struct d9_value *map;
	struct d9_iter it = { 0 };
	struct d9_pair pair;
	size_t len = f->req->runtime ? strlen(f->req->runtime) : 0;

	if (!f->req->runtime || ev->schema->kind != D9_EV_SEGMENT_METADATA)
		return;
	map = d9_val(ev, D9F_segment_metadata_entries);
	while (map && map->type == D9_T_MAP && d9_map_next(map, &it, &pair))
		if (pair.key.len == len + 8 && memcmp(pair.key.p, "runtime.", 8) == 0 &&
		    memcmp(pair.key.p + 8, f->req->runtime, len) == 0)
			filter_add_workers(f, pair.val);
}

bool filter_has_any(const struct filter *f)
{
	const struct request *r = f->req;

	return r->has_from || r->has_to || r->has_task || r->has_worker || r->type || r->runtime;
}

bool filter_time(const struct filter *f, uint64_t ts_ns)
{
	return ts_ns >= f->from_ns && ts_ns <= f->to_ns;
}

bool filter_worker(const struct filter *f, uint32_t worker)
{
	if (f->req->has_worker && worker != f->req->worker)
		return false;
	return !f->req->runtime ||
	       (worker < MOMENT_WORKERS_MAX && (f->workers[worker / 8] >> worker % 8 & 1));
}

bool filter_task(const struct filter *f, uint64_t task)
{
	return !f->req->has_task || task == f->req->task;
}

bool filter_type(struct filter *f, const struct typetable *types, const struct labels *labels,
		 uint32_t row)
{
	const char *text;
	size_t len;

	if (!f->req->type)
		return true;
	if (row == TASK_TYPE_NONE || row >= TYPETABLE_MAX)
		return false;
	if (f->types[row] == 0) {
		text = labels_text(labels, typetable_row(types, row)->label, &len);
		f->types[row] = memmem(text, len, f->req->type, strlen(f->req->type)) ? 1 : 2;
	}
	return f->types[row] == 1;
}

bool filter_passes(struct filter *f, const struct typetable *types, const struct labels *labels,
		   uint32_t worker, uint64_t task, uint32_t row, uint64_t ts_ns)
{
	return filter_time(f, ts_ns) && filter_worker(f, worker) && filter_task(f, task) &&
	       filter_type(f, types, labels, row);
}

void filter_text(FILE *out, const struct filter *f)
{
	const struct request *q = f->req;

	if (!filter_has_any(f))
		return;
	fputs("  filter   ", out);
	if (q->has_from)
		fprintf(out, " from %" PRIu64, f->from_ns);
	if (q->has_to)
		fprintf(out, " to %" PRIu64, f->to_ns);
	if (q->has_task)
		fprintf(out, " task t:%" PRIu64, q->task);
	if (q->has_worker)
		fprintf(out, " worker w%" PRIu32, q->worker);
	if (q->type) {
		fputs(" type ", out);
		plain_write(out, q->type, strlen(q->type));
	}
	if (q->runtime) {
		fputs(" runtime ", out);
		plain_write(out, q->runtime, strlen(q->runtime));
	}
	fputc('\n', out);
}

void filter_json(struct json *j, const struct filter *f)
{
	const struct request *q = f->req;

	if (q->has_from)
		json_put_u64(j, "from_ns", f->from_ns);
	if (q->has_to)
		json_put_u64(j, "to_ns", f->to_ns);
	if (q->has_task)
		json_put_u64(j, "task", q->task);
	if (q->has_worker)
		json_put_u64(j, "worker", q->worker);
	if (q->type)
		json_put_text(j, "type", q->type);
	if (q->runtime)
		json_put_text(j, "runtime", q->runtime);
}
