// SPDX-License-Identifier: Apache-2.0
/* test_polltypes.c - which sites of a plan belong to which type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/types.h>

#include "agent/plan.h"
#include "agent/polltypes.h"
#include "bpf/cookie.h"
#include "bpf/wire.h"

static struct plan_vtable vtables[2][3] = {
	{ { .vaddr = 0x10, .poll = 0x1000 }, { .vaddr = 0x20, .poll = 0x2000 },
	  { .vaddr = 0x30, .poll = 0x1000 } },
	{ { .vaddr = 0x10, .poll = 0x1000 } },
};
static struct plan_file files[2] = {
	{ .bias = 0x70000, .vtables = vtables[0], .vtables_cnt = 3 },
	{ .bias = 0x90000, .vtables = vtables[1], .vtables_cnt = 1 },
};
static struct plan_site sites[] = {
	{ .kind = WIRE_SITE_RETURN, .func_vaddr = 0x1000 },
	{ .kind = WIRE_SITE_SCHEDULE, .func_vaddr = 0x1000 },
	{ .kind = WIRE_SITE_POLL, .func_vaddr = 0x2000 },
	{ .kind = WIRE_SITE_POLL, .func_vaddr = 0x1000 },
	{ .kind = WIRE_SITE_POLL, .func_vaddr = 0x1000, .file = 1 },
	{ .kind = WIRE_SITE_OWN_END, .func_vaddr = 0x1000 },
	{ .kind = WIRE_SITE_OWN_END, .func_vaddr = 0x1000, .is_emulated = true },
	{ .kind = WIRE_SITE_OWN_END, .func_vaddr = 0x1000, .file = 1, .is_emulated = true },
	{ .kind = WIRE_SITE_OWN_END, .func_vaddr = 0x5000 }, /* its poll site found no room */
};
static const struct plan plan = { .files = files,
				  .files_cnt = 2,
				  .sites = sites,
				  .sites_cnt = sizeof(sites) / sizeof(sites[0]) };

static void sites_find_their_types(void **state)
{
	struct polltypes p;

	(void)state;
	assert_int_equal(polltypes_open(&plan, &p), 0);
	assert_int_equal(p.cnt, 3);
	assert_int_equal(p.of_site[0], POLLTYPES_NONE);
	assert_int_equal(p.of_site[1], POLLTYPES_NONE);
	for (uint32_t i = 2; i < 5; i++)
		assert_int_equal(p.types[p.of_site[i]].site, i);
	assert_int_equal(p.of_site[5], p.of_site[3]);
	assert_int_equal(p.of_site[6], p.of_site[3]);
	assert_int_equal(p.of_site[7], p.of_site[4]);
	assert_int_equal(p.of_site[8], POLLTYPES_NONE);
	assert_false(p.types[p.of_site[2]].has_own_ends);
	assert_true(p.types[p.of_site[3]].has_own_ends && p.types[p.of_site[3]].has_stepped_ends);
	assert_true(p.types[p.of_site[4]].has_own_ends && !p.types[p.of_site[4]].has_stepped_ends);
	polltypes_close(&p);
	polltypes_close(&p);
}

static void folded_types_are_one(void **state)
{
	struct polltypes p;
	uint64_t addr = 0;
	size_t at = 0;

	(void)state;
	assert_int_equal(polltypes_open(&plan, &p), 0);
	assert_ptr_equal(polltypes_vtable(&p, p.of_site[3], &at, &addr), &vtables[0][0]);
	assert_int_equal(addr, 0x70010);
	assert_ptr_equal(polltypes_vtable(&p, p.of_site[3], &at, &addr), &vtables[0][2]);
	assert_int_equal(addr, 0x70030);
	assert_null(polltypes_vtable(&p, p.of_site[3], &at, &addr));
	at = 0;
	assert_ptr_equal(polltypes_vtable(&p, p.of_site[4], &at, &addr), &vtables[1][0]);
	assert_int_equal(addr, 0x90010);
	polltypes_close(&p);
}

static void no_site_no_type(void **state)
{
	const struct plan empty = { .sites_cnt = 0 };
	struct polltypes p;

	(void)state;
	assert_int_equal(polltypes_open(&empty, &p), 0);
	assert_int_equal(p.cnt, 0);
	polltypes_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sites_find_their_types),
		cmocka_unit_test(folded_types_are_one),
		cmocka_unit_test(no_site_no_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
