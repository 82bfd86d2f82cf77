// SPDX-License-Identifier: Apache-2.0
/* test_live.c - a recording that grows: the columns are those of a cold open. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "eventscript.h"
#include "test/unit/samecolumns.h"
#include "test/unit/scratch.h"
#include "viewer/core/columns.h"
#include "viewer/core/index.h"
#include "viewer/core/live.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SEGMENTS 7u
#define EVENTS 400u /* about, of a segment */
#define TASKS 40u

static char paths[SEGMENTS][128];
static struct index_file files[SEGMENTS];
static struct live *live;
static uint64_t rng;

static uint64_t up_to(uint64_t n)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng % n;
}

static uint32_t some_text(struct eventscript *s, const char *kind, uint64_t n)
{
	char text[64];

	snprintf(text, sizeof(text), "%s.rs:%llu:1", kind, (unsigned long long)up_to(n));
	return eventscript_str(s, text);
}

static uint32_t some_stack(struct eventscript *s, unsigned int nr)
{
	const uint64_t frames[] = { 0x1000 + 16 * up_to(4 + 4 * nr), 0x9000 + 16 * up_to(3) };
	uint32_t stack = 0;

	assert_int_equal(d9_intern_stack(&s->enc, frames, 2, &stack), 0);
	return stack;
}

/* What a segment begins with: facts of which one changes, from the fifth on another session; and what
 * goes with the end of the one before: a poll's end, the sample of a task that was named. */
static void put_head(struct eventscript *s, unsigned int nr, uint64_t ns)
{
	static const char *const sessions[] = { "1", "2" };
	char workers[32];
	struct d9_pair facts[] = { { { "runtime.api", 11 }, { workers, 0 } },
				   { { "agent.session", 13 }, { sessions[nr >= 4], 1 } } };

	facts[0].val.len = (uint32_t)snprintf(workers, sizeof(workers), "0,%u", 1 + nr % 3);
	SCRIPT_PUT(s, segment_metadata, ns, .entries = facts, .entries_cnt = 2);
	SCRIPT_PUT(s, clock_sync, ns, .realtime_ns = 1000000 + ns);
	SCRIPT_PUT(s, poll_end, ns + 1, .worker_id = 9);
	SCRIPT_PUT(s, cpu_sample, ns - 1, .worker_id = 255, .tid = 55);
}

/* One event of any kind; more workers, tasks, stacks and texts in later segments. */
static void put_some(struct eventscript *s, unsigned int nr, uint64_t ns)
{
	static const struct d9_any_field fields[] = { { "n", D9_T_VARINT } };
	const struct d9_any_def def = { (uint16_t)(100 + nr), nr % 2 ? "my:Odd" : "my:Even", false, 1, fields };
	const struct d9_value values[] = { { .type = D9_T_VARINT, .u = ns } };
	uint64_t worker = up_to(2 + nr), task = 1 + up_to(TASKS / 2 + 5 * nr), other = 1 + up_to(TASKS);

	switch (up_to(20)) {
	case 0:
		SCRIPT_PUT(s, worker_park, ns, .worker_id = worker, .tid = (uint32_t)(70 + worker + nr / 3));
		break;
	case 1:
		SCRIPT_PUT(s, worker_unpark, ns, .worker_id = worker, .tid = (uint32_t)(70 + worker + nr / 3));
		break;
	case 2:
		SCRIPT_PUT(s, task_spawn, ns, .task_id = task, .spawn_loc = some_text(s, "spawn", 5 + nr));
		break;
	case 3:
		SCRIPT_PUT(s, task_terminate, ns, .task_id = task);
		break;
	case 4:
		SCRIPT_PUT(s, agent_task_end, ns, .task_id = task, .cause = (uint8_t)(1 + up_to(4)));
		break;
	case 5:
		SCRIPT_PUT(s, agent_alive, ns, .task_id = task, .type = some_text(s, "type", 3 + nr));
		break;
	case 6:
		SCRIPT_PUT(s, agent_inferred_end, ns, .worker_id = worker, .task_id = task,
			   .rule = (uint8_t)(1 + up_to(6)));
		break;
	case 7:
	case 8: /* of a thread that may become a worker only in a later segment */
		SCRIPT_PUT(s, cpu_sample, ns, .worker_id = up_to(2) ? worker : 255,
			   .tid = (uint32_t)(70 + up_to(12)), .callchain = some_stack(s, nr));
		break;
	case 9:
		SCRIPT_PUT(s, agent_off_cpu, ns, .tid = (uint32_t)(90 + up_to(9)), .out_ns = ns - 5,
			   .reason = 1, .worker_id = worker, .has_worker_id = up_to(2) == 0);
		break;
	case 10:
		SCRIPT_PUT(s, agent_nested_poll, ns, .worker_id = worker, .task_id = task,
			   .start_ns = ns - 3, .spawn_loc = some_text(s, "nested", 3));
		break;
	case 11:
		SCRIPT_PUT(s, agent_blocking, ns, .task_id = 500 + task, .tid = (uint32_t)(90 + up_to(2 + nr)),
			   .start_ns = ns - 8, .type = some_text(s, "block", 2 + nr));
		break;
	case 12:
		SCRIPT_PUT(s, runtime_metrics, ns, .runtime_name = some_text(s, "runtime", 1 + nr),
			   .global_queue_depth = (uint32_t)up_to(9));
		break;
	case 13:
		assert_int_equal(d9_put_any_schema(&s->enc, &def), 0);
		assert_int_equal(d9_put_any(&s->enc, ns, &def, values), 0);
		break;
	case 14:
		SCRIPT_PUT(s, symbol, 0, .addr = 0x1000 + 16 * up_to(16),
			   .symbol_name = some_text(s, "function", 30), .inline_depth = up_to(2));
		break;
	case 15:
	case 16:
		SCRIPT_PUT(s, wake, ns, .woken_task_id = task, .waker_task_id = up_to(2) ? other : 0,
			   .target_worker = (uint8_t)(up_to(2) ? worker : 255));
		break;
	default:
		SCRIPT_PUT(s, poll_start, ns, .worker_id = worker, .task_id = task,
			   .spawn_loc = some_text(s, "spawn", 5 + nr));
		if (up_to(8)) /* some stay open, maybe beyond the end of the file */
			SCRIPT_PUT(s, poll_end, ns + up_to(60), .worker_id = worker);
	}
}

