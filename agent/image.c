// SPDX-License-Identifier: Apache-2.0
/* image.c - program headers, dynamic tags and notes; every offset checked before it is used. */
#include "image.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef DT_RELR
#define DT_RELRSZ 35
#define DT_RELR 36
#endif

#define IMAGE_DYNAMIC_MAX 512u /* dynamic tags looked at */
#define IMAGE_NOTES_SZ 65536u /* bytes of notes looked at */
#define IMAGE_MAP_PAGE 4096u /* mappings begin on pages, segments need not */

struct image_cache {
	uint64_t page[IMAGE_CACHE_CNT]; /* page number + 1; 0 = empty */
	uint32_t len[IMAGE_CACHE_CNT];
	uint8_t bytes[IMAGE_CACHE_CNT][IMAGE_PAGE_SZ];
};

int image_pread(const struct image *img, uint64_t file_off, void *buf, size_t sz)
{
	uint8_t *to = buf;

	while (sz) {
		ssize_t n = pread(img->fd, to, sz, (off_t)file_off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO; /* read error, or the file was cut after it was opened */
		to += n;
		file_off += (uint64_t)n;
		sz -= (size_t)n;
	}
	return 0;
}

static int image_cached(struct image *img, uint64_t file_off, void *buf, size_t sz)
{
	struct image_cache *c = img->cache;
	uint8_t *to = buf;

	while (sz) {
		uint64_t page = file_off / IMAGE_PAGE_SZ;
		size_t slot = page % IMAGE_CACHE_CNT;
		size_t at = file_off % IMAGE_PAGE_SZ;
		size_t n = IMAGE_PAGE_SZ - at < sz ? IMAGE_PAGE_SZ - at : sz;

		if (c->page[slot] != page + 1) {
			uint64_t left = img->sz - page * IMAGE_PAGE_SZ;
			size_t want = left < IMAGE_PAGE_SZ ? (size_t)left : IMAGE_PAGE_SZ;

			c->page[slot] = 0;
			if (image_pread(img, page * IMAGE_PAGE_SZ, c->bytes[slot], want))
				return -EIO;
			c->page[slot] = page + 1;
			c->len[slot] = (uint32_t)want;
		}
		if (at + n > c->len[slot])
			return -EIO;
		memcpy(to, c->bytes[slot] + at, n);
		to += n;
		file_off += n;
		sz -= n;
	}
	return 0;
}

const struct image_segment *image_segment_at(const struct image *img, uint64_t vaddr, uint64_t sz)
{
	for (size_t i = 0; i < img->segs_cnt; i++) {
		const struct image_segment *s = &img->segs[i];

		if (vaddr >= s->vaddr && vaddr - s->vaddr < s->file_sz &&
		    sz <= s->file_sz - (vaddr - s->vaddr))
			return s;
	}
	return NULL;
}

bool image_is_code(const struct image *img, uint64_t vaddr)
{
	const struct image_segment *s = image_segment_at(img, vaddr, 1);

	return s && s->is_exec;
}

int image_file_off(const struct image *img, uint64_t vaddr, uint64_t *ret)
{
	const struct image_segment *s = image_segment_at(img, vaddr, 1);

	if (!s)
		return -EFAULT;
	*ret = s->file_off + (vaddr - s->vaddr);
	return 0;
}

int image_read(struct image *img, uint64_t vaddr, void *buf, size_t sz)
{
	const struct image_segment *s = image_segment_at(img, vaddr, sz);

	return s ? image_cached(img, s->file_off + (vaddr - s->vaddr), buf, sz) : -EFAULT;
}

size_t image_read_some(struct image *img, uint64_t vaddr, void *buf, size_t sz)
{
	const struct image_segment *s = image_segment_at(img, vaddr, 1);
	uint64_t left = s ? s->file_sz - (vaddr - s->vaddr) : 0;

	if (left < sz)
		sz = (size_t)left;
	return sz && !image_cached(img, s->file_off + (vaddr - s->vaddr), buf, sz) ? sz : 0;
}

bool image_work(struct image *img, uint64_t units)
{
	img->work_left -= units < img->work_left ? units : img->work_left;
	return img->work_left != 0;
}

int image_bias(const struct image *img, uint64_t map_start, uint64_t map_off, uint64_t *ret)
{
	for (size_t i = 0; i < img->segs_cnt; i++) {
		const struct image_segment *s = &img->segs[i];

		/* the mapping may be any piece of the segment: mprotect splits them */
		if (!s->is_exec || map_off + IMAGE_MAP_PAGE <= s->file_off ||
		    map_off >= s->file_off + s->file_sz)
			continue;
		*ret = map_start - map_off + s->file_off - s->vaddr;
		return 0;
	}
	return -EINVAL;
}

static void image_read_notes(struct image *img, uint64_t file_off, uint64_t sz)
{
	static const char hex[] = "0123456789abcdef";
	uint8_t *buf;
	size_t at = 0;

	if (sz > IMAGE_NOTES_SZ)
		sz = IMAGE_NOTES_SZ;
	buf = malloc(sz ? sz : 1);
	if (!buf || image_pread(img, file_off, buf, sz))
		sz = 0;
	while (sz - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr n;
		uint64_t name_sz, desc_sz;

		memcpy(&n, buf + at, sizeof(n));
		at += sizeof(n);
		name_sz = ((uint64_t)n.n_namesz + 3) & ~3ull;
		desc_sz = ((uint64_t)n.n_descsz + 3) & ~3ull;
		if (name_sz > sz - at || desc_sz > sz - at - name_sz)
			break;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(buf + at, "GNU", 4)) {
			size_t len = n.n_descsz < 20 ? n.n_descsz : 20;

			for (size_t i = 0; i < len; i++) {
				img->build_id[2 * i] = hex[buf[at + name_sz + i] >> 4];
				img->build_id[2 * i + 1] = hex[buf[at + name_sz + i] & 15];
			}
			img->build_id[2 * len] = '\0';
			break;
		}
		at += name_sz + desc_sz;
	}
	free(buf);
}

