/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqltable.h - a recording's columns as tables of SQLite, read where they lie.
 *
 * Each shown table of columns.def is a virtual table of the same name and columns; a reference is
 * the rowid of its table. Looked up without a scan: rowid; lane, with a time range; a time range
 * in tables by time; tasks.id. sqlview.h adds views and functions.
 */
#ifndef DIAL9_SQLTABLE_H
#define DIAL9_SQLTABLE_H

#include <sqlite3.h>
#include <stdint.h>

struct columns;

/* A fresh database in memory that holds nothing else. 0, or -ENOMEM (then sqlite3_close too). */
int sqltable_open(const struct columns *c, sqlite3 **ret);

#define SQLTABLE_VALUE_MAX_SZ (16 << 20) /* bytes of one value; -> SQLITE_TOOBIG */

/* From here on the database takes SELECT alone, and no value may be larger than that. */
void sqltable_lock(sqlite3 *db);

#endif /* DIAL9_SQLTABLE_H */
