/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cell.h - one value of a recording's columns as SQL and exports show it: texts as text, what was
 * not recorded as nothing (the columns hold 0 or a greatest number there).
 */
#ifndef DIAL9_CELL_H
#define DIAL9_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct columns;

enum cell_kind { CELL_NULL, CELL_INT, CELL_TEXT };

struct cell {
	enum cell_kind kind;
	uint64_t n;
	const char *p; /* not ended by NUL */
	size_t len;
};

/* column: in tables_columns; row: below the rows of its table. */
void cell_read(const struct columns *c, uint32_t column, uint32_t row, struct cell *ret);

/* Is a table, a column meant for people, or a part of the machinery? */
bool cell_table_shown(uint32_t table);
bool cell_column_shown(uint32_t column);

/*
 * A stack as "root;caller;leaf", inlined calls included; an address without a name as 0x... To be
 * freed; NULL: out of memory. At most CELL_STACK_FRAMES_MAX frames, from the leaf on.
 */
#define CELL_STACK_FRAMES_MAX 512u
char *cell_stack(const struct columns *c, uint32_t stack);

/* The values of a record as one JSON object; likewise. */
char *cell_record(const struct columns *c, uint32_t record);

/* "futex"; NULL: no such system call. */
const char *cell_syscall(uint64_t number);

#endif /* DIAL9_CELL_H */
