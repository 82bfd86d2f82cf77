// SPDX-License-Identifier: Apache-2.0
/* sqltable.c - SQLite's virtual table interface over struct columns. */
#include "sqltable.h"

#include "cell.h"
#include "core/columns.h"
#include "core/tables.h"
#include "sqlview.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* How a scan begins; bits of idxNum, in the order of the arguments. */
enum { BY_ROWID = 1, BY_LANE = 2, BY_ID = 4, BY_FROM = 8, BY_AFTER = 16, BY_UNTIL = 32 };

struct sqltable {
	sqlite3_vtab base;
	const struct columns *c;
	uint32_t table;
	uint32_t shown[32]; /* column numbers of tables_columns, in SQL's order */
	int shown_cnt, time, lane, id; /* SQL's number of such a column, -1 none */
};

struct sqlcursor {
	sqlite3_vtab_cursor base;
	uint32_t at, to;
};

static int table_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
			 sqlite3_vtab **ret, char **error)
{
	char sql[2048];
	struct sqltable *t = sqlite3_malloc(sizeof(*t));
	size_t at = 0;
	int rc;

	(void)argc;
	(void)error;
	if (!t)
		return SQLITE_NOMEM;
	memset(t, 0, sizeof(*t));
	t->c = aux;
	t->time = t->lane = t->id = -1;
	while (t->table < TABLES_CNT && strcmp(tables_all[t->table].name, argv[0]) != 0)
		t->table++;
	at += (size_t)snprintf(sql, sizeof(sql), "CREATE TABLE x(");
	for (uint32_t i = tables_all[t->table].columns_from; i < tables_all[t->table].columns_to;
	     i++) {
		const struct tables_column *k = &tables_columns[i];
		bool is_text = k->kind == TABLES_LINK && k->of == TABLES_texts;

		if (!cell_column_shown(i) || t->shown_cnt == 32)
			continue;
		if (strcmp(k->name, "start_ns") == 0 || strcmp(k->name, "ts_ns") == 0)
			t->time = t->shown_cnt;
		if (k->kind == TABLES_LINK && k->of == TABLES_lanes)
			t->lane = t->shown_cnt;
		if (t->table == TABLES_tasks && strcmp(k->name, "id") == 0)
			t->id = t->shown_cnt;
		at += (size_t)snprintf(sql + at, sizeof(sql) - at, "%s\"%s\" %s",
				       t->shown_cnt ? "," : "", k->name, is_text ? "TEXT" : "INT");
		t->shown[t->shown_cnt++] = i;
	}
	snprintf(sql + at, sizeof(sql) - at, ")");
	rc = sqlite3_declare_vtab(db, sql);
	if (rc != SQLITE_OK) {
		sqlite3_free(t);
		return rc;
	}
	*ret = &t->base;
	return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *v)
{
	sqlite3_free(v);
	return SQLITE_OK;
}

/* The range of a lane, of tables that have one. */
static void table_lane(const struct sqltable *t, uint64_t lane, uint32_t *from, uint32_t *to)
{
	const struct columns_lanes *l = &t->c->lanes;

	*from = *to = 0;
	if (lane >= l->cnt)
		return;
	switch (t->table) {
	case TABLES_polls:
		*from = l->polls_from[lane];
		*to = l->polls_to[lane];
		break;
	case TABLES_parks:
		*from = l->parks_from[lane];
		*to = l->parks_to[lane];
		break;
	case TABLES_wakes:
		*from = l->wakes_from[lane];
		*to = l->wakes_to[lane];
		break;
	case TABLES_samples:
		*from = l->samples_from[lane];
		*to = l->samples_to[lane];
		break;
	case TABLES_offs:
		*from = l->offs_from[lane];
		*to = l->offs_to[lane];
		break;
	default:
		break;
	}
}

