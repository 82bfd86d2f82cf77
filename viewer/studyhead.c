// SPDX-License-Identifier: Apache-2.0
/* studyhead.c - name, span, coverage and filter, as text and as JSON. */
#include "studyhead.h"

#include "jsonout.h"
#include "plain.h"
#include "report.h"
#include "study.h"
#include "traceset.h"
#include "workertable.h"

#include <inttypes.h>
#include <string.h>

struct studyhead_fact {
	const char *name;
	bool is_recorded, is_partial;
};

#define STUDYHEAD_FACTS 5

static void studyhead_facts(const struct study *s, struct studyhead_fact ret[STUDYHEAD_FACTS])
{
	const struct report *r = s->report;
	uint64_t delays = 0;

	for (uint32_t i = 0; i < r->workers_cnt; i++)
		delays += workertable_get(r->account.workers, r->workers[i])->delays_known;
	ret[0] = (struct studyhead_fact){ "polls", r->has_polls,
					  r->facts.partial[D9_EV_POLL_START] };
	ret[1] = (struct studyhead_fact){ "wakes", r->has_waits, r->facts.partial[D9_EV_WAKE] };
	ret[2] = (struct studyhead_fact){ "off_cpu", r->has_off, false };
	ret[3] = (struct studyhead_fact){ "kernel_delay", delays > 0, false };
	ret[4] = (struct studyhead_fact){ "cpu_samples", r->account.samples > 0, false };
}

void studyhead_text(FILE *out, const struct study *s)
{
	const struct report *r = s->report;
	struct studyhead_fact facts[STUDYHEAD_FACTS];
	char text[PLAIN_SZ];
	const char *sep = "";

	plain_write(out, r->recording->name, strlen(r->recording->name));
	fprintf(out, "  %s, %" PRIu64 " events\n", plain_duration(text, r->span_ns),
		r->coverage.events);
	studyhead_facts(s, facts);
	fputs("  coverage  ", out);
	for (int i = 0; i < STUDYHEAD_FACTS; i++)
		if (facts[i].is_recorded) {
			fprintf(out, "%s%s%s", sep, facts[i].name,
				facts[i].is_partial ? " (partial)" : "");
			sep = ", ";
		}
	sep = "; unknown: ";
	for (int i = 0; i < STUDYHEAD_FACTS; i++)
		if (!facts[i].is_recorded) {
			fprintf(out, "%s%s", sep, facts[i].name);
			sep = ", ";
		}
	fprintf(out, "; lost %" PRIu64 " events", coverage_lost(&r->coverage));
	if (r->coverage.holes)
		fprintf(out, ", %" PRIu32 " holes", r->coverage.holes);
	fputc('\n', out);
	filter_text(out, &s->filter);
}

void studyhead_json(struct json *j, const struct study *s)
{
	const struct report *r = s->report;
	struct studyhead_fact facts[STUDYHEAD_FACTS];

	json_put_text(j, "name", r->recording->name);
	json_put_u64(j, "first_ns", r->coverage.first_ns);
	json_put_u64(j, "last_ns", r->coverage.last_ns);
	json_put_u64(j, "events", r->coverage.events);
	json_key(j, "coverage");
	json_map(j);
	studyhead_facts(s, facts);
	for (int i = 0; i < STUDYHEAD_FACTS; i++) {
		json_key(j, facts[i].name);
		json_bool(j, facts[i].is_recorded);
	}
	json_key(j, "partial");
	json_list(j);
	for (int i = 0; i < STUDYHEAD_FACTS; i++)
		if (facts[i].is_partial)
			json_text(j, facts[i].name);
	json_list_end(j);
	json_put_u64(j, "lost_events", coverage_lost(&r->coverage));
	json_put_u64(j, "holes", r->coverage.holes);
	json_map_end(j);
	json_key(j, "filter");
	json_map(j);
	filter_json(j, &s->filter);
	json_map_end(j);
}
