// SPDX-License-Identifier: Apache-2.0
/* futuretype.c - reads a future's type off the functions that were compiled for it. */
#include "futuretype.h"

#include "code.h"
#include "debuginfo.h"
#include "elfsyms.h"
#include "image.h"
#include "pollflow.h"
#include "resumed.h"
#include "rustname.h"
#include "starts.h"
#include "symfile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SZ 8192u
#define ALIASES_MAX 64

struct futuretype_search {
	struct symfile *file;
	uint64_t queue[FUTURETYPE_VISITS_MAX]; /* functions to search, in order of discovery */
	size_t queue_cnt;
	char twins[FUTURETYPE_TWINS_MAX][NAME_SZ]; /* different futures found so far */
	size_t twins_cnt;
	bool has_more; /* than fit */
};

int futuretype_of_poll(struct symfile *f, uint64_t poll, char *buf, size_t sz)
{
	struct debuginfo_frame frames[DEBUGINFO_FRAMES_MAX];
	char name[NAME_SZ];
	struct elfsym sym;

	if (f->debug && debuginfo_frames(f->debug, poll, frames, NULL) > 0 &&
	    rustname_future(frames[0].name, buf, sz) == 0)
		return 0;
	/* two names at one address are two types that cannot be told apart */
	if (!f->syms || elfsyms_nth_at(f->syms, poll, 1, &sym) == 0 ||
	    elfsyms_nth_at(f->syms, poll, 0, &sym))
		return -ENOENT;
	rustname_demangle(sym.name, name, sizeof(name));
	return rustname_future(name, buf, sz);
}

static void futuretype_add_twin(struct futuretype_search *s, const char *future)
{
	for (size_t i = 0; i < s->twins_cnt; i++)
		if (strcmp(s->twins[i], future) == 0)
			return;
	if (s->twins_cnt == FUTURETYPE_TWINS_MAX)
		s->has_more = true;
	else
		snprintf(s->twins[s->twins_cnt++], NAME_SZ, "%s", future);
}

static void futuretype_queue(struct futuretype_search *s, uint64_t vaddr)
{
	for (size_t i = 0; i < s->queue_cnt; i++)
		if (s->queue[i] == vaddr)
			return;
	if (s->queue_cnt < FUTURETYPE_VISITS_MAX)
		s->queue[s->queue_cnt++] = vaddr;
}

/* A called function: all its names. Glue names futures; the runtime's own is searched in turn. */
static void futuretype_called(struct futuretype_search *s, uint64_t vaddr)
{
	char name[NAME_SZ], future[NAME_SZ];
	struct elfsym sym;
	bool is_inner = false;

	for (size_t i = 0; i < ALIASES_MAX && elfsyms_nth_at(s->file->syms, vaddr, i, &sym) == 0;
	     i++) {
		rustname_demangle(sym.name, name, sizeof(name));
		if (rustname_future(name, future, sizeof(future)) == 0)
			futuretype_add_twin(s, future);
		else if (strncmp(name, "tokio::runtime::task::", 22) == 0 ||
			 strncmp(name, "core::mem::drop", 15) == 0)
			is_inner = true;
	}
	if (is_inner)
		futuretype_queue(s, vaddr);
}

/* One function: all its direct calls and tail jumps. */
static void futuretype_search_function(struct futuretype_search *s, uint64_t start)
{
	uint64_t at = start, end = start + FUTURETYPE_CODE_SZ;
	struct code_op op;
	struct elfsym sym;

	if (elfsyms_find(s->file->syms, start, &sym) == 0 && sym.size &&
	    sym.size < FUTURETYPE_CODE_SZ)
		end = sym.vaddr + sym.size;
	for (; at < end && code_read(s->file->image, at, &op) == 0; at += op.len)
		if (op.flow == CODE_CALL ||
		    (op.flow == CODE_JUMP && (op.dest < start || op.dest >= end)))
			futuretype_called(s, op.dest);
}

int futuretype_of_glue(struct symfile *f, uint64_t poll, uint64_t dealloc, char *buf, size_t sz)
{
	struct futuretype_search *s;
	int err = -ENOENT; /* or the number of types */

	/* drop glue is never exported */
	if (!f->syms || !elfsyms_has_locals(f->syms) || sz == 0)
		return -ENOENT;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->file = f;
	futuretype_queue(s, dealloc);
	futuretype_queue(s, poll);
	for (size_t i = 0; i < s->queue_cnt; i++)
		futuretype_search_function(s, s->queue[i]);
	if (s->twins_cnt > 0 && !s->has_more) {
		size_t len = 0;

		for (size_t i = 0; i < s->twins_cnt && len < sz; i++)
			len += (size_t)snprintf(buf + len, sz - len, "%s%s", i ? " | " : "",
						s->twins[i]);
		rustname_clean(buf); /* it may have been cut inside a character */
		err = (int)s->twins_cnt;
	}
	free(s);
	return err;
}

/* The sites of the function at `vaddr`, its flow in *ret. Their number, or -errno. */
static int futuretype_open_flow(struct symfile *f, uint64_t vaddr,
				const struct resumed_site **sites, struct pollflow **ret)
{
	struct starts starts;
	uint64_t start, end;
	int err;

	starts_open(&starts, f->image);
	err = starts_find(&starts, vaddr, &start, &end);
	if (err == 0 && start != vaddr)
		err = -ENOENT;
	if (err == 0)
		err = pollflow_open(f->image, start, end, ret);
	return err ? err : (int)resumed_between(f->resumed, start, end, sites);
}

int futuretype_of_code(struct symfile *f, uint64_t poll, char *buf, size_t sz)
{
	uint64_t queue[FUTURETYPE_VISITS_MAX] = { poll };
	size_t cnt = 1, next = 0, last = 1; /* [next, last): one depth */
	const struct resumed_site *sites, *found = NULL;
	char place[NAME_SZ];

	symfile_bodies(f);
	if (!f->resumed || sz == 0)
		return -ENOENT;
	for (int depth = 0; depth <= FUTURETYPE_DEPTH_MAX && next < last && !found; depth++) {
		for (; next < last; next++) {
			const uint64_t *calls;
			struct pollflow *flow;
			int sites_cnt = futuretype_open_flow(f, queue[next], &sites, &flow), outer;

			if (sites_cnt < 0)
				continue;
			outer = sites_cnt ? pollflow_outermost(flow, sites, (size_t)sites_cnt) : 0;
			for (size_t i = pollflow_calls(flow, &calls); i-- > 0 && !sites_cnt;)
				if (cnt < FUTURETYPE_VISITS_MAX)
					queue[cnt++] = calls[i];
			pollflow_close(flow);
			if (sites_cnt == 0)
				continue;
			/* two functions with bodies at one depth: either could be it */
			if (outer < 0 || found)
				return -ENOENT;
			found = &sites[outer];
		}
		last = cnt;
	}
	if (!found || resumed_place(f->resumed, found, place, sizeof(place)))
		return -ENOENT;
	snprintf(buf, sz, "{async@%s}", place);
	rustname_clean(buf); /* it may have been cut inside a character */
	return 0;
}
