/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorded.h - what a recording's columns hold, so that what they do not hold is called unknown.
 *
 * A recorder that claims what it records (agent.has) is believed; of others that which occurs is
 * recorded. agent:Level says for how much of the time polls and wakes were.
 */
#ifndef DIAL9_RECORDED_H
#define DIAL9_RECORDED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct columns;
struct json;

struct recorded {
	bool polls, wakes, tasks, parks, delays, queues, local_queue, blocking;
	bool all_wakes; /* every call, not only those that made a task runnable */
	uint64_t span_ns, polls_ns, wakes_ns; /* the span's parts in which they were recorded */
};

void recorded_of(const struct columns *c, struct recorded *ret);

/* "  coverage  polls 100 %, wakes 90 % of the time; not recorded: kernel delay" and a newline. */
void recorded_text(FILE *out, const struct recorded *r);
void recorded_json(struct json *j, const struct recorded *r); /* one key of a map */

#endif /* DIAL9_RECORDED_H */
