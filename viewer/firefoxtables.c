// SPDX-License-Identifier: Apache-2.0
/* firefoxtables.c - what all threads of a Firefox profile share: strings, functions, frames, stacks. */
#include "firefox.h"

#include "core/columns.h"
#include "export.h"
#include "jsonout.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIREFOX_STACK_MAX (1u << 24) /* nodes of the stack tree; further frames end their stack */

static const char *const firefox_words[FIREFOX_WORDS] = { "(unknown type)", "parked", "off CPU" };

double firefox_ms(const struct firefox *f, uint64_t ns)
{
	return (double)(int64_t)(ns - f->c->odd.first_ns) / 1e6;
}

void firefox_column(struct firefox *f, const char *key)
{
	json_key(f->j, key);
	json_list(f->j);
}

void firefox_same(struct firefox *f, const char *key, uint64_t cnt, bool is_null, int64_t value)
{
	firefox_column(f, key);
	for (uint64_t i = 0; i < cnt; i++)
		if (is_null)
			json_null(f->j);
		else
			json_i64(f->j, value);
	json_list_end(f->j);
}

void firefox_or_null(struct firefox *f, bool is_known, uint64_t value)
{
	if (is_known)
		json_u64(f->j, value);
	else
		json_null(f->j);
}

static void firefox_falses(struct firefox *f, const char *key, uint64_t cnt)
{
	firefox_column(f, key);
	for (uint64_t i = 0; i < cnt; i++)
		json_bool(f->j, false);
	json_list_end(f->j);
}

/* ---- frames and the tree of stacks ---- */

static int firefox_frames(struct firefox *f)
{
	const struct columns *c = f->c;

	f->frame_of = malloc((c->symbols.cnt + 1ull) * sizeof(*f->frame_of));
	f->bare = malloc((c->frames.cnt + 1ull) * sizeof(*f->bare));
	f->bare_frames = malloc((c->frames.cnt + 1ull) * sizeof(*f->bare_frames));
	if (!f->frame_of || !f->bare || !f->bare_frames)
		return -ENOMEM;
	memset(f->frame_of, 0xff, c->symbols.cnt * sizeof(*f->frame_of));
	for (uint32_t i = 0; i < c->frames.cnt; i++) {
		for (uint32_t k = c->frames.symbols_from[i]; k < c->frames.symbols_to[i]; k++)
			f->frame_of[k] = i;
		if (c->frames.symbols_from[i] < c->frames.symbols_to[i])
			continue;
		f->bare[i] = f->bare_cnt;
		f->bare_frames[f->bare_cnt++] = i;
	}
	return 0;
}

static uint32_t firefox_node(struct firefox *f, uint32_t parent, uint32_t row, int *err)
{
	uint32_t key[2] = { parent, row };

	return dict_put(&f->nodes, key, sizeof(key), err);
}

static int firefox_stacks(struct firefox *f)
{
	const struct columns *c = f->c;
	int err = 0;

	dict_init(&f->nodes, FIREFOX_STACK_MAX, UINT32_MAX, FIREFOX_ROOT);
	f->stack_node = malloc(c->stacks.cnt * sizeof(*f->stack_node));
	if (!f->stack_node)
		return -ENOMEM;
	for (uint32_t i = 0; err == 0 && i < c->stacks.cnt; i++) {
		uint32_t at = FIREFOX_ROOT, next = 0;

		for (uint32_t k = c->stacks.frames_to[i];
		     next != FIREFOX_ROOT && k > c->stacks.frames_from[i]; k--) {
			uint32_t frame = c->stack_frames.frame[k - 1];
			uint32_t from = c->frames.symbols_from[frame];
			uint32_t to = c->frames.symbols_to[frame];

			if (from == to)
				next = firefox_node(f, at, c->symbols.cnt + f->bare[frame], &err);
			for (; from < to && next != FIREFOX_ROOT; from++) {
				next = firefox_node(f, at, from, &err);
				at = next != FIREFOX_ROOT ? next : at;
			}
			at = next != FIREFOX_ROOT ? next : at;
		}
		f->stack_node[i] = at;
	}
	return err;
}

static void firefox_strings(struct firefox *f)
{
	const struct columns *c = f->c;
	char addr[32];
	const char *p;
	size_t len;

	firefox_column(f, "stringArray");
	for (uint32_t i = 0; i < c->texts.cnt; i++) {
		p = columns_text(c, i, &len);
		json_bytes(f->j, p, len);
	}
	for (uint32_t i = 0; i < FIREFOX_WORDS; i++)
		json_text(f->j, firefox_words[i]);
	for (uint32_t i = 0; i < f->bare_cnt; i++) {
		snprintf(addr, sizeof(addr), "0x%" PRIx64, c->frames.addr[f->bare_frames[i]]);
		json_text(f->j, addr);
	}
	json_list_end(f->j);
}

