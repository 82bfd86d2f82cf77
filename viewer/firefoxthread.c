// SPDX-License-Identifier: Apache-2.0
/* firefoxthread.c - a lane as a thread of a Firefox profile: samples, and intervals as markers. */
#include "firefox.h"

#include "cell.h"
#include "core/columns.h"
#include "export.h"
#include "jsonout.h"

#include <inttypes.h>
#include <stdio.h>

static void firefox_stack(struct firefox *f, uint32_t stack)
{
	firefox_or_null(f, f->stack_node[stack] != FIREFOX_ROOT, f->stack_node[stack]);
}

static void firefox_samples(struct firefox *f, uint32_t lane)
{
	const struct columns *c = f->c;
	uint64_t cnt = 0;

	json_key(f->j, "samples");
	json_map(f->j);
	for (int pass = 0; pass < 2; pass++) {
		firefox_column(f, pass ? "time" : "stack");
		for (uint32_t i = c->lanes.samples_from[lane]; i < c->lanes.samples_to[lane]; i++) {
			if (c->samples.source[i] != 0 || !export_has(f->x, c->samples.ts_ns[i]))
				continue;
			if (pass)
				json_f64(f->j, firefox_ms(f, c->samples.ts_ns[i]));
			else
				firefox_stack(f, c->samples.stack[i]);
			cnt += (uint64_t)pass;
		}
		json_list_end(f->j);
	}
	json_put_null(f->j, "weight");
	json_put_text(f->j, "weightType", "samples");
	json_put_u64(f->j, "length", cnt);
	json_map_end(f->j);
}

/* What becomes a marker, kind by kind. */
enum firefox_kind { FIREFOX_POLL, FIREFOX_PARK, FIREFOX_OFF, FIREFOX_KINDS };

struct firefox_mark {
	enum firefox_kind kind;
	uint32_t row;
	uint64_t start_ns, dur_ns;
};

/* The next marker of a lane; it begins as {0} with row UINT32_MAX. */
static bool firefox_next(const struct firefox *f, uint32_t lane, struct firefox_mark *m)
{
	const struct columns *c = f->c;
	const uint32_t from[] = { c->lanes.polls_from[lane], c->lanes.parks_from[lane],
				  c->lanes.offs_from[lane] };
	const uint32_t to[] = { c->lanes.polls_to[lane], c->lanes.parks_to[lane],
				c->lanes.offs_to[lane] };
	const uint64_t *const start[] = { c->polls.start_ns, c->parks.start_ns, c->offs.start_ns };
	const uint64_t *const dur[] = { c->polls.dur_ns, c->parks.dur_ns, c->offs.dur_ns };

	for (; m->kind < FIREFOX_KINDS; m->kind++, m->row = UINT32_MAX) {
		m->row = m->row == UINT32_MAX ? from[m->kind] : m->row + 1;
		for (; m->row < to[m->kind]; m->row++) {
			m->start_ns = start[m->kind][m->row];
			m->dur_ns = dur[m->kind][m->row];
			if (export_has(f->x, m->start_ns))
				return true;
		}
	}
	return false;
}

static void firefox_poll_data(struct firefox *f, uint32_t i)
{
	const struct columns *c = f->c;
	char id[24];

	json_put_text(f->j, "type", "poll");
	if (c->polls.task[i] != COLUMNS_NONE) { /* as text: a number would lose its low bits */
		snprintf(id, sizeof(id), "%" PRIu64, c->tasks.id[c->polls.task[i]]);
		json_put_text(f->j, "task", id);
	}
	if (c->polls.ready_ns[i] && c->polls.ready_ns[i] <= c->polls.start_ns[i]) {
		json_key(f->j, "wait");
		json_f64(f->j, (double)(c->polls.start_ns[i] - c->polls.ready_ns[i]) / 1e6);
	}
	if (c->polls.off_ns[i]) {
		json_key(f->j, "off");
		json_f64(f->j, (double)c->polls.off_ns[i] / 1e6);
	}
	if (c->polls.flags[i] & COLUMNS_POLL_CUT)
		json_put_text(f->j, "end", "unknown");
}

