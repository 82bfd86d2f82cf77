/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wire.h - the records that pass from the kernel to the agent, and the tables that pass back.
 *
 * Shared by BPF and userspace: fixed-width types only, no includes (the includer provides
 * __u8..__u64), explicit padding, sizes asserted on both sides.
 *
 * Every record begins with struct wire_head. Times are CLOCK_MONOTONIC ns. "Task id" is Tokio's
 * own u64 id; 0 means "none" (Tokio never gives it out). Where a process holds several copies of
 * Tokio (each shared object brings its own), each of them counts from 1: the ids of copy n, a
 * plan's file n, come as WIRE_COPY_ID(n, id), its owner ids as WIRE_COPY_OWNER(n, id). The first
 * copy's are as they are. Addresses are in the target's address space. Records of one CPU arrive in one ring, nearly in time order; the agent merges the rings.
 */
#ifndef DIAL9_WIRE_H
#define DIAL9_WIRE_H

#define WIRE_POLL_DEPTH 8 /* nested polls kept per thread; deeper ones are counted as lost */
#define WIRE_FRAMES_MAX 127 /* user frames in one stack, perf's own default limit */
#define WIRE_COMM_SZ 16
#define WIRE_TLS_WORDS_MAX 1024 /* of a thread's TLS block, those next to the thread pointer */
#define WIRE_QUEUE_UNKNOWN 0xffff
#define WIRE_TARGETS_MAX 256
#define WIRE_THREADS_MAX 65536
#define WIRE_SITE_HITS_MAX 65536 /* sites of all targets whose hits are counted one by one */
#define WIRE_COPIES_MAX 16 /* of Tokio, in one process */

#define WIRE_COPY_ID_BITS 48 /* 9 years of a million tasks a second */
#define WIRE_COPY_OWNER_BITS 28
#define WIRE_COPY_ID(copy, id) ((__u64)(copy) << WIRE_COPY_ID_BITS | (id))
#define WIRE_COPY_OWNER(copy, id) ((__u64)(copy) << WIRE_COPY_OWNER_BITS | (id))
#define WIRE_OWN_ID(id) ((id) & ((1ull << WIRE_COPY_ID_BITS) - 1)) /* as the copy itself has it */
#define WIRE_OWN_OWNER(id) ((id) & ((1ull << WIRE_COPY_OWNER_BITS) - 1))

enum wire_kind {
	WIRE_POLL_START = 1,
	WIRE_POLL_END = 2,
	WIRE_WAKE = 3,
	WIRE_SPAWN_ID = 4,
	WIRE_BIND = 5,
	WIRE_SHUTDOWN = 6,
	WIRE_OWNER = 7,
	WIRE_RETURN_SITE = 8,
	WIRE_SWITCH_OUT = 9,
	WIRE_SWITCH_IN = 10,
	WIRE_CPU_SAMPLE = 11,
	WIRE_THREAD_EXIT = 12,
	WIRE_EXEC = 13,
	WIRE_SEAT = 14,
	WIRE_TLS = 15,
	WIRE_TASK_SEEN = 16,
	WIRE_PARKS = 17,
	WIRE_KIND_CNT
};

struct wire_head {
	__u64 ts_ns;
	__u32 tid; /* thread it happened on, in the initial pid namespace */
	__u8 kind; /* enum wire_kind */
	__u8 flags; /* per kind, below */
	__u16 target; /* slot of the target (struct wire_target.slot) */
};

/* flags of WIRE_POLL_START */
#define WIRE_START_CANCELLED 0x01 /* CANCELLED stood in the task's state: this poll drops it */
#define WIRE_START_UNREAD 0x02 /* the header could not be read: id, vtable, owner unknown */

struct wire_poll_start {
	struct wire_head head;
	__u64 task_id;
	__u64 vtable; /* runtime address of the task's vtable: its type */
	__u64 location; /* address of its core::panic::Location (tokio_unstable), else 0 */
	__u32 owner_id; /* low half of the owner id (names the task list); 0 = blocking pool */
	__u16 local_queue; /* depth of this worker's run queue, WIRE_QUEUE_UNKNOWN if not read */
	__u8 depth; /* polls already open on this thread: 0 = outermost */
	__u8 pad;
};

/* flags of WIRE_POLL_END */
#define WIRE_END_TASK_ENDED 0x01 /* the task is gone (finished, panicked or cancelled) */
#define WIRE_END_UNREAD 0x02 /* its header could not be read: ended or not is unknown */
#define WIRE_END_NOTIFIED 0x04 /* woken while being polled: runnable again at once */
#define WIRE_END_CANCELLED 0x08 /* CANCELLED stood at the poll's start or end */
#define WIRE_END_RAISED 0x10 /* a panic was raised inside this poll */
#define WIRE_END_INFERRED 0x20 /* no return site was hit: rule says how the end is known */

