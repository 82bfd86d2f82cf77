// SPDX-License-Identifier: Apache-2.0
/* seam.c - compares what two neighbours say of themselves. */
#include "seam.h"

#include "notice.h"

#include <string.h>

enum seam_kind seam_next(struct seam *s, const struct facts *facts,
			 const struct traceset_recording *rec, size_t file)
{
	const struct facts old = s->before;
	const char *path = rec->files[file].path;
	uint64_t missing;

	s->before = *facts;
	if (s->files++ == 0)
		return SEAM_FOLLOWS;
	if ((old.pid && facts->pid && old.pid != facts->pid) ||
	    (old.boot_id && facts->boot_id && old.boot_id != facts->boot_id)) {
		notice(EXIT_PARTIAL,
		       "%s: of another process than %s (process.pid or boot_id differ): give each "
		       "its own directory",
		       path, rec->files[file - 1].name);
		return SEAM_BROKEN;
	}
	if (old.clock_ns && facts->clock_ns && facts->clock_ns <= old.clock_ns) {
		notice(EXIT_PARTIAL,
		       "%s: does not begin after %s: a copy, or out of order; its time is counted "
		       "once",
		       path, rec->files[file - 1].name);
		if (facts->clock_ns < old.clock_ns)
			s->before.clock_ns = old.clock_ns;
		return SEAM_BROKEN;
	}
	if (old.session != facts->session)
		return SEAM_SESSION;
	return traceset_is_hole(rec, file, &missing) ? SEAM_HOLE : SEAM_FOLLOWS;
}

uint64_t seam_evicted(const struct traceset_recording *rec)
{
	const struct traceset_file *f = &rec->files[0];

	/* a single file was asked for by its name: its neighbours were not */
	if (f->number == TRACESET_NO_NUMBER ||
	    (rec->files_cnt == 1 && strcmp(rec->name, f->name) == 0))
		return 0;
	return f->number;
}
