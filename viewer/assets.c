// SPDX-License-Identifier: Apache-2.0
/* assets.c - the table; the bytes come in by the assembler. */
#include "assets.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define ASSET_BYTES(name, file)                                                                    \
	__asm__(".pushsection .rodata\n"                                                           \
		".global asset_" #name "_from, asset_" #name "_to\n"                               \
		"asset_" #name "_from:\n.incbin \"viewer/page/dist/" file "\"\n"                   \
		"asset_" #name "_to:\n.byte 0\n.popsection\n");                                    \
	extern const char asset_##name##_from[] __attribute__((visibility("hidden")));             \
	extern const char asset_##name##_to[] __attribute__((visibility("hidden")));

ASSET_BYTES(index, "index.html")
ASSET_BYTES(script, "app.js")
ASSET_BYTES(style, "app.css")
ASSET_BYTES(icon, "icon.svg")

static const struct asset asset_table[] = {
	{ "/", "text/html; charset=utf-8", asset_index_from, asset_index_to },
	/* dial9's name of the page: its links work with the host replaced */
	{ "/viewer.html", "text/html; charset=utf-8", asset_index_from, asset_index_to },
	{ "/app.js", "text/javascript; charset=utf-8", asset_script_from, asset_script_to },
	{ "/app.css", "text/css; charset=utf-8", asset_style_from, asset_style_to },
	{ "/icon.svg", "image/svg+xml", asset_icon_from, asset_icon_to },
};
/* clang-format on */

const struct asset *asset_find(const char *path)
{
	for (size_t i = 0; i < sizeof(asset_table) / sizeof(asset_table[0]); i++)
		if (strcmp(path, asset_table[i].path) == 0)
			return &asset_table[i];
	return NULL;
}

const char *asset_etag(char to[ASSET_ETAG_SZ], const struct asset *a)
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

	for (const char *p = a->from; p < a->to; p++)
		hash = (hash ^ (unsigned char)*p) * 0x100000001b3u;
	snprintf(to, ASSET_ETAG_SZ, "\"%016llx\"", (unsigned long long)hash);
	return to;
}
