// SPDX-License-Identifier: Apache-2.0
/* callers.c - a table of direct calls, sorted by destination. */
#include "callers.h"

#include "image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_SZ (256u << 10)
#define INSN_SZ 5u /* opcode and 32-bit distance */

struct callers_call {
	uint32_t function, site; /* distance from the lowest code address */
};

struct callers {
	uint64_t base; /* lowest code address */
	struct callers_call *list;
	size_t cnt, cap;
};

static int callers_add(struct callers *c, uint64_t function, uint64_t site)
{
	struct callers_call *bigger;
	size_t cap;

	if (c->cnt == CALLERS_MAX)
		return 0;
	if (c->cnt == c->cap) {
		cap = c->cap ? 2 * c->cap : 4096;
		bigger = realloc(c->list, cap * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		c->list = bigger;
		c->cap = cap;
	}
	c->list[c->cnt++] =
		(struct callers_call){ (uint32_t)(function - c->base), (uint32_t)(site - c->base) };
	return 0;
}

static int callers_scan(struct callers *c, const struct image *img, const uint8_t *bytes, size_t sz,
			uint64_t vaddr)
{
	int err = 0;

	for (size_t i = 0; i + INSN_SZ <= sz && err == 0; i++) {
		uint64_t site = vaddr + i, function;
		int32_t distance;

		if (bytes[i] != 0xe8 && bytes[i] != 0xe9)
			continue;
		memcpy(&distance, bytes + i + 1, sizeof(distance));
		function = site + INSN_SZ + (uint64_t)(int64_t)distance;
		if (function % CALLERS_ALIGN == 0 && function >= c->base &&
		    function - c->base <= UINT32_MAX && site - c->base <= UINT32_MAX &&
		    image_is_code(img, function))
			err = callers_add(c, function, site);
	}
	return err;
}

static int callers_scan_segment(struct callers *c, const struct image *img,
				const struct image_segment *seg, uint8_t *window)
{
	uint64_t done = 0;
	int err = 0;

	while (err == 0 && seg->file_sz - done >= INSN_SZ) {
		size_t sz =
			seg->file_sz - done < WINDOW_SZ ? (size_t)(seg->file_sz - done) : WINDOW_SZ;

		err = image_pread(img, seg->file_off + done, window, sz);
		if (err == 0)
			err = callers_scan(c, img, window, sz, seg->vaddr + done);
		/* an instruction may lie across two windows */
		done += sz == WINDOW_SZ ? sz - (INSN_SZ - 1) : sz;
	}
	return err;
}

static int callers_compare(const void *a, const void *b)
{
	const struct callers_call *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->site < y->site ? -1 : x->site > y->site;
}

int callers_open(struct image *img, struct callers **ret)
{
	struct callers *c = calloc(1, sizeof(*c));
	uint8_t *window = malloc(WINDOW_SZ);
	int err = c && window ? 0 : -ENOMEM;

	if (err == 0) {
		c->base = UINT64_MAX;
		for (size_t i = 0; i < img->segs_cnt; i++)
			if (img->segs[i].is_exec && img->segs[i].vaddr < c->base)
				c->base = img->segs[i].vaddr;
		for (size_t i = 0; i < img->segs_cnt && err == 0; i++)
			if (img->segs[i].is_exec)
				err = callers_scan_segment(c, img, &img->segs[i], window);
		if (err == 0 && c->cnt == 0)
			err = -ENOENT;
	}
	free(window);
	if (err) {
		callers_close(c);
		return err;
	}
	qsort(c->list, c->cnt, sizeof(*c->list), callers_compare);
	*ret = c;
	return 0;
}

void callers_close(struct callers *c)
{
	if (!c)
		return;
	free(c->list);
	free(c);
}

int callers_nth(const struct callers *c, uint64_t function, size_t nth, uint64_t *ret_site)
{
	size_t low = 0, high = c->cnt;
	uint32_t wanted = (uint32_t)(function - c->base);

	if (function < c->base || function - c->base > UINT32_MAX)
		return -ENOENT;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->list[mid].function < wanted)
			low = mid + 1;
		else
			high = mid;
	}
	if (nth >= c->cnt - low || c->list[low + nth].function != wanted)
		return -ENOENT;
	*ret_site = c->base + c->list[low + nth].site;
	return 0;
}
