// SPDX-License-Identifier: Apache-2.0
/* sections.c - reads section headers and their names. */
#include "sections.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES_MAX_SZ (1u << 20)

int sections_pread(int fd, uint64_t file_off, void *buf, size_t sz)
{
	char *p = buf;

	while (sz > 0) {
		ssize_t n = pread(fd, p, sz, (off_t)file_off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO;
		p += n;
		sz -= (size_t)n;
		file_off += (uint64_t)n;
	}
	return 0;
}

static bool sections_fit(uint64_t off, uint64_t sz, uint64_t file_sz)
{
	return off <= file_sz && sz <= file_sz - off;
}

/* One header, checked; false when it is to be left out. */
static bool sections_take(const Elf64_Shdr *h, uint32_t index, int fd, uint64_t file_sz,
			  struct section *ret)
{
	Elf64_Chdr packed;

	*ret = (struct section){ .type = h->sh_type, .link = h->sh_link, .index = index };
	if (h->sh_type == SHT_NULL || h->sh_type == SHT_NOBITS)
		return false;
	if (!sections_fit(h->sh_offset, h->sh_size, file_sz))
		return false;
	ret->file_off = h->sh_offset;
	ret->file_sz = ret->full_sz = h->sh_size;
	ret->entry_sz = h->sh_entsize;
	if (h->sh_flags & SHF_COMPRESSED) {
		if (h->sh_size < sizeof(packed) ||
		    sections_pread(fd, h->sh_offset, &packed, sizeof(packed)))
			return false;
		ret->full_sz = packed.ch_size;
	}
	return true;
}

static int sections_load(int fd, uint64_t file_sz, struct sections *s, Elf64_Shdr *headers,
			 char **ret_names)
{
	Elf64_Ehdr eh;
	uint64_t cnt, names_at, names_sz;

	if (file_sz < sizeof(eh))
		return -ENOEXEC;
	if (sections_pread(fd, 0, &eh, sizeof(eh)))
		return -EIO;
	if (memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_ident[EI_DATA] != ELFDATA2LSB || eh.e_machine != EM_X86_64)
		return -ENOEXEC;
	cnt = eh.e_shnum;
	if (eh.e_shoff == 0 || cnt == 0 || eh.e_shentsize != sizeof(*headers) ||
	    !sections_fit(eh.e_shoff, cnt * sizeof(*headers), file_sz))
		return -ENOENT;
	if (cnt > SECTIONS_MAX)
		cnt = SECTIONS_MAX;
	if (sections_pread(fd, eh.e_shoff, headers, cnt * sizeof(*headers)))
		return -EIO;
	if (eh.e_shstrndx >= cnt)
		return -ENOENT;
	names_at = headers[eh.e_shstrndx].sh_offset;
	names_sz = headers[eh.e_shstrndx].sh_size;
	if (names_sz > NAMES_MAX_SZ || !sections_fit(names_at, names_sz, file_sz))
		return -ENOENT;
	*ret_names = calloc(1, names_sz + 1);
	if (!*ret_names)
		return -ENOMEM;
	if (sections_pread(fd, names_at, *ret_names, names_sz))
		return -EIO;
	for (uint32_t i = 0; i < cnt; i++) {
		struct section *one = &s->list[s->cnt];

		if (!sections_take(&headers[i], i, fd, file_sz, one))
			continue;
		if (headers[i].sh_name < names_sz)
			snprintf(one->name, sizeof(one->name), "%.*s", (int)sizeof(one->name) - 1,
				 *ret_names + headers[i].sh_name);
		s->cnt++;
	}
	return s->cnt ? 0 : -ENOENT;
}

int sections_read(int fd, uint64_t file_sz, struct sections **ret)
{
	struct sections *s = calloc(1, sizeof(*s));
	Elf64_Shdr *headers = calloc(SECTIONS_MAX, sizeof(*headers));
	char *names = NULL;
	int err = s && headers ? sections_load(fd, file_sz, s, headers, &names) : -ENOMEM;

	free(names);
	free(headers);
	if (err) {
		free(s);
		return err;
	}
	*ret = s;
	return 0;
}

const struct section *sections_find(const struct sections *s, const char *name)
{
	for (size_t i = 0; i < s->cnt; i++)
		if (s->list[i].file_sz && strcmp(s->list[i].name, name) == 0)
			return &s->list[i];
	return NULL;
}

const struct section *sections_at(const struct sections *s, uint32_t index)
{
	for (size_t i = 0; i < s->cnt; i++)
		if (s->list[i].index == index)
			return &s->list[i];
	return NULL;
}

void sections_build_id(const struct sections *s, int fd, char ret[41])
{
	const struct section *note = sections_find(s, ".note.gnu.build-id");
	struct {
		Elf64_Nhdr head;
		char name[4];
		unsigned char id[20];
	} got;

	ret[0] = '\0';
	if (!note || note->file_sz < sizeof(got.head) + sizeof(got.name) + 8)
		return;
	memset(&got, 0, sizeof(got));
	if (sections_pread(fd, note->file_off, &got,
			   note->file_sz < sizeof(got) ? note->file_sz : sizeof(got)))
		return;
	if (got.head.n_namesz != 4 || memcmp(got.name, "GNU", 4) != 0 || got.head.n_descsz < 8 ||
	    got.head.n_descsz > sizeof(got.id) ||
	    got.head.n_descsz > note->file_sz - sizeof(got.head) - sizeof(got.name))
		return;
	for (size_t i = 0; i < got.head.n_descsz; i++)
		snprintf(ret + 2 * i, 3, "%02x", got.id[i]);
}
