// SPDX-License-Identifier: Apache-2.0
/* apisearch.c - one box for everything: a task id, a type, a function, a thread, dur>5ms. */
#include "api.h"

#include "apicall.h"
#include "apievents.h"
#include "jsonout.h"
#include "plain.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define API_HITS_MAX 60u
#define API_QUERY_MAX 200u
#define API_VALUES_MAX 10u

static bool api_holds(const struct columns *c, uint32_t text, const char *q, size_t q_len)
{
	size_t len;
	const char *p = columns_text(c, text, &len);

	for (; len >= q_len; p++, len--)
		if (strncasecmp(p, q, q_len) == 0)
			return true;
	return false;
}

static void api_hit_task(struct api_call *call, uint32_t task, uint32_t *shown)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)call->c->tasks.id[task]);
	json_map(call->j);
	json_put_text(call->j, "kind", "task");
	json_put_text(call->j, "id", text);
	api_text(call->j, "text", call->c, call->c->tasks.place[task]);
	json_put_u64(call->j, "busy", call->c->tasks.busy_ns[task]);
	json_map_end(call->j);
	(*shown)++;
}

/* The longest polls of `least` ns and more, the worst of each of the first lanes. */
static void api_hit_polls(struct api_call *call, uint64_t least, uint32_t *shown)
{
	const struct columns *c = call->c;

	for (uint32_t i = 0; i < c->polls.cnt && *shown < API_HITS_MAX; i++)
		if (c->polls.dur_ns[i] >= least) {
			json_map(call->j);
			json_put_text(call->j, "kind", "poll");
			api_poll(call, "poll", i);
			json_map_end(call->j);
			(*shown)++;
		}
}

/* Texts of a kind that hold the query, each once, with the lane of the first (NULL: they have none):
 * seen[] has a bit for each text. */
static void api_hit_column(struct api_call *call, const char *kind, const uint32_t *texts, uint32_t cnt,
			   const uint16_t *lanes, const char *q, uint8_t *seen, uint32_t *shown)
{
	size_t len = strlen(q);
	uint32_t before = *shown;

	for (uint32_t i = 0; i < cnt && *shown < API_HITS_MAX && *shown - before < 20; i++) {
		if (seen[texts[i] / 8] & (1u << texts[i] % 8))
			continue;
		seen[texts[i] / 8] |= (uint8_t)(1u << texts[i] % 8);
		if (!api_holds(call->c, texts[i], q, len))
			continue;
		json_map(call->j);
		json_put_text(call->j, "kind", kind);
		api_text(call->j, "text", call->c, texts[i]);
		if (lanes)
			json_put_u64(call->j, "lane", lanes[i]);
		json_map_end(call->j);
		(*shown)++;
	}
}

/* What fields of events of other kinds say: the first event with each such "name=value". */
static void api_hit_values(struct api_call *call, const char *q, uint32_t *shown)
{
	char text[API_EVENT_TEXT_SZ], last[API_EVENT_TEXT_SZ] = "";
	const struct columns *c = call->c;
	uint32_t before = *shown;

	for (uint32_t i = 0; i < c->records.cnt && i < API_SCAN_MAX; i++) {
		int field = api_event_find(c, i, q);

		if (field < 0 || strcmp(api_event_text(c, i, field, text), last) == 0)
			continue;
		strcpy(last, text);
		json_map(call->j);
		json_put_text(call->j, "kind", "value");
		json_put_text(call->j, "text", text);
		api_rel(call->j, "at", call, c->records.ts_ns[i]);
		json_map_end(call->j);
		(*shown)++;
		if (*shown - before == API_VALUES_MAX || *shown == API_HITS_MAX)
			return;
	}
}

void api_search(struct api_call *call)
{
	const struct columns *c = call->c;
	const char *q = call->arg(call->ctx, "q"), *digits;
	uint64_t id = 0, least = 0;
	uint8_t *seen;
	uint32_t task, shown = 0;
	bool is_relative;
	struct json *j;
	char *rest;

	if (!q || !*q || strlen(q) > API_QUERY_MAX) {
		api_bad(call, "q must hold 1 to 200 bytes");
		return;
	}
	seen = calloc(c->texts.cnt / 8 + 1, 1);
	j = seen ? api_begin(call) : NULL;
	if (!j) {
		free(seen);
		return;
	}
	json_key(j, "hits");
	json_list(j);
	digits = strncmp(q, "t:", 2) == 0 ? q + 2 : q;
	id = strtoull(digits, &rest, 10);
	if (*digits >= '0' && *digits <= '9' && !*rest && (task = columns_task(c, id)) != COLUMNS_NONE)
		api_hit_task(call, task, &shown);
	if (strncmp(q, "dur>", 4) == 0 && plain_read_time(q + 4, &least, &is_relative) == 0)
		api_hit_polls(call, least, &shown);
	api_hit_column(call, "type", c->tasks.place, c->tasks.cnt, NULL, q, seen, &shown);
	api_hit_column(call, "function", c->symbols.name, c->symbols.cnt, NULL, q, seen, &shown);
	api_hit_column(call, "thread", c->samples.thread, c->samples.cnt, c->samples.lane, q, seen,
		       &shown);
	api_hit_column(call, "runtime", c->lanes.runtime, c->lanes.cnt, NULL, q, seen, &shown);
	api_hit_column(call, "event", c->schemas.name, c->schemas.cnt, NULL, q, seen, &shown);
	api_hit_column(call, "field", c->fields.name, c->fields.cnt, NULL, q, seen, &shown);
	if (shown < API_HITS_MAX)
		api_hit_values(call, q, &shown);
	json_list_end(j);
	json_key(j, "capped");
	json_bool(j, shown >= API_HITS_MAX);
	api_end(call);
	free(seen);
}
