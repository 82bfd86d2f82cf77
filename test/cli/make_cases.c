// SPDX-License-Identifier: Apache-2.0
/*
 * make_cases.c - writes one small trace for each analysis of dial9-view: `make_cases DIR`.
 *
 * The answers are worked out by hand beside the events; cases.bats asks for them, ANALYSES.md tells
 * them as examples. Times are in microseconds from T0.
 */
#include "tracescript.h"

/* `waker` 0: no task. It is issued on worker `on`. */
static void wake(uint64_t us, uint64_t woken, uint64_t waker, uint8_t on)
{
	PUT(wake, us, .woken_task_id = woken, .waker_task_id = waker, .target_worker = on);
}

static void start(uint64_t us, uint64_t worker, uint64_t task, const char *type, uint64_t queue)
{
	PUT(poll_start, us, .worker_id = worker, .task_id = task, .spawn_loc = str(type),
	    .local_queue = queue);
}

static void stop(uint64_t us, uint64_t worker)
{
	PUT(poll_end, us, .worker_id = worker);
}

static void park(uint64_t us, uint64_t worker)
{
	PUT(worker_park, us, .worker_id = worker, .tid = 100 + (uint32_t)worker);
}

static void unpark(uint64_t us, uint64_t worker, uint64_t delay_us)
{
	PUT(worker_unpark, us, .worker_id = worker, .tid = 100 + (uint32_t)worker,
	    .sched_wait_ns = delay_us * 1000, .has_sched_wait_ns = true);
}

/*
 * Two workers, 0 to 14000. w0 is taken from 1000 to 3000 and from 4000 to 9000, w1 from 2000 to
 * 5000, from 8000 to 12000 (it wants a CPU) and to 12500. Nobody is free from 2000 to 3000, from
 * 4000 to 5000 and from 8000 to 9000: 3 blackouts of 1000. A window of 1 ms can lie in one of
 * them: free 0. All three lie within 10 ms: free 7000.
 */
static void availability(void)
{
	unpark(0, 0, 0);
	start(1000, 0, 1, "a", 0);
	start(2000, 1, 2, "b", 0);
	stop(3000, 0);
	start(4000, 0, 1, "a", 0);
	stop(5000, 1);
	park(5000, 1);
	stop(9000, 0);
	park(9000, 0);
	unpark(12000, 1, 4000);
	start(12000, 1, 2, "b", 0);
	stop(12500, 1);
	unpark(14000, 0, 0);
}

/*
 * Three workers. Task 2 is woken at 2000 by task 1, whose poll goes on to 11000, and is polled
 * then: 9000 late. w1 sleeps all that time, w2 does not: starved, 1 of 2 others asleep; and a LIFO
 * stall of 9000. Task 1's poll of 10000 began with 2 tasks in the queue: stuck. At 31000 the same
 * again, but all are at work: saturated, no stall. Polls: w0 4, w1 1, w2 2; time in polls 20200,
 * 10000, 19000.
 */
static void starvation(void)
{
	park(500, 1);
	start(1000, 0, 1, "hog", 2);
	start(1500, 2, 3, "hog", 0);
	wake(2000, 2, 1, 0);
	stop(10500, 2);
	stop(11000, 0);
	start(11000, 0, 2, "victim", 0);
	stop(11100, 0);
	unpark(20000, 1, 0);
	start(30000, 0, 1, "hog", 0);
	start(30000, 1, 5, "hog", 0);
	start(30000, 2, 3, "hog", 0);
	wake(31000, 2, 1, 0);
	stop(40000, 0);
	start(40000, 0, 2, "victim", 0);
	stop(40000, 1);
	stop(40000, 2);
	stop(40100, 0);
}

/*
 * Six wakes of task 1. Effective: 100, 330, 950. Redundant: 150 (woken since 100) and 260 (since
 * 250). In its own poll and by itself: 250. Perhaps a yield: 330, 10 after its poll on w0, by
 * nobody on w0; 950 is not, since w0 slept from 400 to 900.
 */
static void wakes(void)
{
	wake(100, 1, 0, 0);
	wake(150, 1, 0, 255);
	start(200, 0, 1, "t", 0);
	wake(250, 1, 1, 0);
	wake(260, 1, 2, 1);
	stop(300, 0);
	start(310, 0, 1, "t", 0);
	stop(320, 0);
	wake(330, 1, 0, 0);
	start(340, 0, 1, "t", 0);
	stop(350, 0);
	park(400, 0);
	unpark(900, 0, 0);
	wake(950, 1, 0, 0);
	start(960, 0, 1, "t", 0);
	stop(970, 0);
}

/*
 * The injection queue is over 100 from the sample at 10000 to that at 30000, and from 40000 to the
 * last at 50000: 2 build-ups, 20000 and 10000. Deepest 200 at 20000; the sum is 647. w0's own queue
 * is 3, then 250: one build-up that has no length yet.
 */
static void queues(void)
{
	static const uint32_t depths[] = { 5, 150, 200, 90, 101, 101 };

	for (uint32_t i = 0; i < 6; i++)
		PUT(runtime_metrics, i * 10000, .runtime_name = str("main"),
		    .global_queue_depth = depths[i], .alive_tasks = 1);
	start(51000, 0, 1, "t", 3);
	stop(51100, 0);
	start(52000, 0, 1, "t", 250);
	stop(52100, 0);
}

