// SPDX-License-Identifier: Apache-2.0
/* test_pyramid.c - cells against a walk over every row. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "eventscript.h"
#include "viewer/core/columns.h"
#include "viewer/core/index.h"
#include "viewer/core/pyramid.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t rng = 88172645463325252ull;

static uint64_t rand64(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	return rng ^= rng << 17;
}

/* Some thousands of polls on two workers, a few of them long, late or blocked. */
static struct columns *random_columns(uint32_t polls)
{
	static const struct index_opt opt = { .cache_dir = "" };
	struct eventscript *s = eventscript_begin();
	int fd = memfd_create("trace", 0);
	struct index_file file;
	struct columns *c;
	char path[64];

	for (uint32_t w = 0; w < 2; w++) {
		uint64_t now = 1000;

		for (uint32_t i = 0; i < polls; i++) {
			uint64_t r = rand64(), dur = r % 5000;

			if (i % 97 == 5)
				dur += PYRAMID_LONG_NS;
			if (i % 31 == 7)
				SCRIPT_PUT(s, wake, now + 1, .woken_task_id = 1 + i % 5 + 10 * w,
					   .target_worker = (uint8_t)w);
			now += (r >> 20) % 700 + (i % 31 == 7 ? PYRAMID_LATE_NS : 0);
			SCRIPT_PUT(s, poll_start, now, .worker_id = w, .local_queue = r % 9,
				   .task_id = 1 + i % 5 + 10 * w);
			if (i % 41 == 3)
				SCRIPT_PUT(s, agent_off_cpu, now + dur + 2 * PYRAMID_BLOCKED_NS,
					   .worker_id = w, .has_worker_id = true,
					   .out_ns = now + dur);
			if (i % 41 == 3)
				dur += 2 * PYRAMID_BLOCKED_NS;
			SCRIPT_PUT(s, poll_end, now + dur, .worker_id = w);
			now += dur;
			if (i % 3)
				continue;
			SCRIPT_PUT(s, worker_park, now, .worker_id = w);
			now += r % 999;
			SCRIPT_PUT(s, worker_unpark, now, .worker_id = w, .sched_wait_ns = r % 77,
				   .has_sched_wait_ns = i % 2 == 0);
		}
	}
	assert_true(fd >= 0);
	assert_int_equal(write(fd, s->enc.buf, s->enc.len), s->enc.len);
	d9_pool_free(s->pool);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	file = (struct index_file){ path, false };
	assert_int_equal(index_open(&c, &file, 1, &opt), 0);
	close(fd);
	return c;
}

struct row { /* as the walk sees it */
	uint64_t key, end, value;
	bool has_length, is_covered;
	uint32_t number;
};

static bool row_of(const struct columns *c, enum pyramid_plane plane, uint32_t i, struct row *r)
{
	uint64_t start = c->polls.start_ns[i], dur = c->polls.dur_ns[i];
	uint64_t ready = c->polls.ready_ns[i], wait = ready && ready < start ? start - ready : 0;

	*r = (struct row){ start, start + dur, dur, true, false, i };
	switch (plane) {
	case PYRAMID_POLLS:
		r->is_covered = true;
		return true;
	case PYRAMID_QUEUE:
		r->value = c->polls.queue[i];
		r->has_length = false;
		return true;
	case PYRAMID_WAITS:
		r->value = wait;
		r->has_length = false;
		return true;
	case PYRAMID_BAD_LONG:
		r->is_covered = true;
		return dur >= PYRAMID_LONG_NS;
	case PYRAMID_BAD_LATE:
		r->value = wait;
		return wait >= PYRAMID_LATE_NS;
	case PYRAMID_BAD_BLOCKED:
		r->value = c->polls.off_ns[i];
		return r->value >= PYRAMID_BLOCKED_NS;
	default:
		return false;
	}
}

static void check_cells(const struct columns *c, enum pyramid_plane plane, uint32_t lane,
			uint64_t from, uint64_t to, uint32_t cnt)
{
	struct pyramid_cell *cells = calloc(cnt, sizeof(*cells));

	assert_int_equal(pyramid_query(c, plane, lane, from, to, cnt, cells), 0);
	for (uint32_t k = 0; k < cnt; k++) {
		uint64_t a = from + (to - from) * k / cnt, b = from + (to - from) * (k + 1) / cnt;
		struct pyramid_cell want = { .exemplar = COLUMNS_NONE };
		struct row r;

		for (uint32_t i = c->lanes.polls_from[lane]; i < c->lanes.polls_to[lane]; i++) {
			bool begins, reaches;

			if (!row_of(c, plane, i, &r))
				continue;
			begins = r.key >= a && r.key < b;
			reaches = r.has_length && r.key < a && r.end > a;
			if (!begins && !reaches)
				continue;
			want.cnt += begins;
			if (want.exemplar == COLUMNS_NONE || r.value > want.max) {
				want.max = r.value;
				want.exemplar = i;
			}
			if (r.is_covered)
				want.sum += (r.end < b ? r.end : b) - (begins ? r.key : a);
			else if (begins)
				want.sum += r.value;
		}
		assert_int_equal(cells[k].cnt, want.cnt);
		assert_true(cells[k].max == want.max);
		assert_true(cells[k].sum == want.sum);
		assert_int_equal(cells[k].exemplar, want.exemplar);
	}
	free(cells);
}

