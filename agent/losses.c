// SPDX-License-Identifier: Apache-2.0
/* losses.c - differences between two looks at what BPF counted. */
#include "losses.h"

#include <stddef.h>
#include <string.h>

#include "emit.h"
#include "event.h"
#include "format/trace.h"
#include "probe.h"
#include "summary.h"
#include "track.h"

void losses_add(struct losses *l, uint64_t now_ns, const char *kind, const char *cause,
		uint64_t cnt, uint64_t from_ns)
{
	summary_lost(l->summary, kind, cause, cnt, d9_loss_is_flaw(kind, strlen(kind)));
	emit_loss(l->emit, now_ns, kind, cause, cnt, from_ns);
}

void losses_tick(struct losses *l, uint64_t now_ns)
{
	struct wire_counts now;

	if (probe_counts(l->probe, l->slot, &now))
		return;
	for (int kind = 1; kind < WIRE_KIND_CNT; kind++) {
		uint64_t cnt = now.v[WIRE_LOST_FIRST + kind] - l->counts.v[WIRE_LOST_FIRST + kind];

		if (!cnt)
			continue;
		track_loss(l->track, kind, cnt, l->counts_ns, now_ns);
		losses_add(l, now_ns, event_name(kind), "ring full", cnt, l->counts_ns);
	}
	l->summary->raised = now.v[WIRE_RAISED];
	l->summary->unpaired = now.v[WIRE_END_UNPAIRED];
	l->counts = now;
	l->counts_ns = now_ns;
}

void losses_second(struct losses *l, uint64_t now_ns)
{
	static const struct {
		int which;
		const char *kind, *cause;
	} flaws[] = {
		{ WIRE_HEADER_UNREAD, "Header", "user memory unreadable" },
		{ WIRE_NOT_A_TASK, "Spawn", "header failed its self-check" },
		{ WIRE_TOO_DEEP, "PollStart", "nested too deep" },
		{ WIRE_STACK_CUT, "Stack", "no frame pointers" },
		{ WIRE_IN_UNSEEN, "SwitchTime", "not shown by the kernel, inferred from CPU time" },
		{ WIRE_PARK_UNSURE, "TaskId", "a park, or a sleep inside a poll" },
		{ WIRE_REST_UNKNOWN, "TaskId", "resting value unknown" },
		{ WIRE_TYPE_UNKNOWN, "TaskId", "task not found on the stack" },
	};

	for (size_t i = 0; i < sizeof(flaws) / sizeof(flaws[0]); i++) {
		__u64 *told = &l->flaws_told.v[flaws[i].which];
		uint64_t cnt = l->counts.v[flaws[i].which] - *told;

		if (cnt)
			losses_add(l, now_ns, flaws[i].kind, flaws[i].cause, cnt, l->flaws_ns);
		*told += cnt;
	}
	l->flaws_ns = now_ns;
}
