// SPDX-License-Identifier: Apache-2.0
/*
 * exportproto.c - Perfetto traces and pprof profiles. Field numbers are those of perfetto's
 * trace_packet.proto, track_event.proto, track_descriptor.proto and of pprof's profile.proto.
 */
#include "core/columns.h"
#include "export.h"
#include "proto.h"
#include "summed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- Perfetto ---- */

enum {
	PACKET = 1, /* of Trace */
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_TRACK = 60,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	EVENT_COUNTER = 30,
	EVENT_FLOW = 47,
	EVENT_FLOW_END = 48,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3,
	TYPE_COUNTER = 4,
};

#define UUID_ROOT 1ull
#define UUID_LANE 0x1000ull
#define UUID_RUNTIME 0x100000ull
#define FLUSH_SZ (1u << 20)

struct perfetto {
	const struct export *x;
	struct proto out, packet, event;
};

static void perfetto_packet(struct perfetto *p, uint64_t ns)
{
	proto_u64(&p->packet, PACKET_TIMESTAMP, ns);
	proto_u64(&p->packet, PACKET_SEQUENCE, 1);
	proto_message(&p->packet, PACKET_EVENT, &p->event);
	proto_message(&p->out, PACKET, &p->packet);
	if (p->out.len < FLUSH_SZ)
		return;
	fwrite(p->out.p, 1, p->out.len, p->x->out);
	p->out.len = 0;
}

static void perfetto_track(struct perfetto *p, uint64_t uuid, uint64_t parent, const char *name,
			   size_t len, bool is_counter)
{
	proto_u64(&p->event, TRACK_UUID, uuid);
	proto_text(&p->event, TRACK_NAME, name, len);
	if (parent)
		proto_u64(&p->event, TRACK_PARENT, parent);
	if (is_counter)
		proto_bytes(&p->event, TRACK_COUNTER, NULL, 0);
	proto_u64(&p->packet, PACKET_SEQUENCE, 1);
	proto_message(&p->packet, PACKET_TRACK, &p->event);
	proto_message(&p->out, PACKET, &p->packet);
}

static void perfetto_tracks(struct perfetto *p)
{
	const struct columns *c = p->x->c;
	uint8_t *seen = calloc(c->texts.cnt, 1);
	char name[EXPORT_LANE_SZ];
	size_t len;

	perfetto_track(p, UUID_ROOT, 0, p->x->name, strlen(p->x->name), false);
	for (uint32_t lane = 0; lane < c->lanes.cnt; lane++) {
		export_lane_name(c, lane, name);
		perfetto_track(p, UUID_LANE + lane, UUID_ROOT, name, strlen(name), false);
	}
	for (uint32_t i = 0; seen && i < c->queues.cnt; i++) {
		uint32_t runtime = c->queues.runtime[i];
		const char *text = columns_text(c, runtime, &len);

		if (!seen[runtime])
			perfetto_track(p, UUID_RUNTIME + runtime, UUID_ROOT, len ? text : "queue",
				       len ? len : 5, true);
		seen[runtime] = 1;
	}
	p->out.failed |= !seen;
	free(seen);
}

static void perfetto_event(struct perfetto *p, uint64_t type, uint64_t track)
{
	proto_u64(&p->event, EVENT_TYPE, type);
	proto_u64(&p->event, EVENT_TRACK, track);
}

static void perfetto_slice(struct perfetto *p, uint32_t lane, uint64_t start, uint64_t dur,
			   const char *category, const char *name, size_t len, uint32_t wake)
{
	perfetto_event(p, TYPE_BEGIN, UUID_LANE + lane);
	proto_text(&p->event, EVENT_CATEGORY, category, strlen(category));
	proto_text(&p->event, EVENT_NAME, len ? name : "(unknown type)", len ? len : 14);
	if (wake != COLUMNS_NONE)
		proto_fixed64(&p->event, EVENT_FLOW_END, wake + 1ull);
	perfetto_packet(p, start);
	perfetto_event(p, TYPE_END, UUID_LANE + lane);
	perfetto_packet(p, start + dur);
}

static void perfetto_wakes(struct perfetto *p, uint32_t lane)
{
	const struct columns *c = p->x->c;

	for (uint32_t i = c->lanes.wakes_from[lane]; i < c->lanes.wakes_to[lane]; i++) {
		if (!export_has(p->x, c->wakes.ts_ns[i]) ||
		    (c->wakes.flags[i] & COLUMNS_WAKE_REDUNDANT))
			continue;
		perfetto_event(p, TYPE_INSTANT, UUID_LANE + lane);
		proto_text(&p->event, EVENT_CATEGORY, "wake", 4);
		proto_text(&p->event, EVENT_NAME, "wake", 4);
		proto_fixed64(&p->event, EVENT_FLOW, i + 1ull);
		perfetto_packet(p, c->wakes.ts_ns[i]);
	}
}

