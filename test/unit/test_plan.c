// SPDX-License-Identifier: Apache-2.0
#include "plan.h"

#include "elfmaker.h"
#include "feature.h"
#include "log.h"
#include "target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yajl/yajl_tree.h>

#include "bpf/cookie.h"
#include "bpf/wire.h"

#define BIAS 0x550000000000ull

static struct elfmaker maker;
static struct target_file file;
static struct target target;
static uint64_t poll_a, poll_b, schedule, shutdown_a, table_a, table_b, table_c, call;

/* A small Tokio program: two async types of which one is larger, and a blocking one that shares
 * its poll function with the first. */
static void make_program(void)
{
	uint64_t counter, funcs[7], draw;
	uint8_t spawn[] =
		"\x55\x48\x89\xe5\xb9\1\0\0\0\xf0\x48\x0f\xc1\x0d\0\0\0\0\x48\x85\xc9\x74\x02"
		"\x5d\xc3\xc3";
	int32_t disp;

	elfmaker_init(&maker, true);
	poll_a = elfmaker_code(&maker, "\x55\x48\x89\xe5\x5d\xc3", 6);
	poll_b = elfmaker_code(&maker, "\x48\x89\xfe\x53\x5b\xc3", 6);
	schedule = elfmaker_code(&maker, "\x50\x58\xc3", 3);
	shutdown_a = elfmaker_code(&maker, "\x48\x8b\x3f\xc3", 4);
	funcs[2] = funcs[3] = funcs[4] = funcs[5] = elfmaker_code(&maker, "\xc3", 1);
	funcs[0] = poll_a;
	funcs[1] = schedule;
	funcs[6] = shutdown_a;
	elfmaker_word(&maker, 0);
	counter = elfmaker_word(&maker, 1);
	table_a = elfmaker_vtable(&maker, funcs, 0x80, 0x20, 0x28, false);
	elfmaker_word(&maker, 0);
	funcs[0] = poll_b;
	table_b = elfmaker_vtable(&maker, funcs, 0x100, 0x40, 0x48, false);
	elfmaker_word(&maker, 0);
	funcs[0] = poll_a;
	funcs[1] = funcs[2];
	table_c = elfmaker_vtable(&maker, funcs, 0x80, 0x20, 0x30, false);
	/* run: mov rax,[r14+0x10]; mov rdi,r14; call [rax]; cmp bl,2; je */
	call = elfmaker_code(&maker,
			     "\x55\x48\x89\xe5\x49\x8b\x46\x10\x4c\x89\xf7\xff\x10\x80\xfb\x02"
			     "\x74\x00\x5d\xc3",
			     20) +
	       11;
	draw = ELFMAKER_CODE + ((maker.code_sz + 16) & ~(size_t)15);
	disp = (int32_t)(counter - (draw + 18));
	memcpy(spawn + 14, &disp, 4);
	assert_int_equal(elfmaker_code(&maker, spawn, sizeof(spawn) - 1), draw);
	/* bind_inner */
	elfmaker_code(&maker,
		      "\x55\x48\x89\xe5\x48\x89\x46\x18\x48\x8b\x46\x10\x48\x8b\x40\x48\xc3", 17);
	/* bind_inner inlined: header in rbx; je */
	elfmaker_code(&maker,
		      "\x55\x48\x89\xe5\x48\x89\x43\x18\x48\x8b\x43\x10\x48\x8b\x40\x48"
		      "\x74\x00\xc3",
		      19);
	elfmaker_text(&maker, "/tokio-1.52.3/src/runtime/task/raw.rs");
}

static int setup(void **state)
{
	(void)state;
	make_program();
	file = (struct target_file){ .path = "/opt/pro\x1b\xff",
				     .link = "/proc/1/exe",
				     .map_start = BIAS + ELFMAKER_CODE,
				     .map_off = 0x1000,
				     .is_main = true,
				     .is_deleted = true };
	file.fd = elfmaker_open(&maker, &file.sz);
	target = (struct target){
		.pid = 42, .pidfd = -1, .files = &file, .files_cnt = 1, .comm = "made\nup"
	};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return close(file.fd);
}

