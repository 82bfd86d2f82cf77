// SPDX-License-Identifier: Apache-2.0
/*
 * test_symbols.c - names and places in this very program, which stands in for a Tokio one: its
 * functions carry the symbols, and by #line the source places, that rustc gives them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "agent/log.h"
#include "agent/symbols.h"
#include "agent/target.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone, used, noipa, aligned(16)))
#ifdef __clang__
#undef APART
#define APART __attribute__((noinline, used, aligned(16)))
#endif
#define SYMBOL(name) __asm__(name)

static volatile int sink;

/* drop glue: of one type, and of two that were merged */
void glue_one(void) SYMBOL("_ZN4core3ptr74drop_in_place$LT$tokio..runtime..task..core..CoreStage"
			   "$LT$app..One$GT$$GT$17h0123456789abcdefE");
APART void glue_one(void)
{
	sink += 1;
}
void glue_two(void) SYMBOL("_ZN4core3ptr70drop_in_place$LT$tokio..runtime..task..core..Stage"
			   "$LT$app..Two$GT$$GT$17h0123456789abcdefE");
APART void glue_two(void)
{
	sink += 2;
}
void glue_twin(void) SYMBOL("_ZN4core3ptr72drop_in_place$LT$tokio..runtime..task..core..Stage"
			    "$LT$app..Three$GT$$GT$17h0123456789abcdefE")
	__attribute__((alias("_ZN4core3ptr70drop_in_place$LT$tokio..runtime..task..core..Stage"
			     "$LT$app..Two$GT$$GT$17h0123456789abcdefE")));

/* Tokio's own, without type in its symbol, between dealloc and glue */
void harness(void) SYMBOL("_ZN5tokio7runtime4task7harness20Harness$"
			  "LT$T$C$S$GT$7dealloc17h0123456789abcdefE");
APART void harness(void)
{
	glue_one();
	sink += 3;
}
APART void dealloc_one(void);
APART void dealloc_one(void)
{
	harness();
	sink += 4;
}
APART void dealloc_two(void);
APART void dealloc_two(void)
{
	glue_two();
	sink += 5;
}
APART void dealloc_none(void);
APART void dealloc_none(void)
{
	sink += 6;
}
APART void poll_plain(void);
APART void poll_plain(void)
{
	sink += 7;
}
void poll_v0(void) SYMBOL("_RINvNtNtNtC5tokio7runtime4task3raw4pollNtC3app3FutNtC3app1SE");
APART void poll_v0(void)
{
	sink += 8;
}

/* spawn places */
static uint64_t bind_return[4];

APART void bind_inner(int which);
APART void spawn_one(int which);
APART void spawn_shared(int which);
APART void user_one(void);
APART void user_two(void);
APART void user_inlined(void);
static inline void spawn_inlined(int which);
APART void tracked(int which);
APART void user_tracked(void);

/* what a caller hands to a function that tracks its caller; compilers differ in the column */
struct location {
	const char *file;
	uint64_t file_len;
	uint32_t line, column;
};
extern const struct location places[];
const struct location places[] = { { "src/main.rs", 11, 69, 2 }, { "src/main.rs", 11, 69, 9 } };

APART void bind_inner(int which)
{
	bind_return[which] = (uint64_t)(uintptr_t)__builtin_return_address(0);
	sink += 9;
}

#line 10 "/home/u/.cargo/registry/src/index/tokio-1.47.1/src/task/spawn.rs"
APART void spawn_one(int which)
{
	bind_inner(which);
	sink += 10;
}
APART void spawn_shared(int which)
{
	bind_inner(which);
	sink += 11;
}
static inline __attribute__((always_inline)) void spawn_inlined(int which)
{
	bind_inner(which);
	sink += 12;
}
#line 41 "src/main.rs"
APART void user_one(void)
{
	spawn_one(0);
	sink += 13;
}
APART void user_two(void)
{
	spawn_shared(1);
	sink += 14;
}
APART void user_three(void);
APART void user_three(void)
{
	spawn_shared(1);
	sink += 15;
}
APART void user_inlined(void)
{
	spawn_inlined(2);
	sink += 16;
}
APART void tracked(int which)
{
	spawn_inlined(which);
	sink += 17;
}
APART void user_tracked(void)
{
	tracked(3);
	sink += 18;
}
#line 168 "test/unit/test_symbols.c"

