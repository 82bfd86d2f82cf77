// SPDX-License-Identifier: Apache-2.0
/* spawnplace.c - up the inlined calls, then up the static callers. */
#include "spawnplace.h"

#include "callers.h"
#include "debuginfo.h"
#include "locations.h"
#include "rustname.h"
#include "symfile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PLACE_SZ 1024u

bool spawnplace_is_runtime(const char *file)
{
	const char *p;

	if (strstr(file, "/library/core/") || strstr(file, "/library/std/") ||
	    strstr(file, "/library/alloc/"))
		return true;
	for (p = strstr(file, "tokio"); p; p = strstr(p + 1, "tokio")) {
		const char *rest = p + 5;

		if (p > file && p[-1] != '/')
			continue;
		if (rest[0] == '-' && rest[1] >= '0' && rest[1] <= '9')
			rest += strcspn(rest, "/"); /* "tokio-1.47.1", as the registry unpacks it */
		if (strncmp(rest, "/src/", 5) == 0)
			return true;
	}
	return false;
}

struct spawnplace_search {
	struct symfile *file;
	uint64_t queue[SPAWNPLACE_VISITS_MAX]; /* call sites, in order of discovery */
	size_t cnt;
	char place[PLACE_SZ]; /* the only one so far, "" = none */
};

/* True if a call at that place hands its own place on: the called function tracks its caller. */
static bool spawnplace_is_tracked(const struct symfile *f, const struct debuginfo_frame *call)
{
	return f->locations && !spawnplace_is_runtime(call->file) &&
	       locations_has(f->locations, call->file, call->line, call->column);
}

/* 0 when it is the only one so far; -ENOENT: there are two, or it is not known. */
static int spawnplace_record(struct spawnplace_search *s, const struct debuginfo_frame *frame)
{
	char place[PLACE_SZ];

	/* a merged call has no line */
	if (frame->line == 0)
		return -ENOENT;
	snprintf(place, sizeof(place), "%s:%" PRIu32 ":%" PRIu32, frame->file, frame->line,
		 frame->column);
	if (s->place[0] && strcmp(s->place, place) != 0)
		return -ENOENT;
	memcpy(s->place, place, sizeof(place));
	return 0;
}

/* True if every caller of `function` hands its place on, and there is one. */
static bool spawnplace_tracks_callers(const struct symfile *f, uint64_t function)
{
	struct debuginfo_frame frames[DEBUGINFO_FRAMES_MAX];
	uint64_t site;
	size_t n = 0;

	for (; f->callers && callers_nth(f->callers, function, n, &site) == 0; n++) {
		int cnt = debuginfo_frames(f->debug, site, frames, NULL);

		if (n == SPAWNPLACE_VISITS_MAX || cnt <= 0 ||
		    !spawnplace_is_tracked(f, &frames[cnt - 1]))
			return false;
	}
	return n > 0;
}

static int spawnplace_queue_callers(struct spawnplace_search *s, uint64_t function)
{
	uint64_t site;

	for (size_t n = 0;
	     s->file->callers && callers_nth(s->file->callers, function, n, &site) == 0; n++) {
		size_t seen = 0;

		while (seen < s->cnt && s->queue[seen] != site)
			seen++;
		if (seen < s->cnt)
			continue;
		if (s->cnt == SPAWNPLACE_VISITS_MAX)
			return -ENOENT;
		s->queue[s->cnt++] = site;
	}
	return 0;
}

/* One call site: its user frame is the place, or its callers are queued. */
static int spawnplace_visit(struct spawnplace_search *s, uint64_t vaddr)
{
	struct debuginfo_frame frames[DEBUGINFO_FRAMES_MAX];
	struct debuginfo_range range;
	int cnt = debuginfo_frames(s->file->debug, vaddr, frames, &range);
	int i = cnt - 1;

	if (cnt <= 0)
		return -ENOENT;
	while (i >= 0 && frames[i].file[0] && spawnplace_is_runtime(frames[i].file))
		i--;
	if (i >= 0 && !frames[i].file[0])
		return -ENOENT;
	while (i > 0 && spawnplace_is_tracked(s->file, &frames[i - 1]))
		i--;
	if (i > 0 || (i == 0 && !spawnplace_tracks_callers(s->file, range.entry)))
		return spawnplace_record(s, &frames[i]);
	return spawnplace_queue_callers(s, range.entry);
}

int spawnplace_find(struct symfile *f, uint64_t vaddr, char *buf, size_t sz)
{
	struct spawnplace_search s = { .file = f, .queue = { vaddr }, .cnt = 1 };

	if (!f->debug || sz == 0)
		return -ENOENT;
	symfile_trace(f);
	for (size_t i = 0; i < s.cnt; i++)
		/* a caller of which nothing is known could be another place */
		if (spawnplace_visit(&s, s.queue[i]))
			return -ENOENT;
	if (!s.place[0])
		return -ENOENT;
	snprintf(buf, sz, "%s", s.place);
	rustname_clean(buf);
	return 0;
}
