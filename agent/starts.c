// SPDX-License-Identifier: Apache-2.0
/* starts.c - .eh_frame_hdr binary search, and just enough of an FDE to know where it ends. */
#include "starts.h"

#include "image.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define STARTS_PE_OMIT 0xff
#define STARTS_PE_UDATA4 0x03
#define STARTS_PE_SDATA4 0x0b
#define STARTS_PE_SDATA4_PC 0x1b
#define STARTS_PE_SDATA4_DATA 0x3b
#define STARTS_CIE_SZ 64 /* bytes of a CIE looked at: its augmentation comes first */

void starts_open(struct starts *s, struct image *img)
{
	uint8_t head[12];
	uint32_t cnt;

	s->img = img;
	s->table = s->cnt = 0;
	if (img->eh_frame_hdr_sz < sizeof(head) ||
	    image_read(img, img->eh_frame_hdr, head, sizeof(head)))
		return;
	if (head[0] != 1 || (head[1] & 0x0f) != STARTS_PE_SDATA4 || head[2] != STARTS_PE_UDATA4 ||
	    head[3] != STARTS_PE_SDATA4_DATA)
		return;
	memcpy(&cnt, head + 8, sizeof(cnt));
	if (cnt > (img->eh_frame_hdr_sz - sizeof(head)) / 8)
		return;
	s->table = img->eh_frame_hdr + sizeof(head);
	s->cnt = cnt;
}

static int starts_entry(const struct starts *s, uint64_t i, uint64_t *ret_pc, uint64_t *ret_fde)
{
	int32_t e[2];

	if (image_read(s->img, s->table + i * 8, e, sizeof(e)))
		return -EIO;
	*ret_pc = s->img->eh_frame_hdr + (uint64_t)(int64_t)e[0];
	*ret_fde = s->img->eh_frame_hdr + (uint64_t)(int64_t)e[1];
	return 0;
}

/* skips one LEB128 of at most 10 bytes; NULL when it does not end */
static const uint8_t *starts_skip_leb(const uint8_t *at, const uint8_t *end)
{
	for (int i = 0; i < 10 && at < end; i++)
		if (!(*at++ & 0x80))
			return at;
	return NULL;
}

/* how a CIE's FDEs write addresses, STARTS_PE_OMIT when it is not understood */
static uint8_t starts_encoding(const struct starts *s, uint64_t cie)
{
	uint8_t buf[STARTS_CIE_SZ];
	size_t n = image_read_some(s->img, cie, buf, sizeof(buf));
	const uint8_t *end = buf + n, *aug, *at;

	if (n < 12)
		return STARTS_PE_OMIT;
	aug = buf + 9;
	at = memchr(aug, 0, (size_t)(end - aug));
	if (!at || *aug != 'z')
		return STARTS_PE_OMIT;
	at = starts_skip_leb(at + 1, end); /* code alignment */
	if (at)
		at = starts_skip_leb(at, end); /* data alignment */
	if (at)
		at = starts_skip_leb(at, end); /* return register */
	if (at)
		at = starts_skip_leb(at, end); /* augmentation size */
	for (aug++; at && at < end && *aug; aug++) {
		if (*aug == 'R')
			return *at;
		if (*aug == 'L')
			at++;
		else if (*aug == 'P' && ((*at & 0x0f) == STARTS_PE_SDATA4 ||
					 (*at & 0x0f) == STARTS_PE_UDATA4))
			at += 5;
		else if (*aug != 'S' && *aug != 'B')
			break;
	}
	return STARTS_PE_OMIT;
}

/* size of the code an FDE describes; it must start at `pc` */
static int starts_fde_size(const struct starts *s, uint64_t fde, uint64_t pc, uint64_t *ret)
{
	uint32_t head[4]; /* length, CIE pointer, start, size */
	uint64_t cie;

	if (image_read(s->img, fde, head, sizeof(head)))
		return -ENOENT;
	if (head[0] < 12 || head[0] == UINT32_MAX || !head[1])
		return -ENOENT;
	cie = fde + 4 - head[1];
	if (starts_encoding(s, cie) != STARTS_PE_SDATA4_PC)
		return -ENOENT;
	if (fde + 8 + (uint64_t)(int64_t)(int32_t)head[2] != pc)
		return -ENOENT;
	*ret = head[3];
	return 0;
}

int starts_find(const struct starts *s, uint64_t vaddr, uint64_t *ret_start, uint64_t *ret_end)
{
	uint64_t lo = 0, hi = s->cnt, pc, fde, sz;

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (starts_entry(s, mid, &pc, &fde))
			return -ENOENT;
		if (pc <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || starts_entry(s, lo - 1, &pc, &fde) || starts_fde_size(s, fde, pc, &sz) ||
	    vaddr < pc || vaddr - pc >= sz)
		return -ENOENT;
	*ret_start = pc;
	*ret_end = pc + sz;
	return 0;
}
