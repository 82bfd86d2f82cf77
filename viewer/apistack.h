/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apistack.h - which stacks a question is about, and a stack as the names that the page shows.
 *
 * A label is a text of a function, or API_LABEL_ADDR + row of a frame that has no name.
 */
#ifndef DIAL9_APISTACK_H
#define DIAL9_APISTACK_H

#include <stdbool.h>
#include <stdint.h>

struct api_call;
struct columns;

#define API_DEPTH_MAX 512u
#define API_LABEL_ADDR (1ull << 32)

/*
 * Stacks are those of samples, or of times without CPU. Where polls were not recorded, the recorder
 * may still have seen which task a thread held: then that is the stack's task.
 */
struct api_want {
	uint64_t from_ns, to_ns;
	uint8_t source; /* of samples */
	bool is_off, has_task;
	uint32_t task; /* row, or NONE */
	const char *place; /* of the task; NULL: any */
};

/* kind=cpu|sched|off, from, to, task=ID, place=TEXT. False: 400 is set. */
bool api_want_read(struct api_call *call, struct api_want *ret);
/* Is this row of samples, or of offs, one of them? Times are not looked at. */
bool api_wants(const struct columns *c, const struct api_want *w, uint32_t row);
/* Text of the type of the task that such a row was taken in; COLUMNS_NONE: in none, 0: unknown. */
uint32_t api_stack_place(const struct columns *c, const struct api_want *w, uint32_t row);

/* Of CPU for which a sample stands; 0 unknown. */
uint64_t api_sample_ns(const struct columns *c);

/*
 * Outermost first. Returns how many; *ret_cut is set, else left alone, if there were more than
 * API_DEPTH_MAX.
 */
uint32_t api_stack_labels(const struct columns *c, uint32_t stack, uint64_t labels[API_DEPTH_MAX],
			  bool *ret_cut);

void api_put_label(struct api_call *call, uint64_t label); /* as a JSON value */

#endif /* DIAL9_APISTACK_H */
