// SPDX-License-Identifier: Apache-2.0
/*
 * plan.c - puts the searches together: for each file the types, then one pass over the code for
 * the three shapes, then a site for everything found, or an omission with its reason.
 */
#include "plan.h"

#include "bind.h"
#include "callers.h"
#include "code.h"
#include "counter.h"
#include "feature.h"
#include "image.h"
#include "log.h"
#include "relocs.h"
#include "returns.h"
#include "scan.h"
#include "site.h"
#include "starts.h"
#include "target.h"
#include "tokio.h"

#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/wire.h"

#define PLAN_RDI 7
#define PLAN_RSI 6
#define PLAN_OMISSIONS_MAX 4096
#define PLAN_PERF_SITES_MAX 4096 /* without uprobe_multi each site is a file descriptor */

struct planner {
	struct plan *plan;
	const struct plan_options *opt;
	size_t sites_max, sites_cap, omissions_cap;
	/* the file at hand */
	uint32_t file;
	struct image *img;
	struct relocs *relocs;
	struct starts starts;
	struct returns returns;
	struct counter_draws draws;
	struct binds binds;
};

static int plan_omit(struct planner *p, uint8_t kind, uint64_t vaddr, const char *reason)
{
	struct plan *plan = p->plan;
	struct plan_omission *o;

	if (plan->omissions_cnt == PLAN_OMISSIONS_MAX)
		return 0;
	if (plan->omissions_cnt == p->omissions_cap) {
		size_t cap = p->omissions_cap ? p->omissions_cap * 2 : 32;

		o = realloc(plan->omissions, cap * sizeof(*o));
		if (!o)
			return -ENOMEM;
		plan->omissions = o;
		p->omissions_cap = cap;
	}
	o = &plan->omissions[plan->omissions_cnt++];
	*o = (struct plan_omission){ .kind = kind, .file = p->file, .vaddr = vaddr };
	strncpy(o->reason, reason, sizeof(o->reason) - 1);
	return 0;
}

/* Finds the instruction for `s` (kind, file, func_vaddr, offsets set) and adds it, or omits it. */
static int plan_add(struct planner *p, const struct site_query *q, struct plan_site *s)
{
	struct plan *plan = p->plan;
	const char *reason;

	s->file = p->file;
	if (site_choose(p->img, p->relocs, &p->starts, q, s, &reason))
		return plan_omit(p, s->kind, q->vaddr, reason);
	if (plan->sites_cnt == p->sites_max)
		return plan_omit(p, s->kind, q->vaddr, "too many sites in this process");
	if (plan->sites_cnt == p->sites_cap) {
		size_t cap = p->sites_cap ? p->sites_cap * 2 : 256;
		struct plan_site *sites = realloc(plan->sites, cap * sizeof(*sites));

		if (!sites)
			return -ENOMEM;
		plan->sites = sites;
		p->sites_cap = cap;
	}
	plan->sites[plan->sites_cnt++] = *s;
	return 0;
}

struct plan_entry { /* a function that one or more types use in one role */
	uint64_t func;
	const struct plan_vtable *type;
};

static int plan_entry_compare(const void *a, const void *b)
{
	const struct plan_entry *x = a, *y = b;

	return x->func < y->func ? -1 : x->func > y->func;
}

static uint64_t plan_role(const struct plan_vtable *v, uint8_t kind)
{
	switch (kind) {
	case WIRE_SITE_POLL:
		return v->poll;
	case WIRE_SITE_SCHEDULE:
		/* that of blocking tasks is never called */
		return v->is_blocking ? 0 : v->schedule;
	default:
		return v->shutdown;
	}
}