static void firefox_off_data(struct firefox *f, uint32_t i)
{
	static const char *const reasons[] = { "preempted", "sleeping", "uninterruptible",
					       "other" };
	const struct columns *c = f->c;
	const char *call = cell_syscall(c->offs.syscall[i]);

	json_put_text(f->j, "type", "off");
	json_put_text(f->j, "reason", reasons[c->offs.reason[i] & 3]);
	if (call)
		json_put_text(f->j, "syscall", call);
	if (f->stack_node[c->offs.stack[i]] == FIREFOX_ROOT)
		return;
	json_key(f->j, "cause");
	json_map(f->j);
	json_key(f->j, "time");
	json_f64(f->j, firefox_ms(f, c->offs.start_ns[i]));
	json_put_u64(f->j, "stack", f->stack_node[c->offs.stack[i]]);
	json_map_end(f->j);
}

static void firefox_data(struct firefox *f, const struct firefox_mark *m)
{
	json_map(f->j);
	if (m->kind == FIREFOX_POLL) {
		firefox_poll_data(f, m->row);
	} else if (m->kind == FIREFOX_OFF) {
		firefox_off_data(f, m->row);
	} else {
		json_put_text(f->j, "type", "park");
		if (f->c->parks.delay_ns[m->row] != UINT64_MAX) {
			json_key(f->j, "delay");
			json_f64(f->j, (double)f->c->parks.delay_ns[m->row] / 1e6);
		}
	}
	json_map_end(f->j);
}

static uint64_t firefox_name(const struct firefox *f, const struct firefox_mark *m)
{
	if (m->kind == FIREFOX_POLL && f->c->polls.place[m->row])
		return f->c->polls.place[m->row];
	return f->c->texts.cnt + (m->kind == FIREFOX_POLL   ? FIREFOX_WORD_UNKNOWN
				  : m->kind == FIREFOX_PARK ? FIREFOX_WORD_PARKED
							    : FIREFOX_WORD_OFF);
}

static void firefox_markers(struct firefox *f, uint32_t lane)
{
	static const char *const columns[] = { "data",	  "name",  "startTime",
					       "endTime", "phase", "category" };
	uint64_t cnt = 0;

	json_key(f->j, "markers");
	json_map(f->j);
	for (uint32_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++) {
		struct firefox_mark m = { .row = UINT32_MAX };

		firefox_column(f, columns[k]);
		for (cnt = 0; firefox_next(f, lane, &m); cnt++) {
			if (k == 0)
				firefox_data(f, &m);
			else if (k == 1)
				json_u64(f->j, firefox_name(f, &m));
			else if (k < 4)
				json_f64(f->j, firefox_ms(f, m.start_ns + (k == 3 ? m.dur_ns : 0)));
			else
				json_u64(f->j, k == 4); /* phase 1: an interval; category 0 */
		}
		json_list_end(f->j);
	}
	json_put_u64(f->j, "length", cnt);
	json_map_end(f->j);
}

void firefox_thread(struct firefox *f, uint32_t lane, const char *pid, size_t pid_len)
{
	struct json *j = f->j;
	char name[EXPORT_LANE_SZ];

	export_lane_name(f->c, lane, name);
	json_map(j);
	json_put_text(j, "processType", "default");
	json_put_text(j, "processName", f->x->name);
	json_put_u64(j, "processStartupTime", 0);
	json_put_null(j, "processShutdownTime");
	json_put_u64(j, "registerTime", 0);
	json_put_null(j, "unregisterTime");
	firefox_same(f, "pausedRanges", 0, true, 0);
	json_key(j, "showMarkersInTimeline");
	json_bool(j, true);
	json_put_text(j, "name", name);
	json_key(j, "isMainThread");
	json_bool(j, lane == 0);
	json_put_bytes(j, "pid", pid, pid_len);
	json_put_u64(j, "tid", lane);
	firefox_samples(f, lane);
	firefox_markers(f, lane);
	json_map_end(j);
}