static struct plan *build(enum plan_level level)
{
	struct plan_options o = { .level = level };
	struct plan *p = NULL;

	assert_int_equal(plan_build(&target, &o, NULL, &p), 0);
	return p;
}

static const struct plan_site *site_of(const struct plan *p, uint8_t kind, size_t n)
{
	for (size_t i = 0; i < p->sites_cnt; i++)
		if (p->sites[i].kind == kind && !n--)
			return &p->sites[i];
	return NULL;
}

static void test_full(void **state)
{
	const struct plan_site *s;
	struct plan *p = build(PLAN_FULL);

	(void)state;
	assert_int_equal(p->files_cnt, 1);
	assert_string_equal(p->files[0].tokio, "1.52.3");
	assert_string_equal(p->files[0].build_id, "deadbeef");
	assert_int_equal(p->files[0].bias, BIAS);
	assert_int_equal(p->files[0].tls_sz, 0x48);
	assert_int_equal(p->files[0].vtables_cnt, 3);
	assert_int_equal(p->files[0].counters_cnt, 1);

	s = site_of(p, WIRE_SITE_RETURN, 0);
	assert_non_null(s);
	assert_int_equal(s->vaddr, call + 5);
	assert_int_equal(s->file_off, call + 5 - ELFMAKER_CODE + 0x1000);
	assert_int_equal(s->func_vaddr, call);
	s = site_of(p, WIRE_SITE_SPAWN_ID, 0);
	assert_non_null(s);
	assert_int_equal(s->reg, WIRE_RCX);
	assert_int_equal(s->counter, 0);
	s = site_of(p, WIRE_SITE_BIND, 0);
	assert_non_null(s);
	assert_int_equal(s->reg, WIRE_RSI);
	assert_false(s->is_list_lost);
	s = site_of(p, WIRE_SITE_BIND, 1); /* the inlined one */
	assert_non_null(s);
	assert_int_equal(s->reg, WIRE_RBX);
	assert_int_equal(s->pushed_words, WIRE_PUSHED_INLINED);
	assert_true(s->is_list_lost);
	s = site_of(p, WIRE_SITE_SCHEDULE, 0);
	assert_non_null(s);
	assert_int_equal(s->vaddr, schedule);
	assert_int_equal(s->id_off, 0); /* two types use it, and differ */
	assert_int_equal(s->scheduler_off, 0);
	assert_null(site_of(p, WIRE_SITE_SCHEDULE, 1)); /* the blocking type's is never called */
	s = site_of(p, WIRE_SITE_POLL, 0);
	assert_int_equal(s->vaddr, poll_a);
	assert_int_equal(s->id_off, 0);
	assert_int_equal(s->scheduler_off, 0x20);
	s = site_of(p, WIRE_SITE_POLL, 1);
	assert_int_equal(s->vaddr, poll_b + 3);
	assert_int_equal(s->func_vaddr, poll_b);
	assert_int_equal(s->id_off, 0x48);
	assert_null(site_of(p, WIRE_SITE_POLL, 2));
	/* returns first, polls last */
	assert_int_equal(p->sites[0].kind, WIRE_SITE_RETURN);
	assert_int_equal(p->sites[p->sites_cnt - 1].kind, WIRE_SITE_POLL);
	for (size_t i = 0; i < p->sites_cnt; i++)
		assert_true(p->sites[i].is_emulated);
	plan_free(p);
}

/* The same Tokio twice in one process: a file each, counters numbered through. */
static void test_two_copies(void **state)
{
	struct plan_options o = { .level = PLAN_FULL };
	struct target_file files[] = { file, file };
	struct target both = target;
	uint64_t counters = 0;
	struct plan *p = NULL;

	(void)state;
	files[1].map_start += 0x10000000;
	both.files = files;
	both.files_cnt = 2;
	assert_int_equal(plan_build(&both, &o, NULL, &p), 0);
	assert_int_equal(p->files_cnt, 2);
	assert_int_equal(p->files[1].counters_cnt, 1);
	for (size_t i = 0; i < p->sites_cnt; i++)
		if (p->sites[i].kind == WIRE_SITE_SPAWN_ID) {
			assert_int_equal(p->sites[i].counter, p->sites[i].file);
			counters |= 1u << p->sites[i].counter;
		}
	assert_int_equal(counters, 3);
	plan_free(p);
}

