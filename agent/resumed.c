// SPDX-License-Identifier: Apache-2.0
/* resumed.c - from the panic's text to the function that raises it, to its callers. */
#include "resumed.h"

#include "image.h"
#include "relocs.h"
#include "rustname.h"
#include "starts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_SZ (256u << 10)
#define TEXTS_MAX 8 /* copies of the panic's text */
#define RAISERS_MAX 8 /* functions that use one of them */
#define LEA_SZ RESUMED_LEA_SZ
#define CALL_SZ 6u /* with its prefix or its second opcode byte */
#define USES_MAX 4096 /* of the text, that are looked at */
#define POINTERS_MAX 16384 /* to functions, likewise */
#define CALLS_MAX (1u << 20) /* candidates, 32 bytes each while the file is read */

static const char resumed_text[] = "`async fn` resumed after completion";

struct resumed_location { /* core::panic::Location on 64 bits */
	uint64_t file, file_len;
	uint32_t line, column;
};

struct resumed {
	struct image *img;
	struct relocs *relocs;
	struct resumed_site *sites; /* by vaddr */
	size_t cnt;
};

/* A call whose first argument is an address in the file: perhaps that panic with its Location. */
struct resumed_call {
	struct resumed_site site;
	uint64_t dest; /* function called, or the pointer to it */
	bool is_pointer;
};

struct resumed_scan {
	struct image *img;
	struct starts starts;
	uint64_t texts[TEXTS_MAX]; /* addresses of the panic's text */
	size_t texts_cnt;
	uint64_t raisers[RAISERS_MAX]; /* functions that load one of them */
	size_t raisers_cnt, uses_cnt;
	struct resumed_call *calls;
	size_t calls_cnt, calls_cap;
	int err;
};

/* Calls `look` on overlapping windows of the file's code, or of its read-only data. */
static int resumed_windows(struct resumed_scan *s, bool is_code, size_t overlap,
			   void (*look)(struct resumed_scan *s, const uint8_t *bytes, size_t sz,
					uint64_t vaddr))
{
	uint8_t *window = malloc(WINDOW_SZ);
	int err = window ? 0 : -ENOMEM;

	for (size_t i = 0; i < s->img->segs_cnt && err == 0; i++) {
		const struct image_segment *seg = &s->img->segs[i];
		uint64_t done = 0;

		if (seg->is_exec != is_code || seg->is_write)
			continue;
		while (err == 0 && seg->file_sz - done > overlap) {
			uint64_t left = seg->file_sz - done;
			size_t sz = left < WINDOW_SZ ? (size_t)left : WINDOW_SZ;

			err = image_pread(s->img, seg->file_off + done, window, sz);
			if (err == 0) {
				look(s, window, sz, seg->vaddr + done);
				err = s->err;
			}
			done += sz == WINDOW_SZ ? sz - overlap : sz;
		}
	}
	free(window);
	return err;
}

static void resumed_add(uint64_t *list, size_t *cnt, size_t max, uint64_t value)
{
	for (size_t i = 0; i < *cnt; i++)
		if (list[i] == value)
			return;
	if (*cnt < max)
		list[(*cnt)++] = value;
}

static bool resumed_is_in(const uint64_t *list, size_t cnt, uint64_t value)
{
	for (size_t i = 0; i < cnt; i++)
		if (list[i] == value)
			return true;
	return false;
}

static void resumed_look_text(struct resumed_scan *s, const uint8_t *bytes, size_t sz,
			      uint64_t vaddr)
{
	const uint8_t *p = bytes;

	while ((p = memmem(p, sz - (size_t)(p - bytes), resumed_text, sizeof(resumed_text) - 1))) {
		resumed_add(s->texts, &s->texts_cnt, TEXTS_MAX, vaddr + (uint64_t)(p - bytes));
		p++;
	}
}

static uint64_t resumed_target(const uint8_t *distance_at, uint64_t next_vaddr)
{
	int32_t distance;

	memcpy(&distance, distance_at, sizeof(distance));
	return next_vaddr + (uint64_t)(int64_t)distance;
}

static void resumed_keep_call(struct resumed_scan *s, const struct resumed_call *call)
{
	struct resumed_call *bigger;
	size_t cap;

	if (s->calls_cnt == CALLS_MAX)
		return;
	if (s->calls_cnt == s->calls_cap) {
		cap = s->calls_cap ? 2 * s->calls_cap : 1024;
		bigger = realloc(s->calls, cap * sizeof(*bigger));
		if (!bigger) {
			s->err = -ENOMEM;
			return;
		}
		s->calls = bigger;
		s->calls_cap = cap;
	}
	s->calls[s->calls_cnt++] = *call;
}

/*
 * lea r64, [rip + distance]: of the panic's text, in the function that raises it; of anything into
 * rdi, right before a call. The call is e8, after a prefix where the linker has made it of one
 * through a pointer, or ff 15 where it is still that.
 */
