// SPDX-License-Identifier: Apache-2.0
#include "bind.h"

#include "code.h"
#include "elfmaker.h"
#include "image.h"
#include "scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/types.h>
#include <string.h>

#include "bpf/cookie.h"
#include "bpf/wire.h"

#define PROLOGUE "\x55\x48\x89\xe5"

static struct elfmaker maker;

static int take(const struct scan_hit *hit, void *ctx)
{
	return bind_hit(ctx, hit);
}

/* how many there are; *place is the last one */
static int find(const char *bytes, size_t sz, struct bind_place *place)
{
	struct binds b = { 0 };
	struct elfmaker_file f;
	int found = 0;
	uint64_t at;

	elfmaker_init(&maker, true);
	at = elfmaker_code(&maker, bytes, sz);
	elfmaker_load(&maker, &f);
	assert_int_equal(scan_segment(f.img, &f.img->segs[0], SCAN_CODE, take, &b), 0);
	for (size_t i = 0; i < b.cnt; i++) {
		if (bind_prove(&b, i, f.img, &f.starts, place))
			continue;
		found++;
		assert_int_equal(place->func, at);
	}
	bind_done(&b);
	elfmaker_unload(&f);
	return found;
}
#define FIND(bytes, place) find(PROLOGUE bytes, sizeof(PROLOGUE bytes) - 1, place)

static void test_shape(void **state)
{
	struct bind_place p;

	(void)state;
	/* mov rbx,rsi; mov [rbx+0x18],rax; mov rax,[rbx+0x10]; mov rax,[rax+0x48] */
	assert_int_equal(
		FIND("\x48\x89\xf3\x48\x89\x43\x18\x48\x8b\x43\x10\x48\x8b\x40\x48\xc3", &p), 1);
	assert_false(p.is_inlined);
	/* by rsi itself, with other work between */
	assert_int_equal(
		FIND("\x48\x89\x46\x18\x31\xd2\x48\x8b\x4e\x10\x31\xd2\x48\x8b\x49\x48\xc3", &p),
		1);
	assert_false(p.is_inlined);
	/* through r12, whose address takes a SIB byte; its value is no argument */
	assert_int_equal(FIND("\x49\x89\x44\x24\x18\x49\x8b\x44\x24\x10\x48\x8b\x40\x48\xc3", &p),
			 1);
	assert_true(p.is_inlined);
	assert_int_equal(p.header_reg, WIRE_R12);
}

static void test_other_code(void **state)
{
	struct bind_place p;

	(void)state;
	/* another base in the second step; another slot; another word stored; too far apart */
	assert_int_equal(FIND("\x48\x89\x43\x18\x48\x8b\x41\x10\x48\x8b\x40\x48\xc3", &p), 0);
	assert_int_equal(FIND("\x48\x89\x43\x18\x48\x8b\x43\x10\x48\x8b\x40\x40\xc3", &p), 0);
	assert_int_equal(FIND("\x48\x89\x43\x10\x48\x8b\x43\x10\x48\x8b\x40\x48\xc3", &p), 0);
	assert_int_equal(
		FIND("\x48\x89\x43\x18\x48\x8b\x43\x10\x48\xb9\1\1\1\1\1\1\1\1\x48\xb9\1\1\1\1"
		     "\1\1\1\1\x48\xb9\1\1\1\1\1\1\1\1\x31\xd2\x31\xd2\x48\x8b\x40\x48\xc3",
		     &p),
		0);
	/* locals on the stack */
	assert_int_equal(FIND("\x48\x89\x44\x24\x18\x48\x8b\x6c\x24\x10\x4c\x8b\x65\x48\xc3", &p),
			 0);
	/* a call in between may have changed all of it */
	assert_int_equal(
		FIND("\x48\x89\x43\x18\x48\x8b\x43\x10\xe8\0\0\0\0\x48\x8b\x40\x48\xc3", &p), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shape),
		cmocka_unit_test(test_other_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