static int constraint_bit(const struct sqltable *t, int column, int op)
{
	if (op == SQLITE_INDEX_CONSTRAINT_EQ && column == -1)
		return BY_ROWID;
	if (op == SQLITE_INDEX_CONSTRAINT_EQ && column >= 0 && column == t->lane)
		return BY_LANE;
	if (op == SQLITE_INDEX_CONSTRAINT_EQ && column >= 0 && column == t->id)
		return BY_ID;
	if (column < 0 || column != t->time)
		return 0;
	return op == SQLITE_INDEX_CONSTRAINT_GE					      ? BY_FROM
	       : op == SQLITE_INDEX_CONSTRAINT_GT				      ? BY_AFTER
	       : op == SQLITE_INDEX_CONSTRAINT_LE || op == SQLITE_INDEX_CONSTRAINT_LT ? BY_UNTIL
										      : 0;
}

static int table_best(sqlite3_vtab *v, sqlite3_index_info *info)
{
	const struct sqltable *t = (const struct sqltable *)v;
	int bits = 0, args = 0, use[6] = { -1, -1, -1, -1, -1, -1 };
	double rows = tables_rows(t->c, t->table);

	for (int i = 0; i < info->nConstraint; i++) {
		int bit = constraint_bit(t, info->aConstraint[i].iColumn, info->aConstraint[i].op);

		if (bit == 0 || (bits & bit) || !info->aConstraint[i].usable)
			continue;
		bits |= bit;
		use[__builtin_ctz((unsigned int)bit)] = i;
	}
	if (bits & (BY_ROWID | BY_ID))
		bits &= bits & BY_ROWID ? BY_ROWID : BY_ID;
	/* times are in order only within a lane, or where there are none */
	if (t->lane >= 0 && !(bits & BY_LANE))
		bits &= BY_ROWID | BY_ID;
	for (int i = 0; i < 6; i++)
		if (bits & (1 << i))
			info->aConstraintUsage[use[i]].argvIndex = ++args;
	if (bits & (BY_ROWID | BY_ID))
		rows = 1;
	if (bits & BY_LANE)
		rows /= t->c->lanes.cnt;
	if (bits & (BY_FROM | BY_AFTER))
		rows /= 4;
	if (bits & BY_UNTIL)
		rows /= 4;
	info->idxNum = bits;
	info->estimatedCost = rows + 1;
	info->estimatedRows = (sqlite3_int64)rows + 1;
	if (bits & (BY_ROWID | BY_ID))
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
	return SQLITE_OK;
}

static int cursor_open(sqlite3_vtab *v, sqlite3_vtab_cursor **ret)
{
	struct sqlcursor *cur = sqlite3_malloc(sizeof(*cur));

	(void)v;
	if (!cur)
		return SQLITE_NOMEM;
	memset(cur, 0, sizeof(*cur));
	*ret = &cur->base;
	return SQLITE_OK;
}

static int cursor_close(sqlite3_vtab_cursor *cur)
{
	sqlite3_free(cur);
	return SQLITE_OK;
}

/* The table's array of times, for seeking. */
static const uint64_t *table_times(const struct sqltable *t)
{
	const void *p;

	memcpy(&p, (const char *)t->c + tables_columns[t->shown[t->time]].at, sizeof(p));
	return p;
}

/* SQLite checks every condition again: bounds here may be wide (real numbers, text), never narrow. */
static int cursor_filter(sqlite3_vtab_cursor *v, int bits, const char *text, int argc,
			 sqlite3_value **argv)
{
	struct sqlcursor *cur = (struct sqlcursor *)v;
	const struct sqltable *t = (const struct sqltable *)v->pVtab;
	uint32_t rows = tables_rows(t->c, t->table), from = 0, to = rows;
	sqlite3_int64 n;

	(void)text;
	for (int bit = 1, i = 0; bit <= BY_UNTIL && i < argc; bit <<= 1) {
		if (!(bits & bit))
			continue;
		n = sqlite3_value_int64(argv[i]);
		if (sqlite3_value_type(argv[i++]) != SQLITE_INTEGER)
			continue;
		switch (bit) {
		case BY_ROWID:
			from = n >= 0 && n < (sqlite3_int64)rows ? (uint32_t)n : 0;
			to = n >= 0 && n < (sqlite3_int64)rows ? from + 1 : 0;
			break;
		case BY_ID:
			from = columns_task(t->c, (uint64_t)n);
			to = from == COLUMNS_NONE ? from : from + 1;
			break;
		case BY_LANE:
			table_lane(t, n < 0 ? UINT64_MAX : (uint64_t)n, &from, &to);
			break;
		case BY_UNTIL:
			if (n < INT64_MAX)
				to = columns_seek(table_times(t), from, to,
						  n < 0 ? 0 : (uint64_t)n + 1);
			break;
		default:
			from = columns_seek(table_times(t), from, to, n < 0 ? 0 : (uint64_t)n);
			break;
		}
	}
	cur->at = from;
	cur->to = to;
	return SQLITE_OK;
}

