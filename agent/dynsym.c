// SPDX-License-Identifier: Apache-2.0
/* dynsym.c - hash tables as the dynamic linker reads them, and .symtab in windows. */
#include "dynsym.h"

#include "image.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DYNSYM_CHAIN_MAX 4096u /* symbols of one bucket looked at */
#define DYNSYM_NAME_SZ 64
#define DYNSYM_WINDOW_SZ (256u << 10)
#define DYNSYM_SECTIONS_MAX 4096u
#define DYNSYM_MANGLED_SZ 1024 /* longest mangled name looked at */
#define DYNSYM_NAMES_MAX 64 /* strings that contain one part */

static bool dynsym_is_named(struct image *img, const Elf64_Sym *sym, const char *name)
{
	char buf[DYNSYM_NAME_SZ];
	size_t sz = strlen(name) + 1;

	return sz <= sizeof(buf) && sym->st_name < img->strtab_sz && img->strtab_sz >= sz &&
	       sym->st_name <= img->strtab_sz - sz &&
	       !image_read(img, img->strtab + sym->st_name, buf, sz) && !memcmp(buf, name, sz);
}

static bool dynsym_take(struct image *img, const Elf64_Sym *sym, uint64_t *ret_vaddr)
{
	if (sym->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(sym->st_info) != STT_FUNC ||
	    !image_is_code(img, sym->st_value))
		return false;
	*ret_vaddr = sym->st_value;
	return true;
}

static bool dynsym_at(struct image *img, uint64_t i, const char *name, uint64_t *ret_vaddr)
{
	Elf64_Sym sym;

	return !image_read(img, img->symtab + i * sizeof(sym), &sym, sizeof(sym)) &&
	       dynsym_is_named(img, &sym, name) && dynsym_take(img, &sym, ret_vaddr);
}

static int dynsym_find_gnu(struct image *img, const char *name, uint64_t *ret_vaddr)
{
	uint32_t head[4], hash = 5381, i, h; /* buckets, first symbol, bloom words, shift */
	uint64_t buckets, chains;

	for (const unsigned char *c = (const unsigned char *)name; *c; c++)
		hash = hash * 33 + *c;
	if (!img->gnu_hash || image_read(img, img->gnu_hash, head, sizeof(head)) || !head[0])
		return -ENOENT;
	buckets = img->gnu_hash + sizeof(head) + (uint64_t)head[2] * 8;
	chains = buckets + (uint64_t)head[0] * 4;
	if (image_read(img, buckets + (hash % head[0]) * 4ull, &i, sizeof(i)) || i < head[1])
		return -ENOENT;
	for (uint32_t n = 0; n < DYNSYM_CHAIN_MAX; n++, i++) {
		if (image_read(img, chains + (i - head[1]) * 4ull, &h, sizeof(h)))
			return -ENOENT;
		if ((h | 1) == (hash | 1) && dynsym_at(img, i, name, ret_vaddr))
			return 0;
		if (h & 1)
			break;
	}
	return -ENOENT;
}

static int dynsym_find_sysv(struct image *img, const char *name, uint64_t *ret_vaddr)
{
	uint32_t head[2], hash = 0, i; /* buckets, chains */

	for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
		hash = (hash << 4) + *c;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	if (!img->hash || image_read(img, img->hash, head, sizeof(head)) || !head[0] ||
	    image_read(img, img->hash + 8 + (hash % head[0]) * 4ull, &i, sizeof(i)))
		return -ENOENT;
	for (uint32_t n = 0; n < DYNSYM_CHAIN_MAX && i; n++) {
		if (dynsym_at(img, i, name, ret_vaddr))
			return 0;
		if (image_read(img, img->hash + 8 + head[0] * 4ull + i * 4ull, &i, sizeof(i)))
			break;
	}
	return -ENOENT;
}

struct dynsym_table { /* file offsets of .symtab and its strings; cnt 0 = none */
	uint64_t syms, cnt, strs, strs_sz;
};

static bool dynsym_is_inside(const struct image *img, const Elf64_Shdr *sh)
{
	return sh->sh_offset <= img->sz && sh->sh_size <= img->sz - sh->sh_offset;
}

static struct dynsym_table dynsym_sections(const struct image *img)
{
	struct dynsym_table t = { 0 };
	Elf64_Shdr sh, strs;
	Elf64_Ehdr h;

	if (image_pread(img, 0, &h, sizeof(h)) || h.e_shentsize != sizeof(sh))
		return t;
	for (unsigned i = 0; i < h.e_shnum && i < DYNSYM_SECTIONS_MAX; i++) {
		if (h.e_shoff > img->sz ||
		    image_pread(img, h.e_shoff + i * sizeof(sh), &sh, sizeof(sh)))
			break;
		if (sh.sh_type != SHT_SYMTAB || sh.sh_entsize != sizeof(Elf64_Sym) ||
		    sh.sh_link >= h.e_shnum || !dynsym_is_inside(img, &sh))
			continue;
		if (image_pread(img, h.e_shoff + sh.sh_link * sizeof(strs), &strs, sizeof(strs)) ||
		    !dynsym_is_inside(img, &strs))
			break;
		return (struct dynsym_table){ sh.sh_offset, sh.sh_size / sizeof(Elf64_Sym),
					      strs.sh_offset, strs.sh_size };
	}
	return t;
}

