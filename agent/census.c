/* SPDX-License-Identifier: Apache-2.0 */
#include "census.h"

#include <string.h>

#include "plan.h"

#define HEADER_NEXT 1 /* words of a task's header: state, queue_next, vtable, owner_id */
#define HEADER_VTABLE 2
#define HEADER_OWNER 3
#define TRAILER_WORDS 6
#define SHARDS_MIN 4 /* four per worker, a power of two */
#define SHARDS_MAX 65536
#define COUNT_MAX (1u << 28) /* no runtime has more tasks: another word was read */
#define OWNER_NEAR 6 /* words between a task list and its owner id */

static const struct plan_vtable *header_read(const struct census_handle *h, uint64_t addr,
					     uint64_t *words)
{
	if (!memory_is_ptr(addr) || memory_read(h->m, addr, words, 4 * sizeof(*words)))
		return NULL;
	return plan_vtable_at(h->plan, words[HEADER_VTABLE], NULL);
}

/* The Handle's word `i` still has the value it had. */
static bool is_steady(const struct census_handle *h, int i)
{
	uint64_t word;

	return !memory_read(h->m, h->addr + (uint64_t)i * 8, &word, sizeof(word)) &&
	       word == h->words[i];
}

/* A walk costs up to CENSUS_WALK_MAX reads: one that never succeeds must become rare. */
static bool is_turn(const struct census *c, uint32_t tries)
{
	return tries < CENSUS_TRIES_MAX || c->calls % 64 == 0;
}

/* Length of the chain of tasks from `head` to `tail` by queue_next; 0 = it is none, or too long. */
static uint32_t chain_walk(const struct census_handle *h, uint64_t head, uint64_t tail)
{
	uint64_t at = head, words[4];

	for (uint32_t cnt = 1; cnt <= CENSUS_WALK_MAX; cnt++) {
		if (!header_read(h, at, words))
			return 0;
		if (at == tail)
			return words[HEADER_NEXT] ? 0 : cnt;
		at = words[HEADER_NEXT];
	}
	return 0;
}

/* The words that can be a length of `cnt`, out of those that still could. */
static int length_sieve(struct census *c, const struct census_handle *h, uint32_t cnt)
{
	int left = 0;

	for (int i = 0; i < CENSUS_WORDS; i++) {
		uint64_t bit = 1ull << (i % 64);

		if (!(c->may_be[i / 64] & bit))
			continue;
		if (i < 2 || i >= h->cnt || h->words[i] != cnt) {
			c->may_be[i / 64] &= ~bit;
			continue;
		}
		c->len = (uint16_t)i;
		left++;
	}
	return left;
}

/*
 * Two observations of different lengths, the first of at least two tasks, and one word that went
 * along. A length of 0 (both ends empty) counts as the second.
 */
static void inject_learn(struct census *c, const struct census_handle *h)
{
	if (c->seen && c->ends + 1 < h->cnt && !h->words[c->ends] && !h->words[c->ends + 1]) {
		c->has_len = length_sieve(c, h, 0) == 1;
		return;
	}
	for (int i = 2; i + 1 < h->cnt && is_turn(c, c->inject_tries); i++) {
		uint64_t a = h->words[i], b = h->words[i + 1], mix = a ^ (b << 1);
		uint32_t cnt;

		if (!memory_is_ptr(a) || !memory_is_ptr(b) || a == b || c->fruitless[i] == mix)
			continue;
		cnt = chain_walk(h, a, b);
		if (!cnt)
			cnt = chain_walk(h, b, a);
		if (cnt < 2) {
			c->fruitless[i] = mix;
			continue;
		}
		c->inject_tries++;
		if (!is_steady(h, i) || !is_steady(h, i + 1))
			return;
		if (!c->seen || c->ends != i) {
			memset(c->may_be, 0xff, sizeof(c->may_be));
			c->ends = (uint16_t)i;
			c->seen = cnt;
			length_sieve(c, h, cnt);
		} else if (cnt != c->seen) {
			c->has_len = length_sieve(c, h, cnt) == 1;
		}
		return;
	}
}

