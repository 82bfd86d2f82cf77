// SPDX-License-Identifier: Apache-2.0
#include "probecost.h"

/* What interrupts a program, or is stolen from its CPU, counts as its time: less is more likely true. */
static void probecost_average(uint32_t *at, double ns)
{
	if (ns >= 0 && ns < 1e6)
		*at = (uint32_t)(*at + (ns - *at) / (ns < *at ? 2 : 8) + 0.5);
}

bool probecost_is_due(struct probecost *c, uint64_t now_ns)
{
	if (now_ns < c->due_ns)
		return false;
	c->due_ns = now_ns + PROBECOST_EACH_NS;
	return true;
}

void probecost_learn(struct probecost *c, const struct probecost_runs *now)
{
	const double around_ns[] = { 0, PROBECOST_DISPATCH_NS, PROBECOST_TICK_NS };
	uint32_t *results[] = { &c->site_ns, &c->switch_ns, &c->sample_ns };

	for (int i = 0; i < PROBECOST_KIND_CNT; i++) {
		uint64_t cnt = now->of[i].cnt - c->seen.of[i].cnt;
		double ns = (double)(now->of[i].ns - c->seen.of[i].ns);
		bool is_back = now->of[i].cnt < c->seen.of[i].cnt ||
			       now->of[i].ns < c->seen.of[i].ns;

		if (!is_back && cnt < PROBECOST_RUNS_MIN)
			continue;
		c->seen.of[i] = now->of[i];
		if (is_back)
			continue;
		ns = ns / (double)cnt - PROBECOST_CLOCK_NS;
		probecost_average(results[i], (ns > 0 ? ns : 0) + around_ns[i]);
	}
}
