// SPDX-License-Identifier: Apache-2.0
/* longpolls.c - insertion into ten places; nearly all polls fail the first comparison. */
#include "longpolls.h"

void longpolls_add(struct longpolls *l, uint64_t ns, uint32_t worker,
		   const struct worker_poll *poll)
{
	uint32_t at;

	/* polls come in the order they end: of equal ones the first stays in front */
	if (l->cnt == LONGPOLLS_MAX && ns <= l->polls[LONGPOLLS_MAX - 1].ns)
		return;
	if (l->cnt < LONGPOLLS_MAX)
		l->cnt++;
	for (at = l->cnt - 1; at > 0 && l->polls[at - 1].ns < ns; at--)
		l->polls[at] = l->polls[at - 1];
	l->polls[at] = (struct longpoll){ ns, worker, *poll };
}