struct census_count census_inject(struct census *c, const struct census_handle *h)
{
	struct census_count ret = {false, 0};
	bool is_empty;

	c->calls++;
	if (!c->has_len)
		inject_learn(c, h);
	if (!c->has_len || c->ends + 1 >= h->cnt || c->len >= h->cnt)
		return ret;
	is_empty = !h->words[c->ends] && !h->words[c->ends + 1];
	/* the three words change under Tokio's lock: what does not fit was read in between */
	if (h->words[c->len] > COUNT_MAX || is_empty != !h->words[c->len])
		return ret;
	ret.is_known = true;
	ret.cnt = (uint32_t)h->words[c->len];
	return ret;
}

/*
 * OwnedTasks from 1.35 on: (slice of shards, their number), counts, number - 1, owner id. The
 * counts are one word (alive) or two (ever added, alive). `mask` is the index of number - 1.
 */
static bool sharded_fits(const struct census_handle *h, int i, int mask)
{
	const uint64_t *w = h->words;

	return mask + 1 < h->cnt && memory_is_ptr(w[i]) && w[i + 1] >= SHARDS_MIN &&
	       w[i + 1] <= SHARDS_MAX && !(w[i + 1] & (w[i + 1] - 1)) && w[mask] == w[i + 1] - 1 &&
	       (h->owner_id ? w[mask + 1] == h->owner_id : w[mask + 1] - 1 < COUNT_MAX);
}

/* Word `i` can belong to the OwnedTasks: where it stands is known if a bind was seen. */
static bool is_owned_place(const struct census_handle *h, int i)
{
	uint64_t addr = h->addr + (uint64_t)i * 8;

	return h->owned_tasks <= h->addr || (addr >= h->owned_tasks && addr < h->owned_tasks + 64);
}

static bool sharded_learn(struct census *c, const struct census_handle *h)
{
	for (int i = 2; i + 4 < h->cnt; i++) {
		bool has_one = sharded_fits(h, i, i + 3), has_two = sharded_fits(h, i, i + 4);

		if (has_one == has_two || !is_owned_place(h, i))
			continue; /* neither; or both by chance: the next look decides */
		c->owned = CENSUS_SHARDED;
		c->list = (uint16_t)i;
		c->count = (uint16_t)(i + 2);
		c->has_added = has_two;
		return true;
	}
	return false;
}

static struct census_count sharded_count(const struct census *c, const struct census_handle *h)
{
	struct census_count ret = {false, 0};
	uint64_t cnt;

	if (!sharded_fits(h, c->list, c->list + (c->has_added ? 4 : 3)))
		return ret;
	cnt = h->words[c->count];
	/* never are more alive than were added */
	if (c->has_added && h->words[c->count + 1] < cnt)
		cnt = h->words[c->count + 1];
	ret.is_known = cnt <= COUNT_MAX;
	ret.cnt = (uint32_t)cnt;
	return ret;
}

/* Length of the owned list by the (prev, next) pair at word `at` of each task's trailer. */
static uint32_t owned_walk(const struct census_handle *h, uint64_t head, uint64_t tail, int at)
{
	uint64_t task = head, before = 0, words[4], links[2];

	for (uint32_t cnt = 1; cnt <= CENSUS_WALK_MAX; cnt++) {
		const struct plan_vtable *v = header_read(h, task, words);

		if (!v || words[HEADER_OWNER] != h->owner_id ||
		    memory_read(h->m, task + v->trailer_off + (uint64_t)at * 8, links,
				sizeof(links)) ||
		    links[0] != before)
			return 0;
		if (task == tail)
			return links[1] ? 0 : cnt;
		before = task;
		task = links[1];
	}
	return 0;
}

