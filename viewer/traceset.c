// SPDX-License-Identifier: Apache-2.0
/* traceset.c - from an argument to sorted lists of segments. */
#include "traceset.h"

#include "notice.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool traceset_strip(const char *name, size_t *len, const char *suffix)
{
	size_t suffix_len = strlen(suffix);

	if (*len <= suffix_len || memcmp(name + *len - suffix_len, suffix, suffix_len) != 0)
		return false;
	*len -= suffix_len;
	return true;
}

/* Takes a name apart. False if it is not that of a segment. */
static bool traceset_parse(const char *name, struct traceset_file *f)
{
	size_t len = strlen(name), dot;
	uint64_t n = 0;

	if (name[0] == '.')
		return false;
	f->is_active = traceset_strip(name, &len, ".active");
	if (!traceset_strip(name, &len, ".zst"))
		traceset_strip(name, &len, ".gz");
	if (!traceset_strip(name, &len, ".bin"))
		return false;
	f->number = TRACESET_NO_NUMBER;
	f->stem_len = len;
	for (dot = len; dot > 0 && name[dot - 1] >= '0' && name[dot - 1] <= '9';)
		dot--;
	if (dot == len || dot < 2 || name[dot - 1] != '.')
		return true;
	for (size_t i = dot; i < len; i++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(name[i] - '0'), &n))
			return true; /* a number of more than 64 bits is part of the stem */
	f->number = n;
	f->stem_len = dot - 1;
	return true;
}

static int traceset_compare_stems(const struct traceset_file *a, const struct traceset_file *b)
{
	size_t len = a->stem_len < b->stem_len ? a->stem_len : b->stem_len;
	int order = memcmp(a->name, b->name, len);

	return order ? order : (a->stem_len > b->stem_len) - (a->stem_len < b->stem_len);
}

static int traceset_compare_files(const void *left, const void *right)
{
	const struct traceset_file *a = left, *b = right;
	int order = traceset_compare_stems(a, b);

	if (order == 0)
		order = (a->number > b->number) - (a->number < b->number);
	if (order == 0)
		order = (int)a->is_active - (int)b->is_active;
	return order ? order : strcmp(a->name, b->name);
}