/* One site for each distinct function in a role; identical functions may have been folded. */
static int plan_entries(struct planner *p, uint8_t kind)
{
	const struct plan_file *f = &p->plan->files[p->file];
	struct plan_entry *entries;
	size_t cnt = 0;
	int err = 0;

	entries = malloc(f->vtables_cnt * sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < f->vtables_cnt; i++) {
		uint64_t func = plan_role(&f->vtables[i], kind);

		if (func)
			entries[cnt++] = (struct plan_entry){ func, &f->vtables[i] };
	}
	if (cnt)
		qsort(entries, cnt, sizeof(*entries), plan_entry_compare);
	for (size_t i = 0, next; i < cnt && !err; i = next) {
		struct plan_site s = { .kind = kind, .func_vaddr = entries[i].func };
		struct site_query q = { .vaddr = entries[i].func, .reg = PLAN_RDI,
					.is_entry = true,
					.allow_stepped = p->opt->allow_stepped,
					.allow_stack = p->opt->allow_stack };

		s.id_off = entries[i].type->id_off;
		s.scheduler_off = entries[i].type->scheduler_off;
		s.has_location = entries[i].type->has_location;
		for (next = i + 1; next < cnt && entries[next].func == entries[i].func; next++) {
			if (entries[next].type->id_off != s.id_off)
				s.id_off = 0;
			if (entries[next].type->scheduler_off != s.scheduler_off)
				s.scheduler_off = 0;
		}
		err = plan_add(p, &q, &s);
	}
	free(entries);
	return err;
}

static int plan_add_return(struct planner *p, uint64_t call, uint64_t after)
{
	struct plan_site s = { .kind = WIRE_SITE_RETURN, .func_vaddr = call };
	struct site_query q = { .vaddr = after, .reg = CODE_NONE,
				.allow_stepped = p->opt->allow_stepped };

	return plan_add(p, &q, &s);
}

/* Behind the calls of functions that end in a tail jump to poll. */
static int plan_wrapped_returns(struct planner *p, struct callers *callers)
{
	int err = callers_find(callers, p->img, p->relocs, &p->starts);
	struct code_op op;

	for (size_t i = 0; i < callers->cnt && !err; i++) {
		if (code_read(p->img, callers->calls[i], &op))
			continue;
		if (op.flow == CODE_CALL || op.flow == CODE_CALL_INDIRECT)
			err = plan_add_return(p, op.vaddr, op.vaddr + op.len);
		else
			err = plan_omit(p, WIRE_SITE_RETURN, op.vaddr,
					"tail jump to a function that itself jumps to poll");
	}
	if (!err && callers->left_cnt)
		err = plan_omit(p, WIRE_SITE_RETURN, callers->funcs[0],
				"more callers than are looked at");
	return err;
}

static int plan_returns(struct planner *p)
{
	struct callers callers = { .cnt = 0 };
	struct returns_call call;
	size_t strict_cnt = 0;
	int err = 0;

	/* a loose match is believed only where nothing better exists: an unoptimised build */
	for (int loose = 0; loose < 2 && !strict_cnt && !err; loose++) {
		for (size_t i = 0; i < p->returns.loads_cnt && !err; i++) {
			if (returns_prove(&p->returns, i, p->img, &p->starts, &call) ||
			    call.is_loose != loose)
				continue;
			strict_cnt += !loose;
			if (!call.is_jump)
				err = plan_add_return(p, call.call, call.after);
			else if (call.is_wrapper && callers.funcs_cnt < CALLERS_FUNCS_MAX)
				callers.funcs[callers.funcs_cnt++] = call.func;
			else
				err = plan_omit(p, WIRE_SITE_RETURN, call.call,
						"tail jump: nothing here runs after the poll");
		}
	}
	if (!err && callers.funcs_cnt)
		err = plan_wrapped_returns(p, &callers);
	callers_done(&callers);
	return err;
}

/* index of the counter in the file's list, or -1 when the list is full */
static int plan_counter(struct plan_file *f, uint64_t vaddr)
{
	for (size_t i = 0; i < f->counters_cnt; i++)
		if (f->counters[i] == vaddr)
			return (int)i;
	if (f->counters_cnt == PLAN_COUNTERS_MAX)
		return -1;
	f->counters[f->counters_cnt] = vaddr;
	return (int)f->counters_cnt++;
}

