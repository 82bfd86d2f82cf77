// SPDX-License-Identifier: Apache-2.0
/* live.c - a kept gather, and the files that are in it. */
#include "live.h"

#include "build.h"
#include "gather.h"
#include "identity.h"
#include "index.h"
#include "mark.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

struct live_file {
	struct identity id;
	char *path;
};

struct live {
	struct gather *g; /* NULL: nothing is kept */
	struct live_file *files;
	size_t cnt;
	bool is_over; /* it was too much once */
};

struct live *live_new(void)
{
	return calloc(1, sizeof(struct live));
}

void live_forget(struct live *l)
{
	if (l->g)
		gather_free(l->g);
	free(l->g);
	l->g = NULL;
	for (size_t i = 0; i < l->cnt; i++)
		free(l->files[i].path);
	free(l->files);
	l->files = NULL;
	l->cnt = 0;
}

void live_free(struct live *l)
{
	if (l)
		live_forget(l);
	free(l);
}

uint64_t live_sz(const struct live *l)
{
	return l && l->g ? gather_sz(l->g) : 0;
}

size_t live_cnt(const struct live *l)
{
	return l->cnt;
}

bool live_is_fresh(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_mtime + LIVE_FRESH_S > time(NULL);
}

/* Are the kept files the first of these, as they were? */
static bool live_fits(const struct live *l, const struct index_file *files, size_t files_cnt,
		      const struct identity *id)
{
	if (!l->g || l->cnt > files_cnt)
		return false;
	for (size_t i = 0; i < l->cnt; i++)
		if (memcmp(&l->files[i].id, &id[i], sizeof(*id)) != 0 ||
		    strcmp(l->files[i].path, files[i].path) != 0)
			return false;
	return true;
}

static int live_begin(struct live *l)
{
	int err;

	live_forget(l);
	l->g = malloc(sizeof(*l->g));
	if (!l->g)
		return -ENOMEM;
	err = gather_init(l->g);
	l->g->is_kept = true;
	return err;
}

/* One more file is kept. It may not have changed while it was decoded. */
static int live_take(struct live *l, const struct index_file *files, const struct identity *id,
		     const struct index_opt *opt, bool *ret_changed)
{
	struct live_file *more = realloc(l->files, (l->cnt + 1) * sizeof(*more));
	struct identity *after;
	size_t at = l->cnt;
	int err;

	if (!more)
		return -ENOMEM;
	l->files = more;
	more[at] = (struct live_file){ id[at], strdup(files[at].path) };
	if (!more[at].path)
		return -ENOMEM;
	l->cnt++;
	err = build_file(l->g, files, at, opt);
	if (err)
		return err;
	after = identity_new(files + at, 1, opt->decoded_max_sz, &err);
	*ret_changed |= !after || memcmp(after, &id[at], sizeof(*id)) != 0;
	free(after);
	return 0;
}

/* What is kept, and the files behind it, to columns; then only what is kept is there again. */
static int live_columns(struct live *l, struct columns **ret, const struct index_file *files,
			size_t files_cnt, const struct index_opt *opt)
{
	struct mark mark = { 0 };
	int err = l->g->is_kept ? mark_set(&mark, l->g) : 0;

	for (size_t i = l->cnt; err == 0 && i < files_cnt; i++)
		err = build_file(l->g, files, i, opt);
	if (err == 0)
		err = build_tables(ret, l->g);
	if (err == 0 && l->g->is_kept)
		mark_rewind(&mark, l->g);
	mark_free(&mark);
	return err;
}

int live_open(struct live *l, struct columns **ret, const struct index_file *files,
	      size_t files_cnt, size_t sealed_cnt, const struct index_opt *opt, uint64_t max_sz)
{
	struct index_opt own = opt ? *opt : (struct index_opt){ 0 };
	struct identity *id;
	bool is_changed = false;
	int err;

	if (own.decoded_max_sz == 0)
		own.decoded_max_sz = index_decoded_max_sz();
	id = identity_new(files, files_cnt, own.decoded_max_sz, &err);
	if (err == 0 && l->is_over) {
		err = build_run(ret, files, files_cnt, &own);
		goto out;
	}
	if (err == 0 && !live_fits(l, files, files_cnt, id))
		err = live_begin(l);
	while (err == 0 && l->cnt < sealed_cnt && id[l->cnt].ino &&
	       identity_is_settled(&id[l->cnt], 1))
		err = live_take(l, files, id, &own, &is_changed);
	if (err == 0 && gather_sz(l->g) > max_sz) {
		l->is_over = true;
		l->g->is_kept = false;
	}
	if (err == 0)
		err = live_columns(l, ret, files, files_cnt, &own);
out:
	if (err || is_changed || l->is_over)
		live_forget(l);
	free(id);
	return err;
}