/* OwnedTasks of 1.29 to 1.34: (head, tail) of one list, beside it the count, near it the owner id.
 * Returns the nearest word that can be the id, 0 if there is none. */
static int owner_near(const struct census_handle *h, int i, int count, uint64_t owner_id)
{
	for (int d = 1; d <= OWNER_NEAR; d++) {
		if (i - d >= 2 && i - d != count && h->words[i - d] == owner_id)
			return i - d;
		if (i + d < h->cnt && i + d != count && h->words[i + d] == owner_id)
			return i + d;
	}
	return 0;
}

static bool is_length(uint64_t word)
{
	return word >= 3 && word <= COUNT_MAX;
}

static bool counted_learn(struct census *c, const struct census_handle *h)
{
	for (int i = 3; i + 2 < h->cnt && is_turn(c, c->owned_tries); i++) {
		uint64_t a = h->words[i], b = h->words[i + 1], words[4];
		uint32_t cnt = 0;
		int count;

		/* lists of one or two tasks prove too little; older versions have no count */
		if (!memory_is_ptr(a) || !memory_is_ptr(b) || a == b || !is_owned_place(h, i) ||
		    (!is_length(h->words[i + 2]) && !is_length(h->words[i - 1])) ||
		    !header_read(h, a, words) ||
		    words[HEADER_OWNER] != h->owner_id)
			continue;
		c->owned_tries++;
		for (int at = 0; at < TRAILER_WORDS && !cnt; at++) {
			cnt = owned_walk(h, a, b, at);
			if (!cnt)
				cnt = owned_walk(h, b, a, at);
		}
		if (cnt < 3 || !is_steady(h, i) || !is_steady(h, i + 1) ||
		    (h->words[i + 2] == cnt) == (h->words[i - 1] == cnt))
			continue;
		count = h->words[i + 2] == cnt ? i + 2 : i - 1;
		if (!owner_near(h, i, count, h->owner_id))
			continue;
		c->owned = CENSUS_COUNTED;
		c->list = (uint16_t)i;
		c->owner = (uint16_t)owner_near(h, i, count, h->owner_id);
		c->count = (uint16_t)count;
		return true;
	}
	return false;
}

static struct census_count counted_count(const struct census *c, const struct census_handle *h)
{
	struct census_count ret = {false, 0};
	const uint64_t *ends = h->words + c->list;
	uint64_t cnt;

	if (c->list + 1 >= h->cnt || c->count >= h->cnt || c->owner >= h->cnt ||
	    h->words[c->owner] != h->owner_id)
		return ret;
	cnt = h->words[c->count];
	if (cnt > COUNT_MAX || !ends[0] != !cnt || !ends[1] != !cnt ||
	    (cnt && (ends[0] == ends[1]) != (cnt == 1)))
		return ret;
	ret.is_known = true;
	ret.cnt = (uint32_t)cnt;
	return ret;
}

struct census_count census_alive(struct census *c, const struct census_handle *h)
{
	struct census_count ret = {false, 0};

	if (!h->owner_id)
		return ret;
	if (c->owned == CENSUS_NONE && !sharded_learn(c, h) && !counted_learn(c, h))
		return ret;
	return c->owned == CENSUS_SHARDED ? sharded_count(c, h) : counted_count(c, h);
}

bool census_has_owned(const struct census_handle *h)
{
	for (int i = 2; i + 4 < h->cnt; i++) {
		uint64_t words[4];

		if (sharded_fits(h, i, i + 3) || sharded_fits(h, i, i + 4))
			return true;
		if (memory_is_ptr(h->words[i]) && memory_is_ptr(h->words[i + 1]) &&
		    header_read(h, h->words[i], words) && words[HEADER_OWNER] &&
		    owner_near(h, i, 0, words[HEADER_OWNER]) &&
		    header_read(h, h->words[i + 1], words))
			return true;
	}
	return false;
}
