/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seats in made-up memory: as it should be, with one thing wrong each time, then memory that means
 * harm. The truth of real builds: e2e/seat.bats.
 */
#include "seat_fixture.h"

#include <string.h>

static void test_finds_all_workers(void **state)
{
	struct fake *f = *state;
	struct seats *s = fake_seats_over(f);

	for (int round = 0; round < 2; round++) {
		for (int i = WORKERS - 1; i >= 0; i--) {
			struct seat seat;

			f->reads = 0;
			assert_int_equal(seats_find(s, 100 + i, FSBASE(i), &seat), 0);
			assert_int_equal(seat.handle, BASE + HANDLE);
			assert_int_equal(seat.index, i);
			assert_int_equal(seat.workers_cnt, WORKERS);
			assert_int_equal(seat.queue_addr, BASE + QUEUES + 0x100 * i + 24);
			assert_int_equal(seat.tail_off, 8);
			assert_true(seat.has_core);
			if (round)
				assert_in_range(f->reads, 1, 10);
		}
	}
	seats_close(s);
}

static void test_index_zero_first(void **state)
{
	struct fake *f = *state;
	struct seats *s = fake_seats_over(f);
	struct seat seat;

	/* worker 0 does not tell which word is the index; it must not be guessed for worker 2 */
	assert_int_equal(seats_find(s, 100, FSBASE(0), &seat), 0);
	assert_int_equal(seat.index, 0);
	assert_int_equal(seats_find(s, 102, FSBASE(2), &seat), 0);
	assert_int_equal(seat.index, 2);
	assert_int_equal(seats_find(s, 100, FSBASE(0), &seat), 0);
	assert_int_equal(seat.index, 0);
	seats_close(s);
}

static void test_columns_swapped(void **state)
{
	struct fake *f = *state;
	struct seats *s;
	struct seat seat;

	for (int i = 0; i < WORKERS; i++) {
		uint64_t at = SLICE + 16ull * (unsigned)i;

		fake_put(f, at + 8, BASE + QUEUES + 0x100ull * (unsigned)i);
		fake_put(f, at, BASE + UNPARKS + 0x100ull * (unsigned)i);
	}
	s = fake_seats_over(f);
	assert_int_equal(seats_find(s, 101, FSBASE(1), &seat), 0);
	assert_int_equal(seat.index, 1);
	assert_int_equal(seat.queue_addr, BASE + QUEUES + 0x100 + 24);
	seats_close(s);
}

static void test_unused_queues_are_unknown(void **state)
{
	struct fake *f = *state;
	struct seats *s = fake_seats_over(f);
	struct seat seat;

	for (int i = 0; i < WORKERS; i++)
		fake_put_queue(f, i, 0, 0);
	assert_int_equal(seats_find(s, 101, FSBASE(1), &seat), 0);
	assert_int_equal(seat.index, 1);
	assert_int_equal(seat.queue_addr, 0);
	fake_put_queue(f, 2, 4, 1); /* any worker's queue proves it for all */
	assert_int_equal(seats_find(s, 101, FSBASE(1), &seat), 0);
	assert_int_equal(seat.queue_addr, BASE + QUEUES + 0x100 + 24);
	seats_close(s);
}

static void test_no_worker(void **state)
{
	struct fake *f = *state;
	struct seats *s = fake_seats_over(f);
	struct seat seat;

	fake_put(f, FSBASE(0) - BASE - TLS_OFF, 0); /* before it is learnt */
	assert_int_equal(seats_find(s, 100, FSBASE(0), &seat), -ENOENT);
	assert_int_equal(seats_find(s, 101, FSBASE(1), &seat), 0);
	assert_int_equal(seats_find(s, 100, FSBASE(0), &seat), -ENOENT);
	assert_int_equal(seats_find(s, 100, 0, &seat), -ENOENT);
	assert_int_equal(seats_find(s, 100, FSBASE(0) + 4, &seat), -ENOENT);
	/* a Context whose first Arc is a current_thread Handle */
	fake_put(f, FSBASE(0) - BASE - TLS_OFF, BASE + CONTEXT(0));
	fake_put(f, CONTEXT(0) + 8, BASE + UNPARK_SHARED);
	assert_int_equal(seats_find(s, 100, FSBASE(0), &seat), -ENOENT);
	seats_close(s);
}

static void test_core_given_away(void **state)
{
	struct fake *f = *state;
	struct seats *s = fake_seats_over(f);
	struct seat seat;

	fake_put(f, CONTEXT(1) + 24, 0);
	/* nothing is learnt from a thread without its Core */
	assert_int_equal(seats_find(s, 101, FSBASE(1), &seat), -ENOENT);
	assert_int_equal(seats_find(s, 102, FSBASE(2), &seat), 0);
	assert_int_equal(seats_find(s, 101, FSBASE(1), &seat), 0);
	assert_int_equal(seat.index, 1);
	assert_false(seat.has_core);
	fake_put(f, CONTEXT(1) + 24, BASE + CORES); /* another worker's Core: the two ways do not meet */
	assert_int_equal(seats_find(s, 101, FSBASE(1), &seat), -ENOENT);
	seats_close(s);
}

