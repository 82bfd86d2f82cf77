/* SPDX-License-Identifier: Apache-2.0 */
/* The input is one line of /proc/PID/maps. What is accepted must make sense. */
#include <stdint.h>
#include <stdlib.h>

#include "maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	const char *line = (const char *)data;
	struct maps_entry e;

	if (maps_parse(line, sz, &e))
		return 0;
	if (e.end <= e.start || e.path < line || e.path + e.path_len > line + sz)
		abort();
	return 0;
}