struct wire_poll_end {
	struct wire_head head;
	__u64 task_id;
	__u8 depth; /* as in the start it closes */
	__u8 rule; /* with INFERRED: 1 next start, 2 TLS at rest, 3 state bit, 4 switch-out */
	__u8 pad[6];
};

struct wire_wake { /* entry of the task's schedule(): the effective wake of an idle task */
	struct wire_head head;
	__u64 woken_id;
	__u64 waker_id; /* innermost task polled on this thread, 0 = outside any poll */
};

struct wire_spawn_id { /* an id was drawn from a counter that may be Tokio's */
	struct wire_head head;
	__u64 task_id;
	__u64 spawner_id; /* innermost task polled on this thread, 0 = outside */
	__u32 counter; /* index into the plan's counters */
	__u32 pad;
};

struct wire_bind { /* OwnedTasks::bind_inner: an async task exists; state was 0xcc (checked) */
	struct wire_head head;
	__u64 task_id;
	__u64 vtable;
	__u64 location;
	__u64 return_addr; /* where the spawning code goes on, or a place in it */
	__u64 spawner_id;
	__u64 owned_tasks; /* address of the OwnedTasks list, 0 = unknown */
};

struct wire_shutdown { /* vtable.shutdown entered while neither running nor complete */
	struct wire_head head;
	__u64 task_id;
};

struct wire_owner { /* a thread polls for another task list than the one before */
	struct wire_head head;
	__u64 owner_id;
	__u64 scheduler; /* the word at scheduler_offset: Arc<Handle> or Arc<Shared> */
	__u64 vtable;
	__u64 task_header; /* address of the task's header, valid at ts_ns only */
};

struct wire_return_site { /* polls return to a place that is not probed: ends there are inferred */
	struct wire_head head;
	__u64 return_addr;
	__u64 vtable;
};

/* flags of WIRE_SWITCH_OUT */
#define WIRE_OUT_PREEMPTED 0x01 /* still runnable */
#define WIRE_OUT_IN_POLL 0x02 /* task_id is being polled; frames follow */
#define WIRE_OUT_STACK_CUT 0x04 /* the stack could not be walked (frames_cnt 0) or was cut */

struct wire_switch_out {
	struct wire_head head;
	__u64 task_id; /* innermost task being polled, 0 = none */
	__u64 cpu_time_ns; /* of this thread since it was born */
	__s32 syscall; /* number, -1 = not inside one */
	__u32 prev_state; /* the kernel's task state bits; 0 = runnable */
	__u16 cpu;
	__u16 frames_cnt;
	__u32 pad;
	__u64 frames[]; /* leaf first */
};

#define WIRE_IN_INFERRED 0x02 /* the kernel did not show it: ts_ns by the CPU time used since */
#define WIRE_IN_ALONE 0x01 /* preempted inside the poll of task_id at out_ns; there was no record of that */

struct wire_switch_in {
	struct wire_head head;
	__u64 task_id;
	__u64 out_ns; /* ts of the switch-out it closes, 0 = not seen */
	__u64 runnable_ns; /* when it was made runnable again, 0 = unknown */
	__u64 cpu_time_ns;
	__u16 cpu;
	__u16 pad[3];
};

/* Sums over switches that have no record of their own; numbers, each with its time in ns behind it. */
enum wire_sum {
	WIRE_SUM_PARKS = 0, /* asleep in futex or epoll outside polls, until runnable again */
	WIRE_SUM_PREEMPTED = 2, /* outside polls */
	WIRE_SUM_POLL_PREEMPTED = 4, /* inside polls, for less than PARKS_LONG_NS each */
	WIRE_SUM_OTHERS = 6, /* asleep outside polls in another way */
	WIRE_SUM_DELAYED_NS = 8, /* after parks: runnable, but without a CPU */
	WIRE_SUM_CNT
};

#define WIRE_PARKS_OVER 0x01 /* each switch has its record again from to_ns on */

/* What a busy thread's switches came to so far (bpf/parks.bpf.h). Without recorded polls only. */
struct wire_parks {
	struct wire_head head;
	__u64 begin_ns; /* from then on they are not recorded one by one */
	__u64 to_ns; /* the sums hold all up to here, and nothing later */
	__u64 cpu_time_ns;
	__u64 delay_max_ns; /* runnable, but without a CPU: the longest since the last record */
	__u64 sums[WIRE_SUM_CNT]; /* since the session began: never less than in the record before */
};

#define WIRE_SAMPLE_STACK_CUT 0x01

struct wire_cpu_sample {
	struct wire_head head;
	__u64 task_id;
	char comm[WIRE_COMM_SZ];
	__u16 cpu;
	__u16 frames_cnt;
	__u32 pad;
	__u64 frames[];
};

