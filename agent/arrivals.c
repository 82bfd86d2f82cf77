// SPDX-License-Identifier: Apache-2.0
/*
 * arrivals.c - a file is known by (device, inode) as the memory map shows them. Only when one is
 * not, the process's files are opened, in the one way there is (target.h).
 */
#include "arrivals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "log.h"
#include "maps.h"
#include "plan.h"
#include "target.h"

#define ARRIVALS_FILES_MAX (4 * TARGET_FILES_MAX) /* ever seen; further ones are not looked at */

struct arrivals_file {
	uint64_t ino;
	uint32_t dev_major, dev_minor;
};

struct arrivals {
	pid_t pid;
	const struct target *known;
	uint64_t next_ns;
	bool has_found;
	char path[TARGET_PATH_SZ];
	size_t files_cnt;
	struct arrivals_file files[ARRIVALS_FILES_MAX];
};

int arrivals_open(pid_t pid, const struct target *known, struct arrivals **ret)
{
	struct arrivals *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->pid = pid;
	a->known = known;
	*ret = a;
	return 0;
}

void arrivals_close(struct arrivals *a)
{
	free(a);
}

/* Is this a file that was not mapped at any look before? */
static bool arrivals_is_new(struct arrivals *a, const struct maps_entry *e)
{
	for (size_t i = 0; i < a->files_cnt; i++)
		if (a->files[i].ino == e->ino && a->files[i].dev_major == e->dev_major &&
		    a->files[i].dev_minor == e->dev_minor)
			return false;
	if (a->files_cnt == ARRIVALS_FILES_MAX)
		return false;
	a->files[a->files_cnt++] = (struct arrivals_file){ e->ino, e->dev_major, e->dev_minor };
	if (a->files_cnt == ARRIVALS_FILES_MAX)
		log_warn(0,
			 "process %d has mapped %d executable files by now: a Tokio in further ones "
			 "will not be noticed",
			 (int)a->pid, ARRIVALS_FILES_MAX);
	return true;
}

/* Reads the memory map; true when it holds files that are new. */
static bool arrivals_read(struct arrivals *a)
{
	struct maps_entry e, last = { 0 };
	bool has_news = false;
	size_t line_sz = 0;
	char path[64], *line = NULL;
	ssize_t len;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)a->pid);
	in = fopen(path, "re");
	if (!in)
		return false;
	while ((len = getline(&line, &line_sz, in)) > 0) {
		if (line[len - 1] == '\n')
			len--;
		if (maps_parse(line, (size_t)len, &e) || !e.is_exec || !e.ino)
			continue;
		/* the pieces of a file stand one behind the other */
		if (e.ino == last.ino && e.dev_major == last.dev_major &&
		    e.dev_minor == last.dev_minor)
			continue;
		has_news |= arrivals_is_new(a, &e);
		last = e;
	}
	free(line);
	fclose(in);
	return has_news;
}

static bool arrivals_is_known(const struct arrivals *a, const struct target_file *f)
{
	for (size_t i = 0; a->known && i < a->known->files_cnt; i++)
		if (a->known->files[i].dev == f->dev && a->known->files[i].ino == f->ino)
			return true;
	return false;
}

static void arrivals_search(struct arrivals *a)
{
	struct target *t = NULL;

	if (target_open(a->pid, &t))
		return; /* gone meanwhile */
	for (size_t i = 0; i < t->files_cnt && !a->has_found; i++) {
		if (arrivals_is_known(a, &t->files[i]) || !plan_carries_tokio(t, i))
			continue;
		a->has_found = true;
		snprintf(a->path, sizeof(a->path), "%s", t->files[i].path);
	}
	target_close(t);
}

bool arrivals_look(struct arrivals *a, uint64_t now_ns)
{
	uint64_t begin_ns = clock_now_ns(), took_ns;
	bool has_news;

	if (now_ns < a->next_ns)
		return false;
	has_news = arrivals_read(a);
	took_ns = clock_now_ns() - begin_ns;
	a->next_ns = now_ns + ARRIVALS_NS;
	if (took_ns * ARRIVALS_SHARE > ARRIVALS_NS)
		a->next_ns = now_ns + took_ns * ARRIVALS_SHARE;
	if (!has_news)
		return a->has_found;
	if (!a->has_found)
		arrivals_search(a);
	a->next_ns = now_ns + (a->known ? ARRIVALS_SOON_NS : ARRIVALS_FIRST_NS);
	return false;
}

const char *arrivals_path(const struct arrivals *a)
{
	return a->path;
}
