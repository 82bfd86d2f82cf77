// SPDX-License-Identifier: Apache-2.0
/* test_sections.c - section tables and function symbols, of this program and of hostile files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "agent/elfsyms.h"
#include "agent/sections.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile int sink;

int marker(void);
__attribute__((noinline, used)) int marker(void)
{
	return sink += 1;
}
int marker_twin(void) __attribute__((alias("marker")));

static uint64_t file_sz(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return (uint64_t)st.st_size;
}

/* Load address of this program, so that a function's address gives its vaddr. */
static int first_base(struct dl_phdr_info *info, size_t sz, void *ctx)
{
	(void)sz;
	*(uint64_t *)ctx = info->dlpi_addr;
	return 1;
}

static uint64_t vaddr_of(int (*function)(void))
{
	uint64_t base = 0;

	dl_iterate_phdr(first_base, &base);
	return (uint64_t)(uintptr_t)function - base;
}

static void test_own_sections(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	struct sections *s;
	const struct section *text, *symtab;
	char build_id[41];

	(void)state;
	assert_int_equal(sections_read(fd, file_sz(fd), &s), 0);
	text = sections_find(s, ".text");
	symtab = sections_find(s, ".symtab");
	assert_non_null(text);
	assert_non_null(symtab);
	assert_int_equal(symtab->entry_sz, sizeof(Elf64_Sym));
	assert_string_equal(sections_at(s, symtab->link)->name, ".strtab");
	assert_null(sections_find(s, ".bss")); /* it has no content */
	assert_null(sections_find(s, ".nothing"));
	assert_null(sections_at(s, 60000));
	sections_build_id(s, fd, build_id);
	assert_true(build_id[0] == '\0' || strlen(build_id) == 40);
	free(s);
	close(fd);
}

static void test_own_symbols(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	uint64_t vaddr = vaddr_of(marker);
	struct sections *s;
	struct elfsyms *syms;
	struct elfsym sym;
	char first[32];

	(void)state;
	assert_int_equal(sections_read(fd, file_sz(fd), &s), 0);
	assert_int_equal(elfsyms_open(fd, s, &syms), 0);
	assert_int_equal(elfsyms_find(syms, vaddr + 1, &sym), 0);
	assert_int_equal(strncmp(sym.name, "marker", 6), 0);
	assert_int_equal(sym.vaddr, vaddr);
	assert_true(sym.size > 1 && sym.size < 4096);
	/* both names of one address, each once */
	assert_int_equal(elfsyms_nth_at(syms, vaddr, 0, &sym), 0);
	strcpy(first, sym.name);
	assert_int_equal(elfsyms_nth_at(syms, vaddr, 1, &sym), 0);
	assert_string_not_equal(sym.name, first);
	assert_int_equal(elfsyms_nth_at(syms, vaddr, 2, &sym), -ENOENT);
	assert_int_equal(elfsyms_nth_at(syms, vaddr + 1, 0, &sym), -ENOENT);
	assert_int_equal(elfsyms_find(syms, 1, &sym), -ENOENT);
	assert_int_equal(elfsyms_find(syms, UINT64_MAX, &sym), -ENOENT);
	elfsyms_close(syms);
	elfsyms_close(NULL);
	free(s);
	close(fd);
}

/* A file with one symbol table of one function, and whatever the test breaks in it. */
struct tiny {
	Elf64_Ehdr eh;
	Elf64_Sym syms[2];
	char names[32];
	char section_names[32];
	Elf64_Shdr sh[4];
};

