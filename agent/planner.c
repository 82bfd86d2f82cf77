// SPDX-License-Identifier: Apache-2.0
/*
 * planner.c - one pass over the code for the three shapes, then a site for everything found, or
 * an omission with its reason.
 */
#include "planner.h"

#include "code.h"
#include "image.h"
#include "named.h"
#include "ownends.h"
#include "relocs.h"
#include "scan.h"
#include "site.h"
#include "wrappers.h"

#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>
#include "bpf/cookie.h"
#include "bpf/wire.h"

static struct site_query planner_query(const struct planner *p, uint64_t vaddr, uint8_t reg,
				       bool is_entry)
{
	return (struct site_query){ .vaddr = vaddr,
				    .reg = reg,
				    .is_entry = is_entry,
				    .allow_stepped = p->opt->allow_stepped,
				    .allow_stack = p->opt->allow_stack };
}

/* Finds the instruction for `s` (kind, func_vaddr, offsets set) and adds it. -ENOENT, with
 * *ret_miss: there is none; nothing is noted then. */
static int planner_place(struct planner *p, const struct site_query *q, struct plan_site *s,
			 struct site_miss *ret_miss)
{
	s->file = p->file;
	if (site_choose(p->img, p->relocs, &p->starts, q, s, ret_miss))
		return -ENOENT;
	return planner_append(p, s);
}

/* The same, with an omission where there is no site. */
static int planner_add(struct planner *p, const struct site_query *q, struct plan_site *s)
{
	struct site_miss miss;
	int err = planner_place(p, q, s, &miss);

	return err == -ENOENT ? planner_omit(p, s->kind, q->vaddr, miss.reason) : err;
}

struct planner_entry { /* a function that one or more types use in one role */
	uint64_t func;
	const struct plan_vtable *type;
};

static int planner_entry_compare(const void *a, const void *b)
{
	const struct planner_entry *x = a, *y = b;

	return x->func < y->func ? -1 : x->func > y->func;
}

static uint64_t planner_role(const struct plan_vtable *v, uint8_t kind)
{
	switch (kind) {
	case WIRE_SITE_POLL:
		return v->poll;
	case WIRE_SITE_SCHEDULE:
		/* that of blocking tasks is never called */
		return v->is_blocking ? 0 : v->schedule;
	}
	return v->shutdown;
}

/* One site for each distinct function in a role; identical functions may have been folded. */
static int planner_entries(struct planner *p, uint8_t kind)
{
	const struct plan_file *f = &p->plan->files[p->file];
	struct planner_entry *entries;
	size_t cnt = 0;
	int err = 0;

	entries = malloc(f->vtables_cnt * sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < f->vtables_cnt; i++) {
		uint64_t func = planner_role(&f->vtables[i], kind);

		if (func)
			entries[cnt++] = (struct planner_entry){ func, &f->vtables[i] };
	}
	if (cnt)
		qsort(entries, cnt, sizeof(*entries), planner_entry_compare);
	for (size_t i = 0, next; i < cnt && !err; i = next) {
		struct plan_site s = { .kind = kind, .func_vaddr = entries[i].func };
		struct site_query q = planner_query(p, entries[i].func, WIRE_RDI, true);

		s.id_off = entries[i].type->id_off;
		s.scheduler_off = entries[i].type->scheduler_off;
		s.has_location = entries[i].type->has_location;
		for (next = i + 1; next < cnt && entries[next].func == entries[i].func; next++) {
			if (entries[next].type->id_off != s.id_off)
				s.id_off = 0;
			if (entries[next].type->scheduler_off != s.scheduler_off)
				s.scheduler_off = 0;
		}
		err = planner_add(p, &q, &s);
	}
	free(entries);
	return err;
}

/*
 * The site behind one call. Where the function returns without having one, and `func` may be
 * followed to its callers, it is added to `next` instead.
 */
static int planner_add_return(struct planner *p, uint64_t call, uint64_t after, bool may_follow,
			      struct wrappers_func func, struct wrappers *next)
{
	struct plan_site s = { .kind = WIRE_SITE_RETURN,
			       .func_vaddr = call,
			       .return_vaddr = func.return_vaddr ? func.return_vaddr : after };
	struct site_query q = { .vaddr = after, .reg = CODE_NONE, .popped_sz = func.popped_sz };
	struct site_miss miss;
	int err = planner_place(p, &q, &s, &miss);