/* Segment nr, or but the share of its bytes that was written by then; and how long ago. */
static void put_segment(unsigned int nr, unsigned int percent, int age_s)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { 0 } };
	struct eventscript *s = eventscript_begin();
	size_t sz;
	int fd;

	rng = 88172645463325252ull + nr;
	put_head(s, nr, 100000ull * (nr + 1));
	for (uint64_t i = 0; i < EVENTS; i++)
		put_some(s, nr, 100000ull * (nr + 1) + 200 * i + up_to(300));
	SCRIPT_PUT(s, poll_start, 100000ull * (nr + 2) - 1, .worker_id = 9, .task_id = 3);
	SCRIPT_PUT(s, agent_sample, 100000ull * (nr + 2) - 1, .tid = 55, .task_id = 600 + nr);
	d9_pool_free(s->pool);
	sz = s->enc.len * percent / 100;
	fd = open(paths[nr], O_WRONLY | O_CREAT | O_TRUNC, 0666);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, s->enc.buf, sz), sz);
	times[1].tv_sec = time(NULL) - age_s;
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

static void same_columns(const struct columns *a, const struct columns *b)
{
	const char *what = samecolumns_differ(a, b);

	if (what)
		fail_msg("%s differs", what);
	for (uint32_t i = 0; i < a->tasks.cnt; i++)
		assert_int_equal(columns_task(b, a->tasks.id[i]), i);
	assert_int_equal(columns_task(b, 987654), COLUMNS_NONE);
}

/* files[from..to), of which the first `sealed` do not grow, cold and live. */
static void check(unsigned int from, unsigned int to, unsigned int sealed, unsigned int kept)
{
	static const struct index_opt none = { .cache_dir = "" };
	struct columns *cold = NULL, *warm = NULL;

	assert_int_equal(index_open(&cold, files + from, to - from, &none), 0);
	assert_int_equal(live_open(live, &warm, files + from, to - from, sealed, NULL, 1u << 30), 0);
	assert_int_equal(live_cnt(live), kept);
	same_columns(cold, warm);
	index_close(cold);
	index_close(warm);
}

static int setup(void **state)
{
	if (scratch_make(state))
		return -1;
	for (unsigned int i = 0; i < SEGMENTS; i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s/trace.%u.bin", scratch, i);
		files[i] = (struct index_file){ paths[i], i == 3 };
	}
	live = live_new();
	return live ? 0 : -1;
}

static int teardown(void **state)
{
	live_free(live);
	return scratch_remove(state);
}