static int cursor_next(sqlite3_vtab_cursor *cur)
{
	((struct sqlcursor *)cur)->at++;
	return SQLITE_OK;
}

static int cursor_eof(sqlite3_vtab_cursor *cur)
{
	return ((struct sqlcursor *)cur)->at >= ((struct sqlcursor *)cur)->to;
}

static int cursor_rowid(sqlite3_vtab_cursor *cur, sqlite3_int64 *ret)
{
	*ret = ((struct sqlcursor *)cur)->at;
	return SQLITE_OK;
}

static int cursor_column(sqlite3_vtab_cursor *v, sqlite3_context *ctx, int column)
{
	const struct sqltable *t = (const struct sqltable *)v->pVtab;
	struct cell cell;

	if (column < 0 || column >= t->shown_cnt)
		return SQLITE_OK;
	cell_read(t->c, t->shown[column], ((struct sqlcursor *)v)->at, &cell);
	if (cell.kind == CELL_INT)
		sqlite3_result_int64(ctx, (sqlite3_int64)cell.n);
	else if (cell.kind == CELL_TEXT)
		sqlite3_result_text(ctx, cell.p, (int)cell.len, SQLITE_TRANSIENT);
	return SQLITE_OK;
}

static const sqlite3_module sqltable_module = {
	.iVersion = 0,
	.xConnect = table_connect, /* no xCreate: the tables are there by themselves */
	.xBestIndex = table_best,
	.xDisconnect = table_disconnect,
	.xOpen = cursor_open,
	.xClose = cursor_close,
	.xFilter = cursor_filter,
	.xNext = cursor_next,
	.xEof = cursor_eof,
	.xColumn = cursor_column,
	.xRowid = cursor_rowid,
};

/* Connects each table now: making one is refused once only SELECT is allowed. */
static int sqltable_connect(sqlite3 *db, uint32_t table)
{
	char sql[128];

	snprintf(sql, sizeof(sql), "SELECT 1 FROM %s LIMIT 0", tables_all[table].name);
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

int sqltable_open(const struct columns *c, sqlite3 **ret)
{
	int rc =
		sqlite3_open_v2(":memory:", ret, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

	/* what is sorted counts as memory, which has a limit, and never fills a disk */
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(*ret, "PRAGMA temp_store=MEMORY", NULL, NULL, NULL);
	for (uint32_t t = 0; rc == SQLITE_OK && t < TABLES_CNT; t++) {
		if (!cell_table_shown(t))
			continue;
		rc = sqlite3_create_module(*ret, tables_all[t].name, &sqltable_module,
					   tables_mut(c));
		if (rc == SQLITE_OK)
			rc = sqltable_connect(*ret, t);
	}
	if (rc == SQLITE_OK)
		rc = sqlview_make(*ret, c);
	return rc == SQLITE_OK ? 0 : -ENOMEM;
}

static int sqltable_authorize(void *ctx, int action, const char *a, const char *b, const char *db,
			      const char *trigger)
{
	(void)ctx;
	(void)a;
	(void)db;
	(void)trigger;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return b && strcmp(b, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
	default:
		return SQLITE_DENY;
	}
}

void sqltable_lock(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, SQLTABLE_VALUE_MAX_SZ); /* no time limit is asked inside one */
	sqlite3_set_authorizer(db, sqltable_authorize, NULL);
}