	if (err != -ENOENT)
		return err;
	func.return_vaddr = s.return_vaddr;
	func.popped_sz = miss.popped_sz;
	if (miss.is_ret && may_follow && !wrappers_add(next, &func))
		return 0;
	/* unoptimised code calls the smallest helper through the GOT, and code optimised for size the
	 * drop of a task: an end that is seen behind it is late by little, where an inferred one would
	 * not tell whether the task lives on */
	q.pass_calls = func.is_loose;
	q.pass_own_calls = true;
	q.allow_stepped = p->opt->allow_stepped;
	err = planner_place(p, &q, &s, &miss);
	if (err != -ENOENT)
		return err;
	func.popped_sz = miss.popped_sz;
	if (miss.is_ret && may_follow && !wrappers_add(next, &func))
		return 0;
	return planner_omit(p, s.kind, after, miss.reason);
}

/* Behind the calls of the functions in `w`, which end in a tail jump to poll or return from it
 * at once. Empties `w`. */
static int planner_wrapped_returns(struct planner *p, struct wrappers *w, int depth)
{
	bool may_follow = depth + 1 < WRAPPERS_DEPTH_MAX;
	struct wrappers next = { .cnt = 0 };
	int err = wrappers_find(w, p->img, p->relocs, &p->starts);
	struct code_op op;

	for (size_t i = 0; i < w->cnt && !err; i++) {
		struct wrappers_func func = w->funcs[w->calls[i].func];

		if (code_read(p->img, w->calls[i].vaddr, &op))
			continue;
		func.vaddr = w->calls[i].caller;
		if (op.flow == CODE_CALL || op.flow == CODE_CALL_INDIRECT)
			err = planner_add_return(p, op.vaddr, op.vaddr + op.len, may_follow, func,
						 &next);
		else if (!may_follow || wrappers_add(&next, &func))
			err = planner_omit(p, WIRE_SITE_RETURN, op.vaddr,
					   "too many functions between the poll and a site");
	}
	if (!err && w->left_cnt)
		err = planner_omit(p, WIRE_SITE_RETURN, w->funcs[0].vaddr,
				   "more callers than are looked at");
	wrappers_done(w);
	*w = next;
	return err;
}

static int planner_returns(struct planner *p)
{
	struct wrappers w = { .cnt = 0 };
	struct returns_call call;
	size_t strict_cnt = 0;
	int err = 0;

	/* a loose match is believed only where nothing better exists: an unoptimised build */
	for (int loose = 0; loose < 2 && !strict_cnt && !err; loose++) {
		for (size_t i = 0; i < p->returns.loads_cnt && !err; i++) {
			struct wrappers_func func = { 0 };

			if (returns_prove(&p->returns, i, p->img, &p->starts, &call) ||
			    call.is_loose != loose)
				continue;
			strict_cnt += !loose;
			func.vaddr = call.func;
			func.is_loose = loose;
			if (!call.is_jump)
				err = planner_add_return(p, call.call, call.after,
							 call.is_wrapper || loose, func, &w);
			else if (!call.is_wrapper || wrappers_add(&w, &func))
				err = planner_omit(p, WIRE_SITE_RETURN, call.call,
						   "tail jump: nothing here runs after the poll");
		}
	}
	for (int depth = 0; depth < WRAPPERS_DEPTH_MAX && w.funcs_cnt && !err; depth++)
		err = planner_wrapped_returns(p, &w, depth);
	wrappers_done(&w);
	return err;
}

/* number of the counter among those of all files, or -1 when there are too many */
static int planner_counter(struct plan_file *f, uint64_t vaddr)
{
	for (size_t i = 0; i < f->counters_cnt; i++)
		if (f->counters[i] == vaddr)
			return (int)(f->counters_before + i);
	if (f->counters_cnt == PLAN_COUNTERS_MAX ||
	    f->counters_before + f->counters_cnt == PLAN_COUNTERS_ALL_MAX)
		return -1;
	f->counters[f->counters_cnt] = vaddr;
	return (int)(f->counters_before + f->counters_cnt++);
}

static int planner_add_draw(struct planner *p, const struct counter_draw *d)
{
	int counter = planner_counter(&p->plan->files[p->file], d->counter);
	struct plan_site s = { .kind = WIRE_SITE_SPAWN_ID,
			       .func_vaddr = d->func,
			       .counter = (uint16_t)counter };
	struct site_query q = planner_query(p, d->after, d->reg, false);

	q.pass_calls = true;
	if (counter < 0)
		return planner_omit(p, s.kind, d->vaddr, "too many counters");
	return planner_add(p, &q, &s);
}

static int planner_draws(struct planner *p)
{
	int err = counter_settle(&p->draws, p->img, p->relocs, &p->starts);

	for (size_t i = 0; i < p->draws.cnt && !err; i++)
		err = planner_add_draw(p, &p->draws.draws[i]);
	return err;
}

