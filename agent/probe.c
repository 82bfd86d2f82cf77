// SPDX-License-Identifier: Apache-2.0
/*
 * probe.c - open, configure, load, attach, activate, detach.
 *
 * One uprobe_multi link per (target, file) where the kernel has it, as each link costs tens of
 * milliseconds to close; else one perf event a site. The kernel's own pid filter keeps the
 * breakpoints out of other processes of the same binary; where it cannot be trusted (before 6.10)
 * BPF filters and a warning says so.
 */
#include "probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/wire.h"
#include "feature.h"
#include "log.h"
#include "plan.h"
#include "probehits.h"
#include "probesample.h"
#include "recorder.skel.h"
#include "target.h"

#define PROBE_SAMPLE_RING_SZ (1u << 20)
#define PROBE_SLOW_CLOSES 20 /* more links than this take so long to close that it is said */

struct probe_slot {
	pid_t pid; /* 0 = free */
	struct bpf_link **links;
	size_t links_cnt, sites_cnt;
};

struct probe {
	struct recorder_bpf *skel;
	struct features features;
	struct probesample *samples; /* NULL = none asked for */
	int *ring_fds; /* cpus_cnt + 1 */
	unsigned cpus_cnt;
	struct probe_slot slots[WIRE_TARGETS_MAX];
	struct probehits hits;
};

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
		err = recorder_bpf__load(skel);
	if (err)
		return log_error(err, "cannot load the BPF programs: %s; run with --verbose for the "
				      "verifier's reason, and `dial9-agent doctor`",
				 strerror(-err));
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
	p->cpus_cnt = (unsigned)f->cpus_cnt;
	p->skel = recorder_bpf__open();
	if (!p->skel)
		goto out;
	err = probe_load(p, o);
	if (!err)
		err = probe_make_rings(p, o->ring_sz);
	if (!err)
		p->hits = (struct probehits){
			.map_fd = bpf_map__fd(p->skel->maps.site_hits),
			.cpus_cnt = p->cpus_cnt,
		};
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
	recorder_bpf__destroy(p->skel);
	free(p->ring_fds);
	free(p);
}

/* Offsets that the cookie has no room for are asked of the vtable at each hit. */
static uint64_t probe_cookie(const struct plan_site *s, size_t number)
{
	unsigned id_words = s->id_off / 8u, scheduler_words = s->scheduler_off / 8u;

	if (s->id_off % 8 || s->scheduler_off % 8 || id_words > WIRE_COOKIE_ID_WORDS_MAX ||
	    scheduler_words > WIRE_COOKIE_SCHEDULER_WORDS_MAX)
		id_words = scheduler_words = 0;
	if (s->kind == WIRE_SITE_SPAWN_ID)
		id_words = s->counter;
	return WIRE_COOKIE(s->kind, s->reg, s->pushed_words, id_words, s->has_location,
			   scheduler_words) |
	       WIRE_COOKIE_STACK(s->stack_word, s->is_below_rbp) | WIRE_COOKIE_POPPED(s->is_popped) |
	       WIRE_COOKIE_NO_LIST(s->is_list_lost) | WIRE_COOKIE_NUMBER(number);
}

/* Sites of one file, in the plan's order, by one link. */
static int probe_attach_multi(struct probe *p, struct probe_slot *slot, const struct plan *plan,
			      size_t file, const struct target *t, const char *path)
{
	unsigned long *offs = calloc(plan->sites_cnt, sizeof(*offs));
	__u64 *cookies = calloc(plan->sites_cnt, sizeof(*cookies));
	pid_t pid = p->features.has_multi_pid_filter ? t->pid : -1;
	struct bpf_link *link;
	size_t cnt = 0;
	int err = -ENOMEM;

	if (!offs || !cookies)
		goto out;
	err = 0;
	for (size_t i = 0; i < plan->sites_cnt; i++) {
		if (plan->sites[i].file != file)
			continue;
		offs[cnt] = plan->sites[i].file_off;
		cookies[cnt++] = probe_cookie(&plan->sites[i], i);
	}
	if (!cnt)
		goto out;
	LIBBPF_OPTS(bpf_uprobe_multi_opts, opts, .offsets = offs, .cookies = cookies, .cnt = cnt);
	link = bpf_program__attach_uprobe_multi(p->skel->progs.on_site_multi, pid, path, NULL, &opts);
	if (!link) {
		err = log_error(-errno, "cannot put %zu probes into %s of pid %d: %s", cnt,
				t->files[plan->files[file].target_file].path, t->pid, strerror(errno));
		goto out;
	}
	slot->links[slot->links_cnt++] = link;
	slot->sites_cnt += cnt;
out:
	free(cookies);
	free(offs);
	return err;
}

