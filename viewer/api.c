// SPDX-License-Identifier: Apache-2.0
/* api.c - from a path to the function that answers it, with its recording held meanwhile. */
#include "api.h"

#include "apicall.h"
#include "held.h"
#include "reply.h"

#include <string.h>

static const struct {
	const char *path;
	bool of_recording; /* r=N says which */
	void (*answer)(struct api_call *call);
} api_table[] = {
	{ "/api/trace", false, api_trace },  { "/api/recording", true, api_recording },
	{ "/api/cells", true, api_cells },   { "/api/strip", true, api_strip },
	{ "/api/at", true, api_at },	     { "/api/rows", true, api_rows },
	{ "/api/wakes", true, api_wakes },   { "/api/range", true, api_range },
	{ "/api/heat", true, api_heat },     { "/api/flame", true, api_flame },
	{ "/api/poll", true, api_one_poll }, { "/api/task", true, api_task },
	{ "/api/worst", true, api_worst },   { "/api/search", true, api_search },
	{ "/api/queues", true, api_queues }, { "/api/records", true, api_records },
	{ "/api/levels", true, api_levels }, { "/api/issues", false, api_issues },
	{ "/api/spans", true, api_spans },	{ "/api/parked", true, api_parked },
	{ "/api/glimpses", true, api_glimpses }, { "/api/busy", true, api_busy },
	{ "/api/pool", true, api_pool },	     { "/api/timed", true, api_timed },
	{ "/api/events", true, api_events },
};

void api_answer(struct api_call *call, const char *path)
{
	struct held_columns *hc = NULL;
	uint64_t nr = 0;
	size_t i = 0;

	while (i < sizeof(api_table) / sizeof(api_table[0]) && strcmp(path, api_table[i].path) != 0)
		i++;
	if (i == sizeof(api_table) / sizeof(api_table[0])) {
		api_missing(call, "no such question: see viewer/PAGE.md");
		return;
	}
	if (api_table[i].of_recording && !call->c) {
		if (!api_number(call, "r", 0, HELD_RECORDINGS_MAX - 1, &nr))
			return;
		hc = held_get(call->held, (uint32_t)nr);
		if (!hc) {
			api_missing(call, "no such recording, or it is not read yet");
			return;
		}
		call->c = held_columns(hc);
		call->generation = held_generation(hc);
	}
	call->base_ns = call->c ? call->c->odd.first_ns : 0;
	api_table[i].answer(call);
	api_done(call);
	held_put(hc);
}