static struct symbols *symbols;
static struct target_file self;
static struct target target = { .files = &self, .files_cnt = 1 };

/* This program's own file and first executable mapping. */
static int open_self(void **state)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], perms[8];
	uint64_t here = (uint64_t)(uintptr_t)open_self;
	struct stat st;

	(void)state;
	self.fd = open("/proc/self/exe", O_RDONLY);
	assert_true(maps && self.fd >= 0 && fstat(self.fd, &st) == 0);
	self.sz = (uint64_t)st.st_size;
	strcpy(self.path, "/opt/x/test_symbols");
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64, &self.map_start,
			   &self.map_end, perms, &self.map_off) == 4 &&
		    here >= self.map_start && here < self.map_end)
			break;
	fclose(maps);
	assert_int_equal(symbols_open(&target, &symbols), 0);
	return 0;
}

static int close_self(void **state)
{
	(void)state;
	symbols_close(symbols);
	close(self.fd);
	return 0;
}

#define ADDR(function) ((uint64_t)(uintptr_t)(function))

static void test_type_names(void **state)
{
	char name[256];

	(void)state;
	assert_int_equal(symbols_type_name(symbols, ADDR(poll_v0), ADDR(dealloc_one), name, 256),
			 0);
	assert_string_equal(name, "app::Fut");
	assert_int_equal(symbols_type_name(symbols, ADDR(poll_plain), ADDR(dealloc_one), name, 256),
			 0);
	assert_string_equal(name, "app::One");
	assert_int_equal(symbols_type_name(symbols, ADDR(poll_plain), ADDR(dealloc_two), name, 256),
			 0);
	assert_string_equal(name, strcmp(name, "app::Two | app::Three") ? "app::Three | app::Two"
									: "app::Two | app::Three");
	assert_int_equal(
		symbols_type_name(symbols, ADDR(poll_plain), ADDR(dealloc_none), name, 256),
		-ENOENT);
	assert_int_equal(symbols_type_name(symbols, 8, 8, name, 256), -ENOENT);
	/* cut, not overrun */
	assert_int_equal(symbols_type_name(symbols, ADDR(poll_plain), ADDR(dealloc_one), name, 5),
			 0);
	assert_string_equal(name, "app:");
}

static void test_spawn_places(void **state)
{
	char place[256];

	(void)state;
	user_one();
	user_two();
	user_three();
	user_inlined();
	/* by the only caller of that copy of the spawn function */
	assert_int_equal(symbols_spawn_place(symbols, bind_return[0], place, 256), 0);
	assert_int_equal(strncmp(place, "src/main.rs:43:", 15), 0);
	/* two callers: either would be a guess */
	assert_int_equal(symbols_spawn_place(symbols, bind_return[1], place, 256), -ENOENT);
	/* by the inlined call */
	assert_int_equal(symbols_spawn_place(symbols, bind_return[2], place, 256), 0);
	assert_int_equal(strncmp(place, "src/main.rs:59:", 15), 0);
	/* by the function that tracks its caller */
	user_tracked();
	assert_int_equal(symbols_spawn_place(symbols, bind_return[3], place, 256), 0);
	assert_int_equal(strncmp(place, "src/main.rs:69:", 15), 0);
	assert_int_equal(symbols_spawn_place(symbols, 8, place, 256), -ENOENT);
}

struct seen {
	unsigned cnt;
	char names[8][64], files[8][96];
	uint32_t lines[8];
	uint64_t size;
};

static void see(const struct symbols_frame *f, void *ctx)
{
	struct seen *s = ctx;

	assert_int_equal(f->depth, s->cnt);
	if (s->cnt == 8)
		return;
	snprintf(s->names[s->cnt], 64, "%.63s", f->name);
	snprintf(s->files[s->cnt], 96, "%.95s", f->file);
	s->lines[s->cnt] = f->line;
	s->size = f->size;
	s->cnt++;
}

