// SPDX-License-Identifier: Apache-2.0
/* test_passed.c - what filters let pass of a recording, by type. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "eventscript.h"
#include "viewer/command.h"
#include "viewer/labels.h"
#include "viewer/passed.h"
#include "viewer/report.h"
#include "viewer/traceset.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/dial9-passed-XXXXXX";

/* Task 1 of type a on worker 0: woken at 1 ms, polled 2..3 and 6..9 ms; task 2 of type b on worker
 * 1, polled 4..5 ms. */
static int setup(void **state)
{
	struct eventscript *s = eventscript_begin();
	uint32_t a = eventscript_str(s, "a.rs:1:1"), b = eventscript_str(s, "b.rs:1:1");
	int fd = mkstemp(path);

	(void)state;
	SCRIPT_PUT(s, wake, 1000000, .waker_task_id = 0, .woken_task_id = 1, .target_worker = 0);
	SCRIPT_PUT(s, poll_start, 2000000, .worker_id = 0, .task_id = 1, .spawn_loc = a);
	SCRIPT_PUT(s, poll_end, 3000000, .worker_id = 0);
	SCRIPT_PUT(s, poll_start, 4000000, .worker_id = 1, .task_id = 2, .spawn_loc = b);
	SCRIPT_PUT(s, poll_end, 5000000, .worker_id = 1);
	SCRIPT_PUT(s, poll_start, 6000000, .worker_id = 0, .task_id = 1, .spawn_loc = a);
	SCRIPT_PUT(s, poll_end, 9000000, .worker_id = 0);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, s->enc.buf, s->enc.len), s->enc.len);
	close(fd);
	d9_pool_free(s->pool);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

/* "a: polls busy waits; b: ..." of what passes, in ms. */
static void check(const struct request *req, uint64_t span_ms, const char *want)
{
	struct traceset set = { 0 };
	struct passed p = { 0 };
	struct report *r;
	char got[256] = "";

	assert_int_equal(traceset_open(path, &set), 0);
	r = report_new(&set.recordings[0], false);
	assert_non_null(r);
	assert_int_equal(passed_read(&p, r, req, NULL), 0);
	assert_int_equal(p.span_ns, span_ms * 1000000);
	for (uint32_t i = 0; i < typetable_cnt(r->account.types); i++) {
		const struct type_row *t = passed_type(&p, i);
		size_t len = 0, at = strlen(got);

		if (t)
			snprintf(got + at, sizeof(got) - at, "%.1s %d %d %d; ",
				 labels_text(r->labels, t->label, &len), (int)t->polls,
				 (int)(t->busy_ns / 1000000), (int)t->wait.cnt);
	}
	assert_string_equal(got, want);
	passed_done(&p);
	report_free(r);
	traceset_close(&set);
}

static void test_filters(void **state)
{
	struct request none = { 0 }, task = { .has_task = true, .task = 1 };
	struct request type = { .type = "b.rs" }, worker = { .has_worker = true, .worker = 1 };

	(void)state;
	check(&none, 8, ""); /* nothing asked: the report has it all */
	check(&task, 8, "a 2 4 1; ");
	check(&type, 8, "b 1 1 0; ");
	check(&worker, 8, "b 1 1 0; ");
}

/* A poll counts by its start, whole; a wait by the start of the poll it leads to. */
static void test_times(void **state)
{
	struct request late = { .has_from = true, .from_relative = true, .from_ns = 2000000 };
	struct request early = { .has_to = true, .to_ns = 6000000 };
	struct request after = { .has_from = true, .from_ns = 99000000 };

	(void)state;
	check(&late, 6, "a 1 3 0; b 1 1 0; ");
	check(&early, 5, "a 2 4 1; b 1 1 0; ");
	check(&after, 0, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_times),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
