// SPDX-License-Identifier: Apache-2.0
/* spawnplace.c - up the inlined calls, then up the static callers. */
#include "spawnplace.h"

#include "callers.h"
#include "debuginfo.h"
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

/* The innermost user frame. 0; -ENOENT no frame is known; -EAGAIN all are the runtime's, and
 * *ret_function is the function to find callers of. */
static int spawnplace_here(struct symfile *f, uint64_t vaddr, char place[PLACE_SZ],
			   uint64_t *ret_function)
{
	struct debuginfo_frame frames[DEBUGINFO_FRAMES_MAX];
	struct debuginfo_range range;
	int cnt = debuginfo_frames(f->debug, vaddr, frames, &range);

	for (int i = cnt - 1; i >= 0; i--) {
		if (!frames[i].file[0])
			return -ENOENT;
		if (spawnplace_is_runtime(frames[i].file))
			continue;
		/* a merged call has no line: then the place is not known */
		if (frames[i].line == 0)
			return -ENOENT;
		snprintf(place, PLACE_SZ, "%s:%" PRIu32 ":%" PRIu32, frames[i].file, frames[i].line,
			 frames[i].column);
		return 0;
	}
	if (cnt <= 0)
		return -ENOENT;
	*ret_function = range.entry;
	return -EAGAIN;
}

int spawnplace_find(struct symfile *f, uint64_t vaddr, char *buf, size_t sz)
{
	uint64_t queue[SPAWNPLACE_VISITS_MAX], function, site;
	char first[PLACE_SZ] = "", place[PLACE_SZ];
	size_t cnt = 1;
	int err;

	if (!f->debug || sz == 0)
		return -ENOENT;
	queue[0] = vaddr;
	for (size_t i = 0; i < cnt; i++) {
		err = spawnplace_here(f, queue[i], place, &function);
		if (err == 0 && first[0] && strcmp(first, place) != 0)
			return -ENOENT;
		if (err == 0)
			memcpy(first, place, sizeof(first));
		if (err == -ENOENT && i > 0)
			return -ENOENT; /* a caller of which nothing is known */
		if (err != -EAGAIN)
			continue;
		symfile_callers(f);
		for (size_t n = 0; f->callers && callers_nth(f->callers, function, n, &site) == 0; n++) {
			size_t seen = 0;

			while (seen < cnt && queue[seen] != site)
				seen++;
			if (seen < cnt)
				continue;
			if (cnt == SPAWNPLACE_VISITS_MAX)
				return -ENOENT;
			queue[cnt++] = site;
		}
	}
	if (!first[0])
		return -ENOENT;
	snprintf(buf, sz, "%s", first);
	rustname_clean(buf);
	return 0;
}