static void resumed_look_code(struct resumed_scan *s, const uint8_t *bytes, size_t sz,
			      uint64_t vaddr)
{
	const uint8_t *p = bytes;
	uint64_t start, end, dest;

	while (sz - (size_t)(p - bytes) > LEA_SZ + CALL_SZ &&
	       (p = memchr(p, 0x8d, sz - (size_t)(p - bytes) - LEA_SZ - CALL_SZ))) {
		size_t at = (size_t)(p++ - bytes) - 1; /* of the instruction, which has a prefix */
		const uint8_t *lea = bytes + at, *call = lea + LEA_SZ;
		struct resumed_call found;

		if (p == bytes + 1 || (lea[0] & 0xfb) != 0x48 || (lea[2] & 0xc7) != 0x05)
			continue;
		dest = resumed_target(lea + 3, vaddr + at + LEA_SZ);
		if (resumed_is_in(s->texts, s->texts_cnt, dest) && s->uses_cnt++ < USES_MAX &&
		    starts_find(&s->starts, vaddr + at, &start, &end) == 0)
			resumed_add(s->raisers, &s->raisers_cnt, RAISERS_MAX, start);
		found.is_pointer = call[0] == 0xff && call[1] == 0x15;
		if (lea[0] != 0x48 || lea[2] != 0x3d ||
		    (!found.is_pointer && call[0] != 0xe8 && (call[0] != 0x67 || call[1] != 0xe8)))
			continue;
		call += call[0] == 0xe8 ? 1 : 2;
		found.site = (struct resumed_site){ .vaddr = vaddr + at, .location = dest };
		found.dest = resumed_target(call, vaddr + (uint64_t)(call - bytes) + 4);
		resumed_keep_call(s, &found);
	}
}

/* By what is called, so that each pointer is read once; then by place. */
static int resumed_compare_calls(const void *a, const void *b)
{
	const struct resumed_call *x = a, *y = b;

	if (x->is_pointer != y->is_pointer)
		return x->is_pointer ? 1 : -1;
	if (x->dest != y->dest)
		return x->dest < y->dest ? -1 : 1;
	return x->site.vaddr < y->site.vaddr ? -1 : x->site.vaddr > y->site.vaddr;
}

static int resumed_compare(const void *a, const void *b)
{
	const struct resumed_site *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* Of all calls, those of the functions that raise the panic. */
static int resumed_select(struct resumed *r, struct resumed_scan *s)
{
	uint64_t last = 0, function = 0;
	size_t pointers_cnt = 0;

	if (s->calls_cnt == 0 || s->raisers_cnt == 0)
		return -ENOENT;
	qsort(s->calls, s->calls_cnt, sizeof(*s->calls), resumed_compare_calls);
	r->sites = malloc(s->calls_cnt * sizeof(*r->sites));
	if (!r->sites)
		return -ENOMEM;
	for (size_t i = 0; i < s->calls_cnt && r->cnt < RESUMED_MAX; i++) {
		const struct resumed_call *call = &s->calls[i];

		if (call->is_pointer && (call->dest != last || function == 0)) {
			last = call->dest;
			if (pointers_cnt++ >= POINTERS_MAX ||
			    relocs_read(r->relocs, last, &function, sizeof(function)))
				function = UINT64_MAX;
		}
		if (!resumed_is_in(s->raisers, s->raisers_cnt,
				   call->is_pointer ? function : call->dest))
			continue;
		/* windows overlap: what stands there has been found twice */
		if (r->cnt == 0 || r->sites[r->cnt - 1].vaddr != call->site.vaddr)
			r->sites[r->cnt++] = call->site;
	}
	if (r->cnt == 0)
		return -ENOENT;
	qsort(r->sites, r->cnt, sizeof(*r->sites), resumed_compare);
	return 0;
}

int resumed_open(struct image *img, struct resumed **ret)
{
	struct resumed_scan scan = { .img = img };
	struct resumed *r = calloc(1, sizeof(*r));
	int err = r ? 0 : -ENOMEM;

	starts_open(&scan.starts, img);
	if (err == 0 && scan.starts.cnt == 0)
		err = -ENOENT;
	if (err == 0) {
		r->img = img;
		err = relocs_open(img, &r->relocs);
	}
	if (err == 0)
		err = resumed_windows(&scan, false, sizeof(resumed_text), resumed_look_text);
	/* some linkers put constants and code into one segment */
	if (err == 0 && scan.texts_cnt == 0)
		err = resumed_windows(&scan, true, sizeof(resumed_text), resumed_look_text);
	if (err == 0)
		err = scan.texts_cnt ? resumed_windows(&scan, true, LEA_SZ + CALL_SZ + 1,
						       resumed_look_code)
				     : -ENOENT;
	if (err == 0)
		err = resumed_select(r, &scan);
	free(scan.calls);
	if (err) {
		resumed_close(r);
		return err;
	}
	*ret = r;
	return 0;
}

void resumed_close(struct resumed *r)
{
	if (!r)
		return;
	relocs_close(r->relocs);
	free(r->sites);
	free(r);
}

static size_t resumed_first(const struct resumed *r, uint64_t vaddr)
{
	size_t low = 0, high = r->cnt;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (r->sites[mid].vaddr < vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

size_t resumed_between(const struct resumed *r, uint64_t start, uint64_t end,
		       const struct resumed_site **ret)
{
	size_t first = resumed_first(r, start);

	*ret = r->sites + first;
	return end > start ? resumed_first(r, end) - first : 0;
}

int resumed_place(struct resumed *r, const struct resumed_site *site, char *buf, size_t sz)
{
	struct resumed_location l;
	char file[RESUMED_PATH_MAX + 1];

	if (relocs_read(r->relocs, site->location, &l, sizeof(l)) || l.file_len < 4 ||
	    l.file_len > RESUMED_PATH_MAX || l.line == 0 || l.column == 0 ||
	    image_read(r->img, l.file, file, l.file_len) ||
	    memcmp(file + l.file_len - 3, ".rs", 3) != 0)
		return -ENOENT;
	file[l.file_len] = '\0';
	snprintf(buf, sz, "%s:%" PRIu32 ":%" PRIu32, file, l.line, l.column);
	rustname_clean(buf);
	return 0;
}
