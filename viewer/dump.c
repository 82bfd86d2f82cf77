// SPDX-License-Identifier: Apache-2.0
/* dump.c - which events are shown, and one line for each. */
#include "dump.h"

#include "command.h"
#include "fieldtext.h"
#include "jsonout.h"
#include "notice.h"
#include "plain.h"
#include "progress.h"
#include "reader.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct dump {
	const struct request *req;
	struct json *json; /* NULL: text */
	struct facts facts;
	struct reader_ops ops;
	const char *recording; /* to be named in each JSON document, or NULL */
	bool has_first;
	uint64_t first_ns; /* stamp of the recording's first event */
	uint64_t kinds_seen; /* bit per --kind */
	int exit_code;
};

static bool dump_is_kind(struct dump *d, const struct d9_schema *schema)
{
	const struct d9_event_def *def = d9_event_def(schema->kind);
	bool is_kind = d->req->kinds_cnt == 0;

	for (uint32_t i = 0; i < d->req->kinds_cnt; i++)
		if (strcmp(d->req->kinds[i], schema->name) == 0 ||
		    (def && strcmp(d->req->kinds[i], def->c_name) == 0)) {
			d->kinds_seen |= 1ull << i;
			is_kind = true;
		}
	return is_kind;
}

/* Events without a stamp, and symbols (stamped 0), have no place in time. */
static bool dump_is_in_time(struct dump *d, const struct d9_ev *ev)
{
	const struct request *r = d->req;
	bool has_time = ev->schema->has_ts && ev->schema->kind != D9_EV_SYMBOL;
	uint64_t from_ns = r->from_ns, to_ns = r->to_ns;

	if (has_time && !d->has_first) {
		d->has_first = true;
		d->first_ns = ev->ts_ns;
	}
	if (!r->has_from && !r->has_to)
		return true;
	if (!has_time)
		return false;
	if (r->from_relative && __builtin_add_overflow(d->first_ns, from_ns, &from_ns))
		from_ns = UINT64_MAX;
	if (r->to_relative && __builtin_add_overflow(d->first_ns, to_ns, &to_ns))
		to_ns = UINT64_MAX;
	return (!r->has_from || ev->ts_ns >= from_ns) && (!r->has_to || ev->ts_ns <= to_ns);
}

static bool dump_is_unknown(const struct dump *d, const struct d9_ev *ev, uint16_t field)
{
	const struct d9_schema *s = ev->schema;
	const struct d9_event_def *def = d9_event_def(s->kind);
	uint64_t value = 0;

	for (int i = 0; def && i < def->field_cnt; i++)
		if (s->slot[i] == (int)field)
			return d9_value_u64(&ev->values[field], &value) &&
			       facts_is_unknown_in(&d->facts, ev, i, value);
	return false;
}

static void dump_text(const struct dump *d, const struct d9_ev *ev)
{
	const struct d9_schema *s = ev->schema;

	if (s->has_ts)
		printf("%" PRIu64 " ", ev->ts_ns);
	else
		fputs("- ", stdout);
	plain_write(stdout, s->name, s->name_len);
	for (uint16_t i = 0; i < s->field_cnt; i++) {
		putchar(' ');
		plain_write(stdout, s->fields[i].name, s->fields[i].name_len);
		putchar('=');
		if (dump_is_unknown(d, ev, i))
			fputs("unknown", stdout);
		else
			fieldtext_write(stdout, &ev->values[i]);
	}
	putchar('\n');
}

static void dump_json(struct dump *d, const struct d9_ev *ev)
{
	const struct d9_schema *s = ev->schema;
	struct json *j = d->json;

	json_map(j);
	if (d->recording)
		json_put_text(j, "recording", d->recording);
	json_key(j, "ts_ns");
	if (s->has_ts)
		json_u64(j, ev->ts_ns);
	else
		json_null(j);
	json_put_bytes(j, "event", s->name, s->name_len);
	json_key(j, "fields");
	json_map(j);
	for (uint16_t i = 0; i < s->field_cnt; i++) {
		json_key_bytes(j, s->fields[i].name, s->fields[i].name_len);
		if (dump_is_unknown(d, ev, i))
			json_null(j);
		else
			fieldtext_json(j, &ev->values[i]);
	}
	json_map_end(j);
	json_map_end(j);
	json_line(j);
}

static int dump_event(void *ctx, const struct d9_ev *ev)
{
	struct dump *d = ctx;

	if (!dump_is_in_time(d, ev) || !dump_is_kind(d, ev->schema))
		return 0;
	if (d->json)
		dump_json(d, ev);
	else
		dump_text(d, ev);
	/* a full disk or a closed pipe: no use in decoding the rest */
	return ferror(stdout) ? -EIO : 0;
}

static int dump_begin(void *ctx, const struct traceset_recording *rec, size_t file)
{
	struct dump *d = ctx;

	if (d->json || (rec->files_cnt == 1 && !d->recording))
		return 0;
	fputs("# ", stdout);
	plain_write(stdout, rec->files[file].path, strlen(rec->files[file].path));
	putchar('\n');
	return 0;
}

static int dump_end(void *ctx, const struct traceset_recording *rec, size_t file,
		    const struct reader_end *end)
{
	struct dump *d = ctx;
	int code = reader_notice(&rec->files[file], end);

	d->exit_code = code > d->exit_code ? code : d->exit_code;
	return 0;
}

int dump_run(const struct request *req, const struct traceset *set)
{
	struct dump d = { .req = req };
	struct progress progress;
	int err = 0;

	if (req->json) {
		d.json = json_open(stdout, false);
		if (!d.json)
			return notice(EXIT_FINDINGS, "dump: out of memory");
	}
	/* lines that scroll are progress enough */
	progress_start(&progress, set->sz);
	progress.is_on = false;
	for (size_t i = 0; err == 0 && i < set->recordings_cnt; i++) {
		d.recording = set->recordings_cnt > 1 ? set->recordings[i].name : NULL;
		d.has_first = false;
		d.facts = (struct facts){ 0 };
		d.ops = (struct reader_ops){ dump_begin, dump_event, dump_end, &d.facts };
		err = reader_run(&set->recordings[i], &d.ops, &d, &progress);
	}
	for (uint32_t i = 0; err == 0 && i < req->kinds_cnt; i++)
		if (!(d.kinds_seen & 1ull << i))
			notice(0, "%s: no event called '%s' in it (or in the given time)",
			       req->path, req->kinds[i]);
	/* a failed write is told once, by main, which closes the stream */
	if (json_close(d.json) == -ENOMEM)
		notice(err = -ENOMEM, "dump: out of memory");
	return err ? EXIT_FINDINGS : d.exit_code;
}
