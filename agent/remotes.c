/* SPDX-License-Identifier: Apache-2.0 */
#include "remotes.h"

#include <errno.h>
#include <stddef.h>

#define QUEUE_CAPACITY 256u
#define QUEUE_WORDS 5 /* strong, weak, and three words in any order */
#define SAMPLES_MAX 64 /* queues looked at for a proof */

static int err_or_enoent(int err)
{
	return err == -ESRCH || err == -E2BIG ? err : -ENOENT;
}

/* Reads the slice (addr, cnt) and judges it. */
static int slice_read(struct memory *m, uint64_t addr, uint64_t cnt, struct remotes *ret)
{
	uint32_t last;
	int err;

	if (!memory_is_ptr(addr) || cnt < 1 || cnt > REMOTES_MAX)
		return -ENOENT;
	err = memory_read(m, addr, ret->words, cnt * 2 * sizeof(*ret->words));
	if (err)
		return err_or_enoent(err);
	for (uint64_t i = 0; i < 2 * cnt; i++) {
		if (!memory_is_ptr(ret->words[i]))
			return -ENOENT;
		/* every worker has its own queue and its own unparker */
		if (i && (ret->words[i] == ret->words[0] || ret->words[i] == ret->words[i - 1]))
			return -ENOENT;
	}
	last = 2 * (uint32_t)cnt - 2;
	if (!memory_has_arc(m, ret->words[0]) || !memory_has_arc(m, ret->words[1]) ||
	    (last && (!memory_has_arc(m, ret->words[last]) ||
		      !memory_has_arc(m, ret->words[last + 1]))))
		return -ENOENT;
	ret->addr = addr;
	ret->cnt = (uint32_t)cnt;
	return 0;
}

int remotes_at(struct memory *m, uint64_t handle, uint16_t off, struct remotes *ret)
{
	uint64_t slice[2];
	int err;

	if (!memory_is_ptr(handle))
		return -ENOENT;
	err = memory_read(m, handle + off, slice, sizeof(slice));
	if (err)
		return err_or_enoent(err);
	ret->handle_off = off;
	return slice_read(m, slice[0], slice[1], ret);
}

int remotes_find(struct memory *m, uint64_t handle, struct remotes *ret)
{
	uint64_t words[REMOTES_HANDLE_WORDS];
	int cnt;

	if (!memory_is_ptr(handle))
		return -ENOENT;
	cnt = memory_words(m, handle, words, REMOTES_HANDLE_WORDS);
	if (cnt < 0)
		return err_or_enoent(cnt);
	if (cnt < 4 || !memory_is_arc(words[0], words[1]))
		return -ENOENT;
	for (int i = 2; i + 1 < cnt; i++) {
		int err = slice_read(m, words[i], words[i + 1], ret);

		if (!err) {
			ret->handle_off = (uint16_t)(i * 8);
			return 0;
		}
		if (err != -ENOENT)
			return err;
	}
	return -ENOENT;
}

/* `words` of an ArcInner can be a queue whose words stand at these places (in words). */
static bool queue_fits(const uint64_t *words, int buffer, int head, int tail)
{
	uint32_t real = (uint32_t)words[head], steal = (uint32_t)(words[head] >> 32);

	return memory_is_arc(words[0], words[1]) && memory_is_ptr(words[buffer]) &&
	       (uint32_t)words[tail] - real <= QUEUE_CAPACITY && real - steal <= QUEUE_CAPACITY;
}

/*
 * A used queue shows which word is its head: not swappable with the tail while they differ, and
 * both its halves (tasks taken, steals finished) equal but for moments when they do not. The last
 * task pushed left its address in the buffer; what an unparker points to is an Arc instead.
 */
static bool queue_is_proof(struct memory *m, const uint64_t *words, int buffer, int head, int tail)
{
	uint32_t real = (uint32_t)words[head], steal = (uint32_t)(words[head] >> 32);
	uint32_t pushed = (uint32_t)words[tail];
	uint64_t entry;

	if (!pushed || (pushed == real && real != steal))
		return false;
	if (pushed != real && queue_fits(words, buffer, tail, head))
		return false;
	return !memory_has_arc(m, words[buffer]) &&
	       !memory_read(m, words[buffer] + (pushed - 1) % QUEUE_CAPACITY * sizeof(entry),
			    &entry, sizeof(entry)) &&
	       memory_is_ptr(entry);
}

/* All queues of one column against one order of words. Returns proofs seen, or -1. */
static int column_judge(struct memory *m, uint64_t words[][QUEUE_WORDS], uint32_t cnt, int buffer,
			int head, int tail)
{
	int proofs = 0;

	for (uint32_t i = 0; i < cnt; i++) {
		if (!queue_fits(words[i], buffer, head, tail))
			return -1;
		/* buffers are never shared; what unparkers point to is, by all of them */
		if (i && words[i][buffer] == words[0][buffer])
			return -1;
		if (proofs < 2 && queue_is_proof(m, words[i], buffer, head, tail))
			proofs++;
	}
	return proofs;
}

int remotes_prove(struct memory *m, const struct remotes *r, struct queue_shape *ret)
{
	static const int orders[6][3] = {{2, 3, 4}, {2, 4, 3}, {3, 2, 4},
					 {3, 4, 2}, {4, 2, 3}, {4, 3, 2}};
	uint64_t words[SAMPLES_MAX][QUEUE_WORDS];
	uint32_t cnt = r->cnt < SAMPLES_MAX ? r->cnt : SAMPLES_MAX;
	int found = 0;

	for (uint32_t column = 0; column < 2; column++) {
		uint32_t got = 0;

		while (got < cnt && !memory_read(m, r->words[2 * got + column], words[got],
						 sizeof(words[got])))
			got++;
		for (int o = 0; got == cnt && o < 6; o++) {
			const int *at = orders[o];

			if (column_judge(m, words, cnt, at[0], at[1], at[2]) < 1)
				continue;
			found++;
			ret->column = (uint8_t)column;
			ret->buffer_off = (uint8_t)(at[0] * 8);
			ret->head_off = (uint8_t)(at[1] * 8);
			ret->tail_off = (uint8_t)(at[2] * 8);
		}
	}
	ret->is_proven = found == 1; /* two that fit are none */
	return ret->is_proven ? 0 : -EAGAIN;
}

int queue_check(struct memory *m, const struct queue_shape *q, uint64_t arc)
{
	uint64_t words[QUEUE_WORDS];
	int err;

	if (!memory_is_ptr(arc))
		return -ENOENT;
	err = memory_read(m, arc, words, sizeof(words));
	if (err)
		return err_or_enoent(err);
	return queue_fits(words, q->buffer_off / 8, q->head_off / 8, q->tail_off / 8) ? 0 : -ENOENT;
}