static void test_frames(void **state)
{
	struct seen s = { 0 };

	(void)state;
	user_inlined();
	/* the call into bind_inner stands in spawn_inlined, which is inlined into user_inlined */
	assert_int_equal(symbols_resolve(symbols, bind_return[2] - 1, see, &s), 2);
	assert_int_equal(s.cnt, 2);
	assert_string_equal(s.names[0], "user_inlined");
	assert_string_equal(s.names[1], "spawn_inlined");
	assert_string_equal(s.files[1],
			    "/home/u/.cargo/registry/src/index/tokio-1.47.1/src/task/spawn.rs");
	assert_int_equal(s.lines[0], 59);
	assert_int_equal(s.lines[1], 22);
	assert_true(s.size > 0 && s.size < 4096);

	memset(&s, 0, sizeof(s));
	assert_true(symbols_resolve(symbols, ADDR(glue_one), see, &s) > 0);
	assert_string_equal(s.names[0],
			    "core::ptr::drop_in_place<tokio::runtime::task::core::CoreStage<");
	memset(&s, 0, sizeof(s));
	assert_int_equal(symbols_resolve(symbols, 8, see, &s), 0);
	assert_int_equal(s.cnt, 0);
}

static void test_module(void **state)
{
	char name[128];

	(void)state;
	assert_int_equal(symbols_module(symbols, ADDR(poll_plain), name, sizeof(name)), 0);
	assert_int_equal(strncmp(name, "test_symbols+0x", 15), 0);
	assert_int_equal(symbols_module(symbols, 8, name, sizeof(name)), -ENOENT);
}

/* The kernel's code page has no file, and names all the same. */
static void test_vdso(void **state)
{
	uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
	struct target t = { .files = &self, .files_cnt = 1, .vdso_start = vdso,
			    .vdso_end = vdso + 8192 };
	struct symbols *s;
	char name[64];

	(void)state;
	assert_int_not_equal(vdso, 0);
	assert_int_equal(symbols_open(&t, &s), 0);
	assert_int_equal(symbols_module(s, vdso + 0x10, name, sizeof(name)), 0);
	assert_string_equal(name, "[vdso]+0x10");
	symbols_close(s);
}

/* Files that are no ELF, cut short, or damaged in any one place: no name, and no crash. */
static void test_damaged_files(void **state)
{
	uint8_t *bytes = malloc(self.sz);
	struct target_file file = self;
	struct target t = { .files = &file, .files_cnt = 1 };
	struct symbols *s;
	char name[256];
	uint32_t random = 1;
	struct seen seen;

	(void)state;
	assert_non_null(bytes);
	assert_int_equal(pread(self.fd, bytes, self.sz, 0), self.sz);
	for (int round = 0; round < 60; round++) {
		file.fd = memfd_create("damaged", MFD_CLOEXEC);
		assert_true(file.fd >= 0);
		assert_int_equal(pwrite(file.fd, bytes, self.sz, 0), self.sz);
		file.sz = self.sz;
		for (int i = 0; i < round; i++) {
			random = random * 1664525 + 1013904223;
			assert_int_equal(pwrite(file.fd, &random, 4, (random >> 3) % self.sz), 4);
		}
		if (round % 4 == 3) {
			file.sz = (uint64_t)random % self.sz;
			assert_int_equal(ftruncate(file.fd, (off_t)file.sz), 0);
		}
		assert_int_equal(symbols_open(&t, &s), 0);
		memset(&seen, 0, sizeof(seen));
		symbols_type_name(s, ADDR(poll_plain), ADDR(dealloc_one), name, sizeof(name));
		symbols_spawn_place(s, bind_return[0], name, sizeof(name));
		symbols_resolve(s, bind_return[2] - 1, see, &seen);
		symbols_close(s);
		close(file.fd);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_type_names),   cmocka_unit_test(test_spawn_places),
		cmocka_unit_test(test_frames),	     cmocka_unit_test(test_module),
		cmocka_unit_test(test_vdso),	     cmocka_unit_test(test_damaged_files),
	};

	return cmocka_run_group_tests(tests, open_self, close_self);
}
