// SPDX-License-Identifier: Apache-2.0
/* verifyprint.c - the tables of verify. */
#include "verifyprint.h"

#include "jsonout.h"
#include "labels.h"
#include "notice.h"
#include "plain.h"
#include "verify.h"

#include <inttypes.h>
#include <string.h>

const char *verifyprint_verdict(int exit_code)
{
	return exit_code == EXIT_OK ? "ok" : exit_code == EXIT_FINDINGS ? "broken" : "damaged";
}

static const char *verifyprint_state(const struct reader_end *end)
{
	if (end->is_open && end->bytes == 0)
		return "empty";
	return end->err == 0 ? "whole" : end->is_open ? "open" : notice_text(end->err);
}

static const char *verifyprint_compression(enum d9_compression c)
{
	return c == D9_ZSTD ? "zstd" : c == D9_GZIP ? "gzip" : "raw";
}

static void verifyprint_result(FILE *out, const struct verify *v, enum invariant i)
{
	const struct invariant_result *r = &v->invariants.results[i];

	fprintf(out, "    %-9s %s",
		r->is_judged && r->broken   ? "BROKEN"
		: r->is_judged && r->looked ? "ok"
					    : "not asked",
		invariant_text(i));
	if (!r->is_judged) {
		fputs(" (the recording does not claim what this needs)\n", out);
		return;
	}
	if (r->looked == 0 && r->broken == 0) {
		fputs(" (there is none to look at)\n", out);
		return;
	}
	if (r->broken == 0) {
		fprintf(out, " (%" PRIu64 ")\n", r->looked);
		return;
	}
	fprintf(out, ": %" PRIu64 " of %" PRIu64, r->broken, r->looked);
	if (r->first_ns)
		fprintf(out, ", first at %" PRIu64, r->first_ns);
	if (r->first_ns && i < INVARIANT_FIELDS && i != INVARIANT_IDS)
		fprintf(out, " on worker %" PRIu64, r->first_worker);
	if (r->first_task)
		fprintf(out, ", task %" PRIu64, r->first_task);
	fputc('\n', out);
}

static void verifyprint_files(FILE *out, const struct verify *v)
{
	uint64_t evicted = seam_evicted(v->recording);
	bool has_raw = false;

	fputs("  segments    bytes   decoded   events  state\n", out);
	for (size_t i = 0; i < v->recording->files_cnt; i++) {
		const struct traceset_file *f = &v->recording->files[i];
		const struct reader_end *end = &v->ends[i];

		fprintf(out, "  %-4s %12" PRIu64 " %9" PRIu64 " %8" PRIu64 "  %s: ",
			verifyprint_compression(end->compression), f->sz, end->bytes, end->events,
			verifyprint_state(end));
		plain_write(out, f->name, strlen(f->name));
		fputc('\n', out);
		has_raw = has_raw || end->compression == D9_RAW;
	}
	if (has_raw)
		fputs("  raw: no checksum, only what breaks the format is found\n", out);
	if (evicted)
		fprintf(out, "  segments 0-%" PRIu64 " are gone (evicted)\n", evicted - 1);
	if (v->coverage.sessions)
		fprintf(out, "  %" PRIu32 " sessions, each judged by itself\n",
			v->coverage.sessions + 1);
}

static void verifyprint_events(FILE *out, const struct verify *v)
{
	const struct coverage *c = &v->coverage;
	const char *text;
	size_t len;

	fprintf(out, "  events\n");
	for (uint32_t i = 0; i < v->names_cnt; i++) {
		text = labels_text(v->labels, v->names[i].label, &len);
		fprintf(out, "    %9" PRIu64 " ", v->names[i].cnt);
		plain_write(out, text, len);
		fputc('\n', out);
	}
	if (v->names[VERIFY_NAMES_MAX].cnt)
		fprintf(out, "    %9" PRIu64 " of further names\n", v->names[VERIFY_NAMES_MAX].cnt);
	fprintf(out, "  lost %" PRIu64 "\n", coverage_lost(c));
	for (uint32_t i = 0; i < c->losses_cnt; i++) {
		fprintf(out, "    %9" PRIu64 " ", c->losses[i].count);
		text = labels_text(v->labels, c->losses[i].kind, &len);
		plain_write(out, text, len);
		text = labels_text(v->labels, c->losses[i].cause, &len);
		fputs(": ", out);
		plain_write(out, text, len);
		fputs(c->losses[i].is_flaw ? " (flawed, not lost)\n" : "\n", out);
	}
}

