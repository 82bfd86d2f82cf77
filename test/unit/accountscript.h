/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accountscript.h - an account, and moments for it. Static: for tests that link the viewer.
 */
#ifndef DIAL9_ACCOUNTSCRIPT_H
#define DIAL9_ACCOUNTSCRIPT_H

#include "viewer/account.h"
#include "viewer/labels.h"
#include "viewer/typetable.h"
#include "viewer/workertable.h"

static struct account a;
static struct labels *labels;
static uint32_t place;

static inline int begin(void **state)
{
	(void)state;
	labels = labels_new();
	place = labels_put(labels, "a.rs:1:1", 8);
	return account_init(&a, labels);
}

static inline int end(void **state)
{
	(void)state;
	account_done(&a);
	labels_free(labels);
	return 0;
}

static inline void at(uint64_t ts_ns, enum moment_kind kind, uint16_t worker, uint64_t task)
{
	const struct moment m = {
		.ts_ns = ts_ns, .kind = kind, .worker = worker, .task = task, .label = place
	};

	assert_int_equal(account_moment(&a, &m), 0);
}

static inline void start(uint64_t ts_ns, uint16_t worker, uint64_t task)
{
	at(ts_ns, MOMENT_POLL_START, worker, task);
}

static inline void stop(uint64_t ts_ns, uint16_t worker)
{
	at(ts_ns, MOMENT_POLL_END, worker, 0);
}

static inline void wake(uint64_t ts_ns, uint64_t task)
{
	at(ts_ns, MOMENT_WAKE, MOMENT_NO_WORKER, task);
}

static inline const struct type_row *row(void)
{
	return typetable_row(a.types, typetable_find(a.types, place));
}

#define ACCOUNT_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

#endif /* DIAL9_ACCOUNTSCRIPT_H */
