// SPDX-License-Identifier: Apache-2.0
/* sqlview.c - what makes the tables pleasant: functions over rows, and views that join. */
#include "sqlview.h"

#include "cell.h"
#include "core/columns.h"
#include "core/tables.h"

#include <stdlib.h>

static void call_text(sqlite3_context *ctx, sqlite3_value **argv,
		      char *(*make)(const struct columns *c, uint32_t row))
{
	sqlite3_int64 n = sqlite3_value_int64(argv[0]);
	char *text;

	if (sqlite3_value_type(argv[0]) == SQLITE_NULL || n < 0 || n >= UINT32_MAX)
		return;
	text = make(sqlite3_user_data(ctx), (uint32_t)n);
	if (text)
		sqlite3_result_text(ctx, text, -1, free);
	else
		sqlite3_result_error_nomem(ctx);
}

static void call_stack(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	(void)argc;
	call_text(ctx, argv, cell_stack);
}

static void call_fields(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	(void)argc;
	call_text(ctx, argv, cell_record);
}

static void call_syscall(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	(void)argc;
	if (sqlite3_value_type(argv[0]) != SQLITE_NULL)
		sqlite3_result_text(ctx, cell_syscall((uint64_t)sqlite3_value_int64(argv[0])), -1,
				    SQLITE_STATIC);
}

static void call_realtime(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	uint64_t ns;

	(void)argc;
	if (sqlite3_value_type(argv[0]) != SQLITE_NULL &&
	    columns_realtime(sqlite3_user_data(ctx), (uint64_t)sqlite3_value_int64(argv[0]), &ns))
		sqlite3_result_int64(ctx, (sqlite3_int64)ns);
}

static const struct {
	const char *name;
	void (*call)(sqlite3_context *ctx, int argc, sqlite3_value **argv);
} sqlview_functions[] = {
	{ "stack", call_stack },
	{ "fields", call_fields },
	{ "syscall", call_syscall },
	{ "realtime", call_realtime },
};

#define VIEW(name, columns, from) "CREATE TEMP VIEW " name " AS SELECT " columns " FROM " from
#define LANE "JOIN lanes l ON l.rowid = x.lane"
#define TASK "LEFT JOIN tasks t ON t.rowid = x.task"

static const char *const sqlview_texts[] = {
	VIEW("poll",
	     "x.rowid AS poll, x.start_ns, x.dur_ns, x.start_ns - x.ready_ns AS wait_ns, x.off_ns, "
	     "l.kind, CASE WHEN l.kind <= 1 THEN l.id END AS worker, l.runtime, t.id AS task, x.place AS type, x.queue, x.flags, "
	     "x.wake",
	     "polls x " LANE " " TASK),
	VIEW("wake",
	     "x.rowid AS wake, x.ts_ns, CASE WHEN l.kind <= 1 THEN l.id END AS worker, t.id AS task, t.place AS type, "
	     "w.id AS waker, w.place AS waker_type, x.poll AS from_poll, x.flags",
	     "wakes x " LANE " " TASK " LEFT JOIN tasks w ON w.rowid = x.waker"),
	VIEW("park", "x.rowid AS park, x.start_ns, x.dur_ns, x.delay_ns, CASE WHEN l.kind <= 1 THEN l.id END AS worker, x.tid",
	     "parks x " LANE),
	VIEW("parked",
	     "event, f ->> 'from_ns' AS from_ns, f ->> 'to_ns' AS to_ns, f ->> 'worker_id' AS worker, f ->> 'tid' AS tid, "
	     "f ->> 'parks' AS parks, f ->> 'parked_ns' AS parked_ns, f ->> 'delayed_ns' AS delayed_ns, "
	     "f ->> 'delayed_max_ns' AS delayed_max_ns, f ->> 'preempted' AS preempted, f ->> 'preempted_ns' AS preempted_ns, "
	     "f ->> 'polls_preempted' AS polls_preempted, f ->> 'polls_preempted_ns' AS polls_preempted_ns, "
	     "f ->> 'others' AS others, f ->> 'others_ns' AS others_ns, f ->> 'cpu_time_ns' AS cpu_time_ns",
	     "(SELECT x.rowid AS event, fields(x.rowid) AS f FROM records x JOIN schemas s ON s.rowid = x.schema "
	     "WHERE s.name = 'agent:Parks')"),
	VIEW("off",
	     "x.rowid AS off, x.start_ns, x.dur_ns, CASE WHEN l.kind <= 1 THEN l.id END AS worker, t.id AS task, t.place AS type, "
	     "x.tid, x.reason, syscall(x.syscall) AS syscall, x.poll, x.stack",
	     "offs x " LANE " " TASK),
	VIEW("sample",
	     "x.rowid AS sample, x.ts_ns, CASE WHEN l.kind <= 1 THEN l.id END AS worker, x.tid, x.thread, x.source, x.poll, "
	     "p.place AS type, x.stack",
	     "samples x " LANE " LEFT JOIN polls p ON p.rowid = x.poll"),
	VIEW("event", "x.rowid AS event, x.ts_ns, s.name, fields(x.rowid) AS fields",
	     "records x JOIN schemas s ON s.rowid = x.schema"),
};

const char *sqlview_text(unsigned int i)
{
	return i < sizeof(sqlview_texts) / sizeof(sqlview_texts[0]) ? sqlview_texts[i] : NULL;
}

int sqlview_make(sqlite3 *db, const struct columns *c)
{
	int rc = SQLITE_OK;

	for (size_t i = 0;
	     rc == SQLITE_OK && i < sizeof(sqlview_functions) / sizeof(sqlview_functions[0]); i++)
		rc = sqlite3_create_function(db, sqlview_functions[i].name, 1,
					     SQLITE_UTF8 | SQLITE_DETERMINISTIC, tables_mut(c),
					     sqlview_functions[i].call, NULL, NULL);
	for (unsigned int i = 0; rc == SQLITE_OK && sqlview_text(i); i++)
		rc = sqlite3_exec(db, sqlview_text(i), NULL, NULL, NULL);
	return rc;
}
