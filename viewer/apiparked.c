// SPDX-License-Identifier: Apache-2.0
/* apiparked.c - parks that were added up while they were too many to be written one by one. */
#include "api.h"

#include "apicall.h"
#include "jsonout.h"

#include "format/trace.h"

#include <string.h>

#define API_BANDS_MAX 20000u

struct api_band {
	uint64_t worker, from_ns, to_ns, parks, parked_ns, delayed_ns;
	bool has_worker;
};

static bool api_is(const struct columns *c, uint32_t text, const char *want)
{
	size_t len;
	const char *p = columns_text(c, text, &len);

	return len == strlen(want) && memcmp(p, want, len) == 0;
}

static struct api_band api_band_of(const struct columns *c, uint32_t record)
{
	struct api_band b = { 0 };
	struct columns_iter it = { 0 };
	struct columns_value v;
	const struct {
		const char *name;
		uint64_t *to;
	} fields[] = { { "from_ns", &b.from_ns },	{ "to_ns", &b.to_ns },
		       { "parks", &b.parks },		{ "parked_ns", &b.parked_ns },
		       { "delayed_ns", &b.delayed_ns }, { "worker_id", &b.worker } };

	while (columns_record_next(c, record, &it, &v))
		for (size_t i = 0; v.type != D9_T_NONE && i < sizeof(fields) / sizeof(fields[0]);
		     i++)
			if (api_is(c, v.name, fields[i].name)) {
				*fields[i].to = v.u;
				b.has_worker |= fields[i].to == &b.worker;
			}
	return b;
}

void api_parked(struct api_call *call)
{
	const struct columns *c = call->c;
	uint64_t from_ns, to_ns, shown = 0, over = 0;
	uint32_t schema = 0, lane;
	struct json *j;

	if (!api_span(call, &from_ns, &to_ns) || !(j = api_begin(call)))
		return;
	while (schema < c->schemas.cnt && !api_is(c, c->schemas.name[schema], "agent:Parks"))
		schema++;
	json_key(j, "bands");
	json_list(j);
	for (uint32_t i = 0; schema < c->schemas.cnt && i < c->records.cnt; i++) {
		struct api_band b;

		if (c->records.schema[i] != schema)
			continue;
		b = api_band_of(c, i);
		lane = b.has_worker && b.worker <= UINT32_MAX
			       ? columns_worker(c, (uint32_t)b.worker)
			       : COLUMNS_NONE;
		if (lane == COLUMNS_NONE || b.to_ns <= b.from_ns || b.to_ns <= from_ns ||
		    b.from_ns >= to_ns || b.to_ns <= call->base_ns)
			continue;
		if (shown == API_BANDS_MAX) {
			over++;
			continue;
		}
		shown++;
		if (b.from_ns < call->base_ns)
			b.from_ns = call->base_ns;
		json_list(j);
		json_u64(j, lane);
		json_u64(j, b.from_ns - call->base_ns);
		json_u64(j, b.to_ns - call->base_ns);
		json_u64(j, b.parks);
		json_u64(j, b.parked_ns);
		json_u64(j, b.delayed_ns);
		json_list_end(j);
	}
	json_list_end(j);
	json_put_u64(j, "over_cap", over);
	api_end(call);
}