static int probe_attach_single(struct probe *p, struct probe_slot *slot, const struct plan *plan,
			       size_t file, const struct target *t, const char *path)
{
	for (size_t i = 0; i < plan->sites_cnt; i++) {
		const struct plan_site *s = &plan->sites[i];
		LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = probe_cookie(s, i));
		struct bpf_link *link;

		if (s->file != file)
			continue;
		link = bpf_program__attach_uprobe_opts(p->skel->progs.on_site, t->pid, path, s->file_off,
						       &opts);
		if (!link)
			return log_error(-errno, "cannot put a probe at %s+0x%llx of pid %d: %s",
					 t->files[plan->files[file].target_file].path,
					 (unsigned long long)s->file_off, t->pid, strerror(errno));
		slot->links[slot->links_cnt++] = link;
		slot->sites_cnt++;
	}
	return 0;
}

struct probe_return { /* struct return_key of maps.bpf.h */
	uint64_t addr, slot;
};

static int probe_add_returns(struct probe *p, unsigned slot_no, const struct plan *plan)
{
	__u8 value = 1;

	for (size_t i = 0; i < plan->sites_cnt; i++) {
		const struct plan_site *s = &plan->sites[i];
		struct probe_return key = { s->return_vaddr + plan->files[s->file].bias, slot_no };

		if (s->kind != WIRE_SITE_RETURN)
			continue;
		if (bpf_map_update_elem(bpf_map__fd(p->skel->maps.return_addrs), &key, &value, 0))
			return log_warn(-errno, "no room for return address %zu: its ends will be inferred",
					i);
	}
	return 0;
}

int probe_attach(struct probe *p, unsigned slot_no, const struct target *t, const struct plan *plan,
		 unsigned want)
{
	struct probe_slot *slot = &p->slots[slot_no];
	__u32 tgid = (__u32)t->pid, value = slot_no;
	int err;

	p->skel->bss->target_states[slot_no] = (struct wire_target_state){
		.want = want,
		.hits_base = probehits_take(&p->hits, slot_no, plan->sites_cnt),
	};
	probe_set_task_word(p, slot_no, &(struct wire_task_word){ .off = 0 });
	slot->pid = t->pid;
	slot->links = calloc(p->features.has_uprobe_multi ? plan->files_cnt : plan->sites_cnt,
			     sizeof(*slot->links));
	err = slot->links || !plan->sites_cnt ? 0 : -ENOMEM;
	if (!err)
		err = bpf_map_update_elem(bpf_map__fd(p->skel->maps.targets), &tgid, &value, 0);
	if (!err)
		probe_add_returns(p, slot_no, plan);
	if (!p->features.has_multi_pid_filter && p->features.has_uprobe_multi)
		log_warn(0, "this kernel's uprobe pid filter misses threads (before 6.10): other processes "
			    "of the same binary are probed too, though not recorded");
	for (size_t i = 0; !err && i < plan->files_cnt; i++) {
		const char *path = t->files[plan->files[i].target_file].link;

		err = p->features.has_uprobe_multi ? probe_attach_multi(p, slot, plan, i, t, path) :
						     probe_attach_single(p, slot, plan, i, t, path);
	}
	if (err)
		probe_detach(p, slot_no);
	return err;
}

void probe_activate(struct probe *p, unsigned slot)
{
	__atomic_store_n(&p->skel->bss->target_states[slot].ready, 1, __ATOMIC_RELEASE);
}