/* One more than can be told apart is left out, said to be so, and hides none. */
static void test_too_many_copies(void **state)
{
	struct plan_options o = { .level = PLAN_FULL };
	struct target_file files[WIRE_COPIES_MAX + 1];
	struct target many = target;
	struct plan *p = NULL;

	(void)state;
	for (size_t i = 0; i < WIRE_COPIES_MAX + 1; i++) {
		files[i] = file;
		files[i].map_start += i * 0x10000000;
	}
	many.files = files;
	many.files_cnt = WIRE_COPIES_MAX + 1;
	assert_int_equal(plan_build(&many, &o, NULL, &p), 0);
	assert_int_equal(p->files_cnt, WIRE_COPIES_MAX);
	plan_free(p);
}

/* what is left out is said: no emulated instruction in shutdown, no unwinder in the process */
static void test_omissions(void **state)
{
	struct plan_options o = { .level = PLAN_FULL, .allow_stepped = true };
	struct plan *p = build(PLAN_FULL);
	bool has_shutdown = false, has_raise = false;

	(void)state;
	for (size_t i = 0; i < p->omissions_cnt; i++) {
		has_shutdown |= p->omissions[i].kind == WIRE_SITE_SHUTDOWN &&
				p->omissions[i].vaddr == shutdown_a;
		has_raise |= p->omissions[i].kind == WIRE_SITE_RAISE;
		assert_true(strlen(p->omissions[i].reason) > 10);
	}
	assert_true(has_shutdown && has_raise);
	assert_int_equal(p->omissions_cnt, 2);
	plan_free(p);
	assert_int_equal(plan_build(&target, &o, NULL, &p), 0);
	assert_non_null(site_of(p, WIRE_SITE_SHUTDOWN, 0));
	assert_false(site_of(p, WIRE_SITE_SHUTDOWN, 0)->is_emulated);
	plan_free(p);
}

static void test_levels(void **state)
{
	static const unsigned kinds[] = {
		[PLAN_STAT] = 0,
		[PLAN_POLLS] = 1u << WIRE_SITE_POLL,
		[PLAN_WAKES] = 1u << WIRE_SITE_POLL | 1u << WIRE_SITE_SCHEDULE,
	};

	(void)state;
	for (int level = PLAN_STAT; level <= PLAN_WAKES; level++) {
		struct plan *p = build((enum plan_level)level);
		unsigned seen = 0;

		for (size_t i = 0; i < p->sites_cnt; i++)
			seen |= 1u << p->sites[i].kind;
		assert_int_equal(seen, kinds[level]);
		assert_int_equal(p->files[0].vtables_cnt, 3);
		plan_free(p);
	}
}

static void test_types_by_address(void **state)
{
	struct plan *p = build(PLAN_POLLS);
	size_t at = 9;

	(void)state;
	assert_int_equal(plan_vtable_at(p, BIAS + table_a, &at)->vaddr, table_a);
	assert_int_equal(at, 0);
	assert_int_equal(plan_vtable_at(p, BIAS + table_b, NULL)->id_off, 0x48);
	assert_true(plan_vtable_at(p, BIAS + table_c, NULL)->is_blocking);
	assert_null(plan_vtable_at(p, BIAS + table_a + 8, NULL));
	assert_null(plan_vtable_at(p, table_a, NULL));
	assert_null(plan_vtable_at(p, 0, NULL));
	plan_free(p);
	plan_free(NULL);
}

