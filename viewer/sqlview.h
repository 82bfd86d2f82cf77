/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlview.h - views and functions over the tables of sqltable.h.
 *
 * Views join tables: poll, wake, park, off, sample, event (worker and task by their own ids, waits,
 * system calls by name), parked (parks that were added up: sums of a window, not one park). Functions: stack(n) and fields(record) as text, syscall(n) its name,
 * realtime(ns) ns since 1970.
 */
#ifndef DIAL9_SQLVIEW_H
#define DIAL9_SQLVIEW_H

#include <sqlite3.h>

struct columns;

/* An SQLite result code. */
int sqlview_make(sqlite3 *db, const struct columns *c);

/* The statement that makes a view, i = 0..; NULL past the last. */
const char *sqlview_text(unsigned int i);

#endif /* DIAL9_SQLVIEW_H */
