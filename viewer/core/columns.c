// SPDX-License-Identifier: Apache-2.0
/* columns.c - looking things up in a recording's columns. */
#include "columns.h"

#include "format/trace.h"

#include <string.h>

const char *columns_text(const struct columns *c, uint32_t text, size_t *ret_len)
{
	uint32_t from;

	*ret_len = 0;
	if (text >= c->texts.cnt)
		return "";
	from = c->texts.bytes_from[text];
	*ret_len = c->texts.bytes_to[text] - from;
	return (const char *)c->text_bytes.byte + from;
}

uint32_t columns_task(const struct columns *c, uint64_t id)
{
	uint32_t mask = c->task_slots.cnt - 1, at, task;

	if (c->task_slots.cnt == 0)
		return COLUMNS_NONE;
	at = columns_slot(id, c->odd.task_seed) & mask;
	for (uint32_t tries = 0; tries < c->task_slots.cnt; tries++, at = (at + 1) & mask) {
		task = c->task_slots.task[at];
		if (task == COLUMNS_NONE || c->tasks.id[task] == id)
			return task;
	}
	return COLUMNS_NONE;
}

uint32_t columns_worker(const struct columns *c, uint32_t worker_id)
{
	for (uint32_t i = 0; i < c->lanes.cnt && c->lanes.kind[i] == COLUMNS_WORKER; i++)
		if (c->lanes.id[i] == worker_id)
			return i;
	return COLUMNS_NONE;
}

uint32_t columns_seek(const uint64_t *times, uint32_t from, uint32_t to, uint64_t ns)
{
	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (times[mid] < ns)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

uint32_t columns_poll_at(const struct columns *c, uint32_t lane, uint64_t ns)
{
	uint32_t from, at;

	if (lane >= c->lanes.cnt)
		return COLUMNS_NONE;
	from = c->lanes.polls_from[lane];
	at = ns == UINT64_MAX
		     ? c->lanes.polls_to[lane]
		     : columns_seek(c->polls.start_ns, from, c->lanes.polls_to[lane], ns + 1);
	return at > from ? at - 1 : COLUMNS_NONE;
}

bool columns_symbol(const struct columns *c, uint32_t frame, uint32_t at, uint32_t *ret_symbol)
{
	if (frame >= c->frames.cnt ||
	    at >= c->frames.symbols_to[frame] - c->frames.symbols_from[frame])
		return false;
	*ret_symbol = c->frames.symbols_to[frame] - 1 - at;
	return true;
}

uint32_t columns_fact(const struct columns *c, const char *key)
{
	size_t len, key_len = strlen(key);
	const char *p;

	for (uint32_t i = 0; i < c->facts.cnt; i++) {
		p = columns_text(c, c->facts.key[i], &len);
		if (len == key_len && memcmp(p, key, len) == 0)
			return c->facts.value[i];
	}
	return COLUMNS_NONE;
}

bool columns_realtime(const struct columns *c, uint64_t ns, uint64_t *ret_realtime_ns)
{
	uint32_t at;

	if (c->clocks.cnt == 0)
		return false;
	at = columns_seek(c->clocks.ts_ns, 0, c->clocks.cnt, ns);
	if (at == c->clocks.cnt || (at > 0 && c->clocks.ts_ns[at] > ns))
		at--;
	*ret_realtime_ns = c->clocks.realtime_ns[at] + (ns - c->clocks.ts_ns[at]);
	return true;
}

bool columns_record_next(const struct columns *c, uint32_t record, struct columns_iter *it,
			 struct columns_value *ret)
{
	uint32_t schema, field;
	uint64_t at, end = c->record_bytes.cnt;
	uint8_t byte;

	if (record >= c->records.cnt)
		return false;
	schema = c->records.schema[record];
	field = it->field;
	if (field >= c->schemas.fields_to[schema] - c->schemas.fields_from[schema] ||
	    c->records.bytes[record] > end || it->off >= end - c->records.bytes[record])
		return false;
	at = c->records.bytes[record] + it->off;
	*ret = (struct columns_value){ .type = c->record_bytes.byte[at++] };
	ret->name = c->fields.name[c->schemas.fields_from[schema] + field];
	if (ret->type > D9_T_MAX)
		return false;
	for (unsigned int shift = 0; ret->type != D9_T_NONE; shift += 7) {
		if (at >= end || shift > 63)
			return false;
		byte = c->record_bytes.byte[at++];
		ret->u |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	it->field++;
	it->off = at - c->records.bytes[record];
	return true;
}
