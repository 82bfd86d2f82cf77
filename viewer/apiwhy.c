// SPDX-License-Identifier: Apache-2.0
/* apiwhy.c - why a poll took its time: verdict, where it ran or blocked, its times without CPU. */
#include "api.h"

#include "apicall.h"
#include "callplace.h"
#include "jsonout.h"
#include "moment.h"
#include "offname.h"
#include "verdict.h"
#include "workertable.h"

#include <string.h>

#define API_OFFS_MAX 100u
#define API_SAMPLES_MAX 4096u /* of one poll looked at */
#define API_PLACES_MAX 64u /* functions told apart */

struct api_places {
	uint32_t name[API_PLACES_MAX], hits[API_PLACES_MAX]; /* texts */
	uint32_t cnt;
};

/* The innermost function of a stack that is the program's own; text 0: none. */
static uint32_t api_own_function(const struct columns *c, uint32_t stack)
{
	size_t len;

	for (uint32_t i = c->stacks.frames_from[stack]; i < c->stacks.frames_to[stack]; i++) {
		uint32_t frame = c->stack_frames.frame[i];

		for (uint32_t s = c->frames.symbols_to[frame]; s > c->frames.symbols_from[frame];
		     s--) {
			const char *p = columns_text(c, c->symbols.name[s - 1], &len);

			if (callplace_is_own(p, len))
				return c->symbols.name[s - 1];
		}
	}
	return 0;
}

static void api_count(struct api_places *p, uint32_t name)
{
	uint32_t i = 0;

	while (i < p->cnt && p->name[i] != name)
		i++;
	if (i == API_PLACES_MAX)
		return;
	if (i == p->cnt)
		p->name[p->cnt++] = name;
	p->hits[i]++;
}

static uint32_t api_label(const struct columns *c, uint32_t off)
{
	if (c->offs.reason[off] == 0)
		return MOMENT_OFF_PREEMPTED;
	return c->offs.syscall[off] <= MOMENT_SYSCALL_MAX ? MOMENT_SYSCALL + c->offs.syscall[off]
							  : MOMENT_OFF_OTHER;
}

void api_off(struct api_call *call, uint32_t off)
{
	static const char *const reasons[] = { "preempted", "sleeping", "uninterruptible",
					       "other" };
	const struct columns *c = call->c;
	struct json *j = call->j;
	char text[24], name[OFFNAME_SZ];

	json_map(j);
	api_rel(j, "start", call, c->offs.start_ns[off]);
	json_put_u64(j, "dur", c->offs.dur_ns[off]);
	json_put_u64(j, "lane", c->offs.lane[off]);
	json_key(j, "task");
	if (c->offs.task[off] < c->tasks.cnt) {
		snprintf(text, sizeof(text), "%llu",
			 (unsigned long long)c->tasks.id[c->offs.task[off]]);
		json_text(j, text);
		api_text(j, "type", c, c->tasks.place[c->offs.task[off]]);
	} else {
		json_null(j);
		json_put_text(j, "type", "");
	}
	json_put_text(j, "reason", reasons[c->offs.reason[off] & 3]);
	json_put_text(j, "call", offname(name, api_label(c, off)));
	api_text(j, "place", c, api_own_function(c, c->offs.stack[off]));
	json_map_end(j);
}

/* Times without CPU, the first API_OFFS_MAX of them one by one, all of them summed. */
static void api_offs(struct api_call *call, uint32_t poll, struct worker_poll *sum)
{
	const struct columns *c = call->c;
	struct json *j = call->j;
	uint32_t lane = c->polls.lane[poll], to = c->lanes.offs_to[lane], shown = 0, label;
	uint32_t at = columns_seek(c->offs.start_ns, c->lanes.offs_from[lane], to,
				   c->polls.start_ns[poll]);
	uint64_t dur_ns, end_ns = c->polls.start_ns[poll] + c->polls.dur_ns[poll];

	json_key(j, "offs");
	json_list(j);
	for (; at < to && c->offs.start_ns[at] <= end_ns; at++) {
		if (c->offs.poll[at] != poll)
			continue;
		label = api_label(c, at);
		dur_ns = c->offs.dur_ns[at];
		sum->off_ns += dur_ns;
		sum->off_preempted_ns += label == MOMENT_OFF_PREEMPTED ? dur_ns : 0;
		sum->off_lock_ns += label == MOMENT_FUTEX ? dur_ns : 0;
		if (dur_ns >= sum->off_worst_ns) {
			sum->off_worst_ns = dur_ns;
			sum->off_worst = label;
			sum->off_stack = c->offs.stack[at];
		}
		if (shown++ >= API_OFFS_MAX)
			continue;
		api_off(call, at);
	}
	json_list_end(j);
}

static void api_samples(const struct columns *c, uint32_t poll, struct worker_poll *sum,
			struct api_places *places)
{
	uint32_t lane = c->polls.lane[poll], to = c->lanes.samples_to[lane];
	uint32_t at = columns_seek(c->samples.ts_ns, c->lanes.samples_from[lane], to,
				   c->polls.start_ns[poll]);
	uint64_t end_ns = c->polls.start_ns[poll] + c->polls.dur_ns[poll];

	for (; at < to && c->samples.ts_ns[at] <= end_ns && sum->samples < API_SAMPLES_MAX; at++) {
		if (c->samples.poll[at] != poll || c->samples.source[at] != 0)
			continue;
		sum->samples++;
		api_count(places, api_own_function(c, c->samples.stack[at]));
	}
}

void api_why(struct api_call *call, uint32_t poll)
{
	const struct columns *c = call->c;
	struct worker_poll sum = { 0 };
	struct api_places places = { 0 };
	uint64_t parts[VERDICT_CNT];
	uint32_t place = 0, hits = 0;
	struct json *j = call->j;
	char name[OFFNAME_SZ];
	const char *has;
	enum verdict v;
	size_t len;

	api_offs(call, poll, &sum);
	api_samples(c, poll, &sum, &places);
	has = columns_text(c, columns_fact(c, "agent.has"), &len);
	v = verdict_of(&sum, c->polls.dur_ns[poll],
		       c->offs.cnt > 0 || memmem(has, len, "agent:OffCpu", 12));
	verdict_parts(&sum, c->polls.dur_ns[poll], parts);
	for (uint32_t i = 0; i < places.cnt; i++)
		if (places.name[i] && places.hits[i] > hits) {
			place = places.name[i];
			hits = places.hits[i];
		}
	json_key(j, "why");
	json_map(j);
	json_put_text(j, "verdict", verdict_name(v));
	for (int i = VERDICT_COMPUTE; i < VERDICT_CNT; i++)
		json_put_u64(j, verdict_name((enum verdict)i), parts[i]);
	json_put_u64(j, "samples", sum.samples);
	json_put_u64(j, "hits", hits); /* of samples: those in `place` */
	api_text(j, "place", c, place);
	json_put_text(j, "call", sum.off_worst_ns ? offname(name, sum.off_worst) : "");
	api_text(j, "call_place", c, sum.off_worst_ns ? api_own_function(c, sum.off_stack) : 0);
	json_map_end(j);
}
