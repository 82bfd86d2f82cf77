/* SPDX-License-Identifier: Apache-2.0 */
/*
 * userspans.h - spans of dial9's tracing layer: by name, in polls, entered but never left.
 *
 * Enter, exit and close events are told by the names of their schemas (SpanEnter:..., SpanEnter__...,
 * SpanEnterEvent and kin) and joined by span_id, or span_instance_id. A span lasts from its first
 * enter to its last exit before its close. It lies in a poll if that poll is on the span's worker
 * (worker_id; else where dial9.tokio.task_id was polled; else the one worker of its thread) and
 * holds both ends. Spans of a single event are told by annotations alone: they are not looked at.
 */
#ifndef DIAL9_USERSPANS_H
#define DIAL9_USERSPANS_H

#include <stdint.h>

struct columns;
struct scope;

#define USERSPANS_MAX (1u << 22) /* spans kept; further ones are counted */
#define USERSPANS_MANY 20u /* in one poll: more are many */
#define USERSPANS_OUTLIER 10u /* times the median of a name ... */
#define USERSPANS_OUTLIER_OF 10u /* ... with so many spans and more */

struct userspans_name {
	uint32_t name; /* text */
	uint64_t cnt, sum_ns, max_ns, p50_ns, p90_ns, p99_ns;
	uint64_t outliers;
};

struct userspans {
	struct userspans_name *at; /* most time first */
	uint32_t cnt;
	uint64_t spans, unmatched, over_cap;
	uint64_t located; /* those whose worker is known */
	uint64_t crowded_polls; /* with more than USERSPANS_MANY */
	uint32_t most_poll, most; /* row of polls, COLUMNS_NONE; spans in it */
};

/* 0 or -ENOMEM; userspans_done frees in either case. */
int userspans_of(const struct columns *c, const struct scope *s, struct userspans *ret);
void userspans_done(struct userspans *x);

#endif /* DIAL9_USERSPANS_H */
