/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler.h"

#include <errno.h>

#define LOCAL_WORDS 24 /* a LocalSet's shared part is smaller than that */
#define RING_MIN 64 /* capacity a LocalSet's rings start with; it doubles */
#define RING_MAX (1u << 24)

/* A VecDeque's four words: (capacity, buffer) in any order, and two that are at most capacity. */
static bool is_ring(const uint64_t *w)
{
	for (int k = 0; k < 3; k++) {
		uint64_t a = w[k], b = w[k + 1], cap = a < b ? a : b, buffer = a < b ? b : a;
		uint64_t first = w[k ? 0 : 2], second = w[k == 2 ? 1 : 3];

		if (cap >= RING_MIN && cap <= RING_MAX && !(cap & (cap - 1)) &&
		    memory_is_ptr(buffer) && first <= cap && second <= cap)
			return true;
	}
	return false;
}

static bool is_local_set(const struct census_handle *h)
{
	int rings = 0;

	for (int i = 2; i + 4 <= h->cnt && i + 4 <= LOCAL_WORDS; i++) {
		if (!is_ring(h->words + i))
			continue;
		rings++;
		i += 3;
	}
	return rings >= 2;
}

int scheduler_judge(const struct census_handle *h, uint16_t remotes_off, struct remotes *remotes,
		    enum seat_flavor *ret)
{
	int err;

	if (h->cnt < 4 || !memory_is_arc(h->words[0], h->words[1]))
		return -ENOENT;
	err = remotes_off ? remotes_at(h->m, h->addr, remotes_off, remotes) : -ENOENT;
	if (err == -ENOENT)
		err = remotes_find(h->m, h->addr, remotes);
	if (!err) {
		*ret = SEAT_MULTI_THREAD;
		return 0;
	}
	if (err != -ENOENT)
		return err;
	if (is_local_set(h) || !census_has_owned(h))
		return -ENOENT;
	*ret = SEAT_CURRENT_THREAD;
	return 0;
}
