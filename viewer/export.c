// SPDX-License-Identifier: Apache-2.0
/* export.c - which format, which part, which file. */
#include "export.h"

#include "command.h"
#include "core/columns.h"
#include "core/index.h"
#include "cut.h"
#include "indexed.h"
#include "notice.h"
#include "outfile.h"
#include "progress.h"
#include "scope.h"
#include "traceset.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *name;
	int (*write)(const struct export *x); /* NULL: html, which reads events too; sqlite */
} export_formats[] = {
	{ "perfetto", export_perfetto }, { "pprof", export_pprof },
	{ "chrome", export_chrome },	 { "speedscope", export_speedscope },
	{ "firefox", export_firefox },	 { "folded", export_folded },
	{ "csv", export_csv },		 { "ndjson", export_ndjson },
	{ "sqlite", NULL },		 { "html", NULL },
};

#define EXPORT_FORMATS (sizeof(export_formats) / sizeof(export_formats[0]))

void export_lane_name(const struct columns *c, uint32_t lane, char to[EXPORT_LANE_SZ])
{
	static const char *const kinds[] = { "worker", "nested in worker", "blocking thread",
					     "no worker" };

	snprintf(to, EXPORT_LANE_SZ, "%s %u", kinds[c->lanes.kind[lane] & 3], c->lanes.id[lane]);
}

static int export_write(const struct request *req, const struct traceset *set, size_t format,
			struct export *x)
{
	bool is_html = strcmp(export_formats[format].name, "html") == 0;
	struct outfile o;
	int err = 0;

	err = outfile_open(&o, req->out, req->force);
	if (err)
		return err;
	if (!export_formats[format].write && !is_html && !o.temp)
		return outfile_close(&o,
				     notice(-EINVAL, "sqlite needs a file: give --output FILE"));
	x->out = o.f;
	if (is_html) {
		err = export_html(x, req, set);
	} else if (export_formats[format].write) {
		err = export_formats[format].write(x);
		if (err)
			notice(err, "%s: cannot write it: %s", req->out, notice_text(err));
	} else {
		err = export_sqlite(x, o.temp);
	}
	return outfile_close(&o, err);
}

int export_run(const struct request *req, const struct traceset *set)
{
	struct export x = { .to_ns = UINT64_MAX };
	struct columns *c = NULL, *cut = NULL;
	struct progress progress;
	bool is_partial = false;
	size_t format = 0;
	int err;

	while (format < EXPORT_FORMATS && strcmp(export_formats[format].name, req->target) != 0)
		format++;
	if (format == EXPORT_FORMATS)
		return notice(EXIT_USAGE,
			      "export: '%s' is none of: perfetto, pprof, chrome, speedscope, "
			      "firefox, folded, csv, ndjson, sqlite, html",
			      req->target);
	if (set->recordings_cnt > 1)
		return notice(EXIT_USAGE,
			      "%s: holds %zu recordings: give the directory of one, such as %s/%s",
			      req->path, set->recordings_cnt, req->path, set->recordings[0].name);
	progress_start(&progress, set->sz);
	if (indexed_open(&set->recordings[0], &progress, &c, &is_partial) != 0)
		return EXIT_FINDINGS;
	err = cut_asked(c, req, &cut);
	x.c = cut ? cut : c;
	x.name = set->recordings[0].name;
	if (req->has_from)
		x.from_ns = req->from_ns + (req->from_relative ? scope_base(c) : 0);
	if (req->has_to)
		x.to_ns = req->to_ns + (req->to_relative ? scope_base(c) : 0);
	err = err ? notice(err, "out of memory") : export_write(req, set, format, &x);
	cut_free(cut);
	index_close(c);
	if (err)
		return err == -EINVAL ? EXIT_USAGE : EXIT_FINDINGS;
	return is_partial ? EXIT_PARTIAL : EXIT_OK;
}