/* offset of the name in the string table: with its end, and with the end of the name before */
static int dynsym_find_string(struct image *img, const struct dynsym_table *t, const char *name,
			      char *window, uint64_t *ret)
{
	char needle[DYNSYM_NAME_SZ + 1] = { 0 };
	size_t len = strlen(name) + 2;

	if (len > sizeof(needle))
		return -ENOENT;
	memcpy(needle + 1, name, len - 2);
	for (uint64_t at = 0; at < t->strs_sz; at += DYNSYM_WINDOW_SZ - sizeof(needle)) {
		uint64_t left = t->strs_sz - at;
		size_t sz = left < DYNSYM_WINDOW_SZ ? (size_t)left : DYNSYM_WINDOW_SZ;
		const char *hit;

		if (image_pread(img, t->strs + at, window, sz))
			return -EIO;
		hit = memmem(window, sz, needle, len);
		if (hit) {
			*ret = at + (uint64_t)(hit - window) + 1;
			return 0;
		}
		if (sz == left)
			break;
	}
	return -ENOENT;
}

static int dynsym_find_symtab(struct image *img, const char *name, uint64_t *ret_vaddr)
{
	const size_t per_window = DYNSYM_WINDOW_SZ / sizeof(Elf64_Sym);
	struct dynsym_table t = dynsym_sections(img);
	uint64_t name_off;
	Elf64_Sym *syms;
	int err = -ENOENT;

	if (!t.cnt)
		return -ENOENT;
	syms = malloc(DYNSYM_WINDOW_SZ);
	if (!syms)
		return -ENOMEM;
	if (dynsym_find_string(img, &t, name, (char *)syms, &name_off))
		t.cnt = 0;
	for (uint64_t i = 0; i < t.cnt && err == -ENOENT; i += per_window) {
		size_t cnt = t.cnt - i < per_window ? (size_t)(t.cnt - i) : per_window;

		if (image_pread(img, t.syms + i * sizeof(*syms), syms, cnt * sizeof(*syms)))
			err = -EIO;
		for (size_t k = 0; k < cnt && err == -ENOENT; k++)
			if (syms[k].st_name == name_off && dynsym_take(img, &syms[k], ret_vaddr))
				err = 0;
	}
	free(syms);
	return err;
}

int dynsym_find(struct image *img, const char *name, bool use_symtab, uint64_t *ret_vaddr)
{
	if (img->symtab && img->strtab &&
	    (!dynsym_find_gnu(img, name, ret_vaddr) || !dynsym_find_sysv(img, name, ret_vaddr)))
		return 0;
	return use_symtab ? dynsym_find_symtab(img, name, ret_vaddr) : -ENOENT;
}

struct dynsym_names {
	const char *part;
	uint64_t offs[DYNSYM_NAMES_MAX]; /* in the string table */
	size_t cnt;
};

/* Notes the names in b[from..sz) that contain the part. A name at the window's end that is cut
 * off is seen whole in the next one. */
static void dynsym_note_names(struct dynsym_names *n, const char *b, size_t sz, uint64_t off)
{
	const char *at = b, *end = b + sz;
	size_t len = strlen(n->part);

	while (n->cnt < DYNSYM_NAMES_MAX && (at = memmem(at, (size_t)(end - at), n->part, len))) {
		const char *start = memrchr(b, 0, (size_t)(at - b));
		const char *stop = memchr(at, 0, (size_t)(end - at));

		if (!stop)
			break;
		if (start && memmem(start, (size_t)(stop - start), "5tokio", 6) &&
		    (!n->cnt || n->offs[n->cnt - 1] < off + (uint64_t)(start + 1 - b)))
			n->offs[n->cnt++] = off + (uint64_t)(start + 1 - b);
		at = stop;
	}
}

static void dynsym_find_names(struct image *img, const struct dynsym_table *t, char *window,
			      struct dynsym_names *n)
{
	for (uint64_t at = 0; at < t->strs_sz; at += DYNSYM_WINDOW_SZ - DYNSYM_MANGLED_SZ) {
		uint64_t left = t->strs_sz - at;
		size_t sz = left < DYNSYM_WINDOW_SZ ? (size_t)left : DYNSYM_WINDOW_SZ;

		if (image_pread(img, t->strs + at, window, sz))
			return;
		dynsym_note_names(n, window, sz, at);
		if (sz == left)
			return;
	}
}

size_t dynsym_find_tokio(struct image *img, const char *part, uint64_t *ret_vaddrs, size_t max)
{
	const size_t per_window = DYNSYM_WINDOW_SZ / sizeof(Elf64_Sym);
	struct dynsym_table t = dynsym_sections(img);
	struct dynsym_names names = { .part = part };
	Elf64_Sym *syms = t.cnt ? malloc(DYNSYM_WINDOW_SZ) : NULL;
	size_t found = 0;

	if (!syms)
		return 0;
	dynsym_find_names(img, &t, (char *)syms, &names);
	for (uint64_t i = 0; i < t.cnt && names.cnt && found < max; i += per_window) {
		size_t cnt = t.cnt - i < per_window ? (size_t)(t.cnt - i) : per_window;

		if (image_pread(img, t.syms + i * sizeof(*syms), syms, cnt * sizeof(*syms)))
			break;
		for (size_t k = 0; k < cnt && found < max; k++)
			for (size_t m = 0; m < names.cnt; m++)
				if (syms[k].st_name == names.offs[m] &&
				    dynsym_take(img, &syms[k], &ret_vaddrs[found])) {
					found++;
					break;
				}
	}
	free(syms);
	return found;
}
