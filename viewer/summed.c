// SPDX-License-Identifier: Apache-2.0
/* summed.c - records of one name, their fields by name. */
#include "summed.h"

#include "core/columns.h"

#include "format/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool summed_is(const struct columns *c, uint32_t text, const char *want)
{
	size_t len;
	const char *p = columns_text(c, text, &len);

	return len == strlen(want) && memcmp(p, want, len) == 0;
}

/* false: its window is empty. */
static bool summed_read(const struct columns *c, uint32_t record, struct summed *ret)
{
	struct columns_iter it = { 0 };
	struct columns_value v;
	uint64_t worker = UINT64_MAX;
	const struct {
		const char *name;
		uint64_t *to;
	} fields[] = { { "from_ns", &ret->from_ns },	   { "to_ns", &ret->to_ns },
		       { "parks", &ret->parks },	   { "parked_ns", &ret->parked_ns },
		       { "delayed_ns", &ret->delayed_ns }, { "worker_id", &worker } };

	*ret = (struct summed){ 0 };
	while (columns_record_next(c, record, &it, &v))
		for (size_t i = 0; v.type != D9_T_NONE && i < sizeof(fields) / sizeof(fields[0]);
		     i++)
			if (summed_is(c, v.name, fields[i].name))
				*fields[i].to = v.u;
	ret->lane = worker <= UINT32_MAX ? columns_worker(c, (uint32_t)worker) : COLUMNS_NONE;
	return ret->to_ns > ret->from_ns;
}

bool summed_next(const struct columns *c, struct summed_iter *it, struct summed *ret)
{
	if (!it->schema)
		while (++it->schema <= c->schemas.cnt &&
		       !summed_is(c, c->schemas.name[it->schema - 1], "agent:Parks"))
			;
	if (it->schema > c->schemas.cnt)
		return false;
	while (it->record++ < c->records.cnt)
		if (c->records.schema[it->record - 1] == it->schema - 1 &&
		    summed_read(c, it->record - 1, ret))
			return true;
	it->record = c->records.cnt; /* asked again, it says the same */
	return false;
}

uint64_t summed_part(const struct summed *s, uint64_t value, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t a = s->from_ns > from_ns ? s->from_ns : from_ns,
		 b = s->to_ns < to_ns ? s->to_ns : to_ns;

	if (a >= b)
		return 0;
	return (uint64_t)((unsigned __int128)value * (b - a) / (s->to_ns - s->from_ns));
}

const char *summed_name(const struct summed *s, char text[SUMMED_NAME_SZ])
{
	uint64_t span_ns = s->to_ns - s->from_ns;
	uint64_t parked_ns = s->parked_ns < span_ns ? s->parked_ns : span_ns;

	snprintf(text, SUMMED_NAME_SZ, "parks added up: %u %% of this",
		 (unsigned int)((unsigned __int128)parked_ns * 100 / span_ns));
	return text;
}

int summed_lanes(const struct columns *c, uint64_t from_ns, uint64_t to_ns, struct summed **ret)
{
	struct summed *all = calloc(c->lanes.cnt + 1u, sizeof(*all)), s;
	struct summed_iter it = { 0 };

	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->lanes.cnt; i++)
		all[i] = (struct summed){ .lane = i, .from_ns = from_ns, .to_ns = to_ns };
	while (summed_next(c, &it, &s)) {
		if (s.lane == COLUMNS_NONE)
			continue;
		all[s.lane].parks += summed_part(&s, s.parks, from_ns, to_ns);
		all[s.lane].parked_ns += summed_part(&s, s.parked_ns, from_ns, to_ns);
		all[s.lane].delayed_ns += summed_part(&s, s.delayed_ns, from_ns, to_ns);
	}
	*ret = all;
	return 0;
}
