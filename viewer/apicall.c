// SPDX-License-Identifier: Apache-2.0
/* apicall.c - reading parameters strictly, writing answers the same way everywhere. */
#include "apicall.h"

#include "jsonout.h"
#include "reply.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool api_bad(struct api_call *call, const char *text)
{
	api_done(call);
	reply_error(call->reply, 400, text);
	return false;
}

bool api_missing(struct api_call *call, const char *text)
{
	api_done(call);
	reply_error(call->reply, 404, text);
	return false;
}

/* Digits to a number; false for anything else. */
static bool api_digits(const char **p, uint64_t *ret)
{
	const char *from = *p;

	for (*ret = 0; **p >= '0' && **p <= '9'; (*p)++)
		if (__builtin_mul_overflow(*ret, 10, ret) ||
		    __builtin_add_overflow(*ret, (uint64_t)(**p - '0'), ret))
			return false;
	return *p > from;
}

bool api_number(struct api_call *call, const char *key, uint64_t lo, uint64_t hi, uint64_t *ret)
{
	const char *text = call->arg(call->ctx, key);
	uint64_t value;

	if (!text)
		return true;
	if (!api_digits(&text, &value) || *text || value < lo || value > hi)
		return api_bad(call, "a number is missing, malformed or out of range");
	*ret = value;
	return true;
}

bool api_span(struct api_call *call, uint64_t *ret_from_ns, uint64_t *ret_to_ns)
{
	uint64_t last = call->c->odd.last_ns - call->base_ns + 1;

	*ret_from_ns = 0;
	*ret_to_ns = last;
	if (!api_number(call, "from", 0, UINT64_MAX >> 1, ret_from_ns) ||
	    !api_number(call, "to", 0, UINT64_MAX >> 1, ret_to_ns))
		return false;
	if (*ret_from_ns >= *ret_to_ns)
		return api_bad(call, "from must be less than to");
	if (__builtin_add_overflow(*ret_from_ns, call->base_ns, ret_from_ns) ||
	    __builtin_add_overflow(*ret_to_ns, call->base_ns, ret_to_ns))
		return api_bad(call, "from and to must lie in the recording");
	return true;
}

uint32_t api_lanes(struct api_call *call, uint32_t lanes[API_LANES_MAX])
{
	const char *text = call->arg(call->ctx, "lanes");
	uint32_t cnt = 0;
	uint64_t from, to;

	if (!text)
		for (; cnt < API_LANES_MAX && cnt < call->c->lanes.cnt; cnt++)
			lanes[cnt] = cnt;
	while (text && *text) {
		if (!api_digits(&text, &from))
			break;
		to = from;
		if (*text == '-') {
			text++;
			if (!api_digits(&text, &to))
				break;
		}
		if (to < from || to >= call->c->lanes.cnt || to - from >= API_LANES_MAX - cnt)
			break;
		while (from <= to)
			lanes[cnt++] = (uint32_t)from++;
		if (*text == ',')
			text++;
		else
			break;
	}
	if (cnt == 0 || (text && *text)) {
		api_bad(call, "lanes must be numbers of lanes as in 0-7,9, at most 256");
		return 0;
	}
	return cnt;
}

struct json *api_begin(struct api_call *call)
{
	call->out = open_memstream(&call->reply->body, &call->reply->body_sz);
	call->j = call->out ? json_open(call->out, false) : NULL;
	if (!call->j) {
		api_done(call);
		reply_error(call->reply, 500, "out of memory");
		return NULL;
	}
	call->reply->status = 200;
	call->reply->type = "application/json";
	json_map(call->j);
	return call->j;
}

void api_end(struct api_call *call)
{
	json_map_end(call->j);
	json_line(call->j);
	api_done(call);
}

void api_done(struct api_call *call)
{
	json_close(call->j);
	call->j = NULL;
	if (call->out)
		fclose(call->out);
	call->out = NULL;
}

void api_bytes(struct api_call *call, void *p, size_t sz)
{
	if (!p) {
		reply_error(call->reply, 500, "out of memory");
		return;
	}
	call->reply->status = 200;
	call->reply->type = "application/octet-stream";
	call->reply->body = p;
	call->reply->body_sz = sz;
}

void api_text(struct json *j, const char *key, const struct columns *c, uint32_t text)
{
	size_t len;
	const char *p = columns_text(c, text, &len);

	json_put_bytes(j, key, p, len);
}

void api_rel(struct json *j, const char *key, const struct api_call *call, uint64_t ns)
{
	if (ns < call->base_ns)
		json_put_null(j, key);
	else
		json_put_u64(j, key, ns - call->base_ns);
}

void api_poll(struct api_call *call, const char *key, uint32_t poll)
{
	const struct columns *c = call->c;
	struct json *j = call->j;
	uint32_t task;

	if (poll >= c->polls.cnt) {
		json_put_null(j, key);
		return;
	}
	if (key)
		json_key(j, key);
	task = c->polls.task[poll];
	json_map(j);
	json_put_u64(j, "row", poll);
	api_rel(j, "start", call, c->polls.start_ns[poll]);
	json_put_u64(j, "dur", c->polls.dur_ns[poll]);
	json_key(j, "ready");
	if (c->polls.ready_ns[poll] >= call->base_ns)
		json_u64(j, c->polls.ready_ns[poll] - call->base_ns);
	else
		json_null(j);
	json_put_u64(j, "off", c->polls.off_ns[poll]);
	json_put_u64(j, "lane", c->polls.lane[poll]);
	json_key(j, "queue");
	if (c->polls.queue[poll] == COLUMNS_QUEUE_UNKNOWN)
		json_null(j);
	else
		json_u64(j, c->polls.queue[poll]);
	json_put_u64(j, "flags", c->polls.flags[poll]);
	json_key(j, "task"); /* as text: ids use all 64 bits */
	if (task < c->tasks.cnt) {
		char text[24];

		snprintf(text, sizeof(text), "%llu", (unsigned long long)c->tasks.id[task]);
		json_text(j, text);
	} else {
		json_null(j);
	}
	api_text(j, "place", c, c->polls.place[poll]);
	json_map_end(j);
}

uint32_t api_bin(uint64_t ns)
{
	uint32_t octave;
	double rest;

	if (ns == 0)
		return 0;
	octave = 63u - (uint32_t)__builtin_clzll(ns);
	rest = (double)ns / (double)(1ull << octave); /* in [1, 2) */
	return octave * 8 + (uint32_t)(log2(rest) * 8);
}

uint8_t api_log(uint64_t ns)
{
	uint32_t bin = api_bin(ns);

	if (ns == 0)
		return 0;
	return bin >= 254 ? 255 : (uint8_t)(bin + 1);
}

bool api_is(const struct columns *c, uint32_t text, const char *want)
{
	size_t len;
	const char *p = columns_text(c, text, &len);

	return len == strlen(want) && memcmp(p, want, len) == 0;
}

uint32_t api_schema(const struct columns *c, const char *name)
{
	uint32_t row = 0;

	while (row < c->schemas.cnt && !api_is(c, c->schemas.name[row], name))
		row++;
	return row;
}