static void firefox_funcs(struct firefox *f)
{
	const struct columns *c = f->c;
	uint64_t cnt = c->symbols.cnt + (uint64_t)f->bare_cnt;

	json_key(f->j, "funcTable");
	json_map(f->j);
	firefox_column(f, "name");
	for (uint32_t i = 0; i < c->symbols.cnt; i++)
		json_u64(f->j, c->symbols.name[i]);
	for (uint32_t i = 0; i < f->bare_cnt; i++)
		json_u64(f->j, c->texts.cnt + FIREFOX_WORDS + (uint64_t)i);
	json_list_end(f->j);
	/* sources are our texts: only those that are files are referred to */
	firefox_column(f, "source");
	for (uint32_t i = 0; i < cnt; i++)
		firefox_or_null(f, i < c->symbols.cnt && c->symbols.file[i],
				i < c->symbols.cnt ? c->symbols.file[i] : 0);
	json_list_end(f->j);
	firefox_falses(f, "isJS", cnt);
	firefox_falses(f, "relevantForJS", cnt);
	firefox_same(f, "resource", cnt, false, -1);
	firefox_same(f, "lineNumber", cnt, true, 0);
	firefox_same(f, "columnNumber", cnt, true, 0);
	json_put_u64(f->j, "length", cnt);
	json_map_end(f->j);
}

static void firefox_frame_table(struct firefox *f)
{
	const struct columns *c = f->c;
	uint64_t cnt = c->symbols.cnt + (uint64_t)f->bare_cnt;

	json_key(f->j, "frameTable");
	json_map(f->j);
	firefox_same(f, "address", cnt, false, -1); /* of a library, and none is known here */
	firefox_column(f, "inlineDepth");
	for (uint32_t i = 0; i < cnt; i++) {
		uint32_t frame = i < c->symbols.cnt ? f->frame_of[i] : COLUMNS_NONE;

		json_u64(f->j, frame == COLUMNS_NONE ? 0 : i - c->frames.symbols_from[frame]);
	}
	json_list_end(f->j);
	firefox_same(f, "category", cnt, true, 0);
	firefox_same(f, "subcategory", cnt, true, 0);
	firefox_column(f, "func");
	for (uint64_t i = 0; i < cnt; i++)
		json_u64(f->j, i);
	json_list_end(f->j);
	firefox_same(f, "nativeSymbol", cnt, true, 0);
	firefox_same(f, "innerWindowID", cnt, true, 0);
	firefox_column(f, "line");
	for (uint32_t i = 0; i < cnt; i++)
		firefox_or_null(f, i < c->symbols.cnt && c->symbols.line[i],
				i < c->symbols.cnt ? c->symbols.line[i] : 0);
	json_list_end(f->j);
	firefox_same(f, "column", cnt, true, 0);
	json_put_u64(f->j, "length", cnt);
	json_map_end(f->j);
}

static void firefox_stack_table(struct firefox *f)
{
	uint32_t key[2];
	const char *p;
	size_t len;

	json_key(f->j, "stackTable");
	json_map(f->j);
	for (int pass = 0; pass < 2; pass++) {
		firefox_column(f, pass ? "frame" : "prefix");
		for (uint32_t i = 0; i < f->nodes.cnt; i++) {
			p = dict_get(&f->nodes, i, &len);
			memcpy(key, p, sizeof(key));
			firefox_or_null(f, pass || key[0] != FIREFOX_ROOT, key[pass]);
		}
		json_list_end(f->j);
	}
	json_put_u64(f->j, "length", f->nodes.cnt);
	json_map_end(f->j);
}

static void firefox_empty_table(struct firefox *f, const char *name, const char *const *columns)
{
	json_key(f->j, name);
	json_map(f->j);
	for (; *columns; columns++)
		firefox_same(f, *columns, 0, true, 0);
	json_put_u64(f->j, "length", 0);
	json_map_end(f->j);
}

void firefox_shared(struct firefox *f)
{
	static const char *const resources[] = { "lib", "name", "host", "type", NULL };
	static const char *const symbols[] = { "libIndex", "address", "name", "functionSize",
					       NULL };
	const struct columns *c = f->c;

	json_key(f->j, "shared");
	json_map(f->j);
	firefox_stack_table(f);
	firefox_frame_table(f);
	firefox_funcs(f);
	firefox_empty_table(f, "resourceTable", resources);
	firefox_empty_table(f, "nativeSymbols", symbols);
	json_key(f->j, "sources");
	json_map(f->j);
	firefox_same(f, "uuid", c->texts.cnt, true, 0);
	firefox_column(f, "filename");
	for (uint32_t i = 0; i < c->texts.cnt; i++)
		json_u64(f->j, i);
	json_list_end(f->j);
	json_put_u64(f->j, "length", c->texts.cnt);
	json_map_end(f->j);
	firefox_strings(f);
	json_map_end(f->j);
}

int firefox_make(struct firefox *f)
{
	int err = firefox_frames(f);

	return err ? err : firefox_stacks(f);
}

void firefox_done(struct firefox *f)
{
	dict_free(&f->nodes);
	free(f->frame_of);
	free(f->bare);
	free(f->bare_frames);
	free(f->stack_node);
}