void verifyprint_text(FILE *out, const struct verify *v)
{
	const struct coverage *c = &v->coverage;
	const struct invariants *inv = &v->invariants;
	char text[PLAIN_SZ];

	plain_write(out, v->recording->name, strlen(v->recording->name));
	fprintf(out, ": %s, %" PRIu64 " events\n",
		plain_duration(text, c->has_span ? c->last_ns - c->first_ns : 0), c->events);
	verifyprint_files(out, v);
	verifyprint_events(out, v);
	fputs("  checks\n", out);
	for (int i = 0; i < INVARIANT_CNT; i++)
		verifyprint_result(out, v, (enum invariant)i);
	if (v->has_unexplained && inv->polls)
		fprintf(out,
			"    %-9s %" PRIu64 " of %" PRIu64
			" polls follow no spawn, wake or first sight (%s)\n",
			"note", inv->unexplained, inv->polls,
			plain_share(text, inv->unexplained, inv->polls));
	if (inv->overlaps)
		fprintf(out,
			"    %-9s %" PRIu64
			" polls began within %d us (on CPU) of that task's end elsewhere\n",
			"note", inv->overlaps, INVARIANTS_OVERLAP_NS / 1000);
	fprintf(out, "  verdict: %s%s\n", verifyprint_verdict(v->exit_code),
		c->events ? "" : ", but there is no event to judge");
}

static void verifyprint_json_checks(struct json *j, const struct verify *v)
{
	json_key(j, "checks");
	json_list(j);
	for (int i = 0; i < INVARIANT_CNT; i++) {
		const struct invariant_result *r = &v->invariants.results[i];

		json_map(j);
		json_put_text(j, "check", invariant_name((enum invariant)i));
		json_key(j, "judged");
		json_bool(j, r->is_judged);
		json_put_u64(j, "looked", r->looked);
		json_put_u64(j, "broken", r->broken);
		json_key(j, "first_ns");
		if (r->broken && r->first_ns)
			json_u64(j, r->first_ns);
		else
			json_null(j);
		json_map_end(j);
	}
	json_list_end(j);
	json_put_u64(j, "polls", v->invariants.polls);
	json_key(j, "unexplained_polls");
	if (v->has_unexplained)
		json_u64(j, v->invariants.unexplained);
	else
		json_null(j);
	json_put_u64(j, "overlapping_polls", v->invariants.overlaps);
}

void verifyprint_json(struct json *j, const struct verify *v)
{
	const struct coverage *c = &v->coverage;
	const char *text;
	size_t len;

	json_map(j);
	json_put_text(j, "recording", v->recording->name);
	json_put_u64(j, "span_ns", c->has_span ? c->last_ns - c->first_ns : 0);
	json_put_u64(j, "events", c->events);
	json_key(j, "segments");
	json_list(j);
	for (size_t i = 0; i < v->recording->files_cnt; i++) {
		const struct reader_end *end = &v->ends[i];

		json_map(j);
		json_put_text(j, "name", v->recording->files[i].name);
		json_put_text(j, "compression", verifyprint_compression(end->compression));
		json_put_u64(j, "bytes", v->recording->files[i].sz);
		json_put_u64(j, "decoded_bytes", end->bytes);
		json_put_u64(j, "events", end->events);
		json_put_text(j, "state", verifyprint_state(end));
		json_map_end(j);
	}
	json_list_end(j);
	json_key(j, "event_counts");
	json_map(j);
	for (uint32_t i = 0; i < v->names_cnt; i++) {
		text = labels_text(v->labels, v->names[i].label, &len);
		json_key_bytes(j, text, len);
		json_u64(j, v->names[i].cnt);
	}
	json_map_end(j);
	json_put_u64(j, "events_of_further_names", v->names[VERIFY_NAMES_MAX].cnt);
	json_put_u64(j, "lost_events", coverage_lost(c));
	json_key(j, "losses");
	json_list(j);
	for (uint32_t i = 0; i < c->losses_cnt; i++) {
		json_map(j);
		text = labels_text(v->labels, c->losses[i].kind, &len);
		json_put_bytes(j, "kind", text, len);
		text = labels_text(v->labels, c->losses[i].cause, &len);
		json_put_bytes(j, "cause", text, len);
		json_put_u64(j, "count", c->losses[i].count);
		json_key(j, "flaw");
		json_bool(j, c->losses[i].is_flaw);
		json_map_end(j);
	}
	json_list_end(j);
	verifyprint_json_checks(j, v);
	json_put_text(j, "verdict", verifyprint_verdict(v->exit_code));
	json_map_end(j);
}
