// SPDX-License-Identifier: Apache-2.0
/* recorded.c - claims, occurrences, levels. */
#include "recorded.h"

#include "core/columns.h"
#include "jsonout.h"
#include "plain.h"

#include <string.h>

/* Is `name` one of a comma-separated list? */
static bool recorded_lists(const char *list, size_t len, const char *name)
{
	size_t name_len = strlen(name);

	while (len) {
		const char *comma = memchr(list, ',', len);
		size_t part = comma ? (size_t)(comma - list) : len;

		if (part == name_len && memcmp(list, name, part) == 0)
			return true;
		list += part + (comma ? 1 : 0);
		len -= part + (comma ? 1 : 0);
	}
	return false;
}

static bool recorded_has(const struct columns *c, uint32_t claims, const char *name, bool occurs)
{
	size_t len;
	const char *p;

	if (claims == COLUMNS_NONE)
		return occurs;
	p = columns_text(c, claims, &len);
	return recorded_lists(p, len, name) || occurs;
}

static bool recorded_is(const struct columns *c, uint32_t text, const char *want)
{
	size_t len;
	const char *p = columns_text(c, text, &len);

	return len == strlen(want) && memcmp(p, want, len) == 0;
}

/* The level that an agent:Level sets for all types; false: for some types only. */
static bool recorded_level(const struct columns *c, uint32_t record, bool *polls, bool *wakes)
{
	struct columns_iter it = { 0 };
	struct columns_value v;
	bool is_all = true, is_full = false, is_wakes = false, is_polls = false;

	while (columns_record_next(c, record, &it, &v)) {
		if (recorded_is(c, v.name, "types") && !recorded_is(c, (uint32_t)v.u, ""))
			is_all = false;
		if (!recorded_is(c, v.name, "level"))
			continue;
		is_full = recorded_is(c, (uint32_t)v.u, "full");
		is_wakes = recorded_is(c, (uint32_t)v.u, "wakes");
		is_polls = recorded_is(c, (uint32_t)v.u, "polls");
	}
	if (is_all) {
		*polls = is_full || is_wakes || is_polls;
		*wakes = is_full || is_wakes;
	}
	return is_all;
}

static void recorded_levels(const struct columns *c, struct recorded *ret)
{
	uint64_t since_ns = c->odd.first_ns, ns;
	bool has_level = false, polls = ret->polls, wakes = ret->wakes;

	for (uint32_t i = 0; i < c->records.cnt; i++) {
		if (!recorded_is(c, c->schemas.name[c->records.schema[i]], "agent:Level"))
			continue;
		ns = c->records.ts_ns[i] < c->odd.last_ns ? c->records.ts_ns[i] : c->odd.last_ns;
		ns = ns > since_ns ? ns - since_ns : 0;
		ret->polls_ns += polls ? ns : 0;
		ret->wakes_ns += wakes ? ns : 0;
		since_ns += ns;
		has_level |= recorded_level(c, i, &polls, &wakes);
	}
	ns = c->odd.last_ns > since_ns ? c->odd.last_ns - since_ns : 0;
	if (!has_level) {
		polls = ret->polls;
		wakes = ret->wakes;
	}
	ret->polls_ns += polls ? ns : 0;
	ret->wakes_ns += wakes ? ns : 0;
}

void recorded_of(const struct columns *c, struct recorded *ret)
{
	uint32_t claims = columns_fact(c, "agent.has");
	bool polls = false, blocking = false;

	*ret = (struct recorded){ .span_ns = c->odd.last_ns - c->odd.first_ns };
	for (uint32_t i = 0; i < c->lanes.cnt; i++) {
		bool is_pool = c->lanes.kind[i] == COLUMNS_BLOCKING;

		blocking |= is_pool;
		polls |= !is_pool && c->lanes.polls_to[i] > c->lanes.polls_from[i];
	}
	ret->polls = recorded_has(c, claims, "PollStartEvent", polls);
	ret->wakes = recorded_has(c, claims, "WakeEventEvent", c->wakes.cnt > 0);
	ret->all_wakes = ret->wakes && claims == COLUMNS_NONE;
	ret->parks = recorded_has(c, claims, "WorkerParkEvent", c->parks.cnt > 0);
	ret->queues = recorded_has(c, claims, "RuntimeMetricsEvent", c->queues.cnt > 0);
	ret->tasks = recorded_has(c, claims, "TaskSpawnEvent", false);
	for (uint32_t i = 0; !ret->tasks && i < c->tasks.cnt; i++)
		ret->tasks = c->tasks.spawn_ns[i] > 0;
	for (uint32_t i = 0; !ret->delays && i < c->parks.cnt; i++)
		ret->delays = c->parks.delay_ns[i] != UINT64_MAX;
	for (uint32_t i = 0; !ret->local_queue && i < c->polls.cnt; i++)
		ret->local_queue = c->polls.queue[i] != COLUMNS_QUEUE_UNKNOWN;
	ret->blocking = recorded_has(c, claims, "agent:Blocking", blocking);
	recorded_levels(c, ret);
}

void recorded_text(FILE *out, const struct recorded *r)
{
	const struct {
		bool is_there;
		const char *name;
	} parts[] = { { r->polls, "polls" },
		      { r->wakes, "wakes" },
		      { r->tasks, "spawns and ends" },
		      { r->parks, "parks" },
		      { r->delays, "kernel delays" },
		      { r->queues, "injection queues" },
		      { r->local_queue, "workers' queues" },
		      { r->blocking, "the blocking pool" } };
	const char *sep = "; not recorded: ";
	char a[PLAIN_SZ], b[PLAIN_SZ];

	fprintf(out, "  coverage  polls %s, wakes %s of the time",
		plain_share(a, r->polls_ns, r->span_ns), plain_share(b, r->wakes_ns, r->span_ns));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i].is_there)
			continue;
		fprintf(out, "%s%s", sep, parts[i].name);
		sep = ", ";
	}
	fputc('\n', out);
}

void recorded_json(struct json *j, const struct recorded *r)
{
	const struct {
		const char *key;
		bool is_there;
	} parts[] = { { "polls", r->polls },	     { "wakes", r->wakes },
		      { "all_wakes", r->all_wakes }, { "tasks", r->tasks },
		      { "parks", r->parks },	     { "kernel_delay", r->delays },
		      { "queues", r->queues },	     { "local_queue", r->local_queue },
		      { "blocking", r->blocking } };

	json_key(j, "recorded");
	json_map(j);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		json_key(j, parts[i].key);
		json_bool(j, parts[i].is_there);
	}
	json_put_u64(j, "span_ns", r->span_ns);
	json_put_u64(j, "polls_ns", r->polls_ns);
	json_put_u64(j, "wakes_ns", r->wakes_ns);
	json_map_end(j);
}
