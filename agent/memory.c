/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include <errno.h>

#define USER_MIN 0x10000ull /* mmap_min_addr: nothing lies below */
#define USER_END (1ull << 47)
#define PAGE_SZ 4096ull
#define STRONG_MAX (1ull << 32) /* every task holds its Handle */
#define WEAK_MAX (1ull << 20)

void memory_budget(struct memory *m, uint32_t reads_max)
{
	m->reads_cnt = 0;
	m->reads_max = reads_max;
}

int memory_read(struct memory *m, uint64_t addr, void *buf, size_t sz)
{
	if (sz > MEMORY_READ_MAX || addr < USER_MIN || addr >= USER_END || USER_END - addr < sz)
		return -EFAULT;
	if (m->reads_cnt >= m->reads_max)
		return -E2BIG;
	m->reads_cnt++;
	return m->read(m->ctx, addr, buf, sz);
}

int memory_words(struct memory *m, uint64_t addr, uint64_t *words, size_t cnt)
{
	uint64_t left_sz = PAGE_SZ - (addr & (PAGE_SZ - 1));
	int err = memory_read(m, addr, words, cnt * sizeof(*words));

	if (!err)
		return (int)cnt;
	if (err != -EFAULT || left_sz >= cnt * sizeof(*words))
		return err;
	cnt = left_sz / sizeof(*words);
	if (!cnt)
		return err;
	err = memory_read(m, addr, words, cnt * sizeof(*words));
	return err ? err : (int)cnt;
}

bool memory_is_ptr(uint64_t word)
{
	return word >= USER_MIN && word < USER_END && !(word & 7);
}

bool memory_is_arc(uint64_t strong, uint64_t weak)
{
	return strong >= 1 && strong <= STRONG_MAX && weak >= 1 && weak <= WEAK_MAX;
}

bool memory_has_arc(struct memory *m, uint64_t addr)
{
	uint64_t counts[2];

	return memory_is_ptr(addr) && !memory_read(m, addr, counts, sizeof(counts)) &&
	       memory_is_arc(counts[0], counts[1]);
}
