// SPDX-License-Identifier: Apache-2.0
/* probe_tell.c - what the loaded programs are told while they run: levels, seats, the task word. */
#include "probe_state.h"

#include <errno.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

/* From the polls of all types to those of kept ones, or back, or none: an open poll may end unseen. Not
 * from one kept set to the other, as the second has what the first has. */
static bool probe_loses_polls(unsigned from, unsigned to)
{
	return (from & ~to & WIRE_WANT_POLLS) ||
	       ((from & WIRE_WANT_ANY_KEPT) && !(to & WIRE_WANT_ANY_KEPT));
}

void probe_set_want(struct probe *p, unsigned slot, unsigned want)
{
	struct wire_target_state *at = &p->skel->bss->target_states[slot];
	unsigned from = at->want, gone = from & ~want;

	__atomic_store_n(&at->want, want, __ATOMIC_RELEASE);
	/* after it: what a probe still does with the old set is forgotten too */
	if (probe_loses_polls(from, want))
		__atomic_add_fetch(&at->polls_gen, 1, __ATOMIC_RELEASE);
	if (gone & WIRE_WANT_EXACT_ENDS)
		__atomic_add_fetch(&at->ends_gen, 1, __ATOMIC_RELEASE);
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

	at->learn_left = word->learn_left;
	at->block_sz = word->block_sz;
	at->off = word->off;
	at->has_tag = word->has_tag;
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