static void test_no_tokio_and_damage(void **state)
{
	struct target_file files[2] = { file, file };
	struct target t = { .pid = 42, .pidfd = -1, .files = files, .files_cnt = 1 };
	struct plan_options o = { .level = PLAN_FULL };
	struct plan *p = NULL;
	struct elfmaker *empty = calloc(1, sizeof(*empty));

	(void)state;
	assert_non_null(empty);
	elfmaker_init(empty, true);
	files[0].fd = elfmaker_open(empty, &files[0].sz);
	assert_int_equal(plan_build(&t, &o, NULL, &p), -ENOENT);
	files[0].sz = 100; /* cut */
	assert_int_equal(plan_build(&t, &o, NULL, &p), -ENOEXEC);
	assert_null(p);
	t.files_cnt = 2; /* a damaged file never hides a good one */
	assert_int_equal(plan_build(&t, &o, NULL, &p), 0);
	assert_int_equal(p->files_cnt, 1);
	assert_int_equal(p->files[0].target_file, 1);
	plan_free(p);
	close(files[0].fd);
	free(empty);
}

static char *print(const struct plan *p,
		   int (*how)(const struct plan *, const struct target *, FILE *))
{
	char *text = NULL;
	size_t sz;
	FILE *out = open_memstream(&text, &sz);

	assert_non_null(out);
	assert_int_equal(how(p, &target, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void test_human(void **state)
{
	struct plan *p = build(PLAN_FULL);
	char *text = print(p, plan_print);
	char *line = text;

	(void)state;
	assert_null(strchr(text, '\x1b')); /* a hostile path drives no terminal */
	assert_non_null(strstr(text, "process 42 (made?up), level full"));
	assert_non_null(strstr(text, "tokio 1.52.3"));
	assert_non_null(strstr(text, "3 task types, 1 of them of the blocking pool"));
	assert_non_null(strstr(text, "(deleted)"));
	assert_non_null(strstr(text, "push rbp"));
	assert_non_null(strstr(text, "omitted: 2"));
	for (char *end; (end = strchr(line, '\n')); line = end + 1)
		assert_true(end - line <= 120);
	free(text);
	plan_free(p);
}

static double number_of(yajl_val v, const char *key)
{
	const char *path[] = { key, NULL };
	yajl_val n = yajl_tree_get(v, path, yajl_t_number);

	assert_non_null(n);
	return YAJL_GET_DOUBLE(n);
}

static void test_json(void **state)
{
	static const char *const keys[] = { "vaddr", "file_off", "file", "function" };
	const char *sites_path[] = { "sites", NULL }, *files_path[] = { "files", NULL };
	const char *kind_path[] = { "kind", NULL }, *emulated_path[] = { "emulated", NULL };
	const char *insn_path[] = { "insn", NULL };
	struct plan *p = build(PLAN_FULL);
	char *text = print(p, plan_print_json), error[256] = "";
	yajl_val doc = yajl_tree_parse(text, error, sizeof(error)), sites, files;

	(void)state;
	assert_string_equal(error, "");
	assert_non_null(doc);
	sites = yajl_tree_get(doc, sites_path, yajl_t_array);
	files = yajl_tree_get(doc, files_path, yajl_t_array);
	assert_int_equal(YAJL_GET_ARRAY(sites)->len, p->sites_cnt);
	assert_int_equal(YAJL_GET_ARRAY(files)->len, 1);
	for (size_t i = 0; i < p->sites_cnt; i++) {
		yajl_val v = YAJL_GET_ARRAY(sites)->values[i];

		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			number_of(v, keys[k]);
		assert_true(number_of(v, "file_off") == (double)p->sites[i].file_off);
		assert_non_null(yajl_tree_get(v, kind_path, yajl_t_string));
		assert_string_equal(YAJL_GET_STRING(yajl_tree_get(v, insn_path, yajl_t_string)),
				    p->sites[i].insn);
		assert_true(YAJL_IS_TRUE(yajl_tree_get(v, emulated_path, yajl_t_any)));
	}
	yajl_tree_free(doc);
	free(text);
	plan_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_two_copies),
		cmocka_unit_test(test_too_many_copies),
		cmocka_unit_test(test_omissions),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_types_by_address),
		cmocka_unit_test(test_no_tokio_and_damage),
		cmocka_unit_test(test_human),
		cmocka_unit_test(test_json),
	};

	log_set_level(LOG_ERROR);
	return cmocka_run_group_tests(tests, setup, teardown);
}