static int image_read_dynamic(struct image *img, uint64_t file_off, uint64_t sz)
{
	for (uint64_t at = 0;
	     sz - at >= sizeof(Elf64_Dyn) && at < IMAGE_DYNAMIC_MAX * sizeof(Elf64_Dyn);
	     at += sizeof(Elf64_Dyn)) {
		Elf64_Dyn d;

		if (image_cached(img, file_off + at, &d, sizeof(d)))
			return -EIO;
		switch (d.d_tag) {
		case DT_NULL:
			return 0;
		case DT_RELA:
			img->rela = d.d_un.d_ptr;
			break;
		case DT_RELASZ:
			img->rela_sz = d.d_un.d_val;
			break;
		case DT_RELR:
			img->relr = d.d_un.d_ptr;
			break;
		case DT_RELRSZ:
			img->relr_sz = d.d_un.d_val;
			break;
		case DT_SYMTAB:
			img->symtab = d.d_un.d_ptr;
			break;
		case DT_STRTAB:
			img->strtab = d.d_un.d_ptr;
			break;
		case DT_STRSZ:
			img->strtab_sz = d.d_un.d_val;
			break;
		case DT_GNU_HASH:
			img->gnu_hash = d.d_un.d_ptr;
			break;
		case DT_HASH:
			img->hash = d.d_un.d_ptr;
			break;
		default:
			break;
		}
	}
	return 0;
}

static int image_add_segment(struct image *img, const Elf64_Phdr *p)
{
	if (!p->p_filesz)
		return 0;
	if (img->segs_cnt == IMAGE_SEGMENTS_MAX || p->p_vaddr > UINT64_MAX - p->p_filesz)
		return -ENOEXEC;
	img->segs[img->segs_cnt++] = (struct image_segment){
		.vaddr = p->p_vaddr,
		.file_off = p->p_offset,
		.file_sz = p->p_filesz,
		.is_exec = p->p_flags & PF_X,
		.is_write = p->p_flags & PF_W,
	};
	return 0;
}

static int image_take_phdr(struct image *img, const Elf64_Phdr *p)
{
	bool is_inside = p->p_offset <= img->sz && p->p_filesz <= img->sz - p->p_offset;

	switch (p->p_type) {
	case PT_LOAD:
		return is_inside ? image_add_segment(img, p) : -ENOEXEC;
	case PT_NOTE:
		if (is_inside && !img->build_id[0])
			image_read_notes(img, p->p_offset, p->p_filesz);
		return 0;
	case PT_TLS:
		img->tls_sz = p->p_memsz;
		img->tls_align = p->p_align;
		return 0;
	case PT_GNU_EH_FRAME:
		img->eh_frame_hdr = p->p_vaddr;
		img->eh_frame_hdr_sz = p->p_filesz;
		return 0;
	case PT_DYNAMIC:
		return is_inside ? image_read_dynamic(img, p->p_offset, p->p_filesz) : -ENOEXEC;
	default:
		return 0;
	}
}

static int image_read_headers(struct image *img)
{
	Elf64_Ehdr h;

	if (img->sz < sizeof(h))
		return -ENOEXEC;
	if (image_pread(img, 0, &h, sizeof(h)))
		return -EIO;
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) || h.e_ident[EI_CLASS] != ELFCLASS64 ||
	    h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_machine != EM_X86_64 ||
	    (h.e_type != ET_EXEC && h.e_type != ET_DYN))
		return -ENOEXEC;
	/* PN_XNUM would need section headers; no linker writes so many for a program */
	if (h.e_phentsize != sizeof(Elf64_Phdr) || !h.e_phnum || h.e_phnum == PN_XNUM ||
	    h.e_phoff > img->sz || (uint64_t)h.e_phnum * sizeof(Elf64_Phdr) > img->sz - h.e_phoff)
		return -ENOEXEC;
	img->is_pie = h.e_type == ET_DYN;
	for (unsigned i = 0; i < h.e_phnum; i++) {
		Elf64_Phdr p;
		int err = image_cached(img, h.e_phoff + i * sizeof(p), &p, sizeof(p));

		if (!err)
			err = image_take_phdr(img, &p);
		if (err)
			return err;
	}
	return img->segs_cnt ? 0 : -ENOEXEC;
}

int image_open(int fd, uint64_t sz, struct image **ret)
{
	struct image *img = calloc(1, sizeof(*img));
	int err;

	if (!img)
		return -ENOMEM;
	img->fd = fd;
	img->sz = sz;
	img->work_left = IMAGE_WORK_MAX;
	/* page[] must be zero; the pages themselves stay untouched until they are used */
	img->cache = calloc(1, sizeof(*img->cache));
	err = img->cache ? image_read_headers(img) : -ENOMEM;
	if (err) {
		image_close(img);
		return err;
	}
	*ret = img;
	return 0;
}

void image_close(struct image *img)
{
	if (!img)
		return;
	free(img->cache);
	free(img);
}
