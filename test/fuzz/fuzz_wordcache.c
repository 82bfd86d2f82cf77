/* SPDX-License-Identifier: Apache-2.0 */
/* The input is a file of task words. What is accepted is in bounds, and is written as it was read. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

#include "bpf/wire.h"
#include "wordcache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	static struct wordcache c;
	static char again[WORDCACHE_SZ_MAX + 1];
	char *text = malloc(sz + 1);

	if (!text)
		return 0;
	memcpy(text, data, sz);
	text[sz] = '\0';
	if (!wordcache_parse(text, sz, &c)) {
		if (c.cnt)
			abort();
		free(text);
		return 0;
	}
	for (size_t i = 0; i < c.cnt; i++)
		if (!c.builds[i].word.off || c.builds[i].word.off % 8 ||
		    c.builds[i].word.off > 8 * WIRE_TLS_WORDS_MAX || !c.builds[i].id[0] ||
		    memchr(c.builds[i].id, '\0', sizeof(c.builds[i].id)) == NULL)
			abort();
	if (wordcache_print(&c, again) != sz || memcmp(again, text, sz) != 0)
		abort();
	free(text);
	return 0;
}