static int traceset_compare_recordings(const void *left, const void *right)
{
	const struct traceset_recording *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static int traceset_add_file(struct traceset *set, struct traceset_recording *rec, const char *path,
			     const struct stat *st, struct traceset_file f)
{
	struct traceset_file *grown;
	const char *slash;
	size_t cnt = rec->files_cnt;

	if (cnt >= TRACESET_FILES_MAX)
		return -E2BIG;
	if ((cnt & (cnt - 1)) == 0) { /* room doubles at each power of two */
		grown = realloc(rec->files, (cnt ? 2 * cnt : 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		rec->files = grown;
	}
	f.path = strdup(path);
	if (!f.path)
		return -ENOMEM;
	slash = strrchr(f.path, '/');
	f.name = slash ? slash + 1 : f.path;
	f.sz = (uint64_t)st->st_size;
	set->sz += f.sz;
	rec->files[rec->files_cnt++] = f;
	return 0;
}

/* A new, empty recording at the end of the set; NULL on -ENOMEM. */
static struct traceset_recording *traceset_add_recording(struct traceset *set, const char *name,
							 size_t name_len)
{
	struct traceset_recording *grown;

	grown = realloc(set->recordings, (set->recordings_cnt + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	set->recordings = grown;
	grown += set->recordings_cnt;
	*grown = (struct traceset_recording){ .name = strndup(name, name_len) };
	if (!grown->name)
		return NULL;
	set->recordings_cnt++;
	return grown;
}

/* Last part of a path without its trailing slashes. */
static const char *traceset_last_part(const char *path, size_t *ret_len)
{
	size_t end = strlen(path), start;

	while (end > 1 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/';)
		start--;
	*ret_len = end - start;
	return path + start;
}

static void traceset_drop_empty(struct traceset *set)
{
	struct traceset_recording *last = &set->recordings[set->recordings_cnt - 1];

	if (last->files_cnt > 0)
		return;
	free(last->name);
	free(last->files);
	set->recordings_cnt--;
}

/* Lists one directory as a recording; with `deeper`, also the directories in it. */
static int traceset_list(struct traceset *set, const char *path, bool deeper)
{
	struct traceset_file f = { 0 };
	size_t name_len, own;
	const char *name = traceset_last_part(path, &name_len);
	struct dirent *d;
	struct stat st;
	char *full = NULL;
	DIR *dir = NULL;
	int err = 0, fd;

	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (deeper ? 0 : O_NOFOLLOW));
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return notice(err, "%s: cannot list it: %s", path, notice_text(err));
	}
	own = set->recordings_cnt;
	if (!traceset_add_recording(set, name, name_len))
		err = -ENOMEM;
	while (err == 0 && (d = readdir(dir))) {
		if (d->d_name[0] == '.' || fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue; /* a file that goes meanwhile was evicted: not ours to miss */
		free(full);
		full = NULL;
		if (asprintf(&full, "%s/%s", path, d->d_name) < 0) {
			full = NULL;
			err = -ENOMEM;
		} else if (S_ISDIR(st.st_mode) && deeper) {
			err = traceset_list(set, full, false);
		} else if (S_ISREG(st.st_mode) && traceset_parse(d->d_name, &f)) {
			err = traceset_add_file(set, &set->recordings[own], full, &st, f);
		}
	}
	if (err == -E2BIG)
		notice(err, "%s: more than %u segments: give one of its directories", path,
		       TRACESET_FILES_MAX);
	free(full);
	closedir(dir);
	if (set->recordings_cnt == own + 1)
		traceset_drop_empty(set);
	return err;
}

/* Two files with one stem and number (a recorder compresses by writing a second file, then
 * removing the first): the earlier in order is kept, so that no event counts twice. */
static void traceset_drop_doubles(struct traceset *set, struct traceset_recording *rec)
{
	size_t kept = 0;

	for (size_t i = 0; i < rec->files_cnt; i++) {
		struct traceset_file *f = &rec->files[i];

		if (kept > 0 && f->number != TRACESET_NO_NUMBER &&
		    f->number == rec->files[kept - 1].number &&
		    traceset_compare_stems(f, &rec->files[kept - 1]) == 0) {
			notice(0, "%s: ignored, %s is the same segment", f->path,
			       rec->files[kept - 1].name);
			set->sz -= f->sz;
			free(f->path);
			continue;
		}
		rec->files[kept++] = *f;
	}
	rec->files_cnt = kept;
}

static int traceset_open_file(struct traceset *set, const char *path, const struct stat *st)
{
	struct traceset_file f = { 0 };
	struct traceset_recording *rec;
	size_t name_len;
	const char *name = traceset_last_part(path, &name_len);

	if (!traceset_parse(name, &f)) /* any name will do for a file that was asked for */
		f = (struct traceset_file){ .number = TRACESET_NO_NUMBER, .stem_len = name_len };
	rec = traceset_add_recording(set, name, name_len);
	return rec ? traceset_add_file(set, rec, path, st, f) : -ENOMEM;
}

int traceset_open(const char *path, struct traceset *ret)
{
	struct stat st;
	size_t kept = 0;
	int err;

	*ret = (struct traceset){ 0 };
	if (stat(path, &st) != 0) {
		err = -errno;
		return notice(err, "%s: cannot read it: %s", path, notice_text(err));
	}
	if (S_ISDIR(st.st_mode))
		err = traceset_list(ret, path, true);
	else
		err = traceset_open_file(ret, path, &st);
	if (err == -ENOMEM)
		notice(err, "%s: out of memory", path);
	if (err)
		return err;
	/* the directory itself may hold no segments and still stand before those in it */
	for (size_t i = 0; i < ret->recordings_cnt; i++) {
		struct traceset_recording *rec = &ret->recordings[i];

		if (rec->files_cnt == 0) {
			free(rec->name);
			free(rec->files);
			continue;
		}
		qsort(rec->files, rec->files_cnt, sizeof(rec->files[0]), traceset_compare_files);
		traceset_drop_doubles(ret, rec);
		ret->recordings[kept++] = *rec;
	}
	ret->recordings_cnt = kept;
	if (kept == 0)
		return notice(
			-ENODATA,
			"%s: no trace in it: segments are called trace.0.bin.zst, and a trace "
			"directory holds them or a directory for each process",
			path);
	qsort(ret->recordings, kept, sizeof(ret->recordings[0]), traceset_compare_recordings);
	return 0;
}

void traceset_close(struct traceset *set)
{
	for (size_t i = 0; i < set->recordings_cnt; i++) {
		for (size_t k = 0; k < set->recordings[i].files_cnt; k++)
			free(set->recordings[i].files[k].path);
		free(set->recordings[i].files);
		free(set->recordings[i].name);
	}
	free(set->recordings);
	*set = (struct traceset){ 0 };
}

bool traceset_is_hole(const struct traceset_recording *rec, size_t file, uint64_t *ret_missing)
{
	const struct traceset_file *f = &rec->files[file], *before = f - 1;

	if (file == 0 || f->number == TRACESET_NO_NUMBER || before->number == TRACESET_NO_NUMBER ||
	    traceset_compare_stems(f, before) != 0 || f->number == before->number + 1)
		return false;
	*ret_missing = before->number + 1;
	return true;
}
