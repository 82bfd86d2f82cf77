// SPDX-License-Identifier: Apache-2.0
/* parksums: what a recorder may have added up, and what it cannot have. links: viewer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs those four first */
#include <cmocka.h>

#include "eventscript.h"
#include "format/trace.h"
#include "viewer/parksums.h"

#include <string.h>

static struct parksums *sums;
static struct eventscript *script;
static char said[PARKSUMS_THREADS_MAX + 64]; /* a letter for each agent:Parks: w = well, n = not */

static void take(void *ctx, const struct d9_ev *ev)
{
	size_t at = strlen(said);

	(void)ctx;
	if (ev->schema->kind == D9_EV_AGENT_OFF_CPU)
		parksums_off_cpu(sums, ev);
	if (ev->schema->kind != D9_EV_AGENT_PARKS)
		return;
	said[at] = parksums_add(sums, ev) ? 'w' : 'n';
	said[at + 1] = '\0';
}

static int begin(void **state)
{
	(void)state;
	said[0] = '\0';
	sums = parksums_new();
	script = eventscript_begin();
	return sums && script ? 0 : -1;
}

static int done(void **state)
{
	(void)state;
	parksums_free(sums);
	return 0;
}

static void sum(uint32_t tid, uint64_t from_ns, uint64_t to_ns, uint64_t parked_ns, uint64_t cpu_ns)
{
	SCRIPT_PUT(script, agent_parks, to_ns, .tid = tid, .from_ns = from_ns, .to_ns = to_ns,
		   .parks = 1, .parked_ns = parked_ns, .cpu_time_ns = cpu_ns);
}

static void off(uint32_t tid, uint64_t out_ns, uint64_t in_ns)
{
	SCRIPT_PUT(script, agent_off_cpu, in_ns, .tid = tid, .out_ns = out_ns, .reason = 1);
}

static void says(const char *want)
{
	eventscript_each(script, take, NULL);
	assert_string_equal(said, want);
}

static void one_alone(void **state)
{
	(void)state;
	sum(1, 100, 200, 100, 1);
	sum(2, 100, 200, 101, 1);
	sum(3, 200, 100, 0, 1); /* backwards */
	SCRIPT_PUT(script, agent_parks, 100, .tid = 4, .from_ns = 50, .to_ns = 101); /* to come */
	SCRIPT_PUT(script, agent_parks, 100, .tid = 5, .from_ns = 0, .to_ns = 100, .parked_ns = 20,
		   .delayed_ns = 20, .preempted_ns = 20, .polls_preempted = 1,
		   .polls_preempted_ns = 20, .others_ns = 20); /* a sleep counts at its end */
	SCRIPT_PUT(script, agent_parks, 100, .tid = 6, .from_ns = 0, .to_ns = 100, .parked_ns = 20,
		   .delayed_ns = 20, .preempted_ns = 20, .polls_preempted = 1,
		   .polls_preempted_ns = 20, .others_ns = 21);
	SCRIPT_PUT(script, agent_parks, 100, .tid = 7, .from_ns = 0, .to_ns = 100,
		   .parked_ns = UINT64_MAX, .others_ns = 2); /* overflows */
	says("wnnnwnn");
}

static void polls_lose_their_cpu_shortly(void **state)
{
	(void)state;
	SCRIPT_PUT(script, agent_parks, 9000000, .tid = 1, .from_ns = 0, .to_ns = 9000000,
		   .polls_preempted = 2, .polls_preempted_ns = 1999998);
	SCRIPT_PUT(script, agent_parks, 9000000, .tid = 2, .from_ns = 0, .to_ns = 9000000,
		   .polls_preempted = 2, .polls_preempted_ns = 3000000);
	SCRIPT_PUT(script, agent_parks, 9000000, .tid = 3, .from_ns = 0, .to_ns = 9000000,
		   .polls_preempted = 0, .polls_preempted_ns = 1);
	says("wnn");
}

static void one_after_the_other(void **state)
{
	(void)state;
	sum(1, 100, 200, 50, 10);
	sum(1, 200, 300, 50, 10);
	sum(1, 299, 400, 50, 11); /* overlaps */
	sum(2, 100, 200, 50, 500); /* another thread */
	sum(1, 900, 1000, 50, 11);
	sum(1, 1000, 1100, 50, 9); /* CPU time given back */
	says("wwnwwn");
}

/* Lanes: what was written later in the file may be the earlier. */
static void in_either_order(void **state)
{
	(void)state;
	sum(1, 300, 400, 50, 30);
	sum(1, 100, 200, 50, 10);
	sum(1, 100, 301, 50, 10);
	sum(1, 200, 250, 50, 31);
	sum(1, 400, 500, 50, 40);
	says("wwnnw");
}

static void beside_switches_of_their_own(void **state)
{
	(void)state;
	sum(1, 100, 200, 0, 0);
	off(1, 210, 240);
	off(1, 250, 290);
	sum(1, 200, 300, 30, 0); /* 30 + 40 + 30 */
	off(1, 310, 350);
	off(1, 350, 390);
	sum(1, 300, 400, 21, 0); /* 40 + 40 + 21 */
	off(1, 420, 600); /* goes on behind it */
	sum(1, 400, 500, 30, 0);
	off(1, 1000, 1200); /* not summed up meanwhile */
	sum(1, 1300, 1400, 90, 0);
	off(2, 1400, 1500);
	sum(1, 1400, 1500, 90, 0); /* another thread's */
	says("wwnwww");
}

static void nothing_is_compared_over_a_hole(void **state)
{
	(void)state;
	sum(1, 100, 200, 50, 10);
	says("w");
	parksums_forget(sums);
	script = eventscript_begin();
	sum(1, 150, 250, 50, 5);
	says("ww");
}

/* At the cap all are forgotten: no finding is made up. */
static void many_threads(void **state)
{
	(void)state;
	sum(1, 100, 200, 50, 10);
	sum(1, 150, 250, 50, 10);
	for (uint32_t tid = 2; tid <= PARKSUMS_THREADS_MAX + 1; tid++)
		sum(tid, 100, 200, 50, 10);
	sum(1, 150, 250, 50, 10);
	eventscript_each(script, take, NULL);
	assert_memory_equal(said, "wnwww", 5);
	assert_int_equal(strlen(said), PARKSUMS_THREADS_MAX + 3);
	assert_int_equal(strspn(said + 2, "w"), PARKSUMS_THREADS_MAX + 1);
}

#define SUMS_TEST(f) cmocka_unit_test_setup_teardown(f, begin, done)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SUMS_TEST(one_alone),
		SUMS_TEST(polls_lose_their_cpu_shortly),
		SUMS_TEST(one_after_the_other),
		SUMS_TEST(in_either_order),
		SUMS_TEST(beside_switches_of_their_own),
		SUMS_TEST(nothing_is_compared_over_a_hole),
		SUMS_TEST(many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
