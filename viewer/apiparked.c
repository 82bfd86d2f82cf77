// SPDX-License-Identifier: Apache-2.0
/* apiparked.c - parks that were added up while they were too many to be written one by one. */
#include "api.h"

#include "apicall.h"
#include "jsonout.h"
#include "summed.h"

#define API_BANDS_MAX 20000u

void api_parked(struct api_call *call)
{
	uint64_t from_ns, to_ns, shown = 0, over = 0;
	struct summed_iter it = { 0 };
	struct summed b;
	struct json *j;

	if (!api_span(call, &from_ns, &to_ns) || !(j = api_begin(call)))
		return;
	json_key(j, "bands");
	json_list(j);
	while (summed_next(call->c, &it, &b)) {
		if (b.lane == COLUMNS_NONE || b.to_ns <= from_ns || b.from_ns >= to_ns ||
		    b.to_ns <= call->base_ns)
			continue;
		if (shown == API_BANDS_MAX) {
			over++;
			continue;
		}
		shown++;
		if (b.from_ns < call->base_ns)
			b.from_ns = call->base_ns;
		json_list(j);
		json_u64(j, b.lane);
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