void probe_deactivate(struct probe *p, unsigned slot)
{
	__atomic_store_n(&p->skel->bss->target_states[slot].ready, 0, __ATOMIC_RELEASE);
}

void probe_detach(struct probe *p, unsigned slot_no)
{
	struct probe_slot *slot = &p->slots[slot_no];
	__u32 tgid = (__u32)slot->pid;

	if (!slot->pid)
		return;
	probe_deactivate(p, slot_no);
	bpf_map_delete_elem(bpf_map__fd(p->skel->maps.targets), &tgid);
	/* the kernel closes perf uprobes one after another, whoever asks; nothing is recorded any more */
	if (slot->links_cnt > PROBE_SLOW_CLOSES)
		log_info("taking %zu probes out of pid %d, about 0.1 s each on this kernel",
			 slot->links_cnt, slot->pid);
	for (size_t i = 0; i < slot->links_cnt; i++)
		bpf_link__destroy(slot->links[i]);
	free(slot->links);
	probehits_leave(&p->hits, slot_no);
	*slot = (struct probe_slot){};
}

size_t probe_sites(const struct probe *p, unsigned slot)
{
	return p->slots[slot].sites_cnt;
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
	struct wire_counts *per_cpu = calloc(p->cpus_cnt, sizeof(*per_cpu));
	__u32 key = slot;
	int err;

	if (!per_cpu)
		return -ENOMEM;
	err = bpf_map_lookup_elem(bpf_map__fd(p->skel->maps.counts), &key, per_cpu);
	*ret = (struct wire_counts){};
	for (unsigned cpu = 0; !err && cpu < p->cpus_cnt; cpu++)
		for (unsigned i = 0; i < WIRE_COUNT_CNT; i++)
			ret->v[i] += per_cpu[cpu].v[i];
	free(per_cpu);
	return err;
}

int probe_hits(const struct probe *p, unsigned slot, uint64_t *ret, size_t cnt)
{
	return probehits_read(&p->hits, slot, ret, cnt);
}

int probe_set_thread(struct probe *p, pid_t tid, const struct wire_thread *seat)
{
	int fd = bpf_map__fd(p->skel->maps.worker_threads);
	__u32 key = (__u32)tid;
	int err = seat ? bpf_map_update_elem(fd, &key, seat, 0) : bpf_map_delete_elem(fd, &key);

	/* 0 means "never read" in BPF: skip it when the counter wraps */
	if (__atomic_add_fetch(&p->skel->bss->threads_gen, 1, __ATOMIC_RELEASE) == 0)
		__atomic_add_fetch(&p->skel->bss->threads_gen, 1, __ATOMIC_RELEASE);
	return err;
}

void probe_set_layout(struct probe *p, unsigned slot, const struct wire_seat_layout *layout)
{
	struct wire_seat_layout *at = &p->skel->bss->seat_layouts[slot];
	__u32 gen = at->gen + 1;

	*at = *layout;
	__atomic_store_n(&at->gen, gen ? gen : 1, __ATOMIC_RELEASE);
}

void probe_set_task_word(struct probe *p, unsigned slot, const struct wire_task_word *word)
{
	struct wire_task_word *at = &p->skel->bss->task_words[slot];
	__u32 gen = at->gen + (at->off != word->off);

	*at = *word;
	__atomic_store_n(&at->gen, gen ? gen : 1, __ATOMIC_RELEASE);
}

int probe_threads(struct probe *p, pid_t pid,
		  void (*cb)(void *ctx, const struct wire_thread_info *info), void *ctx)
{
	struct wire_thread_info infos[64];
	struct bpf_link *link = p->skel->links.list_threads;
	int fd, err = 0;
	ssize_t len;

	p->skel->bss->iter_tgid = (__u32)pid;
	fd = link ? bpf_iter_create(bpf_link__fd(link)) : -ENOENT;
	if (fd < 0)
		return fd;
	while ((len = read(fd, infos, sizeof(infos))) > 0)
		for (size_t i = 0; i < (size_t)len / sizeof(infos[0]); i++)
			cb(ctx, &infos[i]);
	if (len < 0)
		err = -errno;
	close(fd);
	return err;
}