static int planner_add_bind(struct planner *p, uint64_t func, bool pass_calls)
{
	struct plan_site s = { .kind = WIRE_SITE_BIND, .func_vaddr = func };
	struct site_query q = planner_query(p, func, WIRE_RSI, true);

	q.pass_calls = pass_calls;
	s.has_location = p->plan->files[p->file].is_unstable;
	return planner_add(p, &q, &s);
}

/* bind_inner's body within another function: its place there stands for the return address. */
static int planner_add_inlined_bind(struct planner *p, const struct bind_place *place)
{
	struct plan_site s = { .kind = WIRE_SITE_BIND, .func_vaddr = place->func };
	struct site_query q = planner_query(p, place->store, place->header_reg, false);
	size_t at = p->plan->sites_cnt;
	int err;

	s.has_location = p->plan->files[p->file].is_unstable;
	err = planner_add(p, &q, &s);
	if (!err && p->plan->sites_cnt > at)
		p->plan->sites[at].pushed_words = WIRE_PUSHED_INLINED;
	return err;
}

static int planner_binds(struct planner *p)
{
	int err = 0;

	for (size_t i = 0; i < p->binds.cnt && !err; i++) {
		struct bind_place place;

		if (bind_prove(&p->binds, i, p->img, &p->starts, &place))
			continue;
		err = place.is_inlined ? planner_add_inlined_bind(p, &place)
				       : planner_add_bind(p, place.func, false);
	}
	return err;
}

/* Where no number is drawn in place, the build is unoptimised, and names tell. */
static int planner_named(struct planner *p)
{
	uint64_t binds[NAMED_MAX];
	size_t binds_cnt;
	int err;

	if (p->draws.cnt)
		return 0;
	err = named_draws(p->img, p->relocs, &p->starts, &p->draws);
	for (size_t i = 0; i < p->draws.cnt && !err; i++)
		err = planner_add_draw(p, &p->draws.draws[i]);
	binds_cnt = named_binds(p->img, binds);
	for (size_t i = 0; i < binds_cnt && !err; i++)
		/* small helpers come first; were one of them to schedule the task, its state
		 * would show that at the hit */
		err = planner_add_bind(p, binds[i], true);
	return err;
}

static int planner_scan_hit(const struct scan_hit *hit, void *ctx)
{
	struct planner *p = ctx;

	switch (hit->shape) {
	case SCAN_CALL:
		return returns_hit(&p->returns, hit);
	case SCAN_XADD:
		return counter_hit(&p->draws, p->img, hit);
	default:
		return bind_hit(&p->binds, hit);
	}
}

/* The sites that only the full level wants: they need the one pass over all code. */
static int planner_code(struct planner *p)
{
	int err = 0;

	for (size_t i = 0; i < p->img->segs_cnt && !err; i++)
		if (p->img->segs[i].is_exec)
			err = scan_segment(p->img, &p->img->segs[i], SCAN_CODE, planner_scan_hit,
					   p);
	if (!err)
		err = planner_returns(p);
	if (!err)
		err = planner_draws(p);
	if (!err)
		err = planner_binds(p);
	if (!err)
		err = planner_named(p);
	if (!err && (p->returns.left_cnt || p->draws.left_cnt || p->binds.left_cnt))
		err = planner_omit(p, WIRE_SITE_RETURN, 0, "more candidates than are looked at");
	returns_done(&p->returns);
	counter_done(&p->draws);
	bind_done(&p->binds);
	return err;
}

int planner_sites(struct planner *p)
{
	int err = 0;

	if (p->opt->level >= PLAN_FULL)
		err = planner_code(p);
	if (!err && p->opt->level >= PLAN_WAKES)
		err = planner_entries(p, WIRE_SITE_SCHEDULE);
	if (!err && p->opt->level >= PLAN_FULL)
		err = planner_entries(p, WIRE_SITE_SHUTDOWN);
	if (!err && p->opt->level >= PLAN_POLLS)
		err = planner_entries(p, WIRE_SITE_POLL);
	if (!err && p->opt->has_own_ends && p->opt->level >= PLAN_POLLS)
		err = ownends_plan(p);
	return err;
}

int planner_raise(struct planner *p, uint64_t vaddr)
{
	struct plan_site s = { .kind = WIRE_SITE_RAISE, .func_vaddr = vaddr };
	struct site_query q = planner_query(p, vaddr, CODE_NONE, true);

	return planner_add(p, &q, &s);
}
