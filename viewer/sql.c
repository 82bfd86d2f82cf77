// SPDX-License-Identifier: Apache-2.0
/* sql.c - one query: its limits and its printing. */
#include "sql.h"

#include "cell.h"
#include "command.h"
#include "core/columns.h"
#include "core/index.h"
#include "core/tables.h"
#include "cut.h"
#include "indexed.h"
#include "jsonout.h"
#include "notice.h"
#include "plain.h"
#include "progress.h"
#include "sqltable.h"
#include "sqlview.h"
#include "traceset.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SQL_PROGRESS_STEPS 20000 /* of SQLite's machine between two looks at the clock */
#define SQL_CELL_COLUMNS 60 /* characters of a text for people; its end is kept */
#define SQL_COLUMNS_MAX 256

static uint64_t now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec;
}

static int is_late(void *ctx)
{
	return now_s() >= *(const uint64_t *)ctx;
}

/* ---- what there is ---- */

static void print_tables(void)
{
	printf("One SELECT over these tables; a reference is the rowid of its table. Views: poll, "
	       "wake,\n"
	       "park, off, sample, event. Functions: stack(n), fields(record), syscall(n), "
	       "realtime(ns).\n");
	for (uint32_t t = 0; t < TABLES_CNT; t++) {
		if (!cell_table_shown(t))
			continue;
		printf("\n%s: %s\n", tables_all[t].name, tables_all[t].doc);
		for (uint32_t i = tables_all[t].columns_from; i < tables_all[t].columns_to; i++)
			if (cell_column_shown(i))
				printf("  %-14s %s\n", tables_columns[i].name,
				       tables_columns[i].doc);
	}
	for (unsigned int i = 0; sqlview_text(i); i++)
		printf("\n%s\n", sqlview_text(i));
}

/* ---- rows for people: all of them are needed to know how wide each column is ---- */

struct grid {
	char **cells; /* cnt of them, row by row; the names first */
	bool *right; /* numbers */
	size_t cnt, cap, sz;
	int columns;
};

static bool grid_add(struct grid *g, const char *p, size_t len, bool is_right)
{
	char text[4 * SQL_CELL_COLUMNS + 1];
	char **cells;
	bool *right;
	size_t cap;

	if (g->cnt == g->cap) {
		cap = g->cap ? 2 * g->cap : 1024;
		cells = realloc(g->cells, cap * sizeof(*cells));
		if (cells)
			g->cells = cells;
		right = realloc(g->right, cap * sizeof(*right));
		if (right)
			g->right = right;
		if (!cells || !right)
			return false;
		g->cap = cap;
	}
	plain_cut(text, sizeof(text), p, len, SQL_CELL_COLUMNS);
	g->cells[g->cnt] = strdup(text);
	if (!g->cells[g->cnt])
		return false;
	g->sz += strlen(text) + sizeof(char *);
	g->right[g->cnt++] = is_right;
	return true;
}

/* Characters, not bytes: plain_cut leaves valid UTF-8. */
static int width_of(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

static void grid_print(const struct grid *g)
{
	int widths[SQL_COLUMNS_MAX] = { 0 }, k, pad;

	for (size_t i = 0; i < g->cnt; i++) {
		k = (int)(i % (size_t)g->columns);
		if (width_of(g->cells[i]) > widths[k])
			widths[k] = width_of(g->cells[i]);
	}
	for (size_t i = 0; i < g->cnt; i++) {
		k = (int)(i % (size_t)g->columns);
		pad = widths[k] - width_of(g->cells[i]);
		printf("%s%*s%s", k ? "  " : "", g->right[i] ? pad : 0, "", g->cells[i]);
		if (k + 1 == g->columns)
			putchar('\n');
		else if (!g->right[i])
			printf("%*s", pad, "");
	}
}

static void grid_done(struct grid *g)
{
	for (size_t i = 0; i < g->cnt; i++)
		free(g->cells[i]);
	free(g->cells);
	free(g->right);
}

/* ---- one query ---- */

static void json_cell(struct json *j, sqlite3_stmt *s, int i)
{
	switch (sqlite3_column_type(s, i)) {
	case SQLITE_INTEGER:
		json_i64(j, sqlite3_column_int64(s, i));
		break;
	case SQLITE_FLOAT:
		json_f64(j, sqlite3_column_double(s, i));
		break;
	case SQLITE_NULL:
		json_null(j);
		break;
	default:
		json_bytes(j, (const char *)sqlite3_column_text(s, i),
			   (size_t)sqlite3_column_bytes(s, i));
		break;
	}
}

/* Rows until the end or the limit. SQLITE_DONE, SQLITE_ROW (there is more), or an error. */
static int rows_json(struct json *j, sqlite3_stmt *s, uint64_t limit, uint64_t *ret_cnt)
{
	int rc;

	json_key(j, "columns");
	json_list(j);
	for (int i = 0; i < sqlite3_column_count(s); i++)
		json_text(j, sqlite3_column_name(s, i));
	json_list_end(j);
	json_key(j, "rows");
	json_list(j);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW && (limit == 0 || *ret_cnt < limit)) {
		json_list(j);
		for (int i = 0; i < sqlite3_column_count(s); i++)
			json_cell(j, s, i);
		json_list_end(j);
		++*ret_cnt;
	}
	json_list_end(j);
	return rc;
}

