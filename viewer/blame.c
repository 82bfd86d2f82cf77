// SPDX-License-Identifier: Apache-2.0
/* blame.c - harm added up by type, and the most harmful polls, as text and JSON. */
#include "blame.h"

#include "command.h"
#include "jsonout.h"
#include "keep.h"
#include "plain.h"
#include "report.h"
#include "study.h"
#include "typetable.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct blame_type {
	uint64_t ns, victims, polls; /* harm done, waits it delayed, polls that did any */
	uint64_t suffered_ns, waits; /* its tasks' own time behind polls, in so many waits */
	uint32_t type;
};

struct blame {
	struct blame_type *types; /* by row, then sorted; NULL until the first wait or harm */
	uint32_t types_cnt;
	struct keep kept; /* struct behind_harm */
	uint64_t ns;
};

static int blame_by_harm(const void *left, const void *right)
{
	const struct behind_harm *a = left, *b = right;
	int order = (a->ns < b->ns) - (a->ns > b->ns);

	if (order == 0)
		order = (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
	return order ? order : (a->worker > b->worker) - (a->worker < b->worker);
}

static struct blame_type *blame_type(struct study *s, uint32_t type)
{
	struct blame *own = s->own;

	if (!own->types) {
		keep_init(&own->kept, sizeof(struct behind_harm), s->req->limit, blame_by_harm);
		own->types = calloc(TYPETABLE_MAX, sizeof(*own->types));
	}
	if (!own->types || type >= TYPETABLE_MAX) {
		s->err = own->types ? s->err : -ENOMEM;
		return NULL;
	}
	return &own->types[type];
}

static void blame_wait(struct study *s, const struct watch_wait *w,
		       const struct behind_parts *parts)
{
	struct blame_type *t = blame_type(s, w->type);

	if (!t)
		return;
	t->waits += parts->ns[WATCH_BUSY] > 0;
	t->suffered_ns += parts->ns[WATCH_BUSY];
}

static void blame_harm(struct study *s, const struct behind_harm *h)
{
	struct blame_type *t = blame_type(s, h->type);
	struct blame *own = s->own;

	if (!t)
		return;
	t->ns += h->ns;
	t->victims += h->victims;
	t->polls++;
	own->ns += h->ns;
	if (keep_add(&own->kept, h) != 0)
		s->err = -ENOMEM;
}

static int blame_compare_types(const void *left, const void *right)
{
	const struct blame_type *a = left, *b = right;
	int order = (a->ns < b->ns) - (a->ns > b->ns);

	if (order == 0)
		order = (a->suffered_ns < b->suffered_ns) - (a->suffered_ns > b->suffered_ns);
	return order ? order : (a->type > b->type) - (a->type < b->type);
}

static int blame_finish(struct study *s)
{
	struct blame *own = s->own;

	if (!own->types)
		return 0;
	for (uint32_t i = 0; i < TYPETABLE_MAX; i++) {
		own->types[i].type = i;
		if (own->types[i].polls || own->types[i].waits)
			own->types[own->types_cnt++] = own->types[i];
	}
	qsort(own->types, own->types_cnt, sizeof(*own->types), blame_compare_types);
	keep_sort(&own->kept);
	return 0;
}

static void blame_text(FILE *out, struct study *s)
{
	const struct blame *own = s->own;
	char text[PLAIN_SZ], handle[STUDY_HANDLE_SZ];

	if (!s->report->has_waits || !s->report->has_polls) {
		fputs("\nBLAME: unknown, this recording holds no wakes\n", out);
		return;
	}
	fprintf(out, "\nBLAME: tasks stood ready behind polls of others for %s\n",
		plain_duration(text, own->ns));
	fprintf(out, "  %8s %7s %8s %7s %8s  %s\n", "harm", "share", "polls", "waits", "suffered",
		"type");
	for (uint32_t i = 0; i < study_rows(s, own->types_cnt); i++) {
		const struct blame_type *t = &own->types[i];

		fputc(' ', out);
		study_duration(out, 8, true, t->ns);
		fprintf(out, " %7s %8" PRIu64 " %7" PRIu64, plain_share(text, t->ns, own->ns), t->polls,
			t->victims);
		study_duration(out, 8, true, t->suffered_ns);
		fputs("  ", out);
		study_type(out, s, t->type, 60);
		fputc('\n', out);
	}
	study_more(out, s, own->types_cnt);
	fprintf(out, "\nTHE MOST HARMFUL POLLS\n  %-16s %8s %7s %8s %13s %5s  %s\n", "poll", "harm",
		"waits", "length", "at", "on", "type");
	for (uint32_t i = 0; i < own->kept.cnt; i++) {
		const struct behind_harm *h = keep_at(&own->kept, i);

		fprintf(out, "  %-16s", study_poll_handle(handle, h->task, h->nr));
		study_duration(out, 8, true, h->ns);
		fprintf(out, " %7" PRIu64, h->victims);
		study_duration(out, 8, true, h->end_ns - h->start_ns);
		fputc(' ', out);
		study_when(out, s, h->start_ns);
		snprintf(handle, sizeof(handle), "w%" PRIu32, h->worker);
		fprintf(out, " %5s  ", handle);
		study_type(out, s, h->type, 60);
		fputc('\n', out);
	}
	study_more(out, s, own->kept.seen);
}

static void blame_json(struct json *j, struct study *s)
{
	const struct blame *own = s->own;
	char handle[STUDY_HANDLE_SZ];

	if (s->report->has_waits && s->report->has_polls)
		json_put_u64(j, "harm_ns", own->ns);
	else
		json_put_null(j, "harm_ns");
	json_key(j, "types");
	json_list(j);
	for (uint32_t i = 0; i < study_rows(s, own->types_cnt); i++) {
		const struct blame_type *t = &own->types[i];

		json_map(j);
		study_json_type(j, s, "type", t->type);
		json_put_u64(j, "harm_ns", t->ns);
		json_put_u64(j, "polls", t->polls);
		json_put_u64(j, "waits_delayed", t->victims);
		json_put_u64(j, "suffered_ns", t->suffered_ns);
		json_put_u64(j, "waits_suffered", t->waits);
		json_map_end(j);
	}
	json_list_end(j);
	json_key(j, "polls");
	json_list(j);
	for (uint32_t i = 0; i < own->kept.cnt; i++) {
		const struct behind_harm *h = keep_at(&own->kept, i);

		json_map(j);
		json_put_text(j, "poll", study_poll_handle(handle, h->task, h->nr));
		json_put_u64(j, "worker", h->worker);
		study_json_type(j, s, "type", h->type);
		json_put_u64(j, "start_ns", h->start_ns);
		json_put_u64(j, "duration_ns", h->end_ns - h->start_ns);
		json_put_u64(j, "harm_ns", h->ns);
		json_put_u64(j, "waits_delayed", h->victims);
		json_map_end(j);
	}
	json_list_end(j);
}

static void blame_done(struct study *s)
{
	struct blame *own = s->own;

	free(own->types);
	keep_done(&own->kept);
}

int blame_run(const struct request *req, const struct traceset *set)
{
	static const struct study_ops ops = {
		.schema = "dial9-view.blame/1",
		.own_sz = sizeof(struct blame),
		.with_behind = true,
		.wait = blame_wait,
		.harm = blame_harm,
		.finish = blame_finish,
		.text = blame_text,
		.json = blame_json,
		.done = blame_done,
	};

	return study_run(req, set, &ops);
}
