/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input is an ELF file, headers and all. It may be refused; nothing may crash, read outside
 * it or run on.
 */
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dynsym.h"
#include "image.h"
#include "log.h"
#include "plan.h"
#include "relocs.h"
#include "starts.h"
#include "target.h"

#define INPUT_MAX_SZ (1u << 20)

static int input_fd = -1;

static void look_up(struct image *img)
{
	struct relocs *relocs = NULL;
	uint64_t word, a, b;
	struct starts starts;

	starts_open(&starts, img);
	for (uint64_t i = 0; i < 64; i++)
		starts_find(&starts, i * 1021, &a, &b);
	dynsym_find(img, "_Unwind_RaiseException", true, &a);
	image_bias(img, 0x7f0000000000, 0, &a);
	if (!relocs_open(img, &relocs))
		for (size_t i = 0; i < img->segs_cnt; i++)
			relocs_read(relocs, img->segs[i].vaddr, &word, sizeof(word));
	relocs_close(relocs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	struct target_file file = { .path = "input", .sz = sz, .is_main = true };
	struct target t = { .pid = 1, .pidfd = -1, .files = &file, .files_cnt = 1 };
	struct plan_options o = { PLAN_FULL, true, true };
	struct image *img = NULL;
	struct plan *p = NULL;

	if (sz > INPUT_MAX_SZ)
		return 0;
	if (input_fd < 0) {
		log_set_level(LOG_ERROR);
		input_fd = memfd_create("input", MFD_CLOEXEC);
	}
	if (ftruncate(input_fd, 0) || pwrite(input_fd, data, sz, 0) != (ssize_t)sz)
		return 0;
	file.fd = input_fd;
	if (!image_open(input_fd, sz, &img))
		look_up(img);
	image_close(img);
	if (!plan_build(&t, &o, NULL, &p))
		plan_free(p);
	return 0;
}
