/* SPDX-License-Identifier: Apache-2.0 */
/* What a runtime has queued and alive, and which kind it is, in made-up memory. */
#include "seat_fixture.h"

static struct seat_runtime runtime_of(struct seats *s)
{
	struct seat_runtime ret;

	assert_int_equal(seats_runtime(s, BASE + HANDLE, OWNER, BASE + HANDLE + HANDLE_OWNED, &ret),
			 0);
	return ret;
}

static void test_alive(void **state)
{
	struct fake *f = *state;
	struct seats *s = fake_seats_over(f);

	assert_true(runtime_of(s).has_alive);
	assert_int_equal(runtime_of(s).alive, 20);
	fake_put_owned(f, 61, 4);
	assert_int_equal(runtime_of(s).alive, 4);
	f->reads = 0;
	assert_int_equal(runtime_of(s).alive, 4);
	assert_in_range(f->reads, 1, 8);
	fake_put(f, HANDLE + HANDLE_OWNED + 40, OWNER + 1); /* not this runtime's list any more */
	assert_false(runtime_of(s).has_alive);
	seats_close(s);
}

static void test_inject_needs_two_lengths(void **state)
{
	struct fake *f = *state;
	struct seats *s = fake_seats_over(f);

	fake_put(f, HANDLE + 0x40, 5); /* a word that happens to be 5 as well */
	fake_put(f, HANDLE + 0xd8, 0); /* and one that is always 0 */
	assert_false(runtime_of(s).has_global_depth);
	fake_put_inject(f, 5);
	assert_false(runtime_of(s).has_global_depth);
	fake_put_inject(f, 0);
	assert_true(runtime_of(s).has_global_depth);
	assert_int_equal(runtime_of(s).global_depth, 0);
	fake_put_inject(f, 31);
	f->reads = 0;
	assert_int_equal(runtime_of(s).global_depth, 31);
	assert_in_range(f->reads, 1, 8);
	fake_put(f, HANDLE + HANDLE_LEN, 0); /* torn: tasks, but no length */
	assert_false(runtime_of(s).has_global_depth);
	seats_close(s);
}

/* Two addresses in the Handle that are no queue's ends are looked at once, not at each look. */
static void test_fruitless_once(void **state)
{
	struct fake *f = *state;
	struct seats *s = fake_seats_over(f);
	uint32_t first, again;

	fake_put(f, HANDLE + 0x40, BASE + HANDLE);
	fake_put(f, HANDLE + 0x48, BASE + HANDLE + 8);
	f->reads = 0;
	runtime_of(s);
	first = f->reads;
	f->reads = 0;
	runtime_of(s);
	again = f->reads;
	assert_in_range(again, 1, 3);
	assert_true(again < first);
	seats_close(s);
}

static void test_inject_loop(void **state)
{
	struct fake *f = *state;
	struct seats *s = fake_seats_over(f);

	fake_put_inject(f, 6);
	fake_put_task(f, 12, 10); /* the chain bites its tail and never meets the end */
	f->reads = 0;
	assert_false(runtime_of(s).has_global_depth);
	assert_in_range(f->reads, 1, 6000);
	seats_close(s);
}

static void test_dropped_runtime(void **state)
{
	struct fake *f = *state;
	struct seats *s = fake_seats_over(f);
	struct seat_runtime runtime;

	assert_true(runtime_of(s).has_alive);
	fake_put(f, HANDLE + HANDLE_REMOTES, BASE + 0x7000); /* freed and used again */
	assert_int_equal(seats_runtime(s, BASE + HANDLE, OWNER, 0, &runtime), -ENOENT);
	assert_false(runtime.has_alive || runtime.has_global_depth);
	seats_forget(s, BASE + HANDLE);
	seats_close(s);
}

static void test_flavors(void **state)
{
	struct fake *f = *state;
	struct seats *s = fake_seats_over(f);
	enum seat_flavor flavor;

	assert_int_equal(seats_flavor(s, BASE + HANDLE, &flavor), 0);
	assert_int_equal(flavor, SEAT_MULTI_THREAD);
	fake_put(f, HANDLE + HANDLE_REMOTES + 8, 0);
	assert_int_equal(seats_flavor(s, BASE + HANDLE, &flavor), 0);
	assert_int_equal(flavor, SEAT_CURRENT_THREAD);
	/* a LocalSet: owned tasks as well, and two rings */
	for (int i = 0; i < 2; i++) {
		uint64_t at = HANDLE + 16 + 0x28ull * (unsigned)i;

		fake_put(f, at, 64);
		fake_put(f, at + 8, BASE + BUFFERS);
		fake_put(f, at + 16, 17);
		fake_put(f, at + 24, 0);
	}
	assert_int_equal(seats_flavor(s, BASE + HANDLE, &flavor), -ENOENT);
	assert_int_equal(seats_flavor(s, BASE + SPACE_SZ, &flavor), -ENOENT);
	assert_int_equal(seats_flavor(s, 0, &flavor), -ENOENT);
	seats_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FAKE_TEST(test_alive),
		FAKE_TEST(test_inject_needs_two_lengths),
		FAKE_TEST(test_fruitless_once),
		FAKE_TEST(test_inject_loop),
		FAKE_TEST(test_dropped_runtime),
		FAKE_TEST(test_flavors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
