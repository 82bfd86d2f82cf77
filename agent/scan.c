// SPDX-License-Identifier: Apache-2.0
/*
 * scan.c - the filter runs on every byte of a 100 MB file, so it must cost well under a
 * nanosecond each: SSE2 (part of x86-64) rejects 16 positions at a time, and only the survivors
 * are looked at one by one. Other machines get the plain loop; the results are the same.
 */
#include "scan.h"

#include "image.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define SCAN_LOOKAHEAD 8u /* bytes a shape needs from its first one on */

struct scan {
	unsigned shapes;
	int (*hit)(const struct scan_hit *hit, void *ctx);
	void *ctx;
};

static bool scan_is_call(const uint8_t *b)
{
	unsigned mod_op = b[1] & 0xf8;

	if (b[0] != 0xff || b[1] == 0x15 || b[1] == 0x25)
		return false;
	if (mod_op == 0x10 || mod_op == 0x20 || mod_op == 0xd0 || mod_op == 0xe0)
		return true;
	return (b[1] == 0x55 || b[1] == 0x65) && !b[2]; /* rbp and r13 need a displacement */
}

static bool scan_is_store_18(const uint8_t *b)
{
	if ((b[0] & 0xf0) != 0x40 || b[1] != 0x89 || (b[2] & 0xc0) != 0x40)
		return false;
	return (b[2] & 7) == 4 ? b[4] == 0x18 : b[3] == 0x18; /* 4: a SIB byte comes first */
}

static unsigned scan_match(const uint8_t *b)
{
	if (scan_is_call(b))
		return SCAN_CALL;
	if (b[0] == 0xf0 && (b[1] & 0xf0) == 0x40 && b[2] == 0x0f && b[3] == 0xc1)
		return SCAN_XADD;
	if (scan_is_store_18(b))
		return SCAN_STORE_18;
	if (b[0] == 0xe8 || b[0] == 0xe9 || (b[0] == 0xff && (b[1] == 0x15 || b[1] == 0x25)))
		return SCAN_DIRECT;
	if ((b[0] & 0xfb) == 0x48 && b[1] == 0x8b && (b[2] & 0xc7) == 0x05)
		return SCAN_RIP_LOAD;
	if (!memcmp(b, "tokio", 5))
		return SCAN_TOKIO;
	if (!memcmp(b, "/rustc/", 7))
		return SCAN_RUSTC;
	return 0;
}

#ifdef __SSE2__
static __m128i scan_eq(__m128i v, int byte)
{
	return _mm_cmpeq_epi8(v, _mm_set1_epi8((char)byte));
}