static struct tiny tiny_make(void)
{
	struct tiny t = {
		.eh = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     1 },
			.e_machine = EM_X86_64,
			.e_shoff = offsetof(struct tiny, sh),
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 4,
			.e_shstrndx = 3 },
		.names = "\0alpha",
		.section_names = "\0.symtab\0.strtab",
	};

	t.syms[1] = (Elf64_Sym){ .st_name = 1,
				 .st_value = 0x1000,
				 .st_size = 16,
				 .st_shndx = 1,
				 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) };
	t.sh[1] = (Elf64_Shdr){ .sh_name = 1,
				.sh_type = SHT_SYMTAB,
				.sh_link = 2,
				.sh_offset = offsetof(struct tiny, syms),
				.sh_size = sizeof(t.syms),
				.sh_entsize = sizeof(Elf64_Sym) };
	t.sh[2] = (Elf64_Shdr){ .sh_name = 9,
				.sh_type = SHT_STRTAB,
				.sh_offset = offsetof(struct tiny, names),
				.sh_size = sizeof(t.names) };
	t.sh[3] = (Elf64_Shdr){ .sh_name = 9,
				.sh_type = SHT_STRTAB,
				.sh_offset = offsetof(struct tiny, section_names),
				.sh_size = sizeof(t.section_names) };
	return t;
}

/* 0 and the symbol at 0x1008, or the first error on the way to it. */
static int tiny_find(const struct tiny *t, size_t sz, char name[64])
{
	int fd = memfd_create("tiny", MFD_CLOEXEC);
	struct sections *s = NULL;
	struct elfsyms *syms = NULL;
	struct elfsym sym;
	int err;

	assert_int_equal(write(fd, t, sz), sz);
	err = sections_read(fd, sz, &s);
	if (err == 0)
		err = elfsyms_open(fd, s, &syms);
	if (err == 0)
		err = elfsyms_find(syms, 0x1008, &sym);
	if (err == 0)
		snprintf(name, 64, "%.60s", sym.name);
	elfsyms_close(syms);
	free(s);
	close(fd);
	return err;
}

static void test_hostile_tables(void **state)
{
	struct tiny good = tiny_make(), t;
	char name[64];

	(void)state;
	assert_int_equal(tiny_find(&good, sizeof(good), name), 0);
	assert_string_equal(name, "alpha");
	for (size_t sz = 0; sz < sizeof(good); sz += 7)
		assert_true(tiny_find(&good, sz, name) < 0);
	t = good, t.eh.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(tiny_find(&t, sizeof(t), name), -ENOEXEC);
	t = good, t.eh.e_machine = EM_AARCH64;
	assert_int_equal(tiny_find(&t, sizeof(t), name), -ENOEXEC);
	t = good, t.eh.e_shoff = UINT64_MAX - 8;
	assert_int_equal(tiny_find(&t, sizeof(t), name), -ENOENT);
	t = good, t.eh.e_shnum = 0xffff;
	assert_int_equal(tiny_find(&t, sizeof(t), name), -ENOENT);
	t = good, t.eh.e_shstrndx = 9;
	assert_int_equal(tiny_find(&t, sizeof(t), name), -ENOENT);
	t = good, t.sh[1].sh_size = UINT64_MAX;
	assert_int_equal(tiny_find(&t, sizeof(t), name), -ENOENT);
	t = good, t.sh[1].sh_offset = UINT64_MAX - 1;
	assert_int_equal(tiny_find(&t, sizeof(t), name), -ENOENT);
	t = good, t.sh[1].sh_entsize = 1;
	assert_int_equal(tiny_find(&t, sizeof(t), name), -ENOENT);
	t = good, t.sh[1].sh_link = 0xffffffff;
	assert_int_equal(tiny_find(&t, sizeof(t), name), -ENOENT);
	t = good, t.syms[1].st_name = 0x7fffffff;
	assert_int_equal(tiny_find(&t, sizeof(t), name), -ENOENT);
	/* a name without an end stops at the end of its table */
	t = good, memset(t.names + 1, 'x', sizeof(t.names) - 1);
	assert_int_equal(tiny_find(&t, sizeof(t), name), 0);
	assert_int_equal(strlen(name), sizeof(t.names) - 1);
	/* a size that wraps around the address space covers nothing before it */
	t = good, t.syms[1].st_value = 0x1009, t.syms[1].st_size = UINT64_MAX;
	assert_int_equal(tiny_find(&t, sizeof(t), name), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_sections),
		cmocka_unit_test(test_own_symbols),
		cmocka_unit_test(test_hostile_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
