// SPDX-License-Identifier: Apache-2.0
/* wrappers.c - the GOT slots that hold the functions, then one pass over the code. */
#include "wrappers.h"

#include "code.h"
#include "image.h"
#include "relocs.h"
#include "scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WRAPPERS_WINDOW_SZ (1u << 20)
#define WRAPPERS_SLOTS_MAX 64

struct wrappers_search {
	struct wrappers *c;
	uint64_t slots[WRAPPERS_SLOTS_MAX];
	size_t slots_cnt;
};

static int wrappers_has(const uint64_t *set, size_t cnt, uint64_t v)
{
	for (size_t i = 0; i < cnt; i++)
		if (set[i] == v)
			return 1;
	return 0;
}

static int wrappers_find_slots(struct wrappers_search *s, struct image *img, struct relocs *relocs)
{
	uint64_t *buf = malloc(WRAPPERS_WINDOW_SZ);
	int err = buf ? 0 : -ENOMEM;

	for (size_t i = 0; i < img->segs_cnt && !err; i++) {
		const struct image_segment *seg = &img->segs[i];
		uint64_t end = seg->vaddr + seg->file_sz;

		for (uint64_t at = (seg->vaddr + 7) & ~7ull;
		     seg->is_write && at < end && end - at >= 8 && !err; at += WRAPPERS_WINDOW_SZ) {
			uint64_t left = (end - at) & ~7ull;
			size_t sz = left < WRAPPERS_WINDOW_SZ ? (size_t)left : WRAPPERS_WINDOW_SZ;

			err = relocs_read(relocs, at, buf, sz);
			for (size_t w = 0; w < sz / 8 && !err; w++)
				if (wrappers_has(s->c->funcs, s->c->funcs_cnt, buf[w]) &&
				    s->slots_cnt < WRAPPERS_SLOTS_MAX)
					s->slots[s->slots_cnt++] = at + 8 * w;
		}
	}
	free(buf);
	return err;
}

static int wrappers_add(struct wrappers *c, uint64_t vaddr)
{
	if (c->cnt == WRAPPERS_MAX) {
		c->left_cnt++;
		return 0;
	}
	if (c->cnt == c->cap) {
		size_t cap = c->cap ? c->cap * 2 : 32;
		uint64_t *calls = realloc(c->calls, cap * sizeof(*calls));

		if (!calls)
			return -ENOMEM;
		c->calls = calls;
		c->cap = cap;
	}
	c->calls[c->cnt++] = vaddr;
	return 0;
}

static int wrappers_hit(const struct scan_hit *hit, void *ctx)
{
	struct wrappers_search *s = ctx;
	bool is_rip = hit->bytes[0] == 0xff;
	int32_t disp;
	uint64_t dest;

	if (hit->after_sz < 6)
		return 0;
	memcpy(&disp, hit->bytes + (is_rip ? 2 : 1), sizeof(disp));
	dest = hit->vaddr + (is_rip ? 6 : 5) + (uint64_t)(int64_t)disp;
	if (is_rip ? !wrappers_has(s->slots, s->slots_cnt, dest)
		   : !wrappers_has(s->c->funcs, s->c->funcs_cnt, dest))
		return 0;
	return wrappers_add(s->c, hit->vaddr);
}

int wrappers_find(struct wrappers *c, struct image *img, struct relocs *relocs,
		 const struct starts *starts)
{
	struct wrappers_search s = { .c = c };
	size_t kept = 0;
	int err = wrappers_find_slots(&s, img, relocs);

	for (size_t i = 0; i < img->segs_cnt && !err; i++)
		if (img->segs[i].is_exec)
			err = scan_segment(img, &img->segs[i], SCAN_DIRECT, wrappers_hit, &s);
	for (size_t i = 0; i < c->cnt && !err; i++) {
		uint64_t func;

		if (!code_prove(img, starts, c->calls[i], &func, NULL, NULL))
			c->calls[kept++] = c->calls[i];
	}
	c->cnt = kept;
	return err;
}

void wrappers_done(struct wrappers *c)
{
	free(c->calls);
	c->calls = NULL;
	c->cnt = c->cap = 0;
}
