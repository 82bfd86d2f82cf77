// SPDX-License-Identifier: Apache-2.0
/* fuzz_export.c - any bytes as a trace, written in each format that is made of columns. links: viewer */
#include "viewer/core/columns.h"
#include "viewer/core/index.h"
#include "viewer/export.h"
#include "viewer/html.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t sz);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t sz)
{
	static int (*const formats[])(const struct export *x) = {
		export_perfetto, export_pprof,	export_chrome, export_speedscope,
		export_firefox,	 export_folded, export_csv,    export_ndjson,
	};
	static const struct index_opt opt = { .cache_dir = "", .decoded_max_sz = 1u << 18 };
	static int fd = -1;
	static FILE *out;
	struct export x = { .name = "x", .to_ns = UINT64_MAX };
	struct columns *c = NULL;
	struct index_file file;
	char path[64];

	if (fd < 0) {
		fd = memfd_create("trace", 0);
		out = fopen("/dev/null", "w");
	}
	if (!out || ftruncate(fd, 0) != 0 || pwrite(fd, bytes, sz, 0) != (ssize_t)sz)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	file = (struct index_file){ path, false };
	if (index_open(&c, &file, 1, &opt) != 0)
		return 0;
	x.c = c;
	x.out = out;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		formats[i](&x);
	html_lanes(out, c);
	html_flame(out, c, false);
	html_flame(out, c, true);
	index_close(c);
	return 0;
}
