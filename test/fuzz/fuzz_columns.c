// SPDX-License-Identifier: Apache-2.0
/* fuzz_columns.c - any bytes as a trace, decoded into columns and written out. links: viewer */
#include "viewer/core/columns.h"
#include "viewer/core/index.h"
#include "viewer/core/pyramid.h"
#include "viewer/core/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t sz);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t sz)
{
	static const struct index_opt opt = { .cache_dir = "", .decoded_max_sz = 1u << 24 };
	static int fd = -1, out = -1;
	struct columns *c = NULL, *again = NULL;
	struct pyramid_cell cells[20];
	struct index_file file;
	char path[64];

	if (fd < 0) {
		fd = memfd_create("trace", 0);
		out = memfd_create("cached", 0);
	}
	if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes, sz, 0) != (ssize_t)sz)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	file = (struct index_file){ path, false };
	if (index_open(&c, &file, 1, &opt) != 0)
		return 0;
	for (uint32_t lane = 0; lane < c->lanes.cnt; lane++)
		for (uint32_t p = 0; p < PYRAMID_PLANES; p++)
			pyramid_query(c, p, lane, 0, UINT64_MAX, 20, cells);
	/* what we write, we take */
	if (ftruncate(out, 0) != 0 || lseek(out, 0, SEEK_SET) != 0 || store_write(c, out, "x", 1) ||
	    store_open(&again, out, "x", 1))
		abort();
	store_close(again);
	index_close(c);
	return 0;
}