struct wire_life { /* WIRE_THREAD_EXIT, WIRE_EXEC */
	struct wire_head head;
};

/*
 * The worker that the thread is from its next poll on, read from its own memory at that moment:
 * once per thread, and again after it has run a task of the blocking pool (as which a worker is
 * launched, also in block_in_place). Comes right before the poll.
 */
struct wire_seat {
	struct wire_head head;
	__u64 handle; /* the runtime's Handle, as tasks' scheduler words name it */
	__u64 queue_addr; /* of the run queue's head word, 0 = not known */
	__u32 index, workers_cnt;
};

/*
 * The words right below the thread pointer while a task is polled: one of them is Tokio's own note
 * of its id (agent/taskid.h finds out which). Only while that is being learnt, and then only a few.
 */
struct wire_tls {
	struct wire_head head;
	__u64 task_id; /* innermost task polled on this thread */
	__u32 words_cnt; /* used ones; the last of them is the one next to the thread pointer */
	__u32 pad;
	__u64 words[WIRE_TLS_WORDS_MAX];
};

/*
 * Where polls are not probed: a thread is inside this task's poll (taskfind.bpf.h). When it is seen
 * with another task than before; comes right before the sample or switch that shows it.
 */
struct wire_task_seen {
	struct wire_head head;
	__u64 task_id;
	__u64 vtable;
	__u32 owner_id; /* low half, as in wire_poll_start */
	__u32 is_blocking;
};

/* ---- what the agent tells BPF ---- */

/* flags of struct wire_task_type; a type that is known has one of the first two */
#define WIRE_TYPE_ASYNC 1
#define WIRE_TYPE_BLOCKING 2 /* of the blocking pool */
#define WIRE_TYPE_DRIVES 4 /* set by BPF: inside such a task threads wait for events of a runtime */

struct wire_task_type { /* map task_types: what is known of a vtable */
	__u16 id_off;
	__u8 flags;
	__u8 pad;
};

#define WIRE_SEAT_NO_QUEUE 0xffff /* where the run queue lies is not known */
#define WIRE_SEAT_NO_INDEX 0xffff /* nor the index: good for runtimes of one worker only */

/* Where a thread of this build keeps its seat (agent/layout.h); all offsets in bytes. */
struct wire_seat_layout {
	__u32 gen; /* 0 = not known yet; changed at each update */
	__u32 tls_off; /* below the thread pointer: the word that points to the Context */
	__u16 worker_off; /* in the Context: the Worker */
	__u16 handle_off, index_off; /* in the Worker; index_off may be WIRE_SEAT_NO_INDEX */
	__u16 remotes_off; /* in the Handle: (array, length) */
	__u16 queue_off; /* in a Remote (16 bytes): the run queue; or WIRE_SEAT_NO_QUEUE */
	__u16 head_off; /* in the run queue */
	__u16 tail_off; /* behind the head */
	__u16 pad;
};

/* The last so many records are for other places than wakes, many of which stand at a poll's edge. */
#define WIRE_LEARN_NO_WAKES 2

struct wire_task_word { /* one per slot: where threads keep the id of the task they poll */
	__s32 learn_left; /* records of kind WIRE_TLS that may still be made: refilled by the agent */
	__u32 block_sz; /* bytes of the block in each, a multiple of 8 */
	__u32 gen; /* changed with the two below; 0 = never known */
	__u32 off; /* below the thread pointer, 0 = not known */
	__u32 has_tag; /* the word before it is 0 while no task is polled, whatever stands in it */
	__u32 header_bits; /* set by BPF: bits that are set in addresses of tasks' headers */
};

/* struct wire_target_state.want: which records this target pays for (the level, as bits) */
#define WIRE_WANT_QUEUE 0x01 /* read the local queue's depth at each poll start */
#define WIRE_WANT_CPU 0x02 /* CPU samples */
#define WIRE_WANT_SCHED 0x04 /* switch records */
#define WIRE_WANT_EXACT_ENDS 0x08 /* return sites are attached; else ends are inferred */
#define WIRE_WANT_POLLS 0x10 /* poll starts; without them the polls open are not known */
#define WIRE_WANT_WAKES 0x20
#define WIRE_WANT_TASKS 0x40 /* spawns, shutdowns, panics */
#define WIRE_WANT_OWN_ENDS 0x80 /* with a kept set: its ends are seen in the poll functions themselves */
#define WIRE_WANT_KEPT(set) (0x100 << (set)) /* poll starts of one of the two kept sets */
#define WIRE_WANT_ANY_KEPT (WIRE_WANT_KEPT(0) | WIRE_WANT_KEPT(1))

