// SPDX-License-Identifier: Apache-2.0
/*
 * tokio.c - the fingerprint. A shape of ten words is not rare enough by itself in a file of
 * 100 MB, so each function pointer must also be a function (unwind table, or decodable code), and
 * the file must show a second sign of Tokio.
 */
#include "tokio.h"

#include "code.h"
#include "image.h"
#include "log.h"
#include "relocs.h"
#include "scan.h"
#include "starts.h"
#include "waker.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKIO_FUNCS 7
#define TOKIO_WORDS 11 /* functions, three sizes, and the word where unstable builds have a 4th */
#define TOKIO_WINDOW_SZ (1u << 20)
#define TOKIO_SCHEDULER_OFF_MIN 32 /* the header's four words come first */
#define TOKIO_ID_OFF_MAX 8192 /* behind a header padded for an over-aligned future */
#define TOKIO_SCHEDULER_SZ_MAX 64
#define TOKIO_TRAILER_OFF_MAX (1u << 30)
#define TOKIO_WORK_UNITS 64 /* of image_work, to judge one pointer */
#define TOKIO_PROOF_INSNS 6 /* decoded at a function without unwind entry */

struct tokio_search {
	struct image *img;
	const struct starts *starts;
	struct plan_file *file;
	size_t cap, left_cnt, location_cnt;
	uint64_t code_lo, code_hi; /* bounds of all executable segments: a quick first test */
	bool has_path; /* one of Tokio's source paths stands in the file */
};

static bool tokio_is_function(const struct tokio_search *s, uint64_t vaddr)
{
	uint64_t start, end;
	struct code_op op;

	if (!image_work(s->img, TOKIO_WORK_UNITS))
		return false;
	if (!starts_find(s->starts, vaddr, &start, &end))
		return start == vaddr;
	for (int i = 0; i < TOKIO_PROOF_INSNS; i++, vaddr += op.len) {
		if (code_read(s->img, vaddr, &op))
			return false;
		if (op.flow != CODE_NEXT)
			return true; /* a folded body may be one jump or ret */
	}
	return true;
}

static bool tokio_is_code(const struct tokio_search *s, uint64_t vaddr)
{
	return vaddr >= s->code_lo && vaddr < s->code_hi && image_is_code(s->img, vaddr);
}

static bool tokio_sizes_fit(const uint64_t *w)
{
	uint64_t trailer = w[7], scheduler = w[8], id = w[9];

	return scheduler >= TOKIO_SCHEDULER_OFF_MIN && id <= TOKIO_ID_OFF_MAX && id >= scheduler &&
	       id - scheduler <= TOKIO_SCHEDULER_SZ_MAX && trailer > id &&
	       trailer <= TOKIO_TRAILER_OFF_MAX && !((trailer | scheduler | id) & 7);
}

static int tokio_add(struct tokio_search *s, uint64_t vaddr, const uint64_t *w)
{
	struct plan_file *f = s->file;
	struct plan_vtable *v;

	if (f->vtables_cnt == PLAN_VTABLES_MAX) {
		s->left_cnt++;
		return 0;
	}
	if (f->vtables_cnt == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 64;

		v = realloc(f->vtables, cap * sizeof(*v));
		if (!v)
			return -ENOMEM;
		f->vtables = v;
		s->cap = cap;
	}
	f->vtables[f->vtables_cnt++] = (struct plan_vtable){
		.vaddr = vaddr,
		.poll = w[0],
		.schedule = w[1],
		.dealloc = w[2],
		.shutdown = w[6],
		.trailer_off = (uint32_t)w[7],
		.scheduler_off = (uint16_t)w[8],
		.id_off = (uint16_t)w[9],
		.is_blocking = w[9] - w[8] != 8,
	};
	s->location_cnt += w[10] == w[9] + 8;
	return 0;
}

/*
 * One window of relocated data. The sizes are tested first: in a file linked without a separate
 * code segment they can look like code addresses themselves, so the pointers mark no border.
 */
static int tokio_window(struct tokio_search *s, uint64_t vaddr, const uint64_t *w, size_t cnt)
{
	int err = 0;

	for (size_t i = 0; i + TOKIO_FUNCS + 3 <= cnt && !err; i++) {
		bool is_type = tokio_sizes_fit(w + i);

		for (int k = 0; k < TOKIO_FUNCS && is_type; k++)
			is_type = tokio_is_code(s, w[i + (size_t)k]);
		for (int k = 0; k < TOKIO_FUNCS && is_type; k++)
			is_type = tokio_is_function(s, w[i + (size_t)k]);
		if (is_type)
			err = tokio_add(s, vaddr + 8 * i, w + i);
	}
	return err;
}

