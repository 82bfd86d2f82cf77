// SPDX-License-Identifier: Apache-2.0
/* cell.c - columns as people want them. */
#include "cell.h"

#include "core/columns.h"
#include "core/tables.h"
#include "format/trace.h"
#include "jsonout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What stands for "not recorded", by column. */
static const struct {
	const char *table, *column;
	uint64_t value;
} cell_unknown[] = {
	{ "polls", "ready_ns", 0 },
	{ "polls", "queue", COLUMNS_QUEUE_UNKNOWN },
	{ "parks", "delay_ns", UINT64_MAX },
	{ "parks", "cpu_ns", 0 },
	{ "tasks", "spawn_ns", 0 },
	{ "tasks", "end_ns", 0 },
	{ "offs", "syscall", COLUMNS_NO_SYSCALL },
	{ "queues", "depth", UINT32_MAX },
	{ "queues", "alive", UINT32_MAX },
	{ "symbols", "line", 0 },
	{ "segments", "first_ns", 0 },
	{ "segments", "last_ns", 0 },
};

static uint32_t cell_table_of(uint32_t column)
{
	uint32_t t = 0;

	while (column >= tables_all[t].columns_to)
		t++;
	return t;
}

static bool cell_is_unknown(uint32_t column, uint64_t value)
{
	const char *table;

	if (value != 0 && value != UINT64_MAX && value != UINT32_MAX && value != UINT16_MAX)
		return false;
	table = tables_all[cell_table_of(column)].name;
	for (size_t i = 0; i < sizeof(cell_unknown) / sizeof(cell_unknown[0]); i++)
		if (cell_unknown[i].value == value &&
		    strcmp(cell_unknown[i].column, tables_columns[column].name) == 0 &&
		    strcmp(cell_unknown[i].table, table) == 0)
			return true;
	return false;
}

void cell_read(const struct columns *c, uint32_t column, uint32_t row, struct cell *ret)
{
	const struct tables_column *k = &tables_columns[column];

	*ret = (struct cell){ .kind = CELL_INT, .n = tables_value(c, column, row) };
	if (k->kind == TABLES_LINK && k->of == TABLES_texts) {
		ret->kind = ret->n ? CELL_TEXT : CELL_NULL;
		ret->p = columns_text(c, (uint32_t)ret->n, &ret->len);
	} else if (k->kind == TABLES_REF
			   ? ret->n == COLUMNS_NONE
			   : k->kind == TABLES_NUM && cell_is_unknown(column, ret->n)) {
		ret->kind = CELL_NULL;
	}
}

bool cell_table_shown(uint32_t table)
{
	static const uint8_t hidden[] = { TABLES_task_slots,  TABLES_bads,  TABLES_bad_lanes,
					  TABLES_nodes,	      TABLES_texts, TABLES_text_bytes,
					  TABLES_record_bytes };

	return !memchr(hidden, (int)table, sizeof(hidden));
}

bool cell_column_shown(uint32_t column)
{
	return cell_table_of(column) != TABLES_records ||
	       strcmp(tables_columns[column].name, "bytes") != 0;
}

char *cell_stack(const struct columns *c, uint32_t stack)
{
	uint32_t from, to, frame, symbol;
	const char *between = "", *p;
	char *text = NULL;
	size_t len, text_len;
	FILE *f = open_memstream(&text, &text_len);

	if (!f)
		return NULL;
	if (stack < c->stacks.cnt) {
		from = c->stacks.frames_from[stack];
		to = c->stacks.frames_to[stack];
		if (to - from > CELL_STACK_FRAMES_MAX)
			to = from + CELL_STACK_FRAMES_MAX;
		for (; to > from; to--) {
			frame = c->stack_frames.frame[to - 1];
			if (c->frames.symbols_from[frame] == c->frames.symbols_to[frame]) {
				fprintf(f, "%s0x%llx", between,
					(unsigned long long)c->frames.addr[frame]);
				between = ";";
			}
			for (symbol = c->frames.symbols_from[frame];
			     symbol < c->frames.symbols_to[frame]; symbol++) {
				p = columns_text(c, c->symbols.name[symbol], &len);
				fprintf(f, "%s%.*s", between, (int)len, p);
				between = ";";
			}
		}
	}
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static void cell_value(struct json *j, const struct columns *c, const struct columns_value *v)
{
	const char *p;
	double f64;
	size_t len;

	switch (v->type) {
	case D9_T_NONE:
		json_null(j);
		break;
	case D9_T_STRING:
	case D9_T_PSTRING:
	case D9_T_BYTES:
	case D9_T_MAP:
	case D9_T_DYN_LIST:
	case D9_T_DYN_MAP:
		p = columns_text(c, (uint32_t)v->u, &len);
		json_bytes(j, p, len);
		break;
	case D9_T_F64:
		memcpy(&f64, &v->u, sizeof(f64));
		json_f64(j, f64);
		break;
	case D9_T_BOOL:
		json_bool(j, v->u != 0);
		break;
	case D9_T_I64:
		json_i64(j, (int64_t)v->u);
		break;
	default:
		json_u64(j, v->u);
		break;
	}
}

char *cell_record(const struct columns *c, uint32_t record)
{
	struct columns_iter it = { 0 };
	struct columns_value v;
	char *text = NULL;
	const char *p;
	size_t len, text_len;
	FILE *f = open_memstream(&text, &text_len);
	struct json *j = f ? json_open(f, false) : NULL;

	if (!j)
		goto out;
	json_map(j);
	while (columns_record_next(c, record, &it, &v)) {
		p = columns_text(c, v.name, &len);
		json_key_bytes(j, p, len);
		cell_value(j, c, &v);
	}
	json_map_end(j);
out:
	if (f && (json_close(j) != 0 || !j) + (fclose(f) != 0)) {
		free(text);
		text = NULL;
	}
	return text;
}

const char *cell_syscall(uint64_t number)
{
	switch (number) {
#define S(number, name) \
	case number:    \
		return #name;
#include "syscalls.def"
#undef S
	default:
		return NULL;
	}
}