static void perfetto_lane(struct perfetto *p, uint32_t lane)
{
	const struct columns *c = p->x->c;
	const char *name;
	size_t len;

	for (uint32_t i = c->lanes.polls_from[lane]; i < c->lanes.polls_to[lane]; i++) {
		name = columns_text(c, c->polls.place[i], &len);
		if (export_has(p->x, c->polls.start_ns[i]))
			perfetto_slice(p, lane, c->polls.start_ns[i], c->polls.dur_ns[i], "poll",
				       name, len, c->polls.wake[i]);
	}
	for (uint32_t i = c->lanes.parks_from[lane]; i < c->lanes.parks_to[lane]; i++)
		if (export_has(p->x, c->parks.start_ns[i]))
			perfetto_slice(p, lane, c->parks.start_ns[i], c->parks.dur_ns[i], "park",
				       "parked", 6, COLUMNS_NONE);
	perfetto_wakes(p, lane);
}

/* A slice for each window in which parks were added up. */
static void perfetto_summed(struct perfetto *p)
{
	struct summed_iter it = { 0 };
	char text[SUMMED_NAME_SZ];
	struct summed s;

	while (summed_next(p->x->c, &it, &s)) {
		if (s.lane == COLUMNS_NONE || !export_has(p->x, s.from_ns))
			continue;
		summed_name(&s, text);
		perfetto_slice(p, s.lane, s.from_ns, s.to_ns - s.from_ns, "parks", text,
			       strlen(text), COLUMNS_NONE);
	}
}

int export_perfetto(const struct export *x)
{
	struct perfetto p = { .x = x };
	const struct columns *c = x->c;
	int err;

	perfetto_tracks(&p);
	for (uint32_t lane = 0; lane < c->lanes.cnt; lane++)
		perfetto_lane(&p, lane);
	perfetto_summed(&p);
	for (uint32_t i = 0; i < c->queues.cnt; i++) {
		if (!export_has(x, c->queues.ts_ns[i]))
			continue;
		perfetto_event(&p, TYPE_COUNTER, UUID_RUNTIME + c->queues.runtime[i]);
		proto_u64(&p.event, EVENT_COUNTER, c->queues.depth[i]);
		perfetto_packet(&p, c->queues.ts_ns[i]);
	}
	if (p.out.len)
		fwrite(p.out.p, 1, p.out.len, x->out);
	err = p.out.failed ? -ENOMEM : 0;
	proto_free(&p.out);
	proto_free(&p.packet);
	proto_free(&p.event);
	return err;
}

/* ---- pprof: strings are our texts, then these; functions our symbols, then one per text ---- */

enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_DURATION = 10,
};
static const char *const pprof_words[] = { "samples", "count",	     "off_cpu",
					   "wait",    "nanoseconds", "type" };
enum { WORD_SAMPLES, WORD_COUNT, WORD_OFF, WORD_WAIT, WORD_NS, WORD_TYPE, WORDS };
enum { VALUE_SAMPLES, VALUE_OFF, VALUE_WAIT, VALUES };

struct pprof {
	const struct columns *c;
	struct proto out, message, inner;
};

static void pprof_type(struct pprof *p, uint32_t word, uint32_t unit)
{
	proto_u64(&p->message, 1, p->c->texts.cnt + word);
	proto_u64(&p->message, 2, p->c->texts.cnt + unit);
	proto_message(&p->out, PROFILE_SAMPLE_TYPE, &p->message);
}

/* One sample: a stack, or (COLUMNS_NONE) the place alone. */
static void pprof_sample(struct pprof *p, uint32_t stack, uint32_t place, int value, uint64_t n)
{
	const struct columns *c = p->c;

	if (stack != COLUMNS_NONE)
		for (uint32_t i = c->stacks.frames_from[stack]; i < c->stacks.frames_to[stack]; i++)
			proto_varint(&p->inner, c->stack_frames.frame[i] + 1ull);
	if (place)
		proto_varint(&p->inner, c->frames.cnt + 1ull + place);
	proto_message(&p->message, 1, &p->inner);
	for (int i = 0; i < VALUES; i++)
		proto_varint(&p->inner, i == value ? n : 0);
	proto_message(&p->message, 2, &p->inner);
	if (place) {
		proto_u64(&p->inner, 1, c->texts.cnt + WORD_TYPE);
		proto_u64(&p->inner, 2, place);
		proto_message(&p->message, 3, &p->inner);
	}
	proto_message(&p->out, PROFILE_SAMPLE, &p->message);
}

