// SPDX-License-Identifier: Apache-2.0
/*
 * fuzz_store.c - a cached index of any bytes, or a good one with any of them changed, through
 * everything that reads it. links: viewer
 */
#include "viewer/command.h"
#include "viewer/core/columns.h"
#include "viewer/core/index.h"
#include "viewer/core/pyramid.h"
#include "viewer/core/store.h"
#include "viewer/core/tables.h"
#include "viewer/critpath.h"
#include "viewer/cut.h"
#include "viewer/recorded.h"
#include "viewer/schedule.h"
#include "viewer/scope.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t sz);

static volatile uint64_t sink;

static void use(const struct columns *c)
{
	struct pyramid_cell cells[50];
	struct columns_value v;
	uint32_t symbol;
	uint64_t real;
	size_t len;

	for (uint32_t t = 0; t < TABLES_CNT; t++)
		for (uint32_t k = tables_all[t].columns_from; k < tables_all[t].columns_to; k++)
			for (uint32_t i = 0; i < tables_rows(c, t); i++)
				sink += tables_value(c, k, i);
	for (uint32_t i = 0; i < c->texts.cnt; i++)
		for (const char *p = columns_text(c, i, &len); len > 0; len--)
			sink += (uint64_t)p[len - 1];
	for (uint32_t i = 0; i < c->records.cnt; i++)
		for (struct columns_iter it = { 0 }; columns_record_next(c, i, &it, &v);)
			sink += v.u;
	for (uint32_t i = 0; i < c->frames.cnt; i++)
		for (uint32_t k = 0; columns_symbol(c, i, k, &symbol); k++)
			sink += c->symbols.name[symbol];
	for (uint32_t i = 0; i < c->tasks.cnt; i++)
		sink += columns_task(c, c->tasks.id[i]);
	sink += columns_fact(c, "agent.session") + columns_realtime(c, 1000, &real);
	for (uint32_t lane = 0; lane < c->lanes.cnt; lane++) {
		sink += columns_poll_at(c, lane, c->odd.first_ns);
		for (uint32_t p = 0; p < PYRAMID_PLANES; p++) {
			pyramid_query(c, p, lane, c->odd.first_ns, c->odd.last_ns + 50, 50, cells);
			pyramid_query(c, p, lane, 0, UINT64_MAX, 50, cells);
		}
	}
}

static void step(void *ctx, const struct critpath_step *s)
{
	(void)ctx;
	sink += s->to_ns;
}

/* The analyses, and a copy cut by filters: whatever the rows say, they end. */
static void analyse(const struct columns *c)
{
	const struct request none = { 0 }, some = { .has_task = true,
						    .task = 1,
						    .runtime = "main",
						    .type = "a",
						    .has_from = true,
						    .from_ns = 5 };
	struct schedule x = { 0 };
	struct columns *cut = NULL;
	struct recorded recorded;
	struct scope scope;
	uint64_t from_ns;

	if (scope_init(&scope, c, &none) || schedule_of(c, &scope, &x) || cut_asked(c, &some, &cut))
		abort();
	recorded_of(c, &recorded);
	sink += recorded.polls_ns;
	for (uint32_t i = 0; i < c->polls.cnt && i < 100; i++)
		sink += critpath_walk(c, i, step, NULL, &from_ns);
	for (uint32_t i = 0; i < cut->tasks.cnt; i++)
		sink += columns_task(cut, cut->tasks.id[i]);
	cut_free(cut);
	schedule_done(&x);
	scope_done(&scope);
}

/* A small index with a row in most tables. */
static int good_fd(size_t *ret_sz)
{
	static const uint8_t header[] = { 'T', 'R', 'C', 0, 1 };
	static const struct index_opt opt = { .cache_dir = "" };
	static int fd = -1;
	struct index_file file = { "test/golden/every_event.bin", false };
	struct columns *c;

	if (fd < 0) {
		fd = memfd_create("good", 0);
		if (index_open(&c, &file, 1, &opt) != 0) { /* run from elsewhere: an empty one */
			int trace = memfd_create("trace", 0);
			char path[] = "/proc/self/fd/000";

			path[14] = (char)('0' + trace / 100);
			path[15] = (char)('0' + trace / 10 % 10);
			path[16] = (char)('0' + trace % 10);
			if (write(trace, header, sizeof(header)) != sizeof(header))
				abort();
			file.path = path;
			if (index_open(&c, &file, 1, &opt) != 0)
				abort();
		}
		if (store_write(c, fd, "x", 1) != 0)
			abort();
		index_close(c);
	}
	*ret_sz = (size_t)lseek(fd, 0, SEEK_END);
	return fd;
}

/* Input: first byte 0: the rest is the file. Else: (offset u16, byte) changes to a good one. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t sz)
{
	static int fd = -1;
	struct columns *c = NULL;
	size_t good_sz;
	int good;

	if (fd < 0)
		fd = memfd_create("cached", 0);
	if (sz == 0 || ftruncate(fd, 0) != 0)
		return 0;
	if (bytes[0] == 0) {
		if (pwrite(fd, bytes + 1, sz - 1, 0) != (ssize_t)(sz - 1))
			abort();
	} else {
		char *copy;

		good = good_fd(&good_sz);
		copy = malloc(good_sz);
		if (!copy || pread(good, copy, good_sz, 0) != (ssize_t)good_sz)
			abort();
		for (size_t i = 1; i + 3 <= sz; i += 3)
			copy[(bytes[i] | bytes[i + 1] << 8) % good_sz] = (char)bytes[i + 2];
		if (pwrite(fd, copy, good_sz, 0) != (ssize_t)good_sz)
			abort();
		free(copy);
	}
	if (store_open(&c, fd, "x", 1) == 0) {
		use(c);
		analyse(c);
	}
	store_close(c);
	return 0;
}