static int plan_draws(struct planner *p)
{
	struct plan_file *f = &p->plan->files[p->file];
	int err = counter_settle(&p->draws, p->img, p->relocs, &p->starts);

	for (size_t i = 0; i < p->draws.cnt && !err; i++) {
		const struct counter_draw *d = &p->draws.draws[i];
		int counter = plan_counter(f, d->counter);
		struct plan_site s = { .kind = WIRE_SITE_SPAWN_ID, .func_vaddr = d->func,
				       .counter = (uint16_t)counter };
		struct site_query q = { .vaddr = d->after, .reg = d->reg, .pass_calls = true,
					.allow_stepped = p->opt->allow_stepped,
					.allow_stack = p->opt->allow_stack };

		if (counter < 0)
			err = plan_omit(p, s.kind, d->vaddr, "too many counters in this file");
		else
			err = plan_add(p, &q, &s);
	}
	return err;
}

static int plan_binds(struct planner *p)
{
	int err = 0;

	for (size_t i = 0; i < p->binds.cnt && !err; i++) {
		struct plan_site s = { .kind = WIRE_SITE_BIND };
		struct site_query q = { .reg = PLAN_RSI, .is_entry = true,
					.allow_stepped = p->opt->allow_stepped,
					.allow_stack = p->opt->allow_stack };
		struct bind_place place;

		if (bind_prove(&p->binds, i, p->img, &p->starts, &place))
			continue;
		if (place.header_reg == CODE_NONE) {
			err = plan_omit(p, s.kind, p->binds.stores[i],
					"inlined: the header is not an argument of its function");
			continue;
		}
		s.func_vaddr = q.vaddr = place.func;
		s.has_location = p->plan->files[p->file].is_unstable;
		err = plan_add(p, &q, &s);
	}
	return err;
}

static int plan_scan_hit(const struct scan_hit *hit, void *ctx)
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
static int plan_code(struct planner *p)
{
	int err = 0;

	for (size_t i = 0; i < p->img->segs_cnt && !err; i++)
		if (p->img->segs[i].is_exec)
			err = scan_segment(p->img, &p->img->segs[i], SCAN_CODE, plan_scan_hit, p);
	if (!err)
		err = plan_returns(p);
	if (!err)
		err = plan_draws(p);
	if (!err)
		err = plan_binds(p);
	if (!err && (p->returns.left_cnt || p->draws.left_cnt || p->binds.left_cnt))
		err = plan_omit(p, WIRE_SITE_RETURN, 0, "more candidates than are looked at");
	returns_done(&p->returns);
	counter_done(&p->draws);
	bind_done(&p->binds);
	return err;
}

static int plan_sites(struct planner *p)
{
	int err = 0;

	if (p->opt->level >= PLAN_FULL)
		err = plan_code(p);
	if (!err && p->opt->level >= PLAN_WAKES)
		err = plan_entries(p, WIRE_SITE_SCHEDULE);
	if (!err && p->opt->level >= PLAN_FULL)
		err = plan_entries(p, WIRE_SITE_SHUTDOWN);
	if (!err && p->opt->level >= PLAN_POLLS)
		err = plan_entries(p, WIRE_SITE_POLL);
	return err;
}

/* Searches one file. 0: it carries Tokio and its sites are planned; -ENOENT: it does not. */
static int plan_search(struct planner *p, const struct target_file *tf, uint32_t target_file)
{
	struct plan *plan = p->plan;
	struct plan_file f = { .target_file = target_file }, *files;
	size_t left_cnt = 0;
	int err;

	err = image_open(tf->fd, tf->sz, &p->img);
	if (!err)
		err = relocs_open(p->img, &p->relocs);
	if (!err) {
		starts_open(&p->starts, p->img);
		err = tokio_find(p->img, p->relocs, &p->starts, &f, &left_cnt);
	}
	if (!err && image_bias(p->img, tf->map_start, tf->map_off, &f.bias))
		err = -ENOEXEC;
	files = err ? NULL : realloc(plan->files, (plan->files_cnt + 1) * sizeof(*files));
	if (!files) {
		free(f.vtables);
		return err ? err : -ENOMEM;
	}
	memcpy(f.build_id, p->img->build_id, sizeof(f.build_id));
	f.is_pie = p->img->is_pie;
	f.tls_sz = p->img->tls_sz;
	f.tls_align = p->img->tls_align;
	plan->files = files;
	p->file = (uint32_t)plan->files_cnt;
	files[plan->files_cnt++] = f;
	if (left_cnt)
		err = plan_omit(p, WIRE_SITE_POLL, 0, "more task types than are looked at");
	return err ? err : plan_sites(p);
}

