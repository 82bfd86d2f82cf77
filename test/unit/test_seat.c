/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seats in made-up memory: a runtime of three workers laid out as one build does it, then with one
 * thing wrong each time, then memory that means harm. The truth of real builds: e2e/seat.bats.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "memory.h"
#include "plan.h"
#include "seat.h"

#define BASE 0x7f0000000000ull
#define SPACE_SZ (1u << 20)
#define WORKERS 3
#define VTABLE 0x5000 /* a vaddr; bias 0 */
#define OWNER 9

/* where things stand, as offsets from BASE */
#define HANDLE 0x1000
#define SLICE 0x2000
#define QUEUES 0x3000 /* 0x100 apart */
#define UNPARKS 0x4000
#define UNPARK_SHARED 0x4800
#define BUFFERS 0x8000 /* 0x1000 apart */
#define WORKER_ARCS 0xc000
#define CORES 0xd000 /* 0x200 apart */
#define TASKS 0x10000 /* 0x200 apart */
#define STACKS 0x40000 /* 0x10000 apart; the thread pointer is at the end */
#define HANDLE_REMOTES 0x70
#define HANDLE_ENDS 0x100
#define HANDLE_LEN 0xc8
#define HANDLE_OWNED 0x120
#define TLS_OFF 0x98
#define HEADER(i) (TASKS + (unsigned)(i) * 0x200)
#define FSBASE(i) (BASE + STACKS + 0x10000ull * ((unsigned)(i) + 1) - 0x100)
#define CONTEXT(i) (FSBASE(i) - BASE - 0x2000)

struct fake {
	unsigned char *bytes;
	int (*harm)(struct fake *f, uint64_t addr, void *buf, size_t sz); /* NULL = none */
	unsigned reads;
	uint64_t seed;
	int err; /* every read fails with it */
};

static struct plan_vtable vtables[] = {
	{.vaddr = VTABLE, .scheduler_off = 32, .id_off = 40, .trailer_off = 128},
};
static struct plan_file files[] = {
	{.vtables = vtables, .vtables_cnt = 1, .tls_sz = 0x100, .tls_align = 8},
};
static const struct plan plan = {.files = files, .files_cnt = 1};

static int fake_read(void *ctx, uint64_t addr, void *buf, size_t sz)
{
	struct fake *f = ctx;

	f->reads++;
	if (f->err)
		return f->err;
	if (f->harm)
		return f->harm(f, addr, buf, sz);
	if (addr < BASE || addr + sz > BASE + SPACE_SZ)
		return -EFAULT;
	memcpy(buf, f->bytes + (addr - BASE), sz);
	return 0;
}

static void put(struct fake *f, uint64_t off, uint64_t word)
{
	memcpy(f->bytes + off, &word, sizeof(word));
}

static void put_arc(struct fake *f, uint64_t off)
{
	put(f, off, 2);
	put(f, off + 8, 1);
}

static void put_task(struct fake *f, int i, int next)
{
	put(f, HEADER(i), 0xcc);
	put(f, HEADER(i) + 8, next < 0 ? 0 : BASE + HEADER(next));
	put(f, HEADER(i) + 16, VTABLE);
	put(f, HEADER(i) + 24, OWNER);
}

/* `taken` tasks went through the queue before, `depth` wait. */
static void put_queue(struct fake *f, int i, uint32_t taken, uint32_t depth)
{
	uint64_t at = QUEUES + 0x100ull * (unsigned)i;

	put_arc(f, at);
	put(f, at + 16, BASE + BUFFERS + 0x1000ull * (unsigned)i);
	put(f, at + 24, (uint64_t)taken << 32 | taken);
	put(f, at + 32, 0xdead00000000ull | (taken + depth)); /* padding holds anything */
	for (uint32_t k = 0; k < 256; k++)
		put(f, BUFFERS + 0x1000ull * (unsigned)i + k * 8, BASE + HEADER(0));
}

