// SPDX-License-Identifier: Apache-2.0
#include "seatlearn.h"

#include <errno.h>
#include <string.h>

#include "log.h"
#include "probe.h"
#include "roster.h"
#include "seat.h"

static void seatlearn_look(struct seatlearn *l, uint64_t now_ns)
{
	struct seat seat;
	uint64_t fsbase;
	size_t cnt;

	/* the runtime whose queues get used may have been built since the last listing */
	if (roster_refresh(l->roster, now_ns))
		return;
	cnt = roster_cnt(l->roster);
	for (size_t i = 0; i < cnt && i < SEATLEARN_THREADS; i++) {
		pid_t tid = roster_tid(l->roster, l->at++ % cnt);

		if (!roster_fsbase(l->roster, tid, now_ns, &fsbase))
			seats_find(l->seats, tid, fsbase, &seat);
	}
}

void seatlearn_tick(struct seatlearn *l, uint64_t now_ns)
{
	struct wire_seat_layout layout;

	if (!l->left || l->left == -ENOTSUP || now_ns < l->next_ns)
		return;
	l->next_ns = now_ns + (l->looks_cnt++ < SEATLEARN_LOOKS ? SEATLEARN_NS : SEATLEARN_SLOW_NS);
	if (l->left > 0)
		seatlearn_look(l, now_ns);
	l->left = seats_layout(l->seats, &layout);
	if (l->left < 0 || !memcmp(&layout, &l->layout, sizeof(layout)))
		return;
	l->layout = layout;
	probe_set_layout(l->probe, l->slot, &layout);
	log_debug("slot %u: BPF reads seats by itself%s", l->slot,
		  l->left ? ", as far as it is learnt" : "");
}