static int plan_order_of(uint8_t kind)
{
	static const uint8_t order[] = {
		[WIRE_SITE_RETURN] = 0, [WIRE_SITE_RAISE] = 1, [WIRE_SITE_SPAWN_ID] = 2,
		[WIRE_SITE_BIND] = 3, [WIRE_SITE_SCHEDULE] = 4, [WIRE_SITE_SHUTDOWN] = 5,
		[WIRE_SITE_POLL] = 6,
	};

	return order[kind];
}

static int plan_site_compare(const void *a, const void *b)
{
	const struct plan_site *x = a, *y = b;
	int by_kind = plan_order_of(x->kind) - plan_order_of(y->kind);

	if (by_kind)
		return by_kind;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* Sorts into attach order; one place that was found twice in one role is one site. */
static void plan_settle(struct plan *plan)
{
	size_t kept = 0;

	if (!plan->sites_cnt)
		return;
	qsort(plan->sites, plan->sites_cnt, sizeof(*plan->sites), plan_site_compare);
	for (size_t i = 0; i < plan->sites_cnt; i++)
		if (!kept || plan_site_compare(&plan->sites[kept - 1], &plan->sites[i]))
			plan->sites[kept++] = plan->sites[i];
	plan->sites_cnt = kept;
}

int plan_build(const struct target *t, const struct plan_options *o, const struct features *f,
	       struct plan **ret)
{
	struct planner p = { .opt = o };
	size_t damaged_cnt = 0;
	int err = 0;

	p.sites_max = f && !f->has_uprobe_multi ? PLAN_PERF_SITES_MAX : PLAN_SITES_MAX;
	p.plan = calloc(1, sizeof(*p.plan));
	if (!p.plan)
		return log_error(-ENOMEM, "no memory to plan process %d", (int)t->pid);
	p.plan->level = o->level;
	for (size_t i = 0; i < t->files_cnt && err != -ENOMEM; i++) {
		err = plan_search(&p, &t->files[i], (uint32_t)i);
		relocs_close(p.relocs);
		image_close(p.img);
		p.relocs = NULL;
		p.img = NULL;
		if (err && err != -ENOENT && err != -ENOMEM) {
			damaged_cnt++;
			log_warn(err, "%s is damaged or cannot be read (%s), ignoring this file",
				 t->files[i].path, strerror(-err));
		}
	}
	if (err == -ENOMEM)
		log_error(err, "no memory to plan process %d", (int)t->pid);
	else if (p.plan->files_cnt)
		err = 0;
	else
		err = log_error(damaged_cnt ? -ENOEXEC : -ENOENT,
				"process %d (%s) carries no Tokio 1.23 or later: searched %zu "
				"files for its task vtables, %zu of them damaged", (int)t->pid,
				t->comm, t->files_cnt, damaged_cnt);
	if (err) {
		plan_free(p.plan);
		return err;
	}
	plan_settle(p.plan);
	*ret = p.plan;
	return 0;
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->files_cnt; i++)
		free(p->files[i].vtables);
	free(p->files);
	free(p->sites);
	free(p->omissions);
	free(p);
}

const struct plan_vtable *plan_vtable_at(const struct plan *p, uint64_t runtime_addr,
					 size_t *ret_file)
{
	for (size_t i = 0; i < p->files_cnt; i++) {
		const struct plan_file *f = &p->files[i];
		uint64_t vaddr = runtime_addr - f->bias;
		size_t lo = 0, hi = f->vtables_cnt;

		while (lo < hi) {
			size_t mid = lo + (hi - lo) / 2;

			if (f->vtables[mid].vaddr == vaddr) {
				if (ret_file)
					*ret_file = i;
				return &f->vtables[mid];
			}
			if (f->vtables[mid].vaddr < vaddr)
				lo = mid + 1;
			else
				hi = mid;
		}
	}
	return NULL;
}
