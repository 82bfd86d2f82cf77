// SPDX-License-Identifier: Apache-2.0
/*
 * probe.c - open, configure, load, begin, activate, detach.
 *
 * The kernel's own pid filter keeps the breakpoints out of other processes of the same binary; where
 * it cannot be trusted (before 6.10) BPF filters and a warning says so.
 */
#include "probe_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "log.h"
#include "plan.h"
#include "probecounts.h"
#include "probesample.h"
#include "probetypes.h"
#include "probereturns.h"
#include "target.h"

#define PROBE_SAMPLE_RING_SZ (1u << 20)
#define PROBE_SLOW_CLOSES 20 /* more links than this take so long to close that it is said */

static int probe_make_rings(struct probe *p, size_t ring_sz)
{
	unsigned cnt = p->cpus_cnt + 1;

	p->ring_fds = calloc(cnt, sizeof(*p->ring_fds));
	if (!p->ring_fds)
		return -ENOMEM;
	for (unsigned i = 0; i < cnt; i++)
		p->ring_fds[i] = -1;
	for (unsigned i = 0; i < cnt; i++) {
		size_t sz = i < p->cpus_cnt ? ring_sz : PROBE_SAMPLE_RING_SZ;
		int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, (unsigned)sz, NULL);

		if (fd < 0)
			return log_error(fd, "cannot make the ring of CPU %u (%zu bytes): %s; lower --ring-mb",
					 i, sz, strerror(-fd));
		p->ring_fds[i] = fd;
		fd = bpf_map_update_elem(bpf_map__fd(p->skel->maps.rings), &i, &p->ring_fds[i], 0);
		if (fd)
			return log_error(fd, "cannot hand the ring of CPU %u to BPF: %s", i, strerror(-fd));
	}
	return 0;
}

static int probe_load(struct probe *p, const struct probe_options *o)
{
	struct recorder_bpf *skel = p->skel;
	int err;

	skel->rodata->rings_cnt = p->cpus_cnt;
	bpf_program__set_autoload(skel->progs.on_site_multi, p->features.has_uprobe_multi);
	bpf_program__set_autoload(skel->progs.on_site, !p->features.has_uprobe_multi);
	bpf_program__set_autoload(skel->progs.on_switch, o->has_sched);
	bpf_program__set_autoload(skel->progs.on_wakeup, o->has_sched);
	bpf_program__set_autoload(skel->progs.on_sample, o->cpu_hz > 0);
	err = bpf_map__set_max_entries(skel->maps.rings, p->cpus_cnt + 1);
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.site_hits, p->cpus_cnt * WIRE_SITE_HITS_MAX);
	if (!err)
		err = recorder_bpf__load(skel);
	if (err)
		return log_error(err, "cannot load the BPF programs: %s; run with --verbose for the "
				      "verifier's reason, and `dial9-agent doctor`",
				 strerror(-err));
	err = probehits_map(&p->hits, bpf_map__fd(skel->maps.site_hits), p->cpus_cnt);
	if (err)
		return log_error(err, "cannot map the counts of probe hits: %s", strerror(-err));
	return 0;
}

static int probe_attach_common(struct probe *p, const struct probe_options *o)
{
	struct recorder_bpf *skel = p->skel;
	int err;

	/* only what is not attached per target or per CPU by hand */
	bpf_program__set_autoattach(skel->progs.on_site_multi, false);
	bpf_program__set_autoattach(skel->progs.on_site, false);
	bpf_program__set_autoattach(skel->progs.on_sample, false);
	err = recorder_bpf__attach(skel);
	if (err)
		return log_error(err, "cannot attach to the scheduler's tracepoints: %s; the kernel needs "
				      "BPF trampolines (CONFIG_BPF_JIT, x86-64)",
				 strerror(-err));
	if (!o->cpu_hz)
		return 0;
	return probesample_open(skel->progs.on_sample, p->cpus_cnt, o->cpu_hz, &p->samples);
}

int probe_open(const struct probe_options *o, const struct features *f, struct probe **ret)
{
	struct probe *p = calloc(1, sizeof(*p));
	int err = -ENOMEM;

	if (!p)
		return err;
	p->features = *f;
	p->cost = (struct probecost)PROBECOST_INIT;
	probecloser_init(&p->closer);
	p->cpus_cnt = (unsigned)f->cpus_cnt;
	p->skel = recorder_bpf__open();
	if (!p->skel)
		goto out;
	err = probe_load(p, o);
	if (!err)
		err = probe_make_rings(p, o->ring_sz);
	if (!err)
		err = probe_attach_common(p, o);
out:
	if (err)
		probe_close(p);
	else
		*ret = p;
	return err;
}

void probe_close(struct probe *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < WIRE_TARGETS_MAX; i++)
		probe_detach(p, i);
	probesample_close(p->samples);
	for (unsigned i = 0; p->ring_fds && i <= p->cpus_cnt; i++)
		if (p->ring_fds[i] >= 0)
			close(p->ring_fds[i]);
	probehits_unmap(&p->hits);
	recorder_bpf__destroy(p->skel);
	free(p->ring_fds);
	free(p);
}

/* What BPF has of an earlier session in this slot is of another plan, perhaps another program. */
static int probe_forget(struct probe *p, unsigned slot_no)
{
	struct wire_counts *zero = calloc(p->cpus_cnt, sizeof(*zero));
	__u32 key = slot_no;
	int err;

	if (!zero)
		return -ENOMEM;
	err = bpf_map_update_elem(bpf_map__fd(p->skel->maps.counts), &key, zero, 0);
	free(zero);
	p->skel->bss->seat_layouts[slot_no] = (struct wire_seat_layout){ .gen = 0 };
	probe_set_task_word(p, slot_no, &(struct wire_task_word){ .off = 0 });
	p->skel->bss->task_words[slot_no].header_bits = 0;
	return err;
}