/*
 * 0 to 40000. Each 200 a task of type leaky is spawned, 200 in all, and none ends: alive at
 * 10000 those of 0 to 10000, 51; then 101, 151, 200. Each 1000 from 1000 to 10000 a task of type
 * brief lives for 50, in one poll: 10 spawned, 10 ended, churn 10.
 */
static void leaks(void)
{
	unpark(0, 0, 0);
	for (uint64_t i = 0; i < 200; i++) {
		spawn(i * 200, 1000 + i, "leaky");
		if (i % 5 == 0 && i >= 5 && i <= 50) {
			spawn(i * 200 + 1, i, "brief");
			start(i * 200 + 10, 0, i, "brief", 0);
			stop(i * 200 + 20, 0);
			PUT(task_terminate, i * 200 + 51, .task_id = i);
		}
	}
	park(40000, 0);
}

static void blocking(uint32_t tid, uint64_t queued_us, uint64_t start_us, uint64_t end_us)
{
	PUT(agent_blocking, end_us, .task_id = start_us, .tid = tid,
	    .queued_ns = T0 + queued_us * 1000, .has_queued_ns = true,
	    .start_ns = T0 + start_us * 1000, .type = str("read"));
}

/*
 * Two threads. Queued: 0, 500, 9000 (3000 to 12000), 9000 (4000 to 13000): 2 at once from 4000 on.
 * After 1 ms in the queue each makes the pool saturated: 4000 to 12000 and 5000 to 13000, together
 * 9000. Runs of 20000, 10000, 1000, 1000: 2 of 10 ms and more, 32000 in all; 2 at once.
 */
static void pool_full(void)
{
	blocking(51, 1500, 2000, 12000);
	blocking(51, 3000, 12000, 13000);
	blocking(51, 4000, 13000, 14000);
	blocking(50, 1000, 1000, 21000);
}

/*
 * Task 3 ends at 3500. Back from there: it ran 100 and was ready 100 (woken in its own poll), ran
 * 300, was ready 600 since task 2 woke it at 2400; that had run 700 by then, ready 200 before,
 * since task 1 woke it at 1500; that had run 400, ready 100 since 1000, when nobody's task woke
 * it. 2500 in all: type a 400 running and 100 ready, b 700 and 200, c 400 and 700.
 */
static void path(void)
{
	wake(1000, 1, 0, 0);
	start(1100, 0, 1, "a", 0);
	wake(1500, 2, 1, 0);
	start(1700, 1, 2, "b", 0);
	stop(2000, 0);
	wake(2400, 3, 2, 1);
	stop(2600, 1);
	start(3000, 0, 3, "c", 0);
	wake(3100, 3, 3, 0);
	stop(3300, 0);
	start(3400, 0, 3, "c", 0);
	stop(3500, 0);
	PUT(task_terminate, 3500, .task_id = 3);
}

/*
 * Spans of dial9's tracing layer are other schemas; their fields are found by name. In the poll of
 * task 1, 1000 to 2000, 21 spans of 10 each: more than 20. One named slow takes 200, twenty times
 * the median of its name. One is entered and not left.
 */
static const struct d9_any_field enter_fields[] = { { "worker_id", D9_T_VARINT },
						    { "span_id", D9_T_VARINT },
						    { "span_name", D9_T_STRING } };
static const struct d9_any_def enter_def = { 100, "SpanEnter:app::work:a.rs:1", false, 3,
					     enter_fields };
static const struct d9_any_def leave_def = { 101, "SpanExit:app::work:a.rs:1", false, 3,
					     enter_fields };

static void span(uint64_t us, bool is_enter, uint64_t id, const char *name)
{
	const struct d9_value values[] = {
		{ .type = D9_T_VARINT, .u = 0 },
		{ .type = D9_T_VARINT, .u = id },
		{ .type = D9_T_STRING, .cnt = (uint32_t)strlen(name), .str = name },
	};

	check(d9_put_any(&enc, T0 + us * 1000, is_enter ? &enter_def : &leave_def, values), "span");
}

static void spans(void)
{
	check(d9_put_any_schema(&enc, &enter_def), "schema");
	check(d9_put_any_schema(&enc, &leave_def), "schema");
	start(1000, 0, 1, "t", 0);
	for (uint64_t i = 0; i < 21; i++) {
		span(1010 + 20 * i, true, 1 + i, "work");
		span(1020 + 20 * i, false, 1 + i, "work");
	}
	stop(2000, 0);
	span(3000, true, 50, "work");
	span(3200, false, 50, "work");
	span(4000, true, 60, "lost");
	park(5000, 0);
}

static void one(const char *name, void (*events)(void))
{
	const struct d9_pair facts[] = { { { "runtime.main", 12 }, { "0,1,2", 5 } } };

	begin();
	PUT(segment_metadata, 0, .entries = facts, .entries_cnt = 1);
	events();
	end(name, D9_RAW, 0, 0);
}

int main(int argc, char **argv)
{
	script_open(argc, argv);
	one("availability.bin", availability);
	one("starvation.bin", starvation);
	one("wakes.bin", wakes);
	one("queues.bin", queues);
	one("leaks.bin", leaks);
	one("pool.bin", pool_full);
	one("path.bin", path);
	one("spans.bin", spans);
	d9_pool_free(pool);
	return 0;
}
