// SPDX-License-Identifier: Apache-2.0
/* apievents.c - records one by one, their values as text. */
#include "apievents.h"

#include "api.h"
#include "apicall.h"
#include "jsonout.h"

#include "format/trace.h"

#include <string.h>
#include <strings.h>

#define API_EVENTS_MAX 500u
#define API_NUMBER_SZ 40u

/* A value as text: in the columns, or made in number[]. False: there is none. */
static bool api_value_text(const struct columns *c, const struct columns_value *v,
			   char number[API_NUMBER_SZ], const char **ret, size_t *ret_len)
{
	uint32_t frame;
	double f64;

	*ret = number;
	switch (v->type) {
	case D9_T_NONE:
		return false;
	case D9_T_STRING:
	case D9_T_PSTRING:
	case D9_T_BYTES:
	case D9_T_MAP:
	case D9_T_DYN_LIST:
	case D9_T_DYN_MAP:
		*ret = columns_text(c, (uint32_t)v->u, ret_len);
		return true;
	case D9_T_STACK:
	case D9_T_PSTACK: /* its leaf */
		if (v->u >= c->stacks.cnt ||
		    c->stacks.frames_from[v->u] == c->stacks.frames_to[v->u])
			return false;
		frame = c->stack_frames.frame[c->stacks.frames_from[v->u]];
		if (c->frames.symbols_from[frame] < c->frames.symbols_to[frame]) {
			*ret = columns_text(c, c->symbols.name[c->frames.symbols_to[frame] - 1],
					    ret_len);
			return true;
		}
		snprintf(number, API_NUMBER_SZ, "0x%llx", (unsigned long long)c->frames.addr[frame]);
		break;
	case D9_T_F64:
		memcpy(&f64, &v->u, sizeof(f64));
		snprintf(number, API_NUMBER_SZ, "%.9g", f64);
		break;
	case D9_T_BOOL:
		snprintf(number, API_NUMBER_SZ, "%s", v->u ? "true" : "false");
		break;
	case D9_T_I64:
		snprintf(number, API_NUMBER_SZ, "%lld", (long long)v->u);
		break;
	default:
		snprintf(number, API_NUMBER_SZ, "%llu", (unsigned long long)v->u);
		break;
	}
	*ret_len = strlen(number);
	return true;
}

static bool api_text_holds(const char *p, size_t len, const char *want, size_t want_len)
{
	for (; len >= want_len; p++, len--)
		if (strncasecmp(p, want, want_len) == 0)
			return true;
	return false;
}

int api_event_find(const struct columns *c, uint32_t record, const char *want)
{
	const char *equals = strchr(want, '='), *p, *text = equals ? equals + 1 : want;
	size_t name_len = equals ? (size_t)(equals - want) : 0, text_len = strlen(text), len;
	struct columns_iter it = { 0 };
	struct columns_value v;
	char number[API_NUMBER_SZ];

	for (int field = 0; columns_record_next(c, record, &it, &v); field++) {
		p = columns_text(c, v.name, &len);
		if (equals && (len != name_len || strncasecmp(p, want, len) != 0))
			continue;
		if (!api_value_text(c, &v, number, &p, &len) || (!equals && p == number))
			continue;
		if (api_text_holds(p, len, text, text_len))
			return field;
	}
	return -1;
}

const char *api_event_text(const struct columns *c, uint32_t record, int field,
			   char to[API_EVENT_TEXT_SZ])
{
	struct columns_iter it = { 0 };
	struct columns_value v = { 0 };
	const char *name, *p = "";
	size_t name_len, len = 0;
	char number[API_NUMBER_SZ];

	for (int i = 0; i <= field; i++)
		if (!columns_record_next(c, record, &it, &v))
			break;
	name = columns_text(c, v.name, &name_len);
	if (!api_value_text(c, &v, number, &p, &len))
		len = 0;
	snprintf(to, API_EVENT_TEXT_SZ, "%.*s=%.*s", (int)(name_len < 100 ? name_len : 100), name,
		 (int)(len < 400 ? len : 400), p);
	return to;
}

static void api_event(struct api_call *call, uint32_t record)
{
	const struct columns *c = call->c;
	struct columns_iter it = { 0 };
	struct columns_value v;
	char number[API_NUMBER_SZ];
	struct json *j = call->j;
	const char *p;
	size_t len;

	json_map(j);
	api_rel(j, "ts", call, c->records.ts_ns[record]);
	json_put_u64(j, "schema", c->records.schema[record]);
	json_key(j, "fields");
	json_list(j);
	while (columns_record_next(c, record, &it, &v)) {
		p = columns_text(c, v.name, &len);
		json_bytes(j, p, len);
		if (api_value_text(c, &v, number, &p, &len))
			json_bytes(j, p, len);
		else
			json_null(j);
	}
	json_list_end(j);
	json_map_end(j);
}

/* schema=N q=TEXT limit=N: the first events that are so. */
void api_events(struct api_call *call)
{
	const struct columns *c = call->c;
	const char *want = call->arg(call->ctx, "q");
	uint64_t from_ns, to_ns, limit = 100, schema = UINT64_MAX, cnt = 0, seen = 0;
	struct json *j;
	uint32_t i;

	if (!api_span(call, &from_ns, &to_ns) ||
	    !api_number(call, "limit", 1, API_EVENTS_MAX, &limit) ||
	    !api_number(call, "schema", 0, UINT32_MAX, &schema) || !(j = api_begin(call)))
		return;
	json_key(j, "events");
	json_list(j);
	i = columns_seek(c->records.ts_ns, 0, c->records.cnt, from_ns);
	for (; i < c->records.cnt && c->records.ts_ns[i] < to_ns && seen < API_SCAN_MAX; i++, seen++) {
		if ((schema != UINT64_MAX && c->records.schema[i] != schema) ||
		    (want && *want && api_event_find(c, i, want) < 0))
			continue;
		if (cnt++ < limit)
			api_event(call, i);
	}
	json_list_end(j);
	json_put_u64(j, "count", cnt);
	json_key(j, "capped");
	json_bool(j, seen == API_SCAN_MAX);
	api_end(call);
}
