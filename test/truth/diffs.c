// SPDX-License-Identifier: Apache-2.0
#include "test/truth/diffs.h"

#include "test/truth/vec.h"

void diffs_add(struct diffs *d, uint64_t a_ns, uint64_t b_ns)
{
	*vec_push(&d->v) = a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x == y ? 0 : x < y ? -1 : 1;
}

void diffs_close(struct diffs *d)
{
	vec_sort(&d->v, by_size);
}

uint64_t diffs_at(const struct diffs *d, unsigned permille)
{
	return d->v.cnt ? d->v.at[(d->v.cnt - 1) * permille / 1000] : 0;
}
