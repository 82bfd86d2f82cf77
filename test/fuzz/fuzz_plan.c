/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input is the code and the data of a file whose headers are in order and which carries
 * Tokio's name, so that every search runs. A plan must hold what plan.h promises, whatever the
 * bytes are.
 */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "log.h"
#include "plan.h"
#include "target.h"

#define HEAD_SZ 0x400u
#define INPUT_MAX_SZ (256u << 10)

static const char text[] = "tokio-1.47.1/src/";
static FILE *nowhere;

/* The file: headers and text, then the input as code, then the same input as data, at addresses
 * that are small enough for the fuzzer to find. */
static uint64_t lay_out(uint8_t *file, const uint8_t *data, size_t sz)
{
	size_t half = sz / 2 & ~(size_t)7;
	Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			 .e_type = ET_EXEC,
			 .e_machine = EM_X86_64,
			 .e_phoff = sizeof(h),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 3 };
	Elf64_Phdr p[3] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R,
		  .p_vaddr = 0x100,
		  .p_offset = 0x100,
		  .p_filesz = sizeof(text) - 1 },
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_vaddr = HEAD_SZ,
		  .p_offset = HEAD_SZ,
		  .p_filesz = half },
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_W,
		  .p_vaddr = HEAD_SZ + half,
		  .p_offset = HEAD_SZ + half,
		  .p_filesz = sz - half },
	};

	memset(file, 0, HEAD_SZ);
	memcpy(file, &h, sizeof(h));
	memcpy(file + sizeof(h), p, sizeof(p));
	memcpy(file + 0x100, text, sizeof(text) - 1);
	memcpy(file + HEAD_SZ, data, sz);
	return HEAD_SZ + half;
}

static void check(const struct plan *p, uint64_t code_end)
{
	for (size_t i = 0; i < p->sites_cnt; i++) {
		const struct plan_site *s = &p->sites[i];

		if (s->vaddr < HEAD_SZ || s->vaddr >= code_end || s->file_off != s->vaddr ||
		    !s->insn[0] || s->reg > 15)
			abort();
		if (i && p->sites[i - 1].kind == s->kind && p->sites[i - 1].vaddr >= s->vaddr)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	struct target_file file = { .path = "input", .is_main = true, .map_start = 0x1000 };
	struct target t = { .pid = 1, .pidfd = -1, .files = &file, .files_cnt = 1 };
	struct plan_options o = { PLAN_FULL, true, true, true };
	static uint8_t bytes[HEAD_SZ + INPUT_MAX_SZ];
	static int fd = -1;
	struct plan *p = NULL;
	uint64_t code_end;

	if (sz > INPUT_MAX_SZ || sz < 64)
		return 0;
	if (fd < 0) {
		log_set_level(LOG_ERROR);
		nowhere = fopen("/dev/null", "w");
		fd = memfd_create("input", MFD_CLOEXEC);
	}
	code_end = lay_out(bytes, data, sz);
	file.fd = fd;
	file.sz = HEAD_SZ + sz;
	if (ftruncate(fd, 0) || pwrite(fd, bytes, file.sz, 0) != (ssize_t)file.sz)
		return 0;
	if (plan_build(&t, &o, NULL, &p))
		return 0;
	check(p, code_end);
	if (nowhere) {
		plan_print(p, &t, nowhere);
		plan_print_json(p, &t, nowhere);
	}
	plan_free(p);
	return 0;
}