static void test_equals_walk(void **state)
{
	static const enum pyramid_plane planes[] = { PYRAMID_POLLS,    PYRAMID_QUEUE,
						     PYRAMID_WAITS,    PYRAMID_BAD_LONG,
						     PYRAMID_BAD_LATE, PYRAMID_BAD_BLOCKED };
	static const uint32_t sizes[] = { 1, 2, 15, 16, 17, 255, 257, 800 };

	(void)state;
	for (size_t n = 0; n < sizeof(sizes) / sizeof(sizes[0]); n++) {
		struct columns *c = random_columns(sizes[n]);
		uint64_t first = c->odd.first_ns, span = c->odd.last_ns - first;

		for (size_t p = 0; p < sizeof(planes) / sizeof(planes[0]); p++)
			for (uint32_t lane = 0; lane < c->lanes.cnt; lane++) {
				check_cells(c, planes[p], lane, 0, first + span + 100, 1);
				check_cells(c, planes[p], lane, first, first + span + 100, 37);
				check_cells(c, planes[p], lane, first + span / 3,
					    first + span / 2 + 100, 101);
				check_cells(c, planes[p], lane, first + span / 3,
					    first + span / 3 + 7000, 50);
				check_cells(c, planes[p], lane, first + span + 5,
					    first + span + 9000, 3);
			}
		index_close(c);
	}
}

/* Whatever the zoom, the cells hold every bad poll once. */
static void test_no_bad_poll_vanishes(void **state)
{
	struct columns *c = random_columns(800);
	struct pyramid_cell cells[64];

	(void)state;
	for (enum pyramid_plane p = PYRAMID_BAD_LONG; p <= PYRAMID_BAD_BLOCKED; p++) {
		uint32_t row = (uint32_t)(p - PYRAMID_BAD_LONG) * c->lanes.cnt;
		uint32_t want = c->bad_lanes.bads_to[row] - c->bad_lanes.bads_from[row];

		assert_true(want > 0);
		for (uint32_t cnt = 1; cnt <= 64; cnt *= 2) {
			uint32_t sum = 0;

			assert_int_equal(pyramid_query(c, p, 0, 0, c->odd.last_ns + 1, cnt, cells),
					 0);
			for (uint32_t k = 0; k < cnt; k++)
				sum += cells[k].cnt;
			assert_int_equal(sum, want);
		}
	}
	index_close(c);
}

static void test_parks_and_delays(void **state)
{
	struct columns *c = random_columns(300);
	struct pyramid_cell cell;
	uint64_t dur = 0, worst = 0;

	(void)state;
	for (uint32_t i = c->lanes.parks_from[1]; i < c->lanes.parks_to[1]; i++) {
		dur += c->parks.dur_ns[i];
		if (c->parks.delay_ns[i] != UINT64_MAX && c->parks.delay_ns[i] > worst)
			worst = c->parks.delay_ns[i];
	}
	assert_int_equal(pyramid_query(c, PYRAMID_PARKS, 1, 0, c->odd.last_ns + 1, 1, &cell), 0);
	assert_true(cell.sum == dur && cell.cnt == 100);
	assert_int_equal(pyramid_query(c, PYRAMID_DELAYS, 1, 0, c->odd.last_ns + 1, 1, &cell), 0);
	assert_true(cell.max == worst && cell.cnt == 100);
	assert_true(c->parks.delay_ns[cell.exemplar] == worst);
	index_close(c);
}

static void test_bad_requests(void **state)
{
	struct columns *c = random_columns(3);
	struct pyramid_cell cell;

	(void)state;
	assert_int_equal(pyramid_query(c, PYRAMID_PLANES, 0, 0, 10, 1, &cell), -EINVAL);
	assert_int_equal(pyramid_query(c, PYRAMID_POLLS, c->lanes.cnt, 0, 10, 1, &cell), -EINVAL);
	assert_int_equal(pyramid_query(c, PYRAMID_POLLS, 0, 10, 10, 1, &cell), -EINVAL);
	assert_int_equal(pyramid_query(c, PYRAMID_POLLS, 0, 0, 10, 0, &cell), -EINVAL);
	assert_int_equal(pyramid_query(c, PYRAMID_POLLS, 0, 0, 10, 11, &cell), -EINVAL);
	assert_null(pyramid_name(PYRAMID_PLANES));
	assert_string_equal(pyramid_name(PYRAMID_BAD_LATE), "bad_late");
	index_close(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equals_walk),
		cmocka_unit_test(test_no_bad_poll_vanishes),
		cmocka_unit_test(test_parks_and_delays),
		cmocka_unit_test(test_bad_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
