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
#define TASK_JOIN_WAKER 0x10
#define TASK_CANCELLED 0x20
#define TASK_REF_SHIFT 6
#define TASK_REF_MAX (1ull << 24)
#define TASK_REF_MANY (1ull << 15) /* not to be had in one poll */
#define TASK_STATE_NEW 0xcc /* three references, JOIN_INTEREST, NOTIFIED */

#define TASK_SCHEDULER_OFF 32 /* where both stand in every build with the default features */
#define TASK_ID_OFF 40

struct vtable_offs { /* slots 8 to 10 of the vtable */
	__u64 scheduler_off, id_off, location_off;
};

#define VTABLE_OFFS_OFF 64

/*
 * User memory is read by these two small functions, each with less than 64 bytes of stack: from 6.13
 * on the kernel moves larger BPF stacks to memory of their own, which hardened usercopy then checks
 * at length for every read (60 ns of 150 here).
 */
static __noinline int user_word(__u64 addr, __u64 *ret)
{
	__u64 word = 0;
	int err = bpf_probe_read_user(&word, sizeof(word), (void *)addr);

	*ret = word;
	return err;
}

static __noinline int user_task(__u64 header, struct task_words *ret)
{
	__u64 words[6];
	int err = bpf_probe_read_user(words, sizeof(words), (void *)header);

	if (err)
		return err;
	ret->state = words[0];
	ret->queue_next = words[1];
	ret->vtable = words[2];
	ret->owner_id = words[3];
	ret->scheduler = words[4];
	ret->id = words[5];
	return 0;
}

static __noinline int task_read_odd(struct task_words *w, __u64 header, __u64 cookie)
{
	__u64 id_off = WIRE_COOKIE_ID_OFF(cookie), scheduler_off = WIRE_COOKIE_SCHEDULER_OFF(cookie);
	struct vtable_offs offs;

	if (!id_off) {
		if (bpf_probe_read_user(&offs, sizeof(offs), (void *)(w->vtable + VTABLE_OFFS_OFF)))
			return -1;
		id_off = offs.id_off;
		scheduler_off = offs.scheduler_off;
	}
	if (user_word(header + id_off, &w->id))
		return -1;
	w->location = 0;
	if (WIRE_COOKIE_HAS_LOCATION(cookie))
		user_word(header + id_off + 8, &w->location);
	user_word(header + scheduler_off, &w->scheduler);
	return 0;
}

/*
 * Reads the task behind `header` with one copy where the layout is the usual one. id_off 0 means
 * that the types sharing this site differ: then the vtable is asked. 0 or negative.
 */
static __always_inline int task_read(struct task_words *w, __u64 header, __u64 cookie)
{
	int err = user_task(header, w);

	if (err)
		return err;
	if (WIRE_COOKIE_ID_OFF(cookie) != TASK_ID_OFF ||
	    WIRE_COOKIE_SCHEDULER_OFF(cookie) != TASK_SCHEDULER_OFF)
		err = task_read_odd(w, header, cookie);
	else if (WIRE_COOKIE_HAS_LOCATION(cookie))
		user_word(header + TASK_ID_OFF + 8, &w->location);
	w->id = WIRE_COPY_ID(WIRE_COOKIE_COPY(cookie), w->id);
	if (w->owner_id)
		w->owner_id = WIRE_COPY_OWNER(WIRE_COOKIE_COPY(cookie), w->owner_id);
	return err;
}

#define TASK_ID_OFF_MAX 4096 /* behind the Header, and behind the alignment of a large future */

/* Does a task stand at this address? Asked of what may as well be an allocator's own pointer. */
static __noinline bool task_is_header(__u64 addr)
{
	struct vtable_offs offs;
	__u64 vtable;

	if (user_word(addr + 16, &vtable) ||
	    bpf_probe_read_user(&offs, sizeof(offs), (void *)(vtable + VTABLE_OFFS_OFF)))
		return false;
	return offs.id_off >= TASK_SCHEDULER_OFF && offs.id_off < TASK_ID_OFF_MAX &&
	       !(offs.id_off & 7);
}

enum task_fate { TASK_ALIVE, TASK_GONE, TASK_UNREAD };

/*
 * After a poll: does the very task that was polled still exist? Freed memory shows as a vtable, id
 * or reference count that no longer fits; a failed read says nothing. Where the heap lies low (a
 * program at fixed addresses), a pointer of glibc's in the first word can look like a state. Then
 * another one stands in the second word, where a task has none or a task that is queued behind it;
 * or, once the memory is given out again, nothing, and the pointer (glibc xors it with its own
 * place, to the right by 12 bits) makes a count of references that no poll can have added.
 */
static __always_inline enum task_fate task_fate(const struct open_poll *p, struct task_words *w)
{
	__u64 refs;

	w->state = 0;
	if (user_task(p->header, w))
		return TASK_UNREAD;
	if (w->vtable != p->vtable || (w->queue_next & 7))
		goto gone;
	if (p->id_off != TASK_ID_OFF && user_word(p->header + p->id_off, &w->id))
		return TASK_UNREAD;
	if (w->queue_next && !task_is_header(w->queue_next))
		goto gone;
	refs = w->state >> TASK_REF_SHIFT;
	if (w->state == p->header >> 12 || (refs >= 2 * TASK_REF_MANY && !p->has_many_refs))
		goto gone;
	if (w->id != WIRE_OWN_ID(p->task_id) || refs < 1 || refs >= TASK_REF_MAX)
		goto gone;
	/* CANCELLED stays in it behind the end */
	return w->state & TASK_COMPLETE ? TASK_GONE : TASK_ALIVE;
gone:
	w->state = 0;
	return TASK_GONE;
}

#define TASK_ENOENT 2 /* of the kernel: errno.h is not for BPF */

static long task_vma(struct task_struct *task, struct vm_area_struct *vma, void *ctx)
{
	return 0;
}

/*
 * A header that cannot be read: has the memory been given back? An allocator that does so at once
 * (musl's) leaves no other trace of a task's end. Not known before Linux 5.17, nor while another
 * thread changes the map.
 */
static __always_inline bool task_is_unmapped(struct task_struct *task, __u64 header)
{
	return bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma) &&
	       bpf_find_vma(task, header, task_vma, NULL, 0) == -TASK_ENOENT;
}

/* Is the poll still running, as the task's own state tells? Unreadable counts as ended. */
static __always_inline bool task_is_running(const struct open_poll *p, struct task_words *w)
{
	return task_fate(p, w) == TASK_ALIVE && (w->state & TASK_RUNNING);
}

#endif /* DIAL9_TASK_BPF_H */