struct wire_target_state { /* one per slot; written by the agent while BPF runs */
	/* 0: attached but not yet recording, or already stopping; else the number of the session: what
	 * a thread remembers of an earlier one is void */
	__u32 ready;
	__u32 want;
	__u32 polls_gen; /* changed when polls become others: what a thread holds open is no more known */
	__u32 ends_gen; /* changed when EXACT_ENDS goes: returns of what is open may be missed */
	__u32 hits_base; /* in map site_hits: where this target's sites begin */
	__u32 pad;
};

struct wire_thread { /* map worker_threads: tid -> what the agent found out about a worker */
	__u64 queue_addr; /* address of its run queue's head word, 0 = unknown */
	__u16 tail_off; /* the tail word (u32) lies this far behind queue_addr */
	__u8 is_worker; /* switch records are wanted outside polls too */
	__u8 pad[5];
};

struct wire_thread_info { /* one per thread of a target, from the task iterator */
	__u32 tid;
	__u32 pad;
	__u64 fsbase; /* thread pointer */
	char comm[WIRE_COMM_SZ];
};

/* what did not become a record, per target slot and CPU: index of struct wire_counts.v */
enum wire_count {
	WIRE_LOST_FIRST, /* ring full: WIRE_LOST_FIRST + enum wire_kind */
	WIRE_HEADER_UNREAD = WIRE_LOST_FIRST + WIRE_KIND_CNT, /* user memory was not readable */
	WIRE_NOT_A_TASK, /* the header failed its self-check; hit ignored */
	WIRE_TOO_DEEP, /* more than WIRE_POLL_DEPTH nested polls: poll not recorded */
	WIRE_END_UNPAIRED, /* a return site with no open poll (attached mid-poll) */
	WIRE_RAISED, /* panics raised; not a loss */
	WIRE_STACK_CUT, /* user stack not walkable by frame pointers */
	WIRE_WORD_AGREES, /* inside a poll the task word was that poll's task */
	WIRE_WORD_RESTS, /* it was what stands there between polls: at either edge of a poll */
	WIRE_WORD_DROPS, /* it was a task that is over, and that the poll held: it dropped its output or future */
	WIRE_WORD_DIFFERS, /* it was none of these */
	WIRE_UNWANTED, /* hits of sites that are being put in or taken out */
	WIRE_SWITCHES, /* threads of the target that left a CPU or came to one */
	WIRE_SAMPLES, /* CPU samples of its threads */
	WIRE_REST_UNKNOWN, /* without probes: a word on a thread whose resting value is not known */
	WIRE_TYPE_UNKNOWN, /* without probes: a task whose header was not found on the stack */
	WIRE_IN_UNSEEN, /* switches in that the kernel did not show, inferred */
	WIRE_PARK_UNSURE, /* without probes and task word: a park, or a sleep inside a poll */
	/* run times of the programs, one run in CLOCKED_EACH (clocked.bpf.h); each with its ns behind it */
	WIRE_CLOCKED_SITES,
	WIRE_CLOCKED_SITES_NS,
	WIRE_CLOCKED_SWITCHES,
	WIRE_CLOCKED_SWITCHES_NS,
	WIRE_CLOCKED_SAMPLES,
	WIRE_CLOCKED_SAMPLES_NS,
	WIRE_COUNT_CNT
};

struct wire_counts {
	__u64 v[WIRE_COUNT_CNT];
};

#define WIRE_ASSERT(type, size) _Static_assert(sizeof(struct type) == (size), #type " size")
WIRE_ASSERT(wire_head, 16);
WIRE_ASSERT(wire_poll_start, 48);
WIRE_ASSERT(wire_poll_end, 32);
WIRE_ASSERT(wire_wake, 32);
WIRE_ASSERT(wire_spawn_id, 40);
WIRE_ASSERT(wire_bind, 64);
WIRE_ASSERT(wire_shutdown, 24);
WIRE_ASSERT(wire_owner, 48);
WIRE_ASSERT(wire_return_site, 32);
WIRE_ASSERT(wire_switch_out, 48);
WIRE_ASSERT(wire_switch_in, 56);
WIRE_ASSERT(wire_cpu_sample, 48);
WIRE_ASSERT(wire_life, 16);
WIRE_ASSERT(wire_task_seen, 40);
WIRE_ASSERT(wire_parks, 48 + 8 * WIRE_SUM_CNT);
WIRE_ASSERT(wire_seat, 40);
WIRE_ASSERT(wire_tls, 32 + 8 * WIRE_TLS_WORDS_MAX);
WIRE_ASSERT(wire_seat_layout, 24);
WIRE_ASSERT(wire_task_word, 24);
WIRE_ASSERT(wire_target_state, 24);
WIRE_ASSERT(wire_thread, 16);
WIRE_ASSERT(wire_thread_info, 32);

#endif /* DIAL9_WIRE_H */
