// SPDX-License-Identifier: Apache-2.0
/* test_symtab.c - symbol batches: names of what has none, full pools, caps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "agent/symtab.h"
#include "format/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Writes the symbols of `cnt` addresses from `first`, 16 apart, to a fresh memory file. */
static int write_symbols(uint64_t first, size_t cnt, struct symtab_stats *stats)
{
	struct d9_sink_opt opt = { .compression = D9_RAW };
	int fd = memfd_create("symbols", MFD_CLOEXEC);
	uint64_t *addrs = malloc(cnt * sizeof(*addrs));
	struct d9_sink *sink;
	struct symtab *t;

	for (size_t i = 0; i < cnt; i++)
		addrs[i] = first + 16 * i;
	assert_int_equal(symtab_new(&t), 0);
	assert_int_equal(d9_sink_new(&sink, &opt), 0);
	assert_int_equal(d9_sink_start(sink, fd), 0);
	assert_int_equal(symtab_write(t, NULL, addrs, cnt, sink, stats), 0);
	assert_int_equal(d9_sink_finish(sink), 0);
	d9_sink_free(sink);
	symtab_free(t);
	free(addrs);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void test_names(void **state)
{
	struct symtab_stats stats = { 0 };
	int fd = write_symbols(0xfffffffffffff000, 2, &stats);
	struct d9_src *src;
	struct d9_ev ev;
	struct d9_str name;

	(void)state;
	assert_int_equal(d9_src_open_fd(&src, &fd, NULL), 0);
	assert_int_equal(d9_src_next(src, &ev), 1);
	assert_int_equal(ev.schema->kind, D9_EV_SYMBOL);
	assert_int_equal(ev.ts_ns, 0);
	assert_true(d9_u64(&ev, D9F_symbol_addr, 0) == 0xfffffffffffff000);
	assert_int_equal(d9_u64(&ev, D9F_symbol_inline_depth, 9), 0);
	assert_int_equal(d9_u64(&ev, D9F_symbol_source_line, 9), 0);
	name = d9_value_str(d9_val(&ev, D9F_symbol_symbol_name));
	assert_int_equal(name.len, strlen("[kernel] 0xfffffffffffff000"));
	assert_memory_equal(name.p, "[kernel] 0xfffffffffffff000", name.len);
	assert_int_equal(d9_value_str(d9_val(&ev, D9F_symbol_source_file)).len, 0);
	d9_src_close(src);
	assert_int_equal(stats.unnamed_cnt, 2);
}

/* More different names than one pool holds, and more addresses than one segment may name. */
static void test_full_pool_and_cap(void **state)
{
	struct symtab_stats stats = { 0 };
	const size_t cnt = SYMTAB_ADDRS_MAX + 1000;
	int fd = write_symbols(0x1000, cnt, &stats);
	struct d9_src *src;
	struct d9_ev ev;
	size_t seen = 0;
	int rc;

	(void)state;
	assert_int_equal(stats.skipped_cnt, 1000);
	assert_int_equal(stats.unnamed_cnt, SYMTAB_ADDRS_MAX);
	assert_int_equal(d9_src_open_fd(&src, &fd, NULL), 0);
	while ((rc = d9_src_next(src, &ev)) == 1) {
		uint64_t addr = d9_u64(&ev, D9F_symbol_addr, 0);
		struct d9_str name = d9_value_str(d9_val(&ev, D9F_symbol_symbol_name));
		char want[64];

		assert_true(addr == 0x1000 + 16 * seen);
		snprintf(want, sizeof(want), "[symbolize-failed] 0x%" PRIx64, addr);
		assert_int_equal(name.len, strlen(want));
		assert_memory_equal(name.p, want, name.len);
		seen++;
	}
	assert_int_equal(rc, 0);
	assert_int_equal(seen, SYMTAB_ADDRS_MAX);
	assert_true(d9_src_stats(src)->headers > 5);
	d9_src_close(src);
}

static void test_nothing(void **state)
{
	struct symtab_stats stats = { 0 };
	int fd = write_symbols(0, 0, &stats);

	(void)state;
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	close(fd);
	symtab_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_full_pool_and_cap),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
