/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.h - one fast pass over a segment's bytes for the few shapes that are worth decoding.
 *
 * A hit is only "these bytes stand here": whether they are an instruction at all is proven later,
 * from a function start (code.h). Reads SCAN_WINDOW_SZ at a time and tests 16 bytes at once.
 */
#ifndef DIAL9_SCAN_H
#define DIAL9_SCAN_H

#include <stddef.h>
#include <stdint.h>

#define SCAN_WINDOW_SZ (256u << 10)
#define SCAN_MARGIN_SZ 128u /* bytes given before and after a hit, where the segment has them */

struct image;
struct image_segment;

enum scan_shape {
	SCAN_CALL = 1, /* call/jmp through (reg) or reg, without prefix: ff /2, ff /4 */
	SCAN_XADD = 2, /* lock xadd with REX: f0 4x 0f c1 */
	SCAN_STORE_18 = 4, /* mov 0x18(reg), reg with REX: 4x 89 .. 18 */
	SCAN_TOKIO = 8, /* the text "tokio" */
	SCAN_RUSTC = 16, /* the text "/rustc/" */
	SCAN_DIRECT = 32, /* call/jmp rel32 or through [rip + x]: e8, e9, ff 15, ff 25 */
	SCAN_RIP_LOAD = 64 /* mov reg, [rip + x] with REX.W: 48 or 4c, 8b */
};
#define SCAN_CODE (SCAN_CALL | SCAN_XADD | SCAN_STORE_18)
#define SCAN_TEXT (SCAN_TOKIO | SCAN_RUSTC)

struct scan_hit {
	enum scan_shape shape;
	uint64_t vaddr; /* of bytes[0] */
	const uint8_t
		*bytes; /* bytes[-before_sz .. after_sz - 1] are there, during the call only */
	size_t before_sz, after_sz;
};

/*
 * Calls `hit` for every occurrence of one of `shapes` in the segment, in address order, until it
 * returns non-zero, which is passed on. -EIO, -ENOMEM.
 */
int scan_segment(struct image *img, const struct image_segment *seg, unsigned shapes,
		 int (*hit)(const struct scan_hit *hit, void *ctx), void *ctx);

#endif /* DIAL9_SCAN_H */
