/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * site.bpf.h - what happens at each kind of probed instruction (enum wire_site).
 *
 * One body per kind (sitepoll.bpf.h, sitetask.bpf.h), called from the thin entries in recorder.bpf.c.
 * Nothing writes to the target; a read that fails is counted and the fact is "unknown", never guessed.
 */
#ifndef DIAL9_SITE_BPF_H
#define DIAL9_SITE_BPF_H

/* Every hit costs the target, whatever comes of it: the budget wants to know where. Hits so far of
 * this site on this CPU; 0 = not known. */
static __always_inline __u64 site_count(const struct wire_target_state *state, __u64 cookie)
{
	__u32 key = state->hits_base + WIRE_COOKIE_SITE_NO(cookie);
	__u64 *hits;

	if (key >= WIRE_SITE_HITS_MAX)
		return 0;
	key += bpf_get_smp_processor_id() * WIRE_SITE_HITS_MAX;
	hits = bpf_map_lookup_elem(&site_hits, &key);
	return hits ? ++*hits : 0;
}

/* For each kind of site, four bits: the number of the bit of `want` that asks for it, 0 = no kind. A
 * number rather than a table: that would be one more page to find in no cache. */
#define SITE_WANT(site, want) ((__u64)__builtin_ctz(want) << 4 * (site))
#define SITE_WANTS                                                                                 \
	(SITE_WANT(WIRE_SITE_RETURN, WIRE_WANT_EXACT_ENDS) |                                       \
	 SITE_WANT(WIRE_SITE_SPAWN_ID, WIRE_WANT_TASKS) |                                          \
	 SITE_WANT(WIRE_SITE_BIND, WIRE_WANT_TASKS) |                                              \
	 SITE_WANT(WIRE_SITE_SCHEDULE, WIRE_WANT_WAKES) |                                          \
	 SITE_WANT(WIRE_SITE_SHUTDOWN, WIRE_WANT_TASKS) |                                          \
	 SITE_WANT(WIRE_SITE_POLL, WIRE_WANT_POLLS) | SITE_WANT(WIRE_SITE_RAISE, WIRE_WANT_TASKS) | \
	 SITE_WANT(WIRE_SITE_KEPT_POLL, WIRE_WANT_KEPT(0)) |                                       \
	 SITE_WANT(WIRE_SITE_KEPT_POLL + 1, WIRE_WANT_KEPT(1)) |                                   \
	 SITE_WANT(WIRE_SITE_KEPT_END, WIRE_WANT_KEPT(0)) |                                        \
	 SITE_WANT(WIRE_SITE_KEPT_END + 1, WIRE_WANT_KEPT(1)))

/* Hits of sites that are being put in or taken out say nothing of the level that holds. */
static __always_inline bool site_is_wanted(__u8 site, __u32 want)
{
	__u32 bit = SITE_WANTS >> 4 * (site & 15) & 15;

	return bit && (want >> bit & 1);
}

static __always_inline int site_hit(struct pt_regs *ctx)
{
	/* before all that may stand in no cache: on a core that has slept each look-up takes long */
	__u64 cookie, now = bpf_ktime_get_ns();
	struct task_struct *task = bpf_get_current_task_btf();
	const struct wire_target_state *state;
	struct thread *t = thread_find(task);
	bool is_clocked;
	__u8 site;

	if (!t) {
		t = thread_make(task);
		if (!t)
			return 0;
	}
	state = thread_state(t);
	if (!thread_is_on(t, task, state))
		return 0;
	cookie = bpf_get_attach_cookie(ctx);
	site = WIRE_COOKIE_SITE(cookie);
	if (!site_is_wanted(site, state->want)) {
		count(t->slot, WIRE_UNWANTED);
		return 0;
	}
	is_clocked = clocked_is_due(site_count(state, cookie));
	thread_follow(t, state);
	switch (site) {
	case WIRE_SITE_POLL:
	case WIRE_SITE_KEPT_POLL:
	case WIRE_SITE_KEPT_POLL + 1:
		site_poll(ctx, cookie, t, state->want, now);
		break;
	case WIRE_SITE_RETURN:
	case WIRE_SITE_KEPT_END:
	case WIRE_SITE_KEPT_END + 1:
		site_return(ctx, cookie, t, state->want, now);
		break;
	case WIRE_SITE_SCHEDULE:
		site_schedule(ctx, cookie, t, task, now);
		break;
	case WIRE_SITE_SPAWN_ID:
		site_spawn_id(ctx, cookie, t, task, now);
		break;
	case WIRE_SITE_BIND:
		site_bind(ctx, cookie, t, now);
		break;
	case WIRE_SITE_SHUTDOWN:
		site_shutdown(ctx, cookie, t, now);
		break;
	case WIRE_SITE_RAISE:
		site_raise(t);
		break;
	}
	if (is_clocked)
		clocked_end(t->slot, WIRE_CLOCKED_SITES, now);
	return 0;
}

#endif /* DIAL9_SITE_BPF_H */
