// SPDX-License-Identifier: Apache-2.0
/* apispans.c - spans of dial9's tracing layer, by name: what a recording from within may hold. */
#include "api.h"

#include "apicall.h"
#include "jsonout.h"
#include "reply.h"
#include "scope.h"
#include "userspans.h"

#define API_SPAN_NAMES_MAX 500u

void api_spans(struct api_call *call)
{
	struct scope scope = { .c = call->c };
	struct userspans x;
	struct json *j;

	if (!api_span(call, &scope.from_ns, &scope.to_ns))
		return;
	if (userspans_of(call->c, &scope, &x) != 0) {
		reply_error(call->reply, 500, "out of memory");
	} else if ((j = api_begin(call))) {
		json_put_u64(j, "spans", x.spans);
		json_put_u64(j, "unmatched", x.unmatched);
		json_put_u64(j, "over_cap", x.over_cap);
		json_put_u64(j, "located", x.located);
		json_put_u64(j, "crowded", x.crowded_polls);
		json_put_u64(j, "most", x.most);
		api_poll(call, "most_poll", x.most_poll);
		json_put_u64(j, "names_cnt", x.cnt);
		json_key(j, "names");
		json_list(j);
		for (uint32_t i = 0; i < x.cnt && i < API_SPAN_NAMES_MAX; i++) {
			json_map(j);
			api_text(j, "name", call->c, x.at[i].name);
			json_put_u64(j, "count", x.at[i].cnt);
			json_put_u64(j, "sum", x.at[i].sum_ns);
			json_put_u64(j, "p50", x.at[i].p50_ns);
			json_put_u64(j, "p90", x.at[i].p90_ns);
			json_put_u64(j, "p99", x.at[i].p99_ns);
			json_put_u64(j, "max", x.at[i].max_ns);
			json_put_u64(j, "outliers", x.at[i].outliers);
			json_map_end(j);
		}
		json_list_end(j);
		api_end(call);
	}
	userspans_done(&x);
}
