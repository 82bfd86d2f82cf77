// SPDX-License-Identifier: Apache-2.0
/* fuzz_live.c - any bytes as a segment that stays and one that grows: as a cold start has it. links: viewer */
#include "viewer/core/index.h"
#include "viewer/core/live.h"

#include "test/unit/samecolumns.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t sz);

static void put(int fd, const uint8_t *bytes, size_t sz, bool is_old)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = 1000000000 } };

	if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes, sz, 0) != (ssize_t)sz ||
	    (is_old && futimens(fd, times) != 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t sz)
{
	static const struct index_opt opt = { .cache_dir = "", .decoded_max_sz = 1u << 22 };
	static int old_fd = -1, new_fd = -1;
	struct columns *cold = NULL, *warm = NULL;
	struct live *live = live_new();
	struct index_file files[2];
	char paths[2][64];

	if (old_fd < 0) {
		old_fd = memfd_create("old", 0);
		new_fd = memfd_create("new", 0);
	}
	snprintf(paths[0], sizeof(paths[0]), "/proc/self/fd/%d", old_fd);
	snprintf(paths[1], sizeof(paths[1]), "/proc/self/fd/%d", new_fd);
	files[0] = (struct index_file){ paths[0], false };
	files[1] = (struct index_file){ paths[1], sz & 1 };
	put(old_fd, bytes, sz, true);
	for (int round = 1; live && round <= 2; round++) {
		put(new_fd, bytes, round == 1 ? sz - sz / 3 : sz, false);
		if (live_open(live, &warm, files, 2, 1, &opt, UINT64_MAX) != 0)
			continue;
		if (live_cnt(live) != 1 || index_open(&cold, files, 2, &opt) != 0 ||
		    samecolumns_differ(cold, warm))
			abort();
		index_close(cold);
		index_close(warm);
	}
	live_free(live);
	return 0;
}
