// SPDX-License-Identifier: Apache-2.0
/* hist.c - two distributions by powers of two, with their quantiles, as bars and JSON. */
#include "hist.h"

#include "command.h"
#include "histogram.h"
#include "jsonout.h"
#include "plain.h"
#include "report.h"
#include "study.h"
#include "workertable.h"

#include <errno.h>
#include <inttypes.h>

#define HIST_BAR_COLUMNS 50u

struct hist_one {
	uint64_t powers[64]; /* [n]: from 2^n up to 2^(n+1) ns; 0 counts as 1 */
	struct histogram values;
};

struct hist {
	struct hist_one polls, waits;
};

static const unsigned int hist_permilles[] = { 500, 900, 990, 999 };
static const char *const hist_names[] = { "p50", "p90", "p99", "p99.9" };
#define HIST_QUANTILES 4

static void hist_add(struct study *s, struct hist_one *h, uint64_t ns)
{
	h->powers[63 - __builtin_clzll(ns | 1)]++;
	if (histogram_add(&h->values, ns) != 0)
		s->err = -ENOMEM;
}

static void hist_poll(struct study *s, uint32_t worker, const struct worker_poll *p,
		      uint64_t end_ns)
{
	struct hist *own = s->own;

	(void)worker;
	hist_add(s, &own->polls, end_ns - p->start_ns);
}

static void hist_wait(struct study *s, const struct watch_wait *w,
		      const struct behind_parts *parts)
{
	struct hist *own = s->own;

	(void)parts;
	hist_add(s, &own->waits, w->to_ns - w->from_ns);
}

static void hist_text_one(FILE *out, const char *name, bool is_known, const struct hist_one *h)
{
	char from[PLAIN_SZ], share[PLAIN_SZ];
	uint64_t most = 1;
	int first = 63, last = 0;

	if (!is_known) {
		fprintf(out, "\n%s: unknown, not recorded\n", name);
		return;
	}
	fprintf(out, "\n%s: %" PRIu64, name, h->values.cnt);
	for (int i = 0; i < HIST_QUANTILES && h->values.cnt; i++)
		fprintf(out, ", %s %s", hist_names[i],
			plain_duration(from, histogram_quantile(&h->values, hist_permilles[i])));
	if (h->values.cnt)
		fprintf(out, ", max %s", plain_duration(from, h->values.max));
	fputc('\n', out);
	for (int i = 0; i < 64; i++) {
		if (!h->powers[i])
			continue;
		first = i < first ? i : first;
		last = i;
		most = h->powers[i] > most ? h->powers[i] : most;
	}
	for (int i = first; i <= last; i++) {
		/* whoever occurs has a bar, however small */
		unsigned int bar = (unsigned int)((h->powers[i] * HIST_BAR_COLUMNS + most - 1) / most);

		fprintf(out, "  from %8s %10" PRIu64 " %7s%s%.*s\n",
			plain_duration(from, 1ull << i), h->powers[i],
			plain_share(share, h->powers[i], h->values.cnt), bar ? "  " : "", (int)bar,
			"##################################################");
	}
}

static void hist_text(FILE *out, struct study *s)
{
	const struct hist *own = s->own;

	hist_text_one(out, "POLLS", s->report->has_polls, &own->polls);
	hist_text_one(out, "WAITS from wake to poll", s->report->has_waits, &own->waits);
}

static void hist_json_one(struct json *j, const char *key, bool is_known, const struct hist_one *h)
{
	char name[16];

	if (!is_known) {
		json_put_null(j, key);
		return;
	}
	json_key(j, key);
	json_map(j);
	json_put_u64(j, "count", h->values.cnt);
	json_put_u64(j, "sum_ns", h->values.sum);
	for (int i = 0; i < HIST_QUANTILES; i++) {
		snprintf(name, sizeof(name), "%s_ns", hist_names[i]);
		json_put_u64(j, name, histogram_quantile(&h->values, hist_permilles[i]));
	}
	json_put_u64(j, "max_ns", h->values.cnt ? h->values.max : 0);
	json_key(j, "buckets");
	json_list(j);
	for (int i = 0; i < 64; i++) {
		if (!h->powers[i])
			continue;
		json_map(j);
		json_put_u64(j, "from_ns", i ? 1ull << i : 0);
		json_put_u64(j, "count", h->powers[i]);
		json_map_end(j);
	}
	json_list_end(j);
	json_map_end(j);
}

static void hist_json(struct json *j, struct study *s)
{
	const struct hist *own = s->own;

	hist_json_one(j, "polls", s->report->has_polls, &own->polls);
	hist_json_one(j, "waits", s->report->has_waits, &own->waits);
}

static void hist_done(struct study *s)
{
	struct hist *own = s->own;

	histogram_done(&own->polls.values);
	histogram_done(&own->waits.values);
}

int hist_run(const struct request *req, const struct traceset *set)
{
	static const struct study_ops ops = {
		.schema = "dial9-view.hist/1",
		.own_sz = sizeof(struct hist),
		.poll = hist_poll,
		.wait = hist_wait,
		.text = hist_text,
		.json = hist_json,
		.done = hist_done,
	};

	return study_run(req, set, &ops);
}