static int rows_text(struct grid *g, sqlite3_stmt *s, uint64_t limit, uint64_t *ret_cnt)
{
	bool is_right, ok = true;
	const char *p;
	int rc = SQLITE_ROW;

	g->columns = sqlite3_column_count(s);
	for (int i = 0; ok && i < g->columns; i++) {
		p = sqlite3_column_name(s, i);
		ok = grid_add(g, p ? p : "", p ? strlen(p) : 0, false);
	}
	while (ok && (rc = sqlite3_step(s)) == SQLITE_ROW && (limit == 0 || *ret_cnt < limit) &&
	       g->sz < SQL_TEXT_MAX) {
		for (int i = 0; ok && i < g->columns; i++) {
			p = (const char *)sqlite3_column_text(s, i);
			is_right = sqlite3_column_type(s, i) == SQLITE_INTEGER ||
				   sqlite3_column_type(s, i) == SQLITE_FLOAT;
			ok = grid_add(g, p ? p : "-", p ? (size_t)sqlite3_column_bytes(s, i) : 1,
				      is_right);
		}
		++*ret_cnt;
	}
	return ok ? rc : SQLITE_NOMEM;
}

static uint64_t sql_seconds(const struct request *req)
{
	return req->seconds ? req->seconds : SQL_SECONDS_DEFAULT;
}

static int sql_failed(const struct request *req, sqlite3 *db, int rc)
{
	if (rc == SQLITE_INTERRUPT)
		return notice(
			EXIT_FINDINGS,
			"the query took more than %llu s and was stopped: ask for less, such as "
			"one worker or a time range, or give it more with --seconds",
			(unsigned long long)sql_seconds(req));
	return notice(rc == SQLITE_ERROR || rc == SQLITE_AUTH ? EXIT_USAGE : EXIT_FINDINGS,
		      "SQL: %s%s", sqlite3_errmsg(db),
		      rc == SQLITE_AUTH ? ": one SELECT is all that is allowed" : "");
}

static int sql_rows(const struct request *req, sqlite3 *db, sqlite3_stmt *s)
{
	struct grid g = { 0 };
	struct json *j = NULL;
	uint64_t cnt = 0;
	int rc, err = 0;

	if (sqlite3_column_count(s) > SQL_COLUMNS_MAX)
		return notice(EXIT_USAGE, "SQL: more than %d columns", SQL_COLUMNS_MAX);
	if (req->json) {
		j = json_open(stdout, false);
		if (!j)
			return notice(EXIT_FINDINGS, "out of memory");
		json_map(j);
		json_put_text(j, "schema", "dial9-view.sql/1");
		rc = rows_json(j, s, req->limit, &cnt);
		json_key(j, "complete");
		json_bool(j, rc == SQLITE_DONE);
		json_map_end(j);
		json_line(j);
		err = json_close(j);
	} else {
		rc = rows_text(&g, s, req->limit, &cnt);
		if (rc == SQLITE_DONE || rc == SQLITE_ROW)
			grid_print(&g);
		grid_done(&g);
	}
	if (err)
		return notice(EXIT_FINDINGS, "standard output: cannot write it: %s",
			      notice_text(err));
	if (rc == SQLITE_ROW)
		return notice(0, "the first %llu rows; there are more: --limit 0 for all",
			      (unsigned long long)cnt);
	return rc == SQLITE_DONE ? 0 : sql_failed(req, db, rc);
}

static int sql_query(const struct request *req, const struct columns *c)
{
	uint64_t until_s = now_s() + sql_seconds(req);
	sqlite3 *db = NULL;
	sqlite3_stmt *s = NULL;
	const char *rest;
	int rc, code;

	sqlite3_hard_heap_limit64(SQL_HEAP_MAX);
	if (sqltable_open(c, &db) != 0) {
		sqlite3_close(db);
		return notice(EXIT_FINDINGS, "SQL: out of memory");
	}
	sqltable_lock(db);
	sqlite3_progress_handler(db, SQL_PROGRESS_STEPS, is_late, &until_s);
	rc = sqlite3_prepare_v2(db, req->query, -1, &s, &rest);
	if (rc != SQLITE_OK) {
		code = sql_failed(req, db, rc);
	} else if (!s || rest[strspn(rest, " \t\r\n;")]) {
		code = notice(EXIT_USAGE, "SQL: give one SELECT statement");
	} else {
		code = sql_rows(req, db, s);
	}
	sqlite3_finalize(s);
	sqlite3_close(db);
	return code;
}

int sql_run(const struct request *req, const struct traceset *set)
{
	struct columns *c = NULL, *cut = NULL;
	struct progress progress;
	bool is_partial = false;
	int code;

	if (!req->query) {
		print_tables();
		return 0;
	}
	if (set->recordings_cnt > 1)
		return notice(EXIT_USAGE,
			      "%s: holds %zu recordings: give the directory of one, such as %s/%s",
			      req->path, set->recordings_cnt, req->path, set->recordings[0].name);
	progress_start(&progress, set->sz);
	if (indexed_open(&set->recordings[0], &progress, &c, &is_partial) != 0)
		return EXIT_FINDINGS;
	if (cut_asked(c, req, &cut) == 0)
		code = sql_query(req, cut ? cut : c);
	else
		code = notice(EXIT_FINDINGS, "out of memory");
	cut_free(cut);
	index_close(c);
	return code == 0 && is_partial ? EXIT_PARTIAL : code;
}
