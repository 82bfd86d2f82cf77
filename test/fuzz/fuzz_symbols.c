// SPDX-License-Identifier: Apache-2.0
/* fuzz_symbols.c - any bytes as the mapped file of a target: ELF, symbol tables, DWARF, code. */
#include "agent/symbols.h"
#include "agent/target.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BIAS 0x555555554000ull
#define LOOKUPS 24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count(const struct symbols_frame *f, void *ctx)
{
	*(size_t *)ctx += strlen(f->name) + strlen(f->file);
}

/* Addresses that mean something: the functions that its own tables name come first in the code. */
static void look_up(struct symbols *s, const struct target_file *file)
{
	uint64_t step = (file->map_end - file->map_start) / LOOKUPS + 1;
	char text[512];
	size_t sum = 0;

	for (uint64_t addr = file->map_start; addr < file->map_end; addr += step) {
		symbols_resolve(s, addr, count, &sum);
		symbols_type_name(s, addr, addr + step / 2, text, sizeof(text));
		symbols_spawn_place(s, addr, text, sizeof(text));
		symbols_module(s, addr, text, sizeof(text));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct target_file file = { .path = "/fuzz", .sz = size, .map_start = BIAS };
	struct target target = { .files = &file, .files_cnt = 1 };
	struct symbols *s;
	Elf64_Ehdr eh;
	Elf64_Phdr ph;

	file.fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (file.fd < 0)
		return 0;
	/* map it as its first executable segment says */
	file.map_end = BIAS + (size | 0xfff) + 1;
	if (size >= sizeof(eh)) {
		memcpy(&eh, data, sizeof(eh));
		for (unsigned i = 0; i < 16 && i < eh.e_phnum; i++) {
			if (eh.e_phoff > size || size - eh.e_phoff < (i + 1) * sizeof(ph))
				break;
			memcpy(&ph, data + eh.e_phoff + i * sizeof(ph), sizeof(ph));
			if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X) || ph.p_memsz > 1u << 24 ||
			    ph.p_vaddr > 1ull << 40)
				continue;
			file.map_start = BIAS + (ph.p_vaddr & ~0xfffull);
			file.map_end = BIAS + ((ph.p_vaddr + ph.p_memsz) | 0xfff) + 1;
			file.map_off = ph.p_offset & ~0xfffull;
			break;
		}
	}
	if (write(file.fd, data, size) == (ssize_t)size && symbols_open(&target, &s) == 0) {
		look_up(s, &file);
		symbols_close(s);
	}
	close(file.fd);
	return 0;
}
