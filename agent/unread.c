// SPDX-License-Identifier: Apache-2.0
/* unread.c - see unread.h. */
#include "agent/unread.h"

#include <stdio.h>

#include "agent/emit.h"
#include "agent/metadata.h"
#include "agent/runtime.h"
#include "agent/track.h"

#define LIST "agent.local_queue_unread"
#define FIELD "PollStartEvent.local_queue"

static void tell(const struct unread *u, struct metadata *m)
{
	metadata_set(m, "tokio.local_queue",
		     !u->has_any ? "false" : u->listed_cnt ? "partial" : "true");
	if (u->has_any)
		metadata_drop(m, "agent.unknown", FIELD);
	else
		metadata_add(m, "agent.unknown", FIELD);
}

void unread_note(struct unread *u, struct emit *e, struct worker *w, bool is_read, uint64_t ts_ns)
{
	struct metadata *m = emit_metadata(e);
	char id[16];

	if (is_read) {
		u->has_any = true; /* told at the next tick: until then it is unknown, which is no lie */
		return;
	}
	w->unread_ns = ts_ns;
	if (w->is_unread)
		return;
	w->is_unread = true;
	u->listed_cnt++;
	snprintf(id, sizeof(id), "%u", w->id);
	metadata_add(m, LIST, id);
	tell(u, m);
	emit_tell(e, ts_ns);
}

void unread_tick(struct unread *u, struct emit *e, struct runtimes *rs, uint64_t now_ns)
{
	struct metadata *m = emit_metadata(e);
	char id[16];

	for (uint32_t i = 0; u->has_any && u->listed_cnt && i < TRACK_WORKERS_MAX; i++) {
		struct worker *w = runtimes_worker(rs, i);

		if (!w || !w->is_unread || now_ns < w->unread_ns + UNREAD_HOLD_NS)
			continue;
		/* no word from it at all is no news either: its next poll says */
		w->is_unread = false;
		u->listed_cnt--;
		snprintf(id, sizeof(id), "%u", w->id);
		metadata_drop(m, LIST, id);
	}
	if (u->has_any || u->listed_cnt)
		tell(u, m);
}
