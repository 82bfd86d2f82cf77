// SPDX-License-Identifier: Apache-2.0
/* apilevels.c - what was recorded when, so that the page never shows "not probed" as "idle". */
#include "api.h"

#include "apicall.h"
#include "jsonout.h"
#include "levels.h"

#define API_NAMES_MAX 64u /* types named of one span; `dropped_cnt` counts all */

static void api_span_list(struct api_call *call, const struct levels *l)
{
	struct json *j = call->j;

	json_key(j, "spans");
	json_list(j);
	for (uint32_t i = 0; i < l->spans_cnt; i++) {
		const struct levels_span *s = &l->spans[i];
		uint32_t cnt = s->dropped_to - s->dropped_from;

		json_map(j);
		api_rel(j, "from", call, s->from_ns);
		api_rel(j, "to", call, s->to_ns);
		api_text(j, "level", call->c, s->level);
		api_text(j, "ends", call->c, s->ends);
		api_text(j, "reason", call->c, s->reason);
		json_key(j, "polls");
		json_bool(j, s->has_polls);
		json_key(j, "wakes");
		json_bool(j, s->has_wakes);
		json_put_u64(j, "dropped_cnt", cnt);
		json_key(j, "dropped");
		json_list(j);
		for (uint32_t k = 0; k < cnt && k < API_NAMES_MAX; k++) {
			size_t len;
			const char *p =
				columns_text(call->c, l->dropped[s->dropped_from + k], &len);

			json_bytes(j, p, len);
		}
		json_list_end(j);
		json_map_end(j);
	}
	json_list_end(j);
}

static void api_loss_list(struct api_call *call, const struct levels *l)
{
	struct json *j = call->j;

	json_key(j, "losses");
	json_list(j);
	for (uint32_t i = 0; i < l->losses_cnt; i++) {
		json_map(j);
		api_rel(j, "from", call, l->losses[i].from_ns);
		api_rel(j, "to", call, l->losses[i].to_ns);
		api_text(j, "kind", call->c, l->losses[i].kind);
		api_text(j, "cause", call->c, l->losses[i].cause);
		json_put_u64(j, "count", l->losses[i].cnt);
		json_map_end(j);
	}
	json_list_end(j);
}

void api_levels(struct api_call *call)
{
	struct levels l;
	struct json *j;

	if (levels_of(call->c, &l) == 0 && (j = api_begin(call))) {
		api_span_list(call, &l);
		api_loss_list(call, &l);
		json_key(j, "holes");
		json_list(j);
		for (uint32_t i = 0; i < l.holes_cnt; i++) {
			json_map(j);
			api_rel(j, "from", call, l.holes[i].from_ns);
			api_rel(j, "to", call, l.holes[i].to_ns);
			api_text(j, "before", call->c, call->c->segments.name[l.holes[i].before]);
			api_text(j, "after", call->c, call->c->segments.name[l.holes[i].after]);
			json_key(j, "missing");
			json_bool(j, l.holes[i].is_missing);
			json_map_end(j);
		}
		json_list_end(j);
		json_put_u64(j, "over_cap", l.over_cap);
		api_end(call);
	}
	levels_done(&l);
}
