/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.h - columns.def as data: for code that treats all tables alike (the cached file, SQL,
 * CSV and SQLite exports).
 */
#ifndef DIAL9_TABLES_H
#define DIAL9_TABLES_H

#include "columns.h"

enum tables_kind { TABLES_NUM, TABLES_REF, TABLES_LINK, TABLES_FROM, TABLES_TO };

struct tables_column {
	const char *name, *doc; /* "start_ns"; of a range: "polls_from", "polls_to" */
	uint16_t at; /* offset of its pointer in struct columns */
	uint8_t sz; /* bytes of a value: 1, 2, 4 or 8 */
	uint8_t kind; /* enum tables_kind */
	uint8_t of; /* REF, LINK, FROM, TO: TABLES_* it refers to */
};

struct tables_table {
	const char *name, *doc;
	uint16_t at; /* offset of its cnt in struct columns */
	uint16_t columns_from, columns_to; /* in tables_columns */
};

enum { /* TABLES_lanes, ... */
#define COLUMNS_TABLE(table, doc) TABLES_##table,
#include "columns.def"
       TABLES_CNT
};

extern const struct tables_column tables_columns[];
extern const struct tables_table tables_all[TABLES_CNT];

/* Rows of a table. */
uint32_t tables_rows(const struct columns *c, uint32_t table);

/* Value of a column (index in tables_columns) in a row below the table's rows. */
uint64_t tables_value(const struct columns *c, uint32_t column, uint32_t row);

/* Makes room for cnt rows, zeroed, and sets the table's pointers. 0 or -ENOMEM. The memory is given
 * back by tables_free, from a struct columns whose tables all came from here. */
int tables_alloc(struct columns *c, uint32_t table, uint32_t cnt);
/* Fewer rows than were asked for; the arrays stay where they are. */
void tables_shrink(struct columns *c, uint32_t table, uint32_t cnt);
void tables_free(struct columns *c);

/* The array behind a pointer of a struct columns that tables_alloc made. */
static inline void *tables_mut(const void *p)
{
	return (void *)(uintptr_t)p;
}

#endif /* DIAL9_TABLES_H */