static int pprof_samples(struct pprof *p, const struct export *x)
{
	const struct columns *c = p->c;
	uint64_t *wait_ns = calloc(c->texts.cnt, sizeof(*wait_ns));

	if (!wait_ns)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->samples.cnt; i++) {
		uint32_t poll = c->samples.poll[i];

		if (c->samples.source[i] == 0 && export_has(x, c->samples.ts_ns[i]))
			pprof_sample(p, c->samples.stack[i],
				     poll == COLUMNS_NONE ? 0 : c->polls.place[poll], VALUE_SAMPLES,
				     1);
	}
	for (uint32_t i = 0; i < c->offs.cnt; i++) {
		uint32_t poll = c->offs.poll[i];

		if (poll != COLUMNS_NONE && export_has(x, c->offs.start_ns[i]))
			pprof_sample(p, c->offs.stack[i], c->polls.place[poll], VALUE_OFF,
				     c->offs.dur_ns[i]);
	}
	for (uint32_t i = 0; i < c->polls.cnt; i++)
		if (c->polls.ready_ns[i] && c->polls.ready_ns[i] < c->polls.start_ns[i] &&
		    export_has(x, c->polls.start_ns[i]))
			wait_ns[c->polls.place[i]] += c->polls.start_ns[i] - c->polls.ready_ns[i];
	for (uint32_t i = 1; i < c->texts.cnt; i++)
		if (wait_ns[i])
			pprof_sample(p, COLUMNS_NONE, i, VALUE_WAIT, wait_ns[i]);
	free(wait_ns);
	return 0;
}

static void pprof_function(struct pprof *p, uint64_t id, uint32_t name, uint32_t file)
{
	proto_u64(&p->message, 1, id);
	proto_u64(&p->message, 2, name);
	proto_u64(&p->message, 4, file);
	proto_message(&p->out, PROFILE_FUNCTION, &p->message);
}

static void pprof_line(struct pprof *p, uint64_t function, uint32_t line)
{
	proto_u64(&p->inner, 1, function);
	proto_u64(&p->inner, 2, line);
	proto_message(&p->message, 4, &p->inner);
}

static void pprof_names(struct pprof *p)
{
	const struct columns *c = p->c;
	uint32_t symbol;
	const char *text;
	size_t len;

	for (uint32_t i = 0; i < c->frames.cnt; i++) {
		proto_u64(&p->message, 1, i + 1ull);
		proto_u64(&p->message, 3, c->frames.addr[i]);
		for (uint32_t k = 0; columns_symbol(c, i, k, &symbol); k++)
			pprof_line(p, symbol + 1ull, c->symbols.line[symbol]);
		proto_message(&p->out, PROFILE_LOCATION, &p->message);
	}
	for (uint32_t i = 0; i < c->symbols.cnt; i++)
		pprof_function(p, i + 1ull, c->symbols.name[i], c->symbols.file[i]);
	/* a place stands as the outermost caller */
	for (uint32_t i = 1; i < c->texts.cnt; i++) {
		proto_u64(&p->message, 1, c->frames.cnt + 1ull + i);
		pprof_line(p, c->symbols.cnt + 1ull + i, 0);
		proto_message(&p->out, PROFILE_LOCATION, &p->message);
		pprof_function(p, c->symbols.cnt + 1ull + i, i, 0);
	}
	for (uint32_t i = 0; i < c->texts.cnt; i++) {
		text = columns_text(c, i, &len);
		proto_text(&p->out, PROFILE_STRING, text, len);
	}
	for (int i = 0; i < WORDS; i++)
		proto_text(&p->out, PROFILE_STRING, pprof_words[i], strlen(pprof_words[i]));
	proto_u64(&p->out, PROFILE_DURATION, c->odd.last_ns - c->odd.first_ns);
}

static int pprof_gzip(const struct proto *m, FILE *out)
{
	z_stream z = { 0 };
	uint8_t buf[65536];
	int rc = deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY);
	size_t left = m->len;

	if (rc != Z_OK)
		return -ENOMEM;
	z.next_in = m->p;
	do {
		if (z.avail_in == 0) {
			z.avail_in = left < 1u << 30 ? (uInt)left : 1u << 30;
			left -= z.avail_in;
		}
		z.next_out = buf;
		z.avail_out = sizeof(buf);
		rc = deflate(&z, left ? Z_NO_FLUSH : Z_FINISH);
		fwrite(buf, 1, sizeof(buf) - z.avail_out, out);
	} while (rc == Z_OK || (rc == Z_BUF_ERROR && left));
	deflateEnd(&z);
	return rc == Z_STREAM_END ? 0 : -EIO;
}

int export_pprof(const struct export *x)
{
	struct pprof p = { .c = x->c };
	int err;

	pprof_type(&p, WORD_SAMPLES, WORD_COUNT);
	pprof_type(&p, WORD_OFF, WORD_NS);
	pprof_type(&p, WORD_WAIT, WORD_NS);
	err = pprof_samples(&p, x);
	pprof_names(&p);
	if (err == 0 && p.out.failed)
		err = -ENOMEM;
	if (err == 0)
		err = pprof_gzip(&p.out, x->out);
	proto_free(&p.out);
	proto_free(&p.message);
	proto_free(&p.inner);
	return err;
}
