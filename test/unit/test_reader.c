// SPDX-License-Identifier: Apache-2.0
/* test_reader.c - files to events: facts first, renamed files, cut tails. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "eventscript.h"
#include "test/unit/scratch.h"
#include "viewer/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Three polls, then the metadata that says their queue lengths are unknown. `cut` bytes are left
 * out at the end. */
static void write_file(const char *name, size_t cut)
{
	const struct d9_pair fact = { { "agent.unknown", 13 },
				      { "PollStartEvent.local_queue", 26 } };
	struct eventscript *s = eventscript_begin();
	char path[256];
	int fd;

	for (uint64_t i = 1; i <= 3; i++)
		SCRIPT_PUT(s, poll_start, i * 100, .task_id = i,
			   .spawn_loc = eventscript_str(s, "a.rs:1:1"));
	SCRIPT_PUT(s, segment_metadata, 400, .entries = &fact, .entries_cnt = 1);
	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, s->enc.buf, s->enc.len - cut), s->enc.len - cut);
	close(fd);
	d9_pool_free(s->pool);
}

static struct traceset_file file(const char *name, bool is_active)
{
	static char path[256];
	struct traceset_file f = { .path = path, .is_active = is_active };

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	f.name = path;
	return f;
}

struct seen {
	struct facts facts;
	uint64_t events, unknown;
	struct reader_end end;
	int stop_at;
};

static int on_event(void *ctx, const struct d9_ev *ev)
{
	struct seen *s = ctx;

	if (ev->schema->kind == D9_EV_POLL_START)
		s->unknown += facts_is_unknown(&s->facts, D9_EV_POLL_START,
					       D9F_poll_start_local_queue, 0);
	return ++s->events == (uint64_t)s->stop_at ? -7 : 0;
}

static int on_end(void *ctx, const struct traceset_recording *rec, size_t at,
		  const struct reader_end *end)
{
	(void)rec;
	(void)at;
	((struct seen *)ctx)->end = *end;
	return 0;
}

static int run(struct seen *s, struct traceset_file f)
{
	const struct traceset_recording rec = { .name = "r", .files = &f, .files_cnt = 1 };
	const struct reader_ops ops = { .event = on_event, .end = on_end, .facts = &s->facts };

	return reader_run(&rec, &ops, s, NULL);
}

static void test_facts_come_before_the_events(void **state)
{
	struct seen s = { 0 };

	(void)state;
	write_file("t.0.bin", 0);
	assert_int_equal(run(&s, file("t.0.bin", false)), 0);
	assert_int_equal(s.events, 4);
	assert_int_equal(s.unknown, 3);
	assert_int_equal(s.end.err, 0);
	assert_int_equal(s.end.events, 4);
	assert_int_equal(s.end.pooled, 1);
}

static void test_a_file_sealed_meanwhile_is_found(void **state)
{
	struct seen s = { 0 };

	(void)state;
	write_file("t.0.bin", 0);
	assert_int_equal(run(&s, file("t.0.bin.active", true)), 0);
	assert_int_equal(s.events, 4);
	/* one that is gone for good is an end with its error, not a failure of the run */
	s = (struct seen){ 0 };
	assert_int_equal(run(&s, file("t.9.bin.active", true)), 0);
	assert_int_equal(s.end.err, -ENOENT);
	assert_false(s.end.is_open);
}

static void test_cut_tails(void **state)
{
	struct seen s = { 0 };
	struct reader_end end;
	struct traceset_file f;
	uint64_t whole_sz = 0, all_sz;

	(void)state;
	write_file("t.0.bin", 1);
	f = file("t.0.bin", false);
	assert_int_equal(run(&s, f), 0);
	assert_int_equal(s.events, 3);
	assert_int_equal(s.end.err, -D9_E_TRUNCATED);
	assert_false(s.end.is_open);
	assert_int_equal(reader_notice(&f, &s.end), 3);
	f.is_active = true; /* the same of a file that is being written is no damage */
	s = (struct seen){ 0 };
	assert_int_equal(run(&s, f), 0);
	assert_true(s.end.is_open);
	assert_int_equal(reader_notice(&f, &s.end), 0);

	assert_int_equal(reader_check(&f, &end, &whole_sz), 0);
	assert_int_equal(end.events, 3);
	/* cut there, it is whole */
	assert_int_equal(truncate(f.path, (off_t)whole_sz), 0);
	assert_int_equal(reader_check(&f, &end, &all_sz), 0);
	assert_int_equal(end.err, 0);
	assert_int_equal(end.events, 3);
	assert_int_equal(all_sz, whole_sz);
}

static void test_a_callback_stops_it(void **state)
{
	struct seen s = { .stop_at = 2 };

	(void)state;
	write_file("t.0.bin", 0);
	assert_int_equal(run(&s, file("t.0.bin", false)), -7);
	assert_int_equal(s.events, 2);
}


int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_facts_come_before_the_events),
		SCRATCH_TEST(test_a_file_sealed_meanwhile_is_found),
		SCRATCH_TEST(test_cut_tails),
		SCRATCH_TEST(test_a_callback_stops_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
