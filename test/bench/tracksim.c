// SPDX-License-Identifier: Apache-2.0
#include "test/bench/tracksim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STACKS 300

static uint64_t rnd(struct tracksim *s, uint64_t n)
{
	s->seed ^= s->seed << 13;
	s->seed ^= s->seed >> 7;
	s->seed ^= s->seed << 17;
	return s->seed % n;
}

/* Skewed like real durations: most are short, some a hundred times as long. */
static uint64_t duration(struct tracksim *s, uint64_t typical)
{
	return typical / 2 + rnd(s, typical) + (rnd(s, 20) ? 0 : rnd(s, 20 * typical)) +
	       (rnd(s, 500) ? 0 : rnd(s, 200 * typical));
}

static struct tracksim_record *add(struct tracksim *s, uint32_t w, uint8_t kind, size_t sz)
{
	struct tracksim_record *r = &s->at[s->cnt++];

	memset(r, 0, sz);
	r->sz = sz;
	r->head = (struct wire_head){
		.ts_ns = s->workers[w].now, .tid = 1000 + w, .kind = kind, .target = 1};
	return r;
}

static void spawn(struct tracksim *s, uint32_t w, uint32_t slot)
{
	uint64_t id = s->next_id++;
	struct tracksim_record *r = add(s, w, WIRE_SPAWN_ID, sizeof(struct wire_spawn_id));

	r->draw.task_id = id;
	s->workers[w].now += 900;
	r = add(s, w, WIRE_BIND, sizeof(struct wire_bind));
	r->bind.task_id = id;
	r->bind.vtable = 0xa000 + id % 12 * 0x60;
	r->bind.return_addr = 0x400000 + id % 15 * 0x33;
	r->bind.spawner_id = s->workers[w].task;
	r->bind.owned_tasks = TRACKSIM_HANDLE + 0x40;
	s->tasks[slot] = id;
}

/* One step of one worker's life. */
static void step(struct tracksim *s, uint32_t w)
{
	uint32_t slot = s->workers[w].slot;
	struct tracksim_record *r;

	switch (s->workers[w].step) {
	case 0: /* begin a poll of a task that nobody polls */
		do
			slot = (uint32_t)rnd(s, TRACKSIM_TASKS);
		while (s->polled_by[slot]);
		s->workers[w].slot = slot;
		s->polled_by[slot] = 1;
		s->workers[w].task = s->tasks[slot];
		r = add(s, w, WIRE_POLL_START, sizeof(r->start));
		r->start.task_id = s->tasks[slot];
		r->start.vtable = 0xa000 + s->tasks[slot] % 12 * 0x60;
		r->start.owner_id = 1;
		r->start.local_queue = (uint16_t)rnd(s, 12);
		s->workers[w].now += duration(s, 1200);
		break;
	case 1: /* wake another, or spawn */
		if (!rnd(s, 200)) {
			uint32_t other = (uint32_t)rnd(s, TRACKSIM_TASKS);

			if (!s->polled_by[other])
				spawn(s, w, other);
		} else if (rnd(s, 4)) {
			r = add(s, w, WIRE_WAKE, sizeof(r->wake));
			r->wake.woken_id = s->tasks[rnd(s, TRACKSIM_TASKS)];
			r->wake.waker_id = s->workers[w].task;
		}
		s->workers[w].now += duration(s, 1800);
		break;
	case 2:
		if (!rnd(s, 1500)) {
			r = add(s, w, WIRE_CPU_SAMPLE, sizeof(r->sample) + 8 * TRACKSIM_FRAMES);
			memcpy(r->sample.comm, "tokio-rt-worker", 16);
			r->sample.frames_cnt = TRACKSIM_FRAMES;
			for (uint64_t i = 0, stack = rnd(s, STACKS); i < TRACKSIM_FRAMES; i++)
				r->words[6 + i] = 0x555500000000ull + (stack * (i / 4) + i) * 0x91;
		}
		r = add(s, w, WIRE_POLL_END, sizeof(r->end));
		r->end.task_id = s->workers[w].task;
		if (s->workers[w].task != s->tasks[slot])
			r->head.flags = WIRE_END_TASK_ENDED; /* its slot has a new task */
		s->polled_by[slot] = 0;
		s->workers[w].now += duration(s, 500);
		break;
	default: /* sleep now and then */
		if (rnd(s, 15))
			break;
		r = add(s, w, WIRE_SWITCH_OUT, sizeof(r->out));
		r->out.cpu_time_ns = s->workers[w].cpu += duration(s, 40000);
		r->out.syscall = rnd(s, 2) ? 202 : 281;
		r->out.prev_state = 1;
		s->workers[w].now += duration(s, 30000);
		r = add(s, w, WIRE_SWITCH_IN, sizeof(r->in));
		r->in.runnable_ns = s->workers[w].now - duration(s, 1500);
		r->in.cpu_time_ns = s->workers[w].cpu;
		s->workers[w].now += duration(s, 600);
		break;
	}
	s->workers[w].step = (s->workers[w].step + 1) % 4;
}

static void simulate(struct tracksim *s)
{
	for (uint32_t i = 0; i < TRACKSIM_TASKS; i++)
		s->tasks[i] = s->next_id++;
	while (s->cnt + 16 < s->max) {
		uint32_t first = 0;

		for (uint32_t w = 1; w < s->workers_cnt; w++)
			if (s->workers[w].now < s->workers[first].now)
				first = w;
		step(s, first);
	}
}

/* A switch-in and a bind are made ahead of their worker's turn: put them in order. */
static int by_time(const void *a, const void *b)
{
	const struct tracksim_record *x = a, *y = b;

	return (x->head.ts_ns > y->head.ts_ns) - (x->head.ts_ns < y->head.ts_ns);
}

static int pack(struct tracksim *s)
{
	uint64_t *p;

	s->packed = malloc(s->cnt * (sizeof(struct tracksim_record) + 8));
	if (!s->packed)
		return -ENOMEM;
	p = s->packed;
	for (size_t i = 0; i < s->cnt; i++) {
		*p++ = s->at[i].sz;
		memcpy(p, s->at[i].words, s->at[i].sz);
		p += s->at[i].sz / 8;
	}
	return 0;
}

int tracksim_make(struct tracksim *s, size_t records_max, uint32_t workers_cnt)
{
	*s = (struct tracksim){
		.max = records_max,
		.workers_cnt = workers_cnt,
		.seed = 88172645463325252ull,
		.next_id = 4000,
	};
	s->at = calloc(s->max, sizeof(*s->at));
	if (!s->at)
		return -ENOMEM;
	for (uint32_t w = 0; w < s->workers_cnt; w++)
		s->workers[w].now = 1000000000ull + w * 700;
	simulate(s);
	qsort(s->at, s->cnt, sizeof(*s->at), by_time);
	return pack(s);
}

void tracksim_free(struct tracksim *s)
{
	free(s->packed);
	free(s->at);
}