static void put_thread(struct fake *f, int i)
{
	uint64_t context = CONTEXT(i), worker = WORKER_ARCS + 0x100ull * (unsigned)i;
	uint64_t core = CORES + 0x200ull * (unsigned)i, queue = QUEUES + 0x100ull * (unsigned)i;

	put(f, FSBASE(i) - BASE, FSBASE(i));
	put(f, FSBASE(i) - BASE - TLS_OFF, BASE + context);
	put(f, context, 1);
	put(f, context + 8, BASE + worker);
	put(f, context + 16, 0);
	put(f, context + 24, BASE + core);
	put_arc(f, worker);
	put(f, worker + 16, BASE + HANDLE);
	put(f, worker + 24, (unsigned)i);
	put(f, worker + 32, 0);
	put(f, core, BASE + HEADER(1)); /* LIFO slot */
	put(f, core + 24, BASE + queue);
	put(f, core + 32, BASE + UNPARKS + 0x100ull * (unsigned)i);
}

/* Inject queue of `len` tasks, task 10 being its head. */
static void put_inject(struct fake *f, int len)
{
	for (int i = 0; i < len; i++)
		put_task(f, 10 + i, i + 1 < len ? 11 + i : -1);
	put(f, HANDLE + HANDLE_ENDS, len ? BASE + HEADER(10) : 0);
	put(f, HANDLE + HANDLE_ENDS + 8, len ? BASE + HEADER(10 + len - 1) : 0);
	put(f, HANDLE + HANDLE_LEN, (unsigned)len);
}

static void put_owned(struct fake *f, uint64_t added, uint64_t alive)
{
	uint64_t at = HANDLE + HANDLE_OWNED;

	put(f, at, BASE + 0x6000);
	put(f, at + 8, 16);
	put(f, at + 16, added);
	put(f, at + 24, alive);
	put(f, at + 32, 15);
	put(f, at + 40, OWNER);
}

static int world_make(void **state)
{
	struct fake *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->bytes = calloc(1, SPACE_SZ);
	assert_non_null(f->bytes);
	f->seed = 1;
	put_arc(f, HANDLE);
	put(f, HANDLE + HANDLE_REMOTES, BASE + SLICE);
	put(f, HANDLE + HANDLE_REMOTES + 8, WORKERS);
	put_arc(f, UNPARK_SHARED);
	for (int i = 0; i < WORKERS; i++) {
		uint64_t unpark = UNPARKS + 0x100ull * (unsigned)i;

		put(f, SLICE + 16ull * (unsigned)i, BASE + QUEUES + 0x100ull * (unsigned)i);
		put(f, SLICE + 16ull * (unsigned)i + 8, BASE + unpark);
		put_arc(f, unpark);
		put(f, unpark + 16, BASE + UNPARK_SHARED);
		put(f, unpark + 24, 1); /* parked on its condvar */
		put_queue(f, i, 7, 3 + (unsigned)i);
		put_thread(f, i);
	}
	put_task(f, 0, -1);
	put_task(f, 1, -1);
	put_owned(f, 50, 20);
	*state = f;
	return 0;
}

static int world_free(void **state)
{
	struct fake *f = *state;

	free(f->bytes);
	free(f);
	return 0;
}

static struct seats *seats_over(struct fake *f)
{
	const struct memory m = {.read = fake_read, .ctx = f};
	struct seats *s = NULL;

	assert_int_equal(seats_open_memory(&m, NULL, &plan, &s), 0);
	return s;
}

static void test_finds_all_workers(void **state)
{
	struct fake *f = *state;
	struct seats *s = seats_over(f);

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
	struct seats *s = seats_over(f);
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

		put(f, at + 8, BASE + QUEUES + 0x100ull * (unsigned)i);
		put(f, at, BASE + UNPARKS + 0x100ull * (unsigned)i);
	}
	s = seats_over(f);
	assert_int_equal(seats_find(s, 101, FSBASE(1), &seat), 0);
	assert_int_equal(seat.index, 1);
	assert_int_equal(seat.queue_addr, BASE + QUEUES + 0x100 + 24);
	seats_close(s);
}

