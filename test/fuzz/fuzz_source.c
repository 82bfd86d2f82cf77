// SPDX-License-Identifier: Apache-2.0
/* Any bytes as a trace file: raw, gzip, zstd or none of them. Reading bytes and reading events agree. */
#include <stdlib.h>

#include "format/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	struct d9_src_opt opt = { .decoded_max = 1 << 20, .dec = { .pool_sz_max = 8 << 20 } };
	uint64_t total = 0, events = 0;
	struct d9_src *src;
	struct d9_ev ev;
	uint8_t buf[777];
	ssize_t n;
	int rc;

	if (d9_src_open_mem(&src, data, sz, &opt))
		abort();
	while ((n = d9_src_read(src, buf, sizeof(buf))) > 0)
		total += (uint64_t)n;
	if (d9_src_read(src, buf, sizeof(buf)) != n || total > opt.decoded_max)
		abort();
	d9_src_close(src);

	if (d9_src_open_mem(&src, data, sz, &opt))
		abort();
	while ((rc = d9_src_next(src, &ev)) == 1)
		events++;
	if (d9_src_next(src, &ev) != rc || d9_src_stats(src)->events != events)
		abort();
	/* all bytes are taken unless the events were damaged first */
	if (d9_src_stats(src)->bytes > total || (!rc && d9_src_stats(src)->bytes != total))
		abort();
	if (d9_src_in_sz(src) > sz)
		abort();
	d9_src_close(src);
	return 0;
}
