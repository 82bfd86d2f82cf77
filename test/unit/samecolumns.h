/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samecolumns.h - are two recordings the same, byte for byte? But for the slots of the task table and
 * the seed of its hash, which no two decodings share.
 */
#ifndef DIAL9_SAMECOLUMNS_H
#define DIAL9_SAMECOLUMNS_H

#include "viewer/core/columns.h"
#include "viewer/core/tables.h"

#include <string.h>

/* The name of the first column or table that differs, "odd" for what is counted beside; NULL: none. */
static inline const char *samecolumns_differ(const struct columns *a, const struct columns *b)
{
	struct columns_odd odd = a->odd;
	const char *p, *q;

	odd.task_seed = b->odd.task_seed;
	if (memcmp(&odd, &b->odd, sizeof(odd)) != 0)
		return "odd";
	for (uint32_t t = 0; t < TABLES_CNT; t++) {
		if (t == TABLES_task_slots)
			continue;
		if (tables_rows(a, t) != tables_rows(b, t))
			return tables_all[t].name;
		for (uint32_t i = tables_all[t].columns_from; i < tables_all[t].columns_to; i++) {
			memcpy(&p, (const char *)a + tables_columns[i].at, sizeof(p));
			memcpy(&q, (const char *)b + tables_columns[i].at, sizeof(q));
			if (tables_rows(a, t) &&
			    memcmp(p, q, (size_t)tables_rows(a, t) * tables_columns[i].sz) != 0)
				return tables_columns[i].name;
		}
	}
	for (uint32_t i = 0; i < a->tasks.cnt; i++)
		if (columns_task(a, a->tasks.id[i]) != columns_task(b, a->tasks.id[i]))
			return "task_slots";
	return NULL;
}

#endif /* DIAL9_SAMECOLUMNS_H */
