// SPDX-License-Identifier: Apache-2.0
/* relocs.c - the RELA table in pieces, each with the range of places it touches. */
#include "relocs.h"

#include "image.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RELOCS_BYTES_PER_UNIT 32 /* reading is that much cheaper than decoding */

struct relocs_piece {
	uint64_t lo, hi; /* lowest and highest relative place; hi < lo = none */
};

struct relocs {
	struct image *img;
	uint64_t file_off; /* of the table */
	size_t cnt, pieces_cnt;
	struct relocs_piece *pieces;
	size_t loaded; /* the piece in buf, SIZE_MAX = none */
	Elf64_Rela buf[RELOCS_PIECE_CNT];
};

static size_t relocs_piece_cnt(const struct relocs *r, size_t piece)
{
	size_t left = r->cnt - piece * RELOCS_PIECE_CNT;

	return left < RELOCS_PIECE_CNT ? left : RELOCS_PIECE_CNT;
}

static int relocs_load(struct relocs *r, size_t piece)
{
	size_t sz = relocs_piece_cnt(r, piece) * sizeof(Elf64_Rela);
	int err;

	if (r->loaded == piece)
		return 0;
	r->loaded = SIZE_MAX;
	if (!image_work(r->img, sz / RELOCS_BYTES_PER_UNIT))
		return -EIO;
	err = image_pread(r->img, r->file_off + piece * sizeof(r->buf), r->buf, sz);
	if (!err)
		r->loaded = piece;
	return err;
}

static int relocs_index(struct relocs *r)
{
	for (size_t p = 0; p < r->pieces_cnt; p++) {
		struct relocs_piece *piece = &r->pieces[p];
		size_t cnt = relocs_piece_cnt(r, p);
		int err = relocs_load(r, p);

		if (err)
			return err;
		*piece = (struct relocs_piece){ UINT64_MAX, 0 };
		for (size_t i = 0; i < cnt; i++) {
			if (ELF64_R_TYPE(r->buf[i].r_info) != R_X86_64_RELATIVE)
				continue;
			if (r->buf[i].r_offset < piece->lo)
				piece->lo = r->buf[i].r_offset;
			if (r->buf[i].r_offset > piece->hi)
				piece->hi = r->buf[i].r_offset;
		}
	}
	return 0;
}

int relocs_open(struct image *img, struct relocs **ret)
{
	struct relocs *r;
	int err = 0;

	r = malloc(sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->img = img;
	r->file_off = 0;
	r->cnt = r->pieces_cnt = 0;
	r->pieces = NULL;
	r->loaded = SIZE_MAX;
	if (img->is_pie && img->rela && img->rela_sz >= sizeof(Elf64_Rela)) {
		r->cnt = img->rela_sz / sizeof(Elf64_Rela);
		if (!image_segment_at(img, img->rela, img->rela_sz) || r->cnt > RELOCS_MAX ||
		    image_file_off(img, img->rela, &r->file_off))
			err = -ENOEXEC;
		else
			r->pieces_cnt = (r->cnt + RELOCS_PIECE_CNT - 1) / RELOCS_PIECE_CNT;
	}
	if (!err && r->pieces_cnt) {
		r->pieces = calloc(r->pieces_cnt, sizeof(*r->pieces));
		err = r->pieces ? relocs_index(r) : -ENOMEM;
	}
	if (err) {
		relocs_close(r);
		return err;
	}
	*ret = r;
	return 0;
}

void relocs_close(struct relocs *r)
{
	if (!r)
		return;
	free(r->pieces);
	free(r);
}

/* Writes every relative relocation whose 8 bytes lie wholly inside [vaddr, vaddr + sz). */
static void relocs_apply(struct relocs *r, size_t piece, uint64_t vaddr, uint8_t *buf, size_t sz)
{
	size_t cnt = relocs_piece_cnt(r, piece);

	for (size_t i = 0; i < cnt; i++) {
		const Elf64_Rela *rel = &r->buf[i];
		uint64_t at = rel->r_offset - vaddr;

		if (at < sz && sz - at >= 8 && ELF64_R_TYPE(rel->r_info) == R_X86_64_RELATIVE)
			memcpy(buf + at, &rel->r_addend, 8);
	}
}

int relocs_read(struct relocs *r, uint64_t vaddr, void *buf, size_t sz)
{
	const struct image_segment *s = image_segment_at(r->img, vaddr, sz);
	int err;

	if (!s)
		return -EFAULT;
	if (sz <= IMAGE_PAGE_SZ)
		err = image_read(r->img, vaddr, buf, sz);
	else
		err = image_pread(r->img, s->file_off + (vaddr - s->vaddr), buf, sz);
	for (size_t p = 0; p < r->pieces_cnt && !err; p++) {
		const struct relocs_piece *piece = &r->pieces[p];

		if (piece->hi < piece->lo || piece->lo >= vaddr + sz || piece->hi < vaddr)
			continue;
		err = relocs_load(r, p);
		if (!err)
			relocs_apply(r, p, vaddr, buf, sz);
	}
	return err;
}
