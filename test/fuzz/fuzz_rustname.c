// SPDX-License-Identifier: Apache-2.0
/* fuzz_rustname.c - any string as a symbol, and what it demangles to as the name of a function. */
#include "agent/rustname.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), name[300], future[100];

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	rustname_demangle(text, name, sizeof(name));
	assert(strlen(name) < sizeof(name));
	rustname_future(name, future, sizeof(future));
	if (rustname_future(text, future, sizeof(future)) == 0)
		assert(strlen(future) < sizeof(future));
	rustname_clean(text);
	free(text);
	return 0;
}
