/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedjson.h - the answers of sched for programs (dial9-view.sched/1). What is unknown is null.
 */
#ifndef DIAL9_SCHEDJSON_H
#define DIAL9_SCHEDJSON_H

struct inquiry;
struct json;

/* own is a struct schedule. */
void schedjson_put(struct json *j, const struct inquiry *q);

#endif /* DIAL9_SCHEDJSON_H */