int probe_begin(struct probe *p, unsigned slot_no, const struct target *t, const struct plan *plan)
{
	struct probe_slot *slot = &p->slots[slot_no];
	__u32 tgid = (__u32)t->pid, value = slot_no;
	int err;

	p->skel->bss->target_states[slot_no] = (struct wire_target_state){
		.hits_base = probehits_take(&p->hits, slot_no, plan->sites_cnt),
	};
	slot->pid = t->pid;
	slot->session = ++p->sessions_cnt;
	err = probe_forget(p, slot_no);
	if (!err)
		err = bpf_map_update_elem(bpf_map__fd(p->skel->maps.targets), &tgid, &value, 0);
	if (!err)
		err = probereturns_fill(bpf_map__fd(p->skel->maps.return_addrs), slot_no, plan,
				     &slot->returns);
	if (!err)
		err = probetypes_fill(bpf_map__fd(p->skel->maps.task_types), slot_no, plan,
				      &slot->types);
	if (!p->features.has_multi_pid_filter && p->features.has_uprobe_multi)
		log_warn(0, "this kernel's uprobe pid filter misses threads (before 6.10): other processes "
			    "of the same binary are probed too, though not recorded");
	if (err)
		probe_detach(p, slot_no);
	return err;
}

int probe_add(struct probe *p, unsigned slot, unsigned group, unsigned kept_set,
	      const struct target *t, const struct plan *plan, probegroup_pick pick, void *ctx)
{
	struct probegroup_options o = {
		.multi = p->features.has_uprobe_multi ? p->skel->progs.on_site_multi : NULL,
		.single = p->skel->progs.on_site,
		.closer = &p->closer,
		.has_pid_filter = p->features.has_multi_pid_filter,
		.kept_set = kept_set,
	};

	return probegroup_attach(&p->slots[slot].groups[group], &o, t, plan, pick, ctx);
}

void probe_remove(struct probe *p, unsigned slot, unsigned group)
{
	probegroup_detach(&p->slots[slot].groups[group], &p->closer);
}

void probe_activate(struct probe *p, unsigned slot)
{
	__atomic_store_n(&p->skel->bss->target_states[slot].ready, p->slots[slot].session,
			 __ATOMIC_RELEASE);
}

void probe_deactivate(struct probe *p, unsigned slot)
{
	__atomic_store_n(&p->skel->bss->target_states[slot].ready, 0, __ATOMIC_RELEASE);
}

void probe_detach(struct probe *p, unsigned slot_no)
{
	struct probe_slot *slot = &p->slots[slot_no];
	__u32 tgid = (__u32)slot->pid;
	size_t links_cnt = 0;

	if (!slot->pid)
		return;
	probe_deactivate(p, slot_no);
	bpf_map_delete_elem(bpf_map__fd(p->skel->maps.targets), &tgid);
	/* the kernel closes perf uprobes one after another, whoever asks; nothing is recorded any more */
	for (size_t i = 0; i < PROBE_GROUPS_MAX; i++)
		links_cnt += slot->groups[i].links_cnt;
	if (links_cnt > PROBE_SLOW_CLOSES)
		log_info("taking %zu probes out of pid %d, about 0.1 s each on this kernel",
			 links_cnt, slot->pid);
	for (unsigned i = 0; i < PROBE_GROUPS_MAX; i++)
		probe_remove(p, slot_no, i);
	probecloser_wait(&p->closer);
	probehits_leave(&p->hits, slot_no);
	probereturns_clear(slot->returns);
	probetypes_clear(slot->types);
	*slot = (struct probe_slot){};
}

size_t probe_sites(const struct probe *p, unsigned slot)
{
	size_t cnt = 0;

	for (unsigned i = 0; i < PROBE_GROUPS_MAX; i++)
		cnt += p->slots[slot].groups[i].sites_cnt;
	return cnt;
}

int probe_ring_fd(const struct probe *p, unsigned ring)
{
	return p->ring_fds[ring];
}

unsigned probe_rings_cnt(const struct probe *p)
{
	return p->cpus_cnt + 1;
}

int probe_counts(const struct probe *p, unsigned slot, struct wire_counts *ret)
{
	return probecounts_read(bpf_map__fd(p->skel->maps.counts), p->cpus_cnt, slot, ret);
}

void probe_costs(const struct probe *p, struct probe_costs *ret)
{
	*ret = (struct probe_costs){ p->cost.site_ns, p->cost.switch_ns, p->cost.sample_ns };
}

static void probe_count_runs(const struct probe *p, struct probecost_runs *ret)
{
	struct wire_counts counts;

	for (unsigned i = 0; i < WIRE_TARGETS_MAX; i++) {
		if (!p->slots[i].pid || probe_counts(p, i, &counts))
			continue;
		for (unsigned k = 0; k < PROBECOST_KIND_CNT; k++) {
			ret->of[k].cnt += counts.v[WIRE_CLOCKED_SITES + 2 * k];
			ret->of[k].ns += counts.v[WIRE_CLOCKED_SITES_NS + 2 * k];
		}
	}
}

void probe_weigh(struct probe *p, uint64_t now_ns)
{
	struct probecost_runs runs = {};

	if (!probecost_is_due(&p->cost, now_ns))
		return;
	probe_count_runs(p, &runs);
	probecost_learn(&p->cost, &runs);
	log_debug("a hit costs %u ns beside its trap, a switch %u ns, a CPU sample %u ns",
		  p->cost.site_ns, p->cost.switch_ns, p->cost.sample_ns);
}

int probe_hits(const struct probe *p, unsigned slot, uint64_t *ret, size_t cnt)
{
	return probehits_read(&p->hits, slot, ret, cnt);
}
