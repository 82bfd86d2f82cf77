// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "format/trace.h"
#include "test/truth/reading.h"
#include "test/truth/side.h"
#include "test/truth/vec.h"

#define FILES_MAX 4096
#define DEPTH_MAX 3
#define STRS_MAX 65536 /* a power of two; the rest would be "", a workload has tens */

static char *strs[STRS_MAX];
static uint32_t str_slots[STRS_MAX * 2];
static uint32_t strs_cnt = 1;

void *vec_room(void *at, size_t cnt, size_t *cap, size_t one_sz)
{
	if (cnt == *cap) {
		*cap = *cap ? *cap * 2 : 1024;
		at = reallocarray(at, *cap, one_sz);
		if (!at)
			err(3, "truth: out of memory");
	}
	memset((char *)at + cnt * one_sz, 0, one_sz);
	return at;
}

uint32_t side_intern(struct d9_str s)
{
	uint32_t hash = 2166136261u;

	if (!s.len)
		return 0;
	for (uint32_t i = 0; i < s.len; i++)
		hash = (hash ^ (uint8_t)s.p[i]) * 16777619u;
	for (uint32_t at = hash;; at++) {
		uint32_t *slot = &str_slots[at % (STRS_MAX * 2)];

		if (!*slot) {
			if (strs_cnt == STRS_MAX)
				return 0;
			strs[strs_cnt] = strndup(s.p, s.len);
			return *slot = strs_cnt++;
		}
		if (strlen(strs[*slot]) == s.len && !memcmp(strs[*slot], s.p, s.len))
			return *slot;
	}
}

const char *side_str(uint32_t id)
{
	return id && id < strs_cnt ? strs[id] : "";
}

/* ---- files, in order ---- */

struct found {
	char *path;
	long number;
};
struct files {
	struct found *at;
	size_t cnt, cap;
};

static int by_number(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return x->number != y->number ? (x->number < y->number ? -1 : 1) : strcmp(x->path, y->path);
}

static void find(struct files *files, const char *path, int depth)
{
	struct stat st;
	struct dirent *de;
	DIR *dir;

	if (stat(path, &st))
		err(3, "truth: %s", path);
	if (!S_ISDIR(st.st_mode)) {
		const char *dot = strchr(strrchr(path, '/') ? strrchr(path, '/') : path, '.');

		if (files->cnt == FILES_MAX)
			errx(3, "truth: %s: more than %d segments", path, FILES_MAX);
		*vec_push(files) = (struct found){ strdup(path), dot ? strtol(dot + 1, NULL, 10) : 0 };
		return;
	}
	dir = opendir(path);
	if (!dir)
		err(3, "truth: %s", path);
	while ((de = readdir(dir))) {
		char *below;

		if (de->d_name[0] == '.' || asprintf(&below, "%s/%s", path, de->d_name) < 0)
			continue;
		if (depth < DEPTH_MAX &&
		    (strstr(de->d_name, ".bin") || !strchr(de->d_name, '.')))
			find(files, below, depth + 1);
		free(below);
	}
	closedir(dir);
}

/* ---- order ---- */

static int cmp2(uint64_t a, uint64_t b, uint64_t x, uint64_t y)
{
	if (a != b)
		return a < b ? -1 : 1;
	return x == y ? 0 : x < y ? -1 : 1;
}

#define BY(name, type, first, second)                                     \
	static int by_##name(const void *a, const void *b)                \
	{                                                                 \
		const struct type *x = a, *y = b;                         \
                                                                          \
		return cmp2(x->first, y->first, x->second, y->second);    \
	}
BY(poll, side_poll, task, start_ns)
BY(wake, side_wake, woken, ts_ns)
BY(birth, side_birth, task, ts_ns)
BY(death, side_death, task, ts_ns)
BY(park, side_park, tid, from_ns)
BY(metric, side_metric, runtime, ts_ns)
BY(task, side_task, task, what)
BY(member, side_member, runtime, worker)

void side_load(struct side *s, const char *path, bool is_ours)
{
	struct files files = { 0 };
	struct reading r;

	*s = (struct side){ .first_ns = UINT64_MAX };
	find(&files, path, 0);
	qsort(files.at, files.cnt, sizeof(*files.at), by_number);
	if (!files.cnt)
		errx(3, "truth: %s: no trace there", path);
	reading_begin(&r, s, is_ours);
	for (size_t i = 0; i < files.cnt; i++) {
		reading_file(&r, files.at[i].path);
		free(files.at[i].path);
	}
	free(files.at);
	reading_end(&r);
	vec_sort(&s->polls, by_poll);
	vec_sort(&s->wakes, by_wake);
	vec_sort(&s->births, by_birth);
	vec_sort(&s->deaths, by_death);
	vec_sort(&s->parks, by_park);
	vec_sort(&s->metrics, by_metric);
	vec_sort(&s->tasks, by_task);
	vec_sort(&s->members, by_member);
	reading_amend(&r);
}

void side_free(struct side *s)
{
	free(s->polls.at);
	free(s->wakes.at);
	free(s->births.at);
	free(s->deaths.at);
	free(s->parks.at);
	free(s->metrics.at);
	free(s->tasks.at);
	free(s->members.at);
}

/* ---- look-ups ---- */

#define LOWER(vec, first, second, key1, key2)                                            \
	size_t lo = 0, hi = (vec)->cnt;                                                  \
	while (lo < hi) {                                                                \
		size_t mid = lo + (hi - lo) / 2;                                         \
                                                                                         \
		if (cmp2((vec)->at[mid].first, key1, (vec)->at[mid].second, key2) < 0)   \
			lo = mid + 1;                                                    \
		else                                                                     \
			hi = mid;                                                        \
	}

size_t side_poll_at(const struct side *s, uint64_t task, uint64_t start_ns)
{
	LOWER(&s->polls, task, start_ns, task, start_ns)
	return lo;
}

size_t side_wake_at(const struct side *s, uint64_t task, uint64_t ts_ns)
{
	LOWER(&s->wakes, woken, ts_ns, task, ts_ns)
	return lo;
}

const struct side_birth *side_birth_of(const struct side *s, uint64_t task)
{
	LOWER(&s->births, task, ts_ns, task, 0)
	return lo < s->births.cnt && s->births.at[lo].task == task ? &s->births.at[lo] : NULL;
}

const struct side_death *side_death_of(const struct side *s, uint64_t task)
{
	LOWER(&s->deaths, task, ts_ns, task, 0)
	return lo < s->deaths.cnt && s->deaths.at[lo].task == task ? &s->deaths.at[lo] : NULL;
}

const struct side_task *side_task_of(const struct side *s, uint64_t task, uint8_t what)
{
	LOWER(&s->tasks, task, what, task, what)
	return lo < s->tasks.cnt && s->tasks.at[lo].task == task && s->tasks.at[lo].what == what ?
		       &s->tasks.at[lo] :
		       NULL;
}
