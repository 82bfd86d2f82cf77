// SPDX-License-Identifier: Apache-2.0
/* facts.c - the metadata keys that change how events are to be read. */
#include "facts.h"

#include <string.h>

static bool facts_is(struct d9_str s, const char *text)
{
	return s.len == strlen(text) && memcmp(s.p, text, s.len) == 0;
}

/* Takes the next item off a comma-separated list; false at its end. */
static bool facts_next(struct d9_str *list, struct d9_str *ret)
{
	const char *comma = list->len ? memchr(list->p, ',', list->len) : NULL;

	*ret = *list;
	if (list->len == 0)
		return false;
	if (comma) {
		ret->len = (uint32_t)(comma - list->p);
		list->p = comma + 1;
		list->len -= ret->len + 1;
	} else {
		list->len = 0;
	}
	while (ret->len && *ret->p == ' ') {
		ret->p++;
		ret->len--;
	}
	return true;
}

static enum d9_event facts_event(const char *name, size_t len)
{
	enum d9_event ev = d9_event_by_name(name, len);

	for (int i = 0; ev == D9_EV_OTHER && i < D9_EV_CNT; i++)
		if (facts_is((struct d9_str){ name, (uint32_t)len }, d9_event_def(i)->c_name))
			ev = i;
	return ev;
}

static void facts_add_unknown(struct facts *f, struct d9_str item)
{
	const char *dot = item.len ? memrchr(item.p, '.', item.len) : NULL;
	struct d9_str field;
	enum d9_event ev;

	if (!dot)
		return;
	ev = facts_event(item.p, (size_t)(dot - item.p));
	if (ev == D9_EV_OTHER)
		return;
	field = (struct d9_str){ dot + 1, item.len - (uint32_t)(dot + 1 - item.p) };
	for (int i = 0; i < d9_event_def(ev)->field_cnt; i++)
		if (facts_is(field, d9_event_def(ev)->fields[i].name))
			f->unknown[ev] |= 1ull << i;
}

/* dial9-agent speaks of poll starts alone: a worker that parks has an empty queue, which is known. */
static bool facts_is_queue(const struct facts *f, enum d9_event kind, int field)
{
	if (kind == D9_EV_POLL_START)
		return field == D9F_poll_start_local_queue;
	return !f->is_agent &&
	       ((kind == D9_EV_WORKER_PARK && field == D9F_worker_park_local_queue) ||
		(kind == D9_EV_WORKER_UNPARK && field == D9F_worker_unpark_local_queue));
}

static uint64_t facts_number(struct d9_str s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s.len; i++)
		if (s.p[i] < '0' || s.p[i] > '9' || __builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(s.p[i] - '0'), &n))
			return 0;
	return n;
}

static void facts_add_unread(struct facts *f, uint64_t worker)
{
	if (worker < FACTS_WORKERS_MAX)
		f->unread[worker / 64] |= 1ull << (worker & 63);
}

static uint64_t facts_hash(struct d9_str s)
{
	uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */

	for (uint32_t i = 0; i < s.len; i++)
		h = (h ^ (unsigned char)s.p[i]) * 0x100000001b3u;
	return h;
}

void facts_add(struct facts *f, const struct d9_ev *ev)
{
	const struct d9_value *map = d9_val(ev, D9F_segment_metadata_entries);
	struct d9_iter it = { 0 };
	struct d9_pair pair;
	struct d9_str item;
	enum d9_event claimed;

	if (!map || map->type != D9_T_MAP)
		return;
	while (d9_map_next(map, &it, &pair)) {
		if (pair.key.len > 6 && memcmp(pair.key.p, "agent.", 6) == 0)
			f->is_agent = true;
		if (facts_is(pair.key, "agent.session"))
			f->session = facts_number(pair.val);
		else if (facts_is(pair.key, "process.pid"))
			f->pid = facts_number(pair.val);
		else if (facts_is(pair.key, "boot_id"))
			f->boot_id = facts_hash(pair.val);
		if (facts_is(pair.key, "agent.has")) {
			f->has_claims = true;
			memset(f->claims, 0, sizeof(f->claims));
			while (facts_next(&pair.val, &item)) {
				claimed = facts_event(item.p, item.len);
				if (claimed != D9_EV_OTHER)
					f->claims[claimed] = true;
			}
		} else if (facts_is(pair.key, "agent.unknown")) {
			memset(f->unknown, 0, sizeof(f->unknown));
			while (facts_next(&pair.val, &item))
				facts_add_unknown(f, item);
		} else if (facts_is(pair.key, "agent.local_queue_unread")) {
			f->has_unread = true;
			memset(f->unread, 0, sizeof(f->unread));
			while (facts_next(&pair.val, &item))
				facts_add_unread(f, facts_number(item));
		} else if (facts_is(pair.key, "tokio.local_queue")) {
			f->queues = facts_is(pair.val, "false")	    ? FACTS_QUEUES_UNKNOWN
				    : facts_is(pair.val, "partial") ? FACTS_QUEUES_PARTIAL
								    : FACTS_QUEUES_KNOWN;
		}
	}
}

bool facts_is_unknown(const struct facts *f, enum d9_event kind, int field, uint64_t value)
{
	if (kind >= D9_EV_CNT || field < 0 || field > 63)
		return false;
	if (facts_is_queue(f, kind, field) && (f->queues == FACTS_QUEUES_UNKNOWN ||
					       (f->queues == FACTS_QUEUES_PARTIAL && value == 0)))
		return true;
	return f->unknown[kind] & 1ull << field;
}

bool facts_is_unknown_in(const struct facts *f, const struct d9_ev *ev, int field, uint64_t value)
{
	enum d9_event kind = ev->schema->kind;
	uint64_t worker;

	if (kind == D9_EV_POLL_START && field == D9F_poll_start_local_queue && f->has_unread &&
	    f->queues == FACTS_QUEUES_PARTIAL) {
		worker = d9_u64(ev, D9F_poll_start_worker_id, FACTS_WORKERS_MAX);
		if (worker < FACTS_WORKERS_MAX && !(f->unread[worker / 64] >> (worker & 63) & 1))
			return f->unknown[kind] & 1ull << field;
	}
	return facts_is_unknown(f, kind, field, value);
}

bool facts_claims(const struct facts *f, enum d9_event kind)
{
	return kind < D9_EV_CNT && f->has_claims && f->claims[kind];
}
