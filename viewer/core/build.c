// SPDX-License-Identifier: Apache-2.0
/* build.c - the decoding loop, then the tables one after the other. */
#include "build.h"

#include "gather.h"
#include "index.h"
#include "pools.h"
#include "pyramidbuild.h"
#include "settle.h"
#include "store.h"
#include "take.h"
#include "taskmerge.h"
#include "format/trace.h"

#include <stdlib.h>
#include <string.h>

#define BUILD_PROGRESS_EVENTS 16384u /* between two calls of opt->progress, a power of two */

int build_file(struct gather *g, const struct index_file *files, size_t at,
	       const struct index_opt *opt)
{
	const char *slash = strrchr(files[at].path, '/');
	struct d9_src_opt src_opt = { .decoded_max = index_fair_sz(files[at].path) };
	struct d9_src *src = NULL;
	struct d9_ev ev;
	int got, err = 0;

	if (opt->decoded_max_sz && opt->decoded_max_sz < src_opt.decoded_max)
		src_opt.decoded_max = opt->decoded_max_sz;
	gather_begin(g, slash ? slash + 1 : files[at].path, files[at].is_after_gap);
	got = d9_src_open(&src, files[at].path, &src_opt);
	while (got == 0 && (got = d9_src_next(src, &ev)) == 1) {
		got = 0;
		take_event(g, &ev);
		err = g->err;
		if (err == 0 && opt->progress &&
		    (g->segment.events & (BUILD_PROGRESS_EVENTS - 1)) == 0 &&
		    opt->progress(opt->ctx, at, d9_src_in_sz(src), g->odd.events))
			err = -ECANCELED;
		if (err)
			break;
	}
	if (src)
		g->odd.unresolved += d9_src_stats(src)->unresolved;
	gather_end(g, got, src ? d9_src_stats(src)->bytes : 0);
	d9_src_close(src);
	if (got == -ENOMEM)
		err = got;
	return err ? err : g->err;
}

int build_tables(struct columns **ret, struct gather *g)
{
	struct columns *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->odd = g->odd;
	err = settle_run(c, g);
	if (err == 0)
		err = taskmerge_run(c, g);
	if (err == 0)
		err = pyramid_build(c);
	if (err == 0)
		err = pools_run(c, g);
	if (err == 0)
		*ret = c;
	else
		store_close(c);
	return err;
}

int build_run(struct columns **ret, const struct index_file *files, size_t files_cnt,
	      const struct index_opt *opt)
{
	struct gather *g = malloc(sizeof(*g));
	int err;

	if (!g)
		return -ENOMEM;
	err = gather_init(g);
	for (size_t i = 0; err == 0 && i < files_cnt; i++)
		err = build_file(g, files, i, opt);
	if (err == 0)
		err = build_tables(ret, g);
	gather_free(g);
	free(g);
	return err;
}
