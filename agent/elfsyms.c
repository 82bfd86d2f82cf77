// SPDX-License-Identifier: Apache-2.0
/* elfsyms.c - a sorted table of function symbols; names by pread. */
#include "elfsyms.h"

#include "sections.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_CNT 2048u /* symbols read at once */
#define UNSIZED_MAX 65536 /* bytes that a symbol without a size may cover */
#define COVER_STEPS 16 /* how far back a symbol that covers the address is looked for */

struct elfsyms_entry {
	uint64_t vaddr;
	uint32_t size, name_off;
};

struct elfsyms {
	int fd;
	uint64_t names_off, names_sz;
	struct elfsyms_entry *list; /* by address */
	size_t cnt;
	bool has_locals;
	char name[ELFSYMS_NAME_SZ];
};

static int elfsyms_compare(const void *a, const void *b)
{
	const struct elfsyms_entry *x = a, *y = b;

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	return x->name_off < y->name_off ? -1 : x->name_off > y->name_off;
}

static bool elfsyms_is_function(const Elf64_Sym *sym)
{
	unsigned type = ELF64_ST_TYPE(sym->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && sym->st_shndx != SHN_UNDEF &&
	       sym->st_name != 0 && sym->st_value != 0;
}

/* Counts the functions, and keeps them once `list` is there. */
static int elfsyms_pass(int fd, const struct section *table, struct elfsyms_entry *list, size_t max,
			size_t *ret_cnt)
{
	uint64_t left = table->file_sz / sizeof(Elf64_Sym), off = table->file_off;
	Elf64_Sym *window = malloc(WINDOW_CNT * sizeof(*window));
	size_t cnt = 0;
	int err = window ? 0 : -ENOMEM;

	while (err == 0 && left > 0 && cnt < max) {
		size_t n = left < WINDOW_CNT ? (size_t)left : WINDOW_CNT;

		err = sections_pread(fd, off, window, n * sizeof(*window));
		for (size_t i = 0; err == 0 && i < n && cnt < max; i++) {
			if (!elfsyms_is_function(&window[i]))
				continue;
			if (list)
				list[cnt] = (struct elfsyms_entry){
					.vaddr = window[i].st_value,
					.size = window[i].st_size > UINT32_MAX
							? UINT32_MAX
							: (uint32_t)window[i].st_size,
					.name_off = window[i].st_name,
				};
			cnt++;
		}
		left -= n;
		off += n * sizeof(*window);
	}
	free(window);
	*ret_cnt = cnt;
	return err;
}

int elfsyms_open(int fd, const struct sections *sections, struct elfsyms **ret)
{
	const struct section *table = sections_find(sections, ".symtab"), *names;
	struct elfsyms *s;
	size_t cnt = 0;
	int err;

	if (!table)
		table = sections_find(sections, ".dynsym");
	names = table ? sections_at(sections, table->link) : NULL;
	if (!names || table->entry_sz != sizeof(Elf64_Sym))
		return -ENOENT;
	err = elfsyms_pass(fd, table, NULL, ELFSYMS_MAX, &cnt);
	if (err || cnt == 0)
		return err ? err : -ENOENT;
	s = calloc(1, sizeof(*s));
	if (s)
		s->list = malloc(cnt * sizeof(*s->list));
	if (!s || !s->list) {
		elfsyms_close(s);
		return -ENOMEM;
	}
	s->fd = fd;
	s->has_locals = strcmp(table->name, ".symtab") == 0;
	s->names_off = names->file_off;
	s->names_sz = names->file_sz;
	err = elfsyms_pass(fd, table, s->list, cnt, &s->cnt);
	if (err || s->cnt == 0) {
		elfsyms_close(s);
		return err ? err : -ENOENT;
	}
	qsort(s->list, s->cnt, sizeof(*s->list), elfsyms_compare);
	*ret = s;
	return 0;
}

void elfsyms_close(struct elfsyms *s)
{
	if (!s)
		return;
	free(s->list);
	free(s);
}

bool elfsyms_has_locals(const struct elfsyms *s)
{
	return s->has_locals;
}

/* Index of the first symbol above `vaddr`. */
static size_t elfsyms_above(const struct elfsyms *s, uint64_t vaddr)
{
	size_t low = 0, high = s->cnt;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->list[mid].vaddr <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int elfsyms_give(struct elfsyms *s, const struct elfsyms_entry *e, struct elfsym *ret)
{
	size_t sz;

	if (e->name_off >= s->names_sz)
		return -ENOENT;
	sz = sizeof(s->name) - 1;
	if (sz > s->names_sz - e->name_off)
		sz = (size_t)(s->names_sz - e->name_off);
	if (sections_pread(s->fd, s->names_off + e->name_off, s->name, sz))
		return -ENOENT;
	s->name[sz] = '\0';
	*ret = (struct elfsym){ .vaddr = e->vaddr, .size = e->size, .name = s->name };
	return s->name[0] ? 0 : -ENOENT;
}

int elfsyms_find(struct elfsyms *s, uint64_t vaddr, struct elfsym *ret)
{
	size_t above = elfsyms_above(s, vaddr);

	for (size_t i = 0; i < COVER_STEPS && i < above; i++) {
		const struct elfsyms_entry *e = &s->list[above - 1 - i];

		/* without a size (assembly) it reaches to the next symbol */
		if (vaddr - e->vaddr < e->size ||
		    (e->size == 0 && i == 0 && vaddr - e->vaddr < UNSIZED_MAX))
			return elfsyms_give(s, e, ret);
	}
	return -ENOENT;
}

int elfsyms_nth_at(struct elfsyms *s, uint64_t vaddr, size_t nth, struct elfsym *ret)
{
	size_t i = vaddr ? elfsyms_above(s, vaddr - 1) : 0;

	if (nth >= s->cnt - i || s->list[i + nth].vaddr != vaddr)
		return -ENOENT;
	return elfsyms_give(s, &s->list[i + nth], ret);
}
