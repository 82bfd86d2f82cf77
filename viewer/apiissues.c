// SPDX-License-Identifier: Apache-2.0
/* apiissues.c - the findings; the answer waits while they are worked out, the server does not. */
#include "api.h"

#include "apicall.h"
#include "finder.h"
#include "held.h"
#include "reply.h"

#include <stdint.h>

void api_issues(struct api_call *call)
{
	struct held_status s;
	uint64_t key = 1;
	char *text = NULL;
	size_t sz = 0;

	/* who has waited gets what came of it: a recording that grows would let him wait for ever */
	if (call->has_waited)
		key = FINDER_NEWEST;
	for (uint32_t i = 0; !call->has_waited && held_status(call->held, i, &s); i++)
		key += s.generation;
	switch (finder_get(call->finder, key, &text, &sz)) {
	case FINDER_READY:
		*call->reply = (struct reply){
			.status = 200, .type = "application/json", .body = text, .body_sz = sz
		};
		break;
	case FINDER_WORKING:
		call->reply->is_later = true;
		break;
	case FINDER_FAILED:
		reply_error(call->reply, 503,
			    "the findings could not be worked out: try dial9-view issues");
		break;
	}
}
