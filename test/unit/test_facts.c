// SPDX-License-Identifier: Apache-2.0
/* test_facts.c - what metadata says about claims and unknowns. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "eventscript.h"
#include "viewer/facts.h"

#include <string.h>

static void add(void *ctx, const struct d9_ev *ev)
{
	facts_add(ctx, ev);
}

static struct d9_pair pair(const char *key, const char *value)
{
	return (struct d9_pair){ { key, (uint32_t)strlen(key) },
				 { value, (uint32_t)strlen(value) } };
}

static void learn(struct facts *f, const char *key, const char *value)
{
	struct eventscript *s = eventscript_begin();
	const struct d9_pair p = pair(key, value);

	SCRIPT_PUT(s, segment_metadata, 1, .entries = &p, .entries_cnt = 1);
	eventscript_each(s, add, f);
}

static void test_claims(void **state)
{
	struct facts f = { 0 };

	(void)state;
	assert_false(facts_claims(&f, D9_EV_WAKE));
	learn(&f, "agent.has", "PollStartEvent, poll_end,,agent:OffCpu,no such thing");
	assert_true(f.is_agent && f.has_claims);
	assert_true(facts_claims(&f, D9_EV_POLL_START));
	assert_true(facts_claims(&f, D9_EV_POLL_END));
	assert_true(facts_claims(&f, D9_EV_AGENT_OFF_CPU));
	assert_false(facts_claims(&f, D9_EV_WAKE));
	assert_false(facts_claims(&f, D9_EV_OTHER));
	learn(&f, "agent.has", "WakeEventEvent"); /* the last value wins */
	assert_false(facts_claims(&f, D9_EV_POLL_START));
	assert_true(facts_claims(&f, D9_EV_WAKE));
	learn(&f, "service_name", "x"); /* other keys change nothing */
	assert_true(facts_claims(&f, D9_EV_WAKE));
}

static void test_unknown_fields(void **state)
{
	struct facts f = { 0 };

	(void)state;
	learn(&f, "agent.unknown", "WorkerParkEvent.cpu_time_ns,bad,PollStartEvent.no,.,x.y");
	assert_true(facts_is_unknown(&f, D9_EV_WORKER_PARK, D9F_worker_park_cpu_time_ns, 0));
	assert_true(facts_is_unknown(&f, D9_EV_WORKER_PARK, D9F_worker_park_cpu_time_ns, 5));
	assert_false(facts_is_unknown(&f, D9_EV_WORKER_PARK, D9F_worker_park_tid, 0));
	assert_false(facts_is_unknown(&f, D9_EV_WORKER_UNPARK, D9F_worker_unpark_cpu_time_ns, 0));
	assert_false(facts_is_unknown(&f, D9_EV_OTHER, 0, 0));
	assert_false(facts_is_unknown(&f, D9_EV_WORKER_PARK, -1, 0));
	learn(&f, "agent.unknown", "");
	assert_false(facts_is_unknown(&f, D9_EV_WORKER_PARK, D9F_worker_park_cpu_time_ns, 0));
}

static void test_queues(void **state)
{
	struct facts f = { 0 };

	(void)state;
	learn(&f, "tokio.local_queue", "partial");
	assert_true(facts_is_unknown(&f, D9_EV_POLL_START, D9F_poll_start_local_queue, 0));
	assert_false(facts_is_unknown(&f, D9_EV_POLL_START, D9F_poll_start_local_queue, 1));
	learn(&f, "tokio.local_queue", "false");
	assert_true(facts_is_unknown(&f, D9_EV_POLL_START, D9F_poll_start_local_queue, 1));
	assert_true(facts_is_unknown(&f, D9_EV_WORKER_UNPARK, D9F_worker_unpark_local_queue, 1));
	learn(&f, "tokio.local_queue", "true");
	assert_false(facts_is_unknown(&f, D9_EV_POLL_START, D9F_poll_start_local_queue, 0));
}

struct asked {
	struct facts f;
	unsigned unknown;
};

static void ask(void *ctx, const struct d9_ev *ev)
{
	struct asked *a = ctx;

	a->unknown = a->unknown << 1 | facts_is_unknown_in(&a->f, ev, D9F_poll_start_local_queue, 0);
}

/* The zeros of workers that are not listed are measurements. */
static void test_unread_workers(void **state)
{
	struct asked a = { 0 };
	struct eventscript *s;

	(void)state;
	learn(&a.f, "tokio.local_queue", "partial");
	learn(&a.f, "agent.local_queue_unread", "7,1,99999");
	s = eventscript_begin();
	for (uint64_t id = 0; id < 4; id++)
		SCRIPT_PUT(s, poll_start, 1, .worker_id = id == 3 ? 5000 : id, .task_id = 1);
	eventscript_each(s, ask, &a);
	assert_int_equal(a.unknown, 5); /* 0101: worker 1, and the one beyond the table */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_claims),
		cmocka_unit_test(test_unknown_fields),
		cmocka_unit_test(test_unread_workers),
		cmocka_unit_test(test_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