static void test_unused_queues_are_unknown(void **state)
{
	struct fake *f = *state;
	struct seats *s = seats_over(f);
	struct seat seat;

	for (int i = 0; i < WORKERS; i++)
		put_queue(f, i, 0, 0);
	assert_int_equal(seats_find(s, 101, FSBASE(1), &seat), 0);
	assert_int_equal(seat.index, 1);
	assert_int_equal(seat.queue_addr, 0);
	put_queue(f, 2, 4, 1); /* any worker's queue proves it for all */
	assert_int_equal(seats_find(s, 101, FSBASE(1), &seat), 0);
	assert_int_equal(seat.queue_addr, BASE + QUEUES + 0x100 + 24);
	seats_close(s);
}

static void test_no_worker(void **state)
{
	struct fake *f = *state;
	struct seats *s = seats_over(f);
	struct seat seat;

	put(f, FSBASE(0) - BASE - TLS_OFF, 0); /* before it is learnt */
	assert_int_equal(seats_find(s, 100, FSBASE(0), &seat), -ENOENT);
	assert_int_equal(seats_find(s, 101, FSBASE(1), &seat), 0);
	assert_int_equal(seats_find(s, 100, FSBASE(0), &seat), -ENOENT);
	assert_int_equal(seats_find(s, 100, 0, &seat), -ENOENT);
	assert_int_equal(seats_find(s, 100, FSBASE(0) + 4, &seat), -ENOENT);
	/* a Context whose first Arc is a current_thread Handle */
	put(f, FSBASE(0) - BASE - TLS_OFF, BASE + CONTEXT(0));
	put(f, CONTEXT(0) + 8, BASE + UNPARK_SHARED);
	assert_int_equal(seats_find(s, 100, FSBASE(0), &seat), -ENOENT);
	seats_close(s);
}

static void test_core_given_away(void **state)
{
	struct fake *f = *state;
	struct seats *s = seats_over(f);
	struct seat seat;

	put(f, CONTEXT(1) + 24, 0);
	/* nothing is learnt from a thread without its Core */
	assert_int_equal(seats_find(s, 101, FSBASE(1), &seat), -ENOENT);
	assert_int_equal(seats_find(s, 102, FSBASE(2), &seat), 0);
	assert_int_equal(seats_find(s, 101, FSBASE(1), &seat), 0);
	assert_int_equal(seat.index, 1);
	assert_false(seat.has_core);
	put(f, CONTEXT(1) + 24, BASE + CORES); /* another worker's Core: the two ways do not meet */
	assert_int_equal(seats_find(s, 101, FSBASE(1), &seat), -ENOENT);
	seats_close(s);
}

static void test_index_must_agree(void **state)
{
	struct fake *f = *state;
	struct seats *s = seats_over(f);
	struct seat seat;

	put(f, WORKER_ARCS + 0x100 + 24, 2);
	assert_int_equal(seats_find(s, 101, FSBASE(1), &seat), -ENOENT);
	assert_int_equal(seats_find(s, 102, FSBASE(2), &seat), 0);
	put(f, WORKER_ARCS + 0x100 + 24, 1u << 20);
	assert_int_equal(seats_find(s, 101, FSBASE(1), &seat), -ENOENT);
	seats_close(s);
}

static void test_gone(void **state)
{
	struct fake *f = *state;
	struct seats *s = seats_over(f);
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
	struct seats *s = seats_over(f);

	assert_true(runtime_of(s).has_alive);
	assert_int_equal(runtime_of(s).alive, 20);
	put_owned(f, 61, 4);
	assert_int_equal(runtime_of(s).alive, 4);
	f->reads = 0;
	assert_int_equal(runtime_of(s).alive, 4);
	assert_in_range(f->reads, 1, 8);
	put(f, HANDLE + HANDLE_OWNED + 40, OWNER + 1); /* not this runtime's list any more */
	assert_false(runtime_of(s).has_alive);
	seats_close(s);
}

