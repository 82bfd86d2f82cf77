// SPDX-License-Identifier: Apache-2.0
/* spans.c - a short stack of spans for each thread; threads by linear probing, 0 marks a free one. */
#include "spans.h"

#include <stdlib.h>
#include <string.h>

#define SPANS_SLOTS (2 * SPANS_THREADS_MAX)

struct spans_threads {
	struct spans_thread slots[SPANS_SLOTS];
	uint32_t used_cnt;
};

bool spans_add(struct spans *s, uint64_t start_ns, uint64_t end_ns)
{
	bool is_well = start_ns <= end_ns && (!s->cnt || s->kept[s->cnt - 1].end_ns <= end_ns);

	/* those that it holds tell nothing that it does not tell itself */
	while (s->cnt && s->kept[s->cnt - 1].start_ns >= start_ns)
		s->cnt--;
	if (s->cnt && s->kept[s->cnt - 1].end_ns > start_ns)
		is_well = false;
	if (s->cnt == SPANS_DEPTH) {
		s->cnt--;
		memmove(s->kept, s->kept + 1, s->cnt * sizeof(s->kept[0]));
	}
	s->kept[s->cnt].start_ns = start_ns;
	s->kept[s->cnt++].end_ns = end_ns;
	return is_well;
}

struct spans_threads *spans_threads_new(void)
{
	return calloc(1, sizeof(struct spans_threads));
}

void spans_threads_free(struct spans_threads *t)
{
	free(t);
}

struct spans *spans_of_thread(struct spans_threads *t, uint32_t tid)
{
	uint32_t at = (tid * 0x9e3779b1u) >> 16 & (SPANS_SLOTS - 1);

	if (tid == 0)
		return NULL;
	for (; t->slots[at].tid; at = (at + 1) & (SPANS_SLOTS - 1))
		if (t->slots[at].tid == tid)
			return &t->slots[at].spans;
	if (t->used_cnt == SPANS_THREADS_MAX) {
		memset(t, 0, sizeof(*t));
		at = (tid * 0x9e3779b1u) >> 16 & (SPANS_SLOTS - 1);
	}
	t->used_cnt++;
	t->slots[at].tid = tid;
	return &t->slots[at].spans;
}
