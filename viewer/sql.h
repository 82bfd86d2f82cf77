/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql.h - `dial9-view sql DIR ["SELECT ..."]`: one query over a recording; without one, what there
 * is to be asked.
 *
 * One SELECT statement; nothing else is allowed. It ends after --seconds (60), at 1000
 * rows (--limit, 0: all) and at SQL_HEAP_MAX bytes of SQLite's own memory. What is
 * printed for people is held in memory: SQL_TEXT_MAX bytes, then the rest is left out. JSON
 * (schema dial9-view.sql/1) is streamed.
 */
#ifndef DIAL9_SQL_H
#define DIAL9_SQL_H

struct request;
struct traceset;

#define SQL_SECONDS_DEFAULT 60u
#define SQL_HEAP_MAX (1ll << 30)
#define SQL_TEXT_MAX (64u << 20)

/* Exit code: 0; 2 for a query that SQLite does not take; 1 if it failed or ran out of time. */
int sql_run(const struct request *req, const struct traceset *set);

#endif /* DIAL9_SQL_H */
