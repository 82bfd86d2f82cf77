// SPDX-License-Identifier: Apache-2.0
#include "probecost.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include "log.h"

/* What interrupts a program, or is stolen from its CPU, counts as its time: less is more likely true. */
static void probecost_average(uint32_t *at, double ns)
{
	if (ns >= 0 && ns < 1e6)
		*at = (uint32_t)(*at + (ns - *at) / (ns < *at ? 2 : 8) + 0.5);
}

void probecost_learn(struct probecost *c, const struct probecost_runs *from,
		     const struct probecost_runs *to)
{
	double cnt[PROBECOST_PROG_CNT], ns[PROBECOST_PROG_CNT];
	double switches = (double)(to->switches - from->switches),
	       samples = (double)(to->samples - from->samples), missed;

	/* a slot was given to another target meanwhile */
	if (to->switches < from->switches || to->samples < from->samples)
		return;
	for (int i = 0; i < PROBECOST_PROG_CNT; i++) {
		cnt[i] = (double)(to->progs[i].cnt - from->progs[i].cnt);
		ns[i] = (double)(to->progs[i].ns - from->progs[i].ns) -
			PROBECOST_STATS_NS * cnt[i];
		if (ns[i] < 0)
			ns[i] = 0;
	}
	if (cnt[PROBECOST_SITE] >= PROBECOST_RUNS_MIN)
		probecost_average(&c->site_ns, ns[PROBECOST_SITE] / cnt[PROBECOST_SITE]);
	if (samples >= PROBECOST_RUNS_MIN)
		probecost_average(&c->sample_ns,
				  ns[PROBECOST_SAMPLE] / samples + PROBECOST_TICK_NS);
	if (switches < PROBECOST_RUNS_MIN)
		return;
	/* a switch is two threads' affair, and most are nobody's we know */
	missed = 2 * cnt[PROBECOST_SWITCH] - switches + cnt[PROBECOST_WAKEUP];
	missed *= PROBECOST_MISS_NS;
	if (missed > ns[PROBECOST_SWITCH] + ns[PROBECOST_WAKEUP])
		missed = ns[PROBECOST_SWITCH] + ns[PROBECOST_WAKEUP];
	probecost_average(&c->switch_ns,
			  (ns[PROBECOST_SWITCH] + ns[PROBECOST_WAKEUP] - missed) / switches +
				  PROBECOST_DISPATCH_NS);
}

static int probecost_read(const struct probecost *c, struct probecost_runs *ret)
{
	for (int i = 0; i < PROBECOST_PROG_CNT; i++) {
		struct bpf_prog_info info = {};
		__u32 sz = sizeof(info);
		int err = c->prog_fds[i] < 0 ? 0 :
					       bpf_obj_get_info_by_fd(c->prog_fds[i], &info, &sz);

		if (err)
			return err;
		ret->progs[i].cnt = info.run_cnt;
		ret->progs[i].ns = info.run_time_ns;
	}
	return 0;
}

static void probecost_begin(struct probecost *c, uint64_t now_ns)
{
	c->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	c->due_ns = now_ns + (c->stats_fd < 0 ? PROBECOST_EACH_NS : PROBECOST_WINDOW_NS);
	if (c->stats_fd >= 0)
		return;
	c->is_refused = true;
	log_debug("the kernel does not measure how long our programs run: %s", strerror(errno));
}

void probecost_tick(struct probecost *c, uint64_t now_ns,
		    void (*counts)(void *ctx, struct probecost_runs *ret), void *ctx)
{
	struct probecost_runs now = {};
	bool is_end = c->stats_fd >= 0;

	if (!c->due_ns)
		c->due_ns = now_ns + PROBECOST_FIRST_NS;
	if (c->is_refused || now_ns < c->due_ns)
		return;
	if (!is_end)
		probecost_begin(c, now_ns);
	if (c->stats_fd < 0)
		return;
	counts(ctx, &now);
	if (!probecost_read(c, is_end ? &now : &c->from) && is_end) {
		probecost_learn(c, &c->from, &now);
		log_debug("a hit costs %u ns beside its trap, a switch %u ns, a CPU sample %u ns",
			  c->site_ns, c->switch_ns, c->sample_ns);
	}
	if (!is_end) {
		c->from.switches = now.switches;
		c->from.samples = now.samples;
		return;
	}
	probecost_close(c);
	c->due_ns = now_ns + PROBECOST_EACH_NS;
}

void probecost_close(struct probecost *c)
{
	if (c->stats_fd >= 0)
		close(c->stats_fd);
	c->stats_fd = -1;
}