/* Each prefix, its last file still growing, then not, then old enough to stay. */
static void test_grows(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < SEGMENTS; i++) {
		put_segment(i, 40, 0);
		check(0, i + 1, i, i);
		put_segment(i, 75, 0);
		check(0, i + 1, i, i);
		put_segment(i, 100, 0);
		check(0, i + 1, i + 1, i);
		put_segment(i, 100, 10);
		check(0, i + 1, i + 1, i + 1);
		check(0, i + 1, i + 1, i + 1);
	}
	assert_true(live_sz(live) > 0);
}

/* Several at once, none kept before, and all that is kept while the rest changes. */
static void test_many_at_once(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < SEGMENTS; i++)
		put_segment(i, 100, i < 5 ? 10 : 0);
	check(0, SEGMENTS, SEGMENTS, 5);
	check(0, 5, 5, 5);
	check(0, 6, 6, 5);
	live_forget(live);
	assert_int_equal(live_cnt(live), 0);
	assert_int_equal(live_sz(live), 0);
	check(0, SEGMENTS, SEGMENTS, 5);
	files[5].is_after_gap = true; /* and then it is not: a file was listed too late */
	check(0, 6, 6, 5);
	files[5].is_after_gap = false;
	check(0, 6, 6, 5);
}

/* The oldest one is evicted, one has changed, one has lost what was before it: all begins anew. */
static void test_begins_anew(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < SEGMENTS; i++)
		put_segment(i, 100, 10);
	check(0, 5, 5, 5);
	check(1, 6, 5, 5);
	put_segment(2, 60, 10);
	check(1, 6, 5, 5);
	files[2].is_after_gap = true;
	check(1, 6, 5, 5);
	check(1, 3, 2, 2); /* the newest are gone */
	unlink(paths[2]);
	check(1, 6, 5, 1); /* one that cannot be read is not kept, nor what follows */
}

/* What is kept is not read again. */
static void test_is_not_read_again(void **state)
{
	static const char other[64];
	struct columns *c = NULL;
	struct timespec times[2];
	struct stat st;
	uint64_t events;
	int fd;

	(void)state;
	put_segment(0, 100, 10);
	put_segment(1, 100, 10);
	check(0, 1, 1, 1);
	fd = open(paths[0], O_WRONLY);
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	assert_int_equal(pwrite(fd, other, sizeof(other), 0), sizeof(other));
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
	assert_int_equal(live_open(live, &c, files, 2, 2, NULL, 1u << 30), 0);
	assert_int_equal(c->segments.err[0], 0);
	events = c->odd.events;
	index_close(c);
	live_forget(live);
	assert_int_equal(live_open(live, &c, files, 2, 2, NULL, 1u << 30), 0);
	assert_true(c->segments.err[0] != 0 && c->odd.events < events);
	index_close(c);
}

/* Above its cap nothing stays, then or later; the answers do not change. */
static void test_cap(void **state)
{
	struct columns *c = NULL;

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		put_segment(i, 100, 10);
	check(0, 2, 2, 2);
	assert_int_equal(live_open(live, &c, files, 3, 3, NULL, live_sz(live) / 2), 0);
	assert_int_equal(c->segments.cnt, 3);
	index_close(c);
	check(0, 3, 3, 0);
	assert_int_equal(live_sz(live), 0);
}

static int stop(void *ctx, size_t file, uint64_t in_sz, uint64_t events)
{
	(void)ctx, (void)file, (void)in_sz, (void)events;
	return 1;
}

/* An attempt that fails leaves nothing half-gathered. */
static void test_fails(void **state)
{
	const struct index_file none = { "/nonexistent/dial9", false };
	struct index_opt opt = { .progress = stop };
	struct columns *c = NULL;
	struct eventscript *s;
	int fd;

	(void)state;
	put_segment(0, 100, 10);
	check(0, 1, 1, 1);
	/* enough events that progress is told */
	fd = open(paths[1], O_WRONLY | O_CREAT, 0666);
	s = eventscript_begin();
	for (uint64_t i = 0; i < 20000; i++)
		SCRIPT_PUT(s, poll_end, 100 + i, .worker_id = 1);
	d9_pool_free(s->pool);
	assert_int_equal(write(fd, s->enc.buf, s->enc.len), s->enc.len);
	close(fd);
	assert_int_equal(live_open(live, &c, files, 2, 1, &opt, 1u << 30), -125 /* ECANCELED */);
	assert_int_equal(live_cnt(live), 0);
	check(0, 2, 1, 1);
	assert_int_equal(live_open(live, &c, &none, 1, 1, NULL, 1u << 30), -2 /* ENOENT */);
	assert_null(c);
	check(0, 2, 1, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_grows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_begins_anew, setup, teardown),
		cmocka_unit_test_setup_teardown(test_is_not_read_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cap, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fails, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
