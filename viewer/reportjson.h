/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reportjson.h - a report for programs (schema REPORT_SCHEMA). Times are ns; unknown is null.
 */
#ifndef DIAL9_REPORTJSON_H
#define DIAL9_REPORTJSON_H

struct json;
struct report;

/* One element of "recordings". */
void reportjson_put(struct json *j, const struct report *r);

#endif /* DIAL9_REPORTJSON_H */
