// SPDX-License-Identifier: Apache-2.0
/* symtab.c - from addresses to SymbolTableEntry events. */
#include "symtab.h"

#include "format/trace.h"
#include "symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUF_SZ (128u << 10)
#define KERNEL_HALF 0xffff800000000000ull
#define STRINGS_MAX 16384u
#define STRINGS_SZ (8u << 20)

struct symtab {
	struct d9_enc enc;
	struct d9_pool *pool;
	struct d9_sink *sink; /* of the running symtab_write */
	uint64_t raw_sz;
	int err; /* the first failure of the running symtab_write */
	uint64_t addr;
	uint8_t buf[BUF_SZ];
};

int symtab_new(struct symtab **ret)
{
	struct symtab *t = malloc(sizeof(*t));

	if (!t)
		return -ENOMEM;
	/* symbols have no stacks: the smallest stack table will do */
	t->pool = d9_pool_new(STRINGS_MAX, 16, STRINGS_SZ);
	if (!t->pool) {
		free(t);
		return -ENOMEM;
	}
	d9_enc_init(&t->enc, t->buf, sizeof(t->buf), t->pool);
	*ret = t;
	return 0;
}

void symtab_free(struct symtab *t)
{
	if (!t)
		return;
	d9_pool_free(t->pool);
	free(t);
}

static int symtab_drain(struct symtab *t)
{
	int err = d9_sink_write(t->sink, t->enc.buf, t->enc.len, NULL);

	t->raw_sz += t->enc.len;
	d9_enc_drain(&t->enc);
	return err;
}

/* One try: all of the entry, or -D9_E_ROOM or -D9_E_POOL_FULL with at most pool entries written. */
static int symtab_put(struct symtab *t, const struct symbols_frame *f)
{
	struct d9_symbol e = {
		.addr = t->addr,
		.inline_depth = f->depth,
		.source_line = f->line,
	};
	int err = d9_intern_str(&t->enc, f->name, strnlen(f->name, D9_STR_MAX), &e.symbol_name);

	if (err == 0)
		err = d9_intern_str(&t->enc, f->file, strnlen(f->file, D9_STR_MAX), &e.source_file);
	return err ? err : d9_put_symbol(&t->enc, 0, &e);
}

static void symtab_frame(const struct symbols_frame *f, void *ctx)
{
	struct symtab *t = ctx;
	int err = t->err;

	if (err || f->depth >= SYMTAB_DEPTH_MAX)
		return;
	/* three tries: a full buffer and a full pool can come one after the other */
	for (int i = 0; i < 3; i++) {
		err = symtab_put(t, f);
		if (err != -D9_E_ROOM && err != -D9_E_POOL_FULL)
			break;
		t->err = symtab_drain(t);
		if (t->err == 0 && err == -D9_E_POOL_FULL)
			t->err = d9_enc_begin(&t->enc);
		if (t->err)
			return;
	}
	t->err = err;
}

static void symtab_unnamed(struct symtab *t, struct symbols *s)
{
	struct symbols_frame f = { .file = "" };
	char name[512];

	if (t->addr >= KERNEL_HALF)
		snprintf(name, sizeof(name), "[kernel] 0x%" PRIx64, t->addr);
	else if (!s || symbols_module(s, t->addr, name, sizeof(name)))
		snprintf(name, sizeof(name), "[symbolize-failed] 0x%" PRIx64, t->addr);
	f.name = name;
	symtab_frame(&f, t);
}

static uint64_t symtab_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

int symtab_write(struct symtab *t, struct symbols *s, const uint64_t *addrs, size_t addrs_cnt,
		 struct d9_sink *sink, struct symtab_stats *stats)
{
	uint64_t until_ns = symtab_now_ns() + SYMTAB_TIME_MAX_NS;
	size_t i;
	int cnt;

	if (addrs_cnt == 0)
		return 0;
	t->sink = sink;
	t->raw_sz = 0;
	d9_enc_drain(&t->enc);
	t->err = d9_enc_begin(&t->enc);
	for (i = 0; i < addrs_cnt && t->err == 0; i++) {
		if (i >= SYMTAB_ADDRS_MAX || t->raw_sz > SYMTAB_RAW_MAX_SZ ||
		    symtab_now_ns() > until_ns)
			break;
		t->addr = addrs[i];
		cnt = s && t->addr < KERNEL_HALF ? symbols_resolve(s, t->addr, symtab_frame, t) : 0;
		if (cnt <= 0)
			symtab_unnamed(t, s);
		*(cnt > 0 ? &stats->named_cnt : &stats->unnamed_cnt) += 1;
	}
	stats->skipped_cnt += addrs_cnt - i;
	return t->err ? t->err : symtab_drain(t);
}