static __m128i scan_at(const uint8_t *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Bit n: a code shape may begin at p[n]. A superset of scan_match. */
static unsigned scan_code_mask(const uint8_t *p)
{
	__m128i v0 = scan_at(p), v1 = scan_at(p + 1), v2 = scan_at(p + 2), v3 = scan_at(p + 3);
	__m128i op = _mm_and_si128(v1, _mm_set1_epi8((char)0xf8));
	__m128i call, xadd, store;

	call = _mm_or_si128(_mm_or_si128(scan_eq(op, 0x10), scan_eq(op, 0x20)),
			    _mm_or_si128(scan_eq(op, 0xd0), scan_eq(op, 0xe0)));
	call = _mm_or_si128(call, _mm_or_si128(scan_eq(v1, 0x55), scan_eq(v1, 0x65)));
	call = _mm_and_si128(call, scan_eq(v0, 0xff));
	xadd = _mm_and_si128(_mm_and_si128(scan_eq(v0, 0xf0), scan_eq(v2, 0x0f)),
			     scan_eq(v3, 0xc1));
	store = _mm_and_si128(scan_eq(v1, 0x89),
			      _mm_or_si128(scan_eq(v3, 0x18), scan_eq(scan_at(p + 4), 0x18)));
	return (unsigned)_mm_movemask_epi8(_mm_or_si128(call, _mm_or_si128(xadd, store)));
}

static unsigned scan_text_mask(const uint8_t *p)
{
	__m128i v0 = scan_at(p), v1 = scan_at(p + 1), v2 = scan_at(p + 2);
	__m128i tokio =
		_mm_and_si128(_mm_and_si128(scan_eq(v0, 't'), scan_eq(v1, 'o')), scan_eq(v2, 'k'));
	__m128i rustc =
		_mm_and_si128(_mm_and_si128(scan_eq(v0, '/'), scan_eq(v1, 'r')), scan_eq(v2, 'u'));

	return (unsigned)_mm_movemask_epi8(_mm_or_si128(tokio, rustc));
}

static unsigned scan_direct_mask(const uint8_t *p)
{
	__m128i v0 = scan_at(p), v1 = scan_at(p + 1);
	__m128i rel = _mm_or_si128(scan_eq(v0, 0xe8), scan_eq(v0, 0xe9));
	__m128i rip = _mm_and_si128(_mm_or_si128(scan_eq(v1, 0x15), scan_eq(v1, 0x25)),
				    scan_eq(v0, 0xff));

	return (unsigned)_mm_movemask_epi8(_mm_or_si128(rel, rip));
}

static unsigned scan_load_mask(const uint8_t *p)
{
	__m128i rex = _mm_and_si128(scan_at(p), _mm_set1_epi8((char)0xfb));
	__m128i modrm = _mm_and_si128(scan_at(p + 2), _mm_set1_epi8((char)0xc7));

	return (unsigned)_mm_movemask_epi8(
		_mm_and_si128(_mm_and_si128(scan_eq(rex, 0x48), scan_eq(scan_at(p + 1), 0x8b)),
			      scan_eq(modrm, 0x05)));
}

static unsigned scan_mask(const uint8_t *p, unsigned shapes)
{
	return (shapes & SCAN_RIP_LOAD ? scan_load_mask(p) : 0) |
	       (shapes & SCAN_CODE ? scan_code_mask(p) : 0) |
	       (shapes & SCAN_TEXT ? scan_text_mask(p) : 0) |
	       (shapes & SCAN_DIRECT ? scan_direct_mask(p) : 0);
}
#else
static unsigned scan_mask(const uint8_t *p, unsigned shapes)
{
	unsigned mask = 0;

	for (unsigned i = 0; i < 16; i++)
		mask |= (scan_match(p + i) & shapes ? 1u : 0u) << i;
	return mask;
}
#endif

/* Hits that begin in b[from..to); b holds `end` bytes and then zeros enough for a look ahead. */
static int scan_window(const struct scan *s, const uint8_t *b, size_t from, size_t to, size_t end,
		       uint64_t vaddr)
{
	for (size_t i = from; i < to; i += 16) {
		unsigned mask = scan_mask(b + i, s->shapes);

		for (; mask; mask &= mask - 1) {
			size_t at = i + (size_t)__builtin_ctz(mask);
			unsigned shape = scan_match(b + at) & s->shapes;
			struct scan_hit h = { (enum scan_shape)shape, vaddr + at, b + at, at,
					      end - at };
			int err;

			if (!shape || at >= to)
				continue;
			err = s->hit(&h, s->ctx);
			if (err)
				return err;
		}
	}
	return 0;
}

int scan_segment(struct image *img, const struct image_segment *seg, unsigned shapes,
		 int (*hit)(const struct scan_hit *hit, void *ctx), void *ctx)
{
	const struct scan s = { shapes, hit, ctx };
	const size_t cap = SCAN_MARGIN_SZ + SCAN_WINDOW_SZ + SCAN_MARGIN_SZ;
	size_t before = 0;
	uint8_t *b;
	int err = 0;

	b = malloc(cap + 16 + SCAN_LOOKAHEAD);
	if (!b)
		return -ENOMEM;
	/* `done` bytes are searched; each window keeps a margin on both sides of its part */
	for (uint64_t done = 0; done < seg->file_sz && !err;) {
		uint64_t left = seg->file_sz - done;
		size_t part = left < SCAN_WINDOW_SZ ? (size_t)left : SCAN_WINDOW_SZ;
		size_t after =
			left - part < SCAN_MARGIN_SZ ? (size_t)(left - part) : SCAN_MARGIN_SZ;
		size_t end = before + part + after;

		err = image_pread(img, seg->file_off + done - before, b, end);
		if (err)
			break;
		memset(b + end, 0, 16 + SCAN_LOOKAHEAD);
		err = scan_window(&s, b, before, before + part, end, seg->vaddr + done - before);
		done += part;
		before = done < SCAN_MARGIN_SZ ? (size_t)done : SCAN_MARGIN_SZ;
	}
	free(b);
	return err;
}
