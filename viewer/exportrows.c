// SPDX-License-Identifier: Apache-2.0
/* exportrows.c - rows as they are: CSV, NDJSON, SQLite; and stacks, folded. */
#include "cell.h"
#include "core/columns.h"
#include "core/tables.h"
#include "export.h"
#include "jsonout.h"
#include "notice.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* RFC 4180; a text that a spreadsheet would take for a formula gets a quote before it. */
static void csv_text(FILE *f, const char *p, size_t len)
{
	fputc('"', f);
	if (len && strchr("=+-@\t\r", *p))
		fputc('\'', f);
	for (size_t i = 0; i < len; i++) {
		if (p[i] == '"')
			fputc('"', f);
		fputc(p[i] ? p[i] : ' ', f);
	}
	fputc('"', f);
}

int export_csv(const struct export *x)
{
	const struct columns *c = x->c;
	const char *p;
	size_t len;

	fputs("start_ns,dur_ns,wait_ns,off_cpu_ns,lane_kind,lane_id,task_id,type,flags\r\n",
	      x->out);
	for (uint32_t i = 0; i < c->polls.cnt; i++) {
		uint32_t lane = c->polls.lane[i], task = c->polls.task[i];

		if (!export_has(x, c->polls.start_ns[i]))
			continue;
		fprintf(x->out, "%llu,%llu,", (unsigned long long)c->polls.start_ns[i],
			(unsigned long long)c->polls.dur_ns[i]);
		if (c->polls.ready_ns[i])
			fprintf(x->out, "%llu",
				(unsigned long long)(c->polls.start_ns[i] - c->polls.ready_ns[i]));
		fprintf(x->out, ",%llu,%u,%u,", (unsigned long long)c->polls.off_ns[i],
			c->lanes.kind[lane], c->lanes.id[lane]);
		if (task != COLUMNS_NONE)
			fprintf(x->out, "%llu", (unsigned long long)c->tasks.id[task]);
		fputc(',', x->out);
		p = columns_text(c, c->polls.place[i], &len);
		csv_text(x->out, p, len);
		fprintf(x->out, ",%u\r\n", c->polls.flags[i]);
	}
	return 0;
}

/* Is a row within the time asked for? Tables without a time are whole. */
static bool row_is_wanted(const struct export *x, uint32_t table, uint32_t row)
{
	for (uint32_t i = tables_all[table].columns_from; i < tables_all[table].columns_to; i++)
		if (strcmp(tables_columns[i].name, "start_ns") == 0 ||
		    strcmp(tables_columns[i].name, "ts_ns") == 0)
			return export_has(x, tables_value(x->c, i, row));
	return true;
}

int export_ndjson(const struct export *x)
{
	struct json *j = json_open(x->out, false);
	struct cell cell;

	if (!j)
		return -ENOMEM;
	for (uint32_t t = 0; t < TABLES_CNT; t++)
		for (uint32_t row = 0; cell_table_shown(t) && row < tables_rows(x->c, t); row++) {
			if (!row_is_wanted(x, t, row))
				continue;
			json_map(j);
			json_put_text(j, "table", tables_all[t].name);
			json_put_u64(j, "row", row);
			for (uint32_t i = tables_all[t].columns_from; i < tables_all[t].columns_to;
			     i++) {
				if (!cell_column_shown(i))
					continue;
				cell_read(x->c, i, row, &cell);
				json_key(j, tables_columns[i].name);
				if (cell.kind == CELL_NULL)
					json_null(j);
				else if (cell.kind == CELL_INT)
					json_u64(j, cell.n);
				else
					json_bytes(j, cell.p, cell.len);
			}
			json_map_end(j);
			json_line(j);
		}
	return json_close(j);
}

int export_folded(const struct export *x)
{
	const struct columns *c = x->c;
	uint64_t *counts = calloc(c->stacks.cnt, sizeof(*counts));

	if (!counts)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->samples.cnt; i++)
		counts[c->samples.stack[i]] +=
			c->samples.source[i] == 0 && export_has(x, c->samples.ts_ns[i]);
	for (uint32_t i = 1; i < c->stacks.cnt; i++) {
		char *text = counts[i] ? cell_stack(c, i) : NULL;

		if (!counts[i])
			continue;
		if (!text) {
			free(counts);
			return -ENOMEM;
		}
		for (char *p = text; *p; p++)
			if ((unsigned char)*p < 0x20)
				*p = '?'; /* a line is a stack, whatever a name holds */
		fprintf(x->out, "%s %llu\n", text, (unsigned long long)counts[i]);
		free(text);
	}
	free(counts);
	return 0;
}

/* ---- SQLite ---- */

static int sqlite_table(const struct export *x, sqlite3 *db, uint32_t t)
{
	char sql[4096], values[256] = "";
	sqlite3_stmt *s = NULL;
	struct cell cell;
	size_t at;
	int rc, k = 0;

	at = (size_t)snprintf(sql, sizeof(sql), "CREATE TABLE %s(row INTEGER PRIMARY KEY",
			      tables_all[t].name);
	for (uint32_t i = tables_all[t].columns_from; i < tables_all[t].columns_to; i++)
		if (cell_column_shown(i)) {
			at += (size_t)snprintf(sql + at, sizeof(sql) - at, ",\"%s\"",
					       tables_columns[i].name);
			strcat(values, ",?");
		}
	snprintf(sql + at, sizeof(sql) - at, ")");
	rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES(?%s)", tables_all[t].name, values);
	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
	for (uint32_t row = 0; rc == SQLITE_OK && row < tables_rows(x->c, t); row++) {
		if (!row_is_wanted(x, t, row))
			continue;
		k = 1;
		sqlite3_bind_int64(s, k++, row);
		for (uint32_t i = tables_all[t].columns_from; i < tables_all[t].columns_to; i++) {
			if (!cell_column_shown(i))
				continue;
			cell_read(x->c, i, row, &cell);
			if (cell.kind == CELL_NULL)
				sqlite3_bind_null(s, k++);
			else if (cell.kind == CELL_INT)
				sqlite3_bind_int64(s, k++, (sqlite3_int64)cell.n);
			else
				sqlite3_bind_text(s, k++, cell.p, (int)cell.len, SQLITE_STATIC);
		}
		sqlite3_step(s);
		rc = sqlite3_reset(s);
	}
	sqlite3_finalize(s);
	return rc;
}

int export_sqlite(const struct export *x, const char *path)
{
	sqlite3 *db = NULL;
	int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);

	/* the file is no one's yet: dropped if anything fails */
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN",
				  NULL, NULL, NULL);
	for (uint32_t t = 0; rc == SQLITE_OK && t < TABLES_CNT; t++)
		if (cell_table_shown(t))
			rc = sqlite_table(x, db, t);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		notice(0, "%s: cannot write it: %s", path, sqlite3_errmsg(db));
	sqlite3_close(db);
	return rc == SQLITE_OK ? 0 : -EIO;
}