static void test_index_must_agree(void **state)
{
	struct fake *f = *state;
	struct seats *s = fake_seats_over(f);
	struct seat seat;

	fake_put(f, WORKER_ARCS + 0x100 + 24, 2);
	assert_int_equal(seats_find(s, 101, FSBASE(1), &seat), -ENOENT);
	assert_int_equal(seats_find(s, 102, FSBASE(2), &seat), 0);
	fake_put(f, WORKER_ARCS + 0x100 + 24, 1u << 20);
	assert_int_equal(seats_find(s, 101, FSBASE(1), &seat), -ENOENT);
	seats_close(s);
}

static void test_gone(void **state)
{
	struct fake *f = *state;
	struct seats *s = fake_seats_over(f);
	struct seat_runtime runtime;
	enum seat_flavor flavor;
	struct seat seat;

	f->err = -ESRCH;
	assert_int_equal(seats_find(s, 101, FSBASE(1), &seat), -ESRCH);
	assert_int_equal(seats_runtime(s, BASE + HANDLE, OWNER, 0, &runtime), -ESRCH);
	assert_int_equal(seats_flavor(s, BASE + HANDLE, &flavor), -ESRCH);
	f->err = 0;
	assert_int_equal(seats_find(s, 101, FSBASE(1), &seat), 0);
	f->err = -ESRCH;
	assert_int_equal(seats_find(s, 101, FSBASE(1), &seat), -ESRCH);
	seats_close(s);
}

static int harm_mirror(struct fake *f, uint64_t addr, void *buf, size_t sz)
{
	unsigned char *to = buf;

	(void)f;
	for (size_t i = 0; i + 8 <= sz; i += 8)
		memcpy(to + i, &addr, sizeof(addr)); /* every word points to where it was read */
	return 0;
}

static int harm_ones(struct fake *f, uint64_t addr, void *buf, size_t sz)
{
	(void)f;
	(void)addr;
	memset(buf, 0xff, sz);
	return 0;
}

static int harm_change(struct fake *f, uint64_t addr, void *buf, size_t sz)
{
	unsigned char *to = buf;

	if (addr < BASE || addr + sz > BASE + SPACE_SZ)
		return -EFAULT;
	memcpy(buf, f->bytes + (addr - BASE), sz);
	for (size_t i = 0; i + 8 <= sz; i += 8) {
		f->seed = f->seed * 6364136223846793005ull + 1442695040888963407ull;
		if (f->seed >> 60 == 0) /* one word of 16 is something else each time */
			memcpy(to + i, &f->seed, sizeof(f->seed));
	}
	return 0;
}

static void test_harm_is_bounded(void **state)
{
	int (*const harms[])(struct fake *, uint64_t, void *, size_t) = {harm_mirror, harm_ones};
	struct fake *f = *state;

	for (size_t h = 0; h < sizeof(harms) / sizeof(harms[0]); h++) {
		struct seats *s = fake_seats_over(f);
		struct seat_runtime runtime;
		enum seat_flavor flavor;
		struct seat seat;

		f->harm = harms[h];
		f->reads = 0;
		assert_int_equal(seats_find(s, 100, FSBASE(0), &seat), -ENOENT);
		assert_int_equal(seats_flavor(s, BASE + HANDLE, &flavor), -ENOENT);
		assert_int_equal(seats_runtime(s, BASE + HANDLE, OWNER, 0, &runtime), -ENOENT);
		assert_in_range(f->reads, 1, 20000);
		seats_close(s);
	}
}

static void test_change_is_never_a_wrong_worker(void **state)
{
	struct fake *f = *state;
	unsigned found = 0;

	f->harm = harm_change;
	for (int round = 0; round < 300; round++) {
		struct seats *s = fake_seats_over(f);

		for (int k = 0; k < 6; k++) {
			struct seat_runtime runtime;
			struct seat seat;
			int i = k % WORKERS;

			f->reads = 0;
			if (!seats_find(s, 100 + i, FSBASE(i), &seat)) {
				assert_int_equal(seat.handle, BASE + HANDLE);
				assert_int_equal(seat.index, i);
				found++;
			}
			seats_runtime(s, BASE + HANDLE, OWNER, 0, &runtime);
			assert_in_range(f->reads, 1, 12100);
		}
		seats_close(s);
	}
	assert_true(found > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FAKE_TEST(test_finds_all_workers),
		FAKE_TEST(test_index_zero_first),
		FAKE_TEST(test_columns_swapped),
		FAKE_TEST(test_unused_queues_are_unknown),
		FAKE_TEST(test_no_worker),
		FAKE_TEST(test_core_given_away),
		FAKE_TEST(test_index_must_agree),
		FAKE_TEST(test_gone),
		FAKE_TEST(test_harm_is_bounded),
		FAKE_TEST(test_change_is_never_a_wrong_worker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
