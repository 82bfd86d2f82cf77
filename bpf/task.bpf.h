/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * task.bpf.h - a Tokio task as it stands in user memory: the Header and what its vtable locates.
 *
 * Header = { state, queue_next, vtable, owner_id, ... }, the same since Tokio 1.23; the scheduler
 * and the id stand at offsets that the vtable names. Bits of state: RUNNING 1, COMPLETE 2,
 * NOTIFIED 4, CANCELLED 32, reference count from bit 6.
 */
#ifndef DIAL9_TASK_BPF_H
#define DIAL9_TASK_BPF_H

#define TASK_RUNNING 0x01
#define TASK_COMPLETE 0x02
#define TASK_NOTIFIED 0x04
#define TASK_CANCELLED 0x20
#define TASK_REF_SHIFT 6
#define TASK_REF_MAX (1ull << 24)
#define TASK_STATE_NEW 0xcc /* three references, JOIN_INTEREST, NOTIFIED */

#define TASK_SCHEDULER_OFF 32 /* where both stand in every build with the default features */
#define TASK_ID_OFF 40

struct task_words {
	__u64 state, queue_next, vtable, owner_id;
	__u64 scheduler, id, location; /* at the default offsets; re-read where a type differs */
};

struct vtable_offs { /* slots 8 to 10 of the vtable */
	__u64 scheduler_off, id_off, location_off;
};

#define VTABLE_OFFS_OFF 64

/* The word at `off`, which is trusted only as far as an offset into user memory can be. */
static __always_inline int task_word(__u64 header, __u64 off, __u64 *ret)
{
	return bpf_probe_read_user(ret, sizeof(*ret), (void *)(header + off));
}

/*
 * Reads the task behind `header` with one copy where the layout is the usual one. id_off 0 means
 * that the types sharing this site differ: then the vtable is asked. 0 or a negative errno.
 */
static __always_inline int task_read(struct task_words *w, __u64 header, __u64 cookie)
{
	__u16 id_off = WIRE_COOKIE_ID_OFF(cookie);
	__u16 scheduler_off = WIRE_COOKIE_SCHEDULER_OFF(cookie);
	struct vtable_offs offs;
	int err;

	err = bpf_probe_read_user(w, sizeof(*w), (void *)header);
	if (err)
		return err;
	if (id_off == TASK_ID_OFF && scheduler_off == TASK_SCHEDULER_OFF)
		return 0;
	if (!id_off) {
		err = bpf_probe_read_user(&offs, sizeof(offs), (void *)(w->vtable + VTABLE_OFFS_OFF));
		if (err)
			return err;
		id_off = offs.id_off;
		scheduler_off = offs.scheduler_off;
	}
	err = task_word(header, id_off, &w->id);
	if (err)
		return err;
	if (WIRE_COOKIE_HAS_LOCATION(cookie) && task_word(header, (__u64)id_off + 8, &w->location))
		w->location = 0;
	if (task_word(header, scheduler_off, &w->scheduler))
		w->scheduler = 0;
	return 0;
}

enum task_fate { TASK_ALIVE, TASK_GONE, TASK_UNREAD };

/*
 * After a poll: does the very task that was polled still exist? Freed memory shows as a vtable, id
 * or reference count that no longer fits; a failed read says nothing. See tokio-internals, A.
 */
static __always_inline enum task_fate task_fate(const struct open_poll *p, __u64 *ret_state)
{
	struct task_words w;
	__u64 refs;

	if (bpf_probe_read_user(&w, sizeof(w), (void *)p->header))
		return TASK_UNREAD;
	if (w.vtable != p->vtable || (w.queue_next & 7))
		return TASK_GONE;
	if (p->id_off != TASK_ID_OFF && task_word(p->header, p->id_off, &w.id))
		return TASK_UNREAD;
	refs = w.state >> TASK_REF_SHIFT;
	if (w.id != p->task_id || refs < 1 || refs >= TASK_REF_MAX)
		return TASK_GONE;
	*ret_state = w.state; /* CANCELLED stays in it behind the end */
	return w.state & TASK_COMPLETE ? TASK_GONE : TASK_ALIVE;
}

/* Is the poll still running, as the task's own state tells? Unreadable counts as ended. */
static __always_inline bool task_is_running(const struct open_poll *p)
{
	__u64 state = 0;

	return task_fate(p, &state) == TASK_ALIVE && (state & TASK_RUNNING);
}

#endif /* DIAL9_TASK_BPF_H */
