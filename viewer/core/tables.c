// SPDX-License-Identifier: Apache-2.0
/* tables.c - columns.def as data, and memory for tables in the making. */
#include "tables.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define AT(table, name) offsetof(struct columns, table.name)

const struct tables_column tables_columns[] = {
#define COLUMNS_NUM(table, bits, name, doc) \
	{ #name, doc, AT(table, name), (bits) / 8, TABLES_NUM, 0 },
#define COLUMNS_REF(table, name, of, doc) \
	{ #name, doc, AT(table, name), 4, TABLES_REF, TABLES_##of },
#define COLUMNS_LINK(table, name, of, doc) \
	{ #name, doc, AT(table, name), 4, TABLES_LINK, TABLES_##of },
#define COLUMNS_REF16(table, name, of, doc) \
	{ #name, doc, AT(table, name), 2, TABLES_LINK, TABLES_##of },
#define COLUMNS_RANGE(table, name, of, doc)                                          \
	{ #name "_from", doc, AT(table, name##_from), 4, TABLES_FROM, TABLES_##of }, \
		{ #name "_to", doc, AT(table, name##_to), 4, TABLES_TO, TABLES_##of },
#include "columns.def"
};

/* the number of each table's first column, and of the one behind its last */
enum {
#define COLUMNS_TABLE(table, doc) FROM_##table, BEFORE_##table = FROM_##table - 1,
#define COLUMNS_NUM(table, bits, name, doc) COLUMN_##table##_##name,
#define COLUMNS_REF(table, name, of, doc) COLUMN_##table##_##name,
#define COLUMNS_LINK(table, name, of, doc) COLUMN_##table##_##name,
#define COLUMNS_REF16(table, name, of, doc) COLUMN_##table##_##name,
#define COLUMNS_RANGE(table, name, of, doc) \
	COLUMN_##table##_##name##_from, COLUMN_##table##_##name##_to,
#define COLUMNS_END(table) TO_##table, LAST_##table = TO_##table - 1,
#include "columns.def"
};

const struct tables_table tables_all[TABLES_CNT] = {
#define COLUMNS_TABLE(table, doc) { #table, doc, AT(table, cnt), FROM_##table, TO_##table },
#include "columns.def"
};

static const void *tables_array(const struct columns *c, uint32_t column)
{
	const void *p;

	memcpy(&p, (const char *)c + tables_columns[column].at, sizeof(p));
	return p;
}

uint32_t tables_rows(const struct columns *c, uint32_t table)
{
	uint32_t cnt;

	memcpy(&cnt, (const char *)c + tables_all[table].at, sizeof(cnt));
	return cnt;
}

uint64_t tables_value(const struct columns *c, uint32_t column, uint32_t row)
{
	const void *p = tables_array(c, column);

	switch (tables_columns[column].sz) {
	case 1:
		return ((const uint8_t *)p)[row];
	case 2:
		return ((const uint16_t *)p)[row];
	case 4:
		return ((const uint32_t *)p)[row];
	default:
		return ((const uint64_t *)p)[row];
	}
}

/* Each array stands in front of its own size, so that it can be given back. */
#define TABLES_LEAD 64u

int tables_alloc(struct columns *c, uint32_t table, uint32_t cnt)
{
	const struct tables_table *t = &tables_all[table];

	for (uint32_t i = t->columns_from; i < t->columns_to; i++) {
		size_t sz = (size_t)cnt * tables_columns[i].sz + TABLES_LEAD;
		char *p = mmap(NULL, sz, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (p == MAP_FAILED)
			return -ENOMEM;
		if (sz >= 4u << 20)
			madvise(p, sz, MADV_HUGEPAGE);
		memcpy(p, &sz, sizeof(sz));
		p += TABLES_LEAD;
		memcpy((char *)c + tables_columns[i].at, &p, sizeof(p));
	}
	tables_shrink(c, table, cnt);
	return 0;
}

void tables_shrink(struct columns *c, uint32_t table, uint32_t cnt)
{
	memcpy((char *)c + tables_all[table].at, &cnt, sizeof(cnt));
}

void tables_free(struct columns *c)
{
	size_t sz;

	for (uint32_t i = 0; i < sizeof(tables_columns) / sizeof(tables_columns[0]); i++) {
		char *p = tables_mut(tables_array(c, i));

		if (!p)
			continue;
		memcpy(&sz, p - TABLES_LEAD, sizeof(sz));
		munmap(p - TABLES_LEAD, sz);
	}
}
