// SPDX-License-Identifier: Apache-2.0
/* apistack.c - rows that are asked for; frames from the outermost on, each as its functions. */
#include "apicall.h"
#include "apistack.h"
#include "jsonout.h"

#include <string.h>

bool api_want_read(struct api_call *call, struct api_want *ret)
{
	const char *kind = call->arg(call->ctx, "kind");
	uint64_t id = 0;

	*ret = (struct api_want){ .place = call->arg(call->ctx, "place"),
				  .has_task = call->arg(call->ctx, "task") != NULL };
	ret->is_off = kind && strcmp(kind, "off") == 0;
	ret->source = kind && strcmp(kind, "sched") == 0;
	if (kind && !ret->is_off && !ret->source && strcmp(kind, "cpu") != 0)
		return api_bad(call, "kind must be cpu, sched or off");
	if (!api_span(call, &ret->from_ns, &ret->to_ns) ||
	    !api_number(call, "task", 0, UINT64_MAX, &id))
		return false;
	ret->task = columns_task(call->c, id);
	return true;
}

/* The poll of a row, and its task, which may be known without it. */
static uint32_t api_stack_task(const struct columns *c, const struct api_want *w, uint32_t row,
			       uint32_t *ret_poll)
{
	*ret_poll = w->is_off ? c->offs.poll[row] : c->samples.poll[row];
	if (*ret_poll < c->polls.cnt)
		return c->polls.task[*ret_poll];
	return w->is_off ? c->offs.task[row] : c->samples.task[row];
}

uint32_t api_stack_place(const struct columns *c, const struct api_want *w, uint32_t row)
{
	uint32_t poll, task = api_stack_task(c, w, row, &poll);

	if (poll < c->polls.cnt)
		return c->polls.place[poll];
	return task < c->tasks.cnt ? c->tasks.place[task] : COLUMNS_NONE;
}

bool api_wants(const struct columns *c, const struct api_want *w, uint32_t row)
{
	uint32_t poll, task;

	if (!w->is_off && c->samples.source[row] != w->source)
		return false;
	if (!w->has_task && !w->place)
		return true;
	task = api_stack_task(c, w, row, &poll);
	return task < c->tasks.cnt && (!w->has_task || task == w->task) &&
	       (!w->place || api_is(c, api_stack_place(c, w, row), w->place));
}

uint64_t api_sample_ns(const struct columns *c)
{
	uint32_t fact = columns_fact(c, "cpu.profile.frequency_hz");
	uint64_t hz = 0;
	size_t len;
	const char *p = columns_text(c, fact, &len);

	for (size_t i = 0; i < len && i < 9 && p[i] >= '0' && p[i] <= '9'; i++)
		hz = hz * 10 + (uint64_t)(p[i] - '0');
	return hz ? 1000000000 / hz : 0;
}

uint32_t api_stack_labels(const struct columns *c, uint32_t stack, uint64_t labels[API_DEPTH_MAX],
			  bool *ret_cut)
{
	uint32_t cnt = 0;

	for (uint32_t i = c->stacks.frames_to[stack]; i > c->stacks.frames_from[stack]; i--) {
		uint32_t frame = c->stack_frames.frame[i - 1];
		uint32_t from = c->frames.symbols_from[frame], to = c->frames.symbols_to[frame];

		do { /* one step for each inlined function, or one for an address without a name */
			if (cnt == API_DEPTH_MAX) {
				*ret_cut = true;
				return cnt;
			}
			labels[cnt++] = from < to ? c->symbols.name[from] : API_LABEL_ADDR + frame;
		} while (++from < to);
	}
	return cnt;
}

void api_put_label(struct api_call *call, uint64_t label)
{
	const struct columns *c = call->c;
	const char *p;
	size_t len;
	char text[24];

	if (label >> 32) {
		snprintf(text, sizeof(text), "0x%llx",
			 (unsigned long long)c->frames.addr[(uint32_t)label]);
		json_text(call->j, text);
		return;
	}
	p = columns_text(c, (uint32_t)label, &len);
	json_bytes(call->j, p, len);
}
