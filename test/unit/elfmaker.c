// SPDX-License-Identifier: Apache-2.0
/* elfmaker.c - lays the parts out and writes the headers. */
#include "elfmaker.h"

#include "image.h"
#include "relocs.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ELFMAKER_OFF(vaddr) (((vaddr)-ELFMAKER_CODE) / 0x100000 * ELFMAKER_PART_SZ + 0x1000)
#define ELFMAKER_SZ (ELFMAKER_OFF(ELFMAKER_DATA) + 8 * ELFMAKER_PART_SZ)

static void elfmaker_check(bool is_fine)
{
	if (!is_fine)
		abort(); /* the test asks for more than a part holds */
}

uint64_t elfmaker_code(struct elfmaker *m, const void *bytes, size_t sz)
{
	size_t at = (m->code_sz + 16) & ~(size_t)15;

	elfmaker_check(at + sz <= ELFMAKER_PART_SZ);
	memset(m->code + m->code_sz, 0xcc, at - m->code_sz);
	memcpy(m->code + at, bytes, sz);
	m->code_sz = at + sz;
	return ELFMAKER_CODE + at;
}

uint64_t elfmaker_text(struct elfmaker *m, const char *text)
{
	size_t at = m->text_sz, sz = strlen(text);

	elfmaker_check(at + sz <= ELFMAKER_PART_SZ);
	memcpy(m->text + at, text, sz);
	m->text_sz += sz;
	return ELFMAKER_TEXT + at;
}

uint64_t elfmaker_word(struct elfmaker *m, uint64_t value)
{
	size_t at = m->data_sz;

	elfmaker_check(at + 8 <= ELFMAKER_PART_SZ);
	memcpy(m->data + at, &value, 8);
	m->data_sz += 8;
	return ELFMAKER_DATA + at;
}

uint64_t elfmaker_pointer(struct elfmaker *m, uint64_t value)
{
	uint64_t at = elfmaker_word(m, m->is_pie ? 0 : value);

	if (m->is_pie) {
		elfmaker_check(m->relas_cnt < sizeof(m->relas) / sizeof(m->relas[0]));
		m->relas[m->relas_cnt].at = at;
		m->relas[m->relas_cnt].info = R_X86_64_RELATIVE;
		m->relas[m->relas_cnt++].addend = value;
	}
	return at;
}

uint64_t elfmaker_vtable(struct elfmaker *m, const uint64_t funcs[7], uint64_t trailer,
			 uint64_t scheduler, uint64_t id, bool has_location)
{
	uint64_t at = elfmaker_pointer(m, funcs[0]);

	for (int i = 1; i < 7; i++)
		elfmaker_pointer(m, funcs[i]);
	elfmaker_word(m, trailer);
	elfmaker_word(m, scheduler);
	elfmaker_word(m, id);
	if (has_location)
		elfmaker_word(m, id + 8);
	return at;
}

void elfmaker_init(struct elfmaker *m, bool is_pie)
{
	static const uint8_t first[] = "\x55\x48\x89\xe5\x31\xc0\x5d\xc3";

	memset(m, 0, sizeof(*m));
	m->is_pie = is_pie;
	m->code_sz = 15;
	elfmaker_code(m, first, sizeof(first) - 1);
	elfmaker_code(m, first, sizeof(first) - 1);
}

static void elfmaker_phdr(uint8_t *file, unsigned i, uint32_t type, uint32_t flags, uint64_t vaddr,
			  uint64_t off, uint64_t sz)
{
	Elf64_Phdr p = { .p_type = type,
			 .p_flags = flags,
			 .p_offset = off,
			 .p_vaddr = vaddr,
			 .p_paddr = vaddr,
			 .p_filesz = sz,
			 .p_memsz = sz,
			 .p_align = 0x1000 };

	memcpy(file + sizeof(Elf64_Ehdr) + i * sizeof(p), &p, sizeof(p));
}

int elfmaker_raw(const void *bytes, size_t sz)
{
	int fd = memfd_create("elfmaker", MFD_CLOEXEC);

	elfmaker_check(fd >= 0 && write(fd, bytes, sz) == (ssize_t)sz);
	return fd;
}

int elfmaker_open(const struct elfmaker *m, uint64_t *ret_sz)
{
	Elf64_Ehdr h = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = m->is_pie ? ET_DYN : ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(h),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 6,
		.e_ehsize = sizeof(h),
	};
	static const uint8_t note[] = "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\xde\xad\xbe\xef";
	uint64_t rela_sz = m->relas_cnt * sizeof(m->relas[0]), note_off = 0x400, dyn_off = 0x500;
	uint64_t rela = ELFMAKER_DATA + ELFMAKER_PART_SZ;
	Elf64_Dyn dyn[] = { { DT_RELA, { rela } }, { DT_RELASZ, { rela_sz } }, { DT_NULL, { 0 } } };
	uint8_t *file = calloc(1, ELFMAKER_SZ);
	int fd;

	elfmaker_check(file != NULL);
	memcpy(file, &h, sizeof(h));
	elfmaker_phdr(file, 0, PT_LOAD, PF_R | PF_X, ELFMAKER_CODE, ELFMAKER_OFF(ELFMAKER_CODE),
		      m->code_sz);
	elfmaker_phdr(file, 1, PT_LOAD, PF_R, ELFMAKER_TEXT, ELFMAKER_OFF(ELFMAKER_TEXT),
		      m->text_sz);
	/* the table of relocations stands behind the data, in its segment */
	elfmaker_phdr(file, 2, PT_LOAD, PF_R | PF_W, ELFMAKER_DATA, ELFMAKER_OFF(ELFMAKER_DATA),
		      ELFMAKER_PART_SZ + rela_sz);
	elfmaker_phdr(file, 3, PT_NOTE, PF_R, 0, note_off, sizeof(note) - 1);
	elfmaker_phdr(file, 4, PT_DYNAMIC, PF_R, 0, dyn_off, m->is_pie ? sizeof(dyn) : 0);
	elfmaker_phdr(file, 5, PT_TLS, PF_R, 0, 0, 0x48);
	memcpy(file + note_off, note, sizeof(note) - 1);
	memcpy(file + dyn_off, dyn, sizeof(dyn));
	memcpy(file + ELFMAKER_OFF(ELFMAKER_CODE), m->code, m->code_sz);
	memcpy(file + ELFMAKER_OFF(ELFMAKER_TEXT), m->text, m->text_sz);
	memcpy(file + ELFMAKER_OFF(ELFMAKER_DATA), m->data, m->data_sz);
	memcpy(file + ELFMAKER_OFF(ELFMAKER_DATA) + ELFMAKER_PART_SZ, m->relas, rela_sz);
	fd = elfmaker_raw(file, ELFMAKER_SZ);
	free(file);
	*ret_sz = ELFMAKER_SZ;
	return fd;
}

void elfmaker_load(const struct elfmaker *m, struct elfmaker_file *ret)
{
	uint64_t sz;

	ret->fd = elfmaker_open(m, &sz);
	elfmaker_check(!image_open(ret->fd, sz, &ret->img));
	elfmaker_check(!relocs_open(ret->img, &ret->relocs));
	starts_open(&ret->starts, ret->img);
}

void elfmaker_unload(struct elfmaker_file *f)
{
	relocs_close(f->relocs);
	image_close(f->img);
	close(f->fd);
}