static int tokio_segment(struct tokio_search *s, struct relocs *relocs,
			 const struct image_segment *seg, uint64_t *buf)
{
	uint64_t at = (seg->vaddr + 7) & ~7ull, end = seg->vaddr + seg->file_sz;
	int err = 0;

	/* windows overlap, so that a shape across a border is whole in the second one */
	while (at < end && end - at >= 8 * (TOKIO_FUNCS + 3) && !err) {
		uint64_t left = (end - at) & ~7ull;
		size_t sz = left < TOKIO_WINDOW_SZ ? (size_t)left : TOKIO_WINDOW_SZ;

		err = relocs_read(relocs, at, buf, sz);
		buf[sz / 8] = 0; /* the fourth size may lie past the end */
		if (!err)
			err = tokio_window(s, at, buf, sz / 8);
		if (sz == left)
			break;
		at += sz - 8 * (TOKIO_WORDS - 1);
	}
	return err;
}

static int tokio_compare(const void *a, const void *b)
{
	const struct plan_vtable *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* sorts, drops what two overlapping windows both saw, and settles what holds for the whole file */
static void tokio_settle(struct tokio_search *s)
{
	struct plan_file *f = s->file;
	size_t kept = 0;

	qsort(f->vtables, f->vtables_cnt, sizeof(*f->vtables), tokio_compare);
	f->is_unstable = s->location_cnt * 2 > f->vtables_cnt;
	for (size_t i = 0; i < f->vtables_cnt; i++) {
		if (kept && f->vtables[kept - 1].vaddr == f->vtables[i].vaddr)
			continue;
		f->vtables[kept] = f->vtables[i];
		f->vtables[kept++].has_location = f->is_unstable;
	}
	f->vtables_cnt = kept;
}

/* "tokio-1.47.1/src/", and "tokio/src/runtime/" of a build from a checkout */
static int tokio_text_hit(const struct scan_hit *h, void *ctx)
{
	struct tokio_search *s = ctx;
	const char *t = (const char *)h->bytes;
	size_t n = 0, at;

	if (h->shape == SCAN_RUSTC) {
		for (at = 7; at < h->after_sz && isxdigit((unsigned char)t[at]) && n < 40; at++)
			n++;
		if (n == 40 && !s->file->rustc[0])
			snprintf(s->file->rustc, sizeof(s->file->rustc), "%.12s (commit)", t + 7);
	} else if (h->after_sz >= 18 && !memcmp(t, "tokio/src/runtime/", 18)) {
		s->has_path = true;
	} else if (h->after_sz > 8 && t[5] == '-' && isdigit((unsigned char)t[6])) {
		for (at = 6; at < h->after_sz && t[at] != '/' && n < sizeof(s->file->tokio) - 1;
		     at++) {
			if (!isalnum((unsigned char)t[at]) && !strchr(".+-", t[at]))
				return 0;
			n++;
		}
		if (h->after_sz - at >= 5 && !memcmp(t + at, "/src/", 5) && !s->file->tokio[0])
			snprintf(s->file->tokio, sizeof(s->file->tokio), "%.*s", (int)n, t + 6);
	}
	return s->file->tokio[0] && s->file->rustc[0]; /* all known: stop */
}

/* The text lies in the read-only segments; in the code's own where the linker did not part them. */
static int tokio_read_text(struct tokio_search *s)
{
	int err = 0;

	for (int exec = 0; exec < 2 && err == 0; exec++) {
		for (size_t i = 0; i < s->img->segs_cnt && err == 0; i++) {
			const struct image_segment *seg = &s->img->segs[i];

			if (!seg->is_write && seg->is_exec == exec)
				err = scan_segment(s->img, seg, SCAN_TEXT, tokio_text_hit, s);
		}
		if (s->file->tokio[0])
			break;
	}
	return err < 0 ? err : 0;
}

int tokio_find(struct image *img, struct relocs *relocs, const struct starts *starts,
	       struct plan_file *ret, size_t *ret_left_cnt)
{
	struct tokio_search s = {
		.img = img, .starts = starts, .file = ret, .code_lo = UINT64_MAX
	};
	uint64_t *buf, waker;
	int err = 0;

	for (size_t i = 0; i < img->segs_cnt; i++) {
		const struct image_segment *seg = &img->segs[i];

		if (seg->is_exec && seg->vaddr < s.code_lo)
			s.code_lo = seg->vaddr;
		if (seg->is_exec && seg->vaddr + seg->file_sz > s.code_hi)
			s.code_hi = seg->vaddr + seg->file_sz;
	}
	buf = malloc(TOKIO_WINDOW_SZ + 8);
	if (!buf)
		return -ENOMEM;
	/* without relocations (not PIE) the compiler may put the tables into read-only data */
	for (size_t i = 0; i < img->segs_cnt && !err; i++)
		if (img->segs[i].is_write || !img->is_pie)
			err = tokio_segment(&s, relocs, &img->segs[i], buf);
	free(buf);
	if (!err && !ret->vtables_cnt)
		return -ENOENT;
	if (!err) {
		tokio_settle(&s);
		err = tokio_read_text(&s);
	}
	*ret_left_cnt = s.left_cnt;
	if (err || ret->tokio[0] || s.has_path)
		return err;
	err = waker_find(img, relocs, &waker);
	if (err == -ENOENT)
		log_debug(
			"%zu tables look like task vtables, but nothing else like Tokio: ignoring",
			ret->vtables_cnt);
	return err;
}