static void test_inject_needs_two_lengths(void **state)
{
	struct fake *f = *state;
	struct seats *s = seats_over(f);

	put(f, HANDLE + 0x40, 5); /* a word that happens to be 5 as well */
	put(f, HANDLE + 0xd8, 0); /* and one that is always 0 */
	assert_false(runtime_of(s).has_global_depth);
	put_inject(f, 5);
	assert_false(runtime_of(s).has_global_depth);
	put_inject(f, 0);
	assert_true(runtime_of(s).has_global_depth);
	assert_int_equal(runtime_of(s).global_depth, 0);
	put_inject(f, 31);
	f->reads = 0;
	assert_int_equal(runtime_of(s).global_depth, 31);
	assert_in_range(f->reads, 1, 8);
	put(f, HANDLE + HANDLE_LEN, 0); /* torn: tasks, but no length */
	assert_false(runtime_of(s).has_global_depth);
	seats_close(s);
}

static void test_inject_loop(void **state)
{
	struct fake *f = *state;
	struct seats *s = seats_over(f);

	put_inject(f, 6);
	put_task(f, 12, 10); /* the chain bites its tail and never meets the end */
	f->reads = 0;
	assert_false(runtime_of(s).has_global_depth);
	assert_in_range(f->reads, 1, 6000);
	seats_close(s);
}

static void test_dropped_runtime(void **state)
{
	struct fake *f = *state;
	struct seats *s = seats_over(f);
	struct seat_runtime runtime;

	assert_true(runtime_of(s).has_alive);
	put(f, HANDLE + HANDLE_REMOTES, BASE + 0x7000); /* freed and used again */
	assert_int_equal(seats_runtime(s, BASE + HANDLE, OWNER, 0, &runtime), -ENOENT);
	assert_false(runtime.has_alive || runtime.has_global_depth);
	seats_forget(s, BASE + HANDLE);
	seats_close(s);
}

static void test_flavors(void **state)
{
	struct fake *f = *state;
	struct seats *s = seats_over(f);
	enum seat_flavor flavor;

	assert_int_equal(seats_flavor(s, BASE + HANDLE, &flavor), 0);
	assert_int_equal(flavor, SEAT_MULTI_THREAD);
	put(f, HANDLE + HANDLE_REMOTES + 8, 0);
	assert_int_equal(seats_flavor(s, BASE + HANDLE, &flavor), 0);
	assert_int_equal(flavor, SEAT_CURRENT_THREAD);
	/* a LocalSet: owned tasks as well, and two rings */
	for (int i = 0; i < 2; i++) {
		uint64_t at = HANDLE + 16 + 0x28ull * (unsigned)i;

		put(f, at, 64);
		put(f, at + 8, BASE + BUFFERS);
		put(f, at + 16, 17);
		put(f, at + 24, 0);
	}
	assert_int_equal(seats_flavor(s, BASE + HANDLE, &flavor), -ENOENT);
	assert_int_equal(seats_flavor(s, BASE + SPACE_SZ, &flavor), -ENOENT);
	assert_int_equal(seats_flavor(s, 0, &flavor), -ENOENT);
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
		struct seats *s = seats_over(f);
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
		struct seats *s = seats_over(f);

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
		cmocka_unit_test_setup_teardown(test_finds_all_workers, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_index_zero_first, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_columns_swapped, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_unused_queues_are_unknown, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_no_worker, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_core_given_away, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_index_must_agree, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_gone, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_alive, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_inject_needs_two_lengths, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_inject_loop, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_dropped_runtime, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_flavors, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_harm_is_bounded, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_change_is_never_a_wrong_worker, world_make,
						world_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
