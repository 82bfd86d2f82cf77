// SPDX-License-Identifier: Apache-2.0
/* apitrace.c - what there is: the recordings of the path, and the frame of one of them. */
#include "api.h"

#include "apicall.h"
#include "held.h"
#include "jsonout.h"
#include "notice.h"

#include "format/trace.h"

#include <stdlib.h>
#include <string.h>

void api_trace(struct api_call *call)
{
	static const char *const states[] = { "waiting", "loading", "ready", "failed" };
	struct json *j = api_begin(call);
	struct held_status s;
	int err = held_err(call->held);

	if (!j)
		return;
	json_put_text(j, "schema", "dial9-view.page/1");
	json_put_text(j, "version", DIAL9_VERSION);
	json_put_text(j, "path", call->path);
	json_key(j, "error");
	if (err)
		json_text(j, notice_text(err));
	else
		json_null(j);
	json_put_u64(j, "over_cap", held_over_cap(call->held));
	json_key(j, "recordings");
	json_list(j);
	for (uint32_t i = 0; held_status(call->held, i, &s); i++) {
		json_map(j);
		json_put_text(j, "name", s.name);
		json_put_text(j, "state", states[s.state]);
		json_key(j, "error");
		if (s.err)
			json_text(j, notice_text(s.err));
		else
			json_null(j);
		json_put_u64(j, "generation", s.generation);
		json_put_u64(j, "files", s.files);
		json_put_u64(j, "file", s.file);
		json_put_u64(j, "bytes", s.bytes);
		json_put_u64(j, "done_bytes", s.done_bytes);
		json_put_u64(j, "events", s.events);
		json_key(j, "live");
		json_bool(j, s.is_live);
		json_map_end(j);
	}
	json_list_end(j);
	api_end(call);
}

static void api_lane_list(struct api_call *call)
{
	static const char *const kinds[] = { "worker", "nested", "blocking", "nowhere" };
	const struct columns *c = call->c;
	struct json *j = call->j;

	json_key(j, "lanes");
	json_list(j);
	for (uint32_t i = 0; i < c->lanes.cnt; i++) {
		json_map(j);
		json_put_text(j, "kind", kinds[c->lanes.kind[i] & 3]);
		json_put_u64(j, "id", c->lanes.id[i]);
		api_text(j, "runtime", c, c->lanes.runtime[i]);
		json_put_u64(j, "polls", c->lanes.polls_to[i] - c->lanes.polls_from[i]);
		json_put_u64(j, "parks", c->lanes.parks_to[i] - c->lanes.parks_from[i]);
		json_put_u64(j, "wakes", c->lanes.wakes_to[i] - c->lanes.wakes_from[i]);
		json_put_u64(j, "samples", c->lanes.samples_to[i] - c->lanes.samples_from[i]);
		json_put_u64(j, "offs", c->lanes.offs_to[i] - c->lanes.offs_from[i]);
		json_map_end(j);
	}
	json_list_end(j);
}

static void api_segment_list(struct api_call *call)
{
	const struct columns *c = call->c;
	struct json *j = call->j;

	json_key(j, "segments");
	json_list(j);
	for (uint32_t i = 0; i < c->segments.cnt; i++) {
		json_map(j);
		api_text(j, "name", c, c->segments.name[i]);
		api_rel(j, "first", call, c->segments.first_ns[i]);
		api_rel(j, "last", call, c->segments.last_ns[i]);
		json_put_u64(j, "events", c->segments.events[i]);
		json_put_u64(j, "bytes", c->segments.bytes[i]);
		json_key(j, "error");
		if (c->segments.err[i])
			json_text(j, notice_text(-(int)c->segments.err[i]));
		else
			json_null(j);
		json_map_end(j);
	}
	json_list_end(j);
}

static void api_schema_list(struct api_call *call)
{
	const struct columns *c = call->c;
	struct json *j = call->j;

	json_key(j, "schemas");
	json_list(j);
	for (uint32_t i = 0; i < c->schemas.cnt; i++) {
		json_map(j);
		api_text(j, "name", c, c->schemas.name[i]);
		json_put_u64(j, "records", c->schemas.records[i]);
		json_key(j, "fields");
		json_list(j);
		for (uint32_t f = c->schemas.fields_from[i]; f < c->schemas.fields_to[i]; f++) {
			json_map(j);
			api_text(j, "name", c, c->fields.name[f]);
			json_put_u64(j, "type", c->fields.type[f]);
			json_map_end(j);
		}
		json_list_end(j);
		json_map_end(j);
	}
	json_list_end(j);
}

void api_recording(struct api_call *call)
{
	const struct columns *c = call->c;
	struct json *j = api_begin(call);
	uint64_t realtime;
	char text[24];

	if (!j)
		return;
	json_put_u64(j, "generation", call->generation);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)call->base_ns);
	json_put_text(j, "base", text); /* as text: may not fit a double */
	json_put_u64(j, "length", c->odd.last_ns - call->base_ns + 1);
	json_key(j, "realtime"); /* of base, ns since 1970 */
	if (columns_realtime(c, call->base_ns, &realtime)) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)realtime);
		json_text(j, text);
	} else {
		json_null(j);
	}
	json_put_u64(j, "events", c->odd.events);
	json_put_u64(j, "bad_fields", c->odd.bad_fields);
	json_put_u64(j, "stray_ends", c->odd.stray_ends);
	json_put_u64(j, "unresolved", c->odd.unresolved);
	json_put_u64(j, "over_cap", c->odd.over_cap);
	json_put_u64(j, "memory", c->map_sz);
	json_put_u64(j, "tasks", c->tasks.cnt);
	json_put_u64(j, "polls", c->polls.cnt);
	json_put_u64(j, "wakes", c->wakes.cnt);
	json_put_u64(j, "parks", c->parks.cnt);
	json_put_u64(j, "samples", c->samples.cnt);
	json_put_u64(j, "offs", c->offs.cnt);
	api_lane_list(call);
	api_segment_list(call);
	api_schema_list(call);
	json_key(j, "facts");
	json_list(j);
	for (uint32_t i = 0; i < c->facts.cnt && i < 512; i++) {
		json_map(j);
		api_text(j, "key", c, c->facts.key[i]);
		api_text(j, "value", c, c->facts.value[i]);
		json_map_end(j);
	}
	json_list_end(j);
	api_end(call);
}
