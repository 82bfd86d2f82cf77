// SPDX-License-Identifier: Apache-2.0
/* wrappers.c - the GOT slots that hold the functions, then one pass over the code. */
#include "wrappers.h"

#include "code.h"
#include "image.h"
#include "relocs.h"
#include "scan.h"
#include "starts.h"
#include "values.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WRAPPERS_WINDOW_SZ (1u << 20)
#define WRAPPERS_SLOTS_MAX 64
#define WRAPPERS_FOLLOW_SZ 4096 /* bytes looked at where the function's end is not known */
#define WRAPPERS_LOADS_MAX 64 /* loads of such a slot into a register that are followed */

struct wrappers_search {
	struct wrappers *w;
	struct {
		uint64_t vaddr;
		size_t func;
	} slots[WRAPPERS_SLOTS_MAX];
	size_t slots_cnt;
	struct {
		uint64_t vaddr;
		size_t func;
	} loads[WRAPPERS_LOADS_MAX];
	size_t loads_cnt;
};

int wrappers_add(struct wrappers *w, const struct wrappers_func *func)
{
	for (size_t i = 0; i < w->funcs_cnt; i++)
		if (w->funcs[i].vaddr == func->vaddr &&
		    w->funcs[i].return_vaddr == func->return_vaddr)
			return 0;
	if (w->funcs_cnt == WRAPPERS_FUNCS_MAX)
		return -ENOSPC;
	w->funcs[w->funcs_cnt++] = *func;
	return 0;
}

/* index of the function at `vaddr`, or SIZE_MAX */
static size_t wrappers_func_at(const struct wrappers *w, uint64_t vaddr)
{
	for (size_t i = 0; i < w->funcs_cnt; i++)
		if (w->funcs[i].vaddr == vaddr)
			return i;
	return SIZE_MAX;
}

static size_t wrappers_func_in(const struct wrappers_search *s, uint64_t slot)
{
	for (size_t i = 0; i < s->slots_cnt; i++)
		if (s->slots[i].vaddr == slot)
			return s->slots[i].func;
	return SIZE_MAX;
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
			for (size_t k = 0; k < sz / 8 && !err; k++) {
				size_t func = wrappers_func_at(s->w, buf[k]);

				if (func == SIZE_MAX || s->slots_cnt == WRAPPERS_SLOTS_MAX)
					continue;
				s->slots[s->slots_cnt].vaddr = at + 8 * k;
				s->slots[s->slots_cnt++].func = func;
			}
		}
	}
	free(buf);
	return err;
}

static int wrappers_add_call(struct wrappers *w, const struct wrappers_call *call)
{
	if (w->cnt == WRAPPERS_MAX) {
		w->left_cnt++;
		return 0;
	}
	if (w->cnt == w->cap) {
		size_t cap = w->cap ? w->cap * 2 : 32;
		struct wrappers_call *calls = realloc(w->calls, cap * sizeof(*calls));

		if (!calls)
			return -ENOMEM;
		w->calls = calls;
		w->cap = cap;
	}
	w->calls[w->cnt++] = *call;
	return 0;
}

static int wrappers_hit(const struct scan_hit *hit, void *ctx)
{
	struct wrappers_search *s = ctx;
	bool is_load = hit->shape == SCAN_RIP_LOAD;
	bool is_rip = is_load || hit->bytes[0] == 0xff;
	size_t func, disp_off = is_load ? 3 : is_rip ? 2 : 1;
	uint64_t dest;
	int32_t disp;

	if (hit->after_sz < disp_off + sizeof(disp))
		return 0;
	memcpy(&disp, hit->bytes + disp_off, sizeof(disp));
	dest = hit->vaddr + disp_off + sizeof(disp) + (uint64_t)(int64_t)disp;
	func = is_rip ? wrappers_func_in(s, dest) : wrappers_func_at(s->w, dest);
	if (func == SIZE_MAX)
		return 0;
	if (!is_load)
		return wrappers_add_call(s->w, &(struct wrappers_call){ .vaddr = hit->vaddr,
									.func = func });
	if (s->loads_cnt == WRAPPERS_LOADS_MAX) {
		s->w->left_cnt++;
		return 0;
	}
	s->loads[s->loads_cnt].vaddr = hit->vaddr;
	s->loads[s->loads_cnt++].func = func;
	return 0;
}

/*
 * The slot was loaded into a register: calls of that register further down in the function. A loop
 * that polls one task after another does so. Epilogues on the way (a pop of it) are passed over.
 */
static int wrappers_follow(struct wrappers *w, struct image *img, const struct starts *starts,
			   uint64_t load, size_t func)
{
	uint64_t start, from, end, at;
	uint32_t loaded = UINT32_MAX;
	struct code_op op;
	struct values v;
	int err = 0;

	if (code_prove(img, starts, load, &start, NULL, NULL))
		return 0;
	/* without a table it may run into the next function, which sets the register before it uses it */
	if (starts_find(starts, load, &from, &end))
		end = load + WRAPPERS_FOLLOW_SZ;
	values_init(&v);
	for (at = load; at < end && at - load < CODE_FUNC_SZ_MAX && !err; at += op.len) {
		if (code_read(img, at, &op))
			return 0;
		if (op.call_reg != CODE_NONE && v.of[op.call_reg] == loaded &&
		    (op.flow == CODE_CALL_INDIRECT || op.flow == CODE_JUMP_INDIRECT))
			err = wrappers_add_call(
				w, &(struct wrappers_call){ .vaddr = at, .caller = start, .func = func });
		if (op.stack_sz >= 0)
			values_step(&v, &op);
		if (at == load)
			loaded = op.load_to != CODE_NONE ? v.of[op.load_to] : UINT32_MAX - 1;
	}
	return err;
}

static int wrappers_compare(const void *a, const void *b)
{
	const struct wrappers_call *x = a, *y = b;

	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

int wrappers_find(struct wrappers *w, struct image *img, struct relocs *relocs,
		  const struct starts *starts)
{
	struct wrappers_search s = { .w = w };
	size_t kept = 0;
	int err = wrappers_find_slots(&s, img, relocs);

	for (size_t i = 0; i < img->segs_cnt && !err; i++)
		if (img->segs[i].is_exec)
			err = scan_segment(img, &img->segs[i], SCAN_DIRECT | SCAN_RIP_LOAD,
					   wrappers_hit, &s);
	for (size_t i = 0; i < w->cnt && !err; i++)
		if (!code_prove(img, starts, w->calls[i].vaddr, &w->calls[i].caller, NULL, NULL))
			w->calls[kept++] = w->calls[i];
	w->cnt = kept;
	for (size_t i = 0; i < s.loads_cnt && !err; i++)
		err = wrappers_follow(w, img, starts, s.loads[i].vaddr, s.loads[i].func);
	if (w->cnt)
		qsort(w->calls, w->cnt, sizeof(*w->calls), wrappers_compare);
	return err;
}

void wrappers_done(struct wrappers *w)
{
	free(w->calls);
	*w = (struct wrappers){ 0 };
}
