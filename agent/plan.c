// SPDX-License-Identifier: Apache-2.0
/* plan.c - walks the target's files and puts the searches together. */
#include "plan.h"

#include "dynsym.h"
#include "feature.h"
#include "image.h"
#include "log.h"
#include "planner.h"
#include "relocs.h"
#include "target.h"
#include "tokio.h"

#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/cookie.h"
#include "bpf/wire.h"

#define PLAN_PERF_SITES_MAX 4096 /* without uprobe_multi each site is a file descriptor */

static void plan_close_file(struct planner *p)
{
	relocs_close(p->relocs);
	image_close(p->img);
	p->relocs = NULL;
	p->img = NULL;
}

/* Makes *f, for the image at hand, a file of the plan if it is none yet, and p->file its index.
 * On failure the vtables stay the caller's. */
static int plan_file_at(struct planner *p, struct plan_file *f, const struct target_file *tf)
{
	struct plan *plan = p->plan;
	struct plan_file *files;

	for (size_t i = 0; i < plan->files_cnt; i++) {
		if (plan->files[i].target_file == f->target_file) {
			p->file = (uint32_t)i;
			return 0;
		}
	}
	if (image_bias(p->img, tf->map_start, tf->map_off, &f->bias))
		return -ENOEXEC;
	files = realloc(plan->files, (plan->files_cnt + 1) * sizeof(*files));
	if (!files)
		return -ENOMEM;
	memcpy(f->build_id, p->img->build_id, sizeof(f->build_id));
	f->is_pie = p->img->is_pie;
	f->tls_sz = p->img->tls_sz;
	f->tls_align = p->img->tls_align;
	plan->files = files;
	for (size_t i = 0; i < plan->files_cnt; i++)
		f->counters_before += files[i].counters_cnt;
	p->file = (uint32_t)plan->files_cnt;
	files[plan->files_cnt++] = *f;
	return 0;
}

/* Opens one file, finds its task types. -ENOENT: it carries no Tokio. `f` is to be freed in any case. */
static int plan_open_file(struct planner *p, const struct target_file *tf, struct plan_file *f,
			  size_t *ret_left_cnt)
{
	size_t left_cnt = 0;
	int err = image_open(tf->fd, tf->sz, &p->img);

	if (!err)
		err = relocs_open(p->img, &p->relocs);
	if (!err) {
		starts_open(&p->starts, p->img);
		err = tokio_find(p->img, p->relocs, &p->starts, f, &left_cnt);
	}
	if (ret_left_cnt)
		*ret_left_cnt = left_cnt;
	return err;
}

/* Searches one file. 0: it carries Tokio and its sites are planned; -ENOENT: it does not. */
static int plan_search(struct planner *p, const struct target_file *tf, uint32_t target_file)
{
	struct plan_file f = { .target_file = target_file };
	size_t left_cnt = 0;
	int err = plan_open_file(p, tf, &f, &left_cnt);

	if (!err && p->plan->files_cnt == WIRE_COPIES_MAX)
		err = log_warn(-ENOENT, "%s carries one more Tokio than the %d that are told apart "
					"in a process, ignoring it", tf->path, WIRE_COPIES_MAX);
	if (!err)
		err = plan_file_at(p, &f, tf);
	if (err) {
		free(f.vtables);
		return err;
	}
	if (left_cnt)
		err = planner_omit(p, WIRE_SITE_POLL, 0, "more task types than are looked at");
	if (!err)
		err = planner_sites(p);
	if (!err && !p->img->work_left)
		err = planner_omit(p, WIRE_SITE_POLL, 0, "the search took too long and was cut");
	return err;
}

/* One file's unwinder entry becomes the raise site. -ENOENT: it has none. */
static int plan_raise_in(struct planner *p, const struct target *t, size_t i, bool use_symtab)
{
	static const char name[] = "_Unwind_RaiseException";
	struct plan_file f = { .target_file = (uint32_t)i };
	uint64_t vaddr;
	int err;

	if (image_open(t->files[i].fd, t->files[i].sz, &p->img))
		return -ENOENT; /* said before, if it matters */
	err = dynsym_find(p->img, name, use_symtab, &vaddr);
	if (!err)
		err = relocs_open(p->img, &p->relocs);
	if (!err) {
		starts_open(&p->starts, p->img);
		err = plan_file_at(p, &f, &t->files[i]);
	}
	if (!err)
		err = planner_raise(p, vaddr);
	plan_close_file(p);
	return err;
}

/*
 * A panic passes through the unwinder, which is one for the whole process: usually libgcc_s, else
 * linked into the program and then named only by its symbol table. Without it panics are not told
 * apart from other ends.
 */
static int plan_raise(struct planner *p, const struct target *t)
{
	size_t tokio_cnt = p->plan->files_cnt;
	int err = -ENOENT;

	for (size_t i = 0; i < t->files_cnt && err && err != -ENOMEM; i++)
		err = plan_raise_in(p, t, i, false);
	for (size_t i = 0; i < tokio_cnt && err && err != -ENOMEM; i++)
		err = plan_raise_in(p, t, p->plan->files[i].target_file, true);
	if (!err || err == -ENOMEM)
		return err;
	p->file = 0;
	return planner_omit(p, WIRE_SITE_RAISE, 0, "no file of the process names its unwinder");
}

static int plan_order_of(uint8_t kind)
{
	static const uint8_t order[] = {
		[WIRE_SITE_RETURN] = 0, [WIRE_SITE_RAISE] = 1,	  [WIRE_SITE_SPAWN_ID] = 2,
		[WIRE_SITE_BIND] = 3,	[WIRE_SITE_SCHEDULE] = 4, [WIRE_SITE_SHUTDOWN] = 5,
		[WIRE_SITE_POLL] = 6,	[WIRE_SITE_OWN_END] = 7,
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

/* Sorts into attach order; one place found twice in one role is one site. */
static void plan_settle(struct plan *plan)
{
	size_t kept = 0;

	if (!plan->sites_cnt)
		return;
	qsort(plan->sites, plan->sites_cnt, sizeof(*plan->sites), plan_site_compare);
	for (size_t i = 0; i < plan->sites_cnt; i++) {
		struct plan_site *s = &plan->sites[i], *last = kept ? &plan->sites[kept - 1] : NULL;

		if (!last || plan_site_compare(last, s)) {
			plan->sites[kept++] = *s;
			continue;
		}
		/* two functions that jump to one: what they disagree on is asked of the vtable */
		if (last->id_off != s->id_off)
			last->id_off = 0;
		if (last->scheduler_off != s->scheduler_off)
			last->scheduler_off = 0;
	}
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
		plan_close_file(&p);
		if (err && err != -ENOENT && err != -ENOMEM) {
			damaged_cnt++;
			log_warn(err, "%s is damaged or cannot be read (%s), ignoring this file",
				 t->files[i].path, strerror(-err));
		}
	}
	if (err != -ENOMEM && p.plan->files_cnt)
		err = o->level >= PLAN_FULL ? plan_raise(&p, t) : 0;
	if (err == -ENOMEM)
		log_error(err, "no memory to plan process %d", (int)t->pid);
	else if (p.plan->files_cnt)
		err = 0;
	else
		err = log_error(damaged_cnt ? -ENOEXEC : -ENOENT,
				"process %d (%s) carries no Tokio 1.23 or later: searched %zu "
				"files for its task vtables, %zu of them damaged; if it loads one "
				"later, use --wait",
				(int)t->pid, t->comm, t->files_cnt, damaged_cnt);
	if (err) {
		plan_free(p.plan);
		return err;
	}
	plan_settle(p.plan);
	*ret = p.plan;
	return 0;
}

bool plan_carries_tokio(const struct target *t, size_t file)
{
	struct planner p = { .opt = NULL };
	struct plan_file f = { .target_file = (uint32_t)file };
	bool is_found;

	is_found = !plan_open_file(&p, &t->files[file], &f, NULL);
	plan_close_file(&p);
	free(f.vtables);
	return is_found;
}

bool plan_has_site(const struct plan *p, int kind)
{
	for (size_t i = 0; i < p->sites_cnt; i++)
		if (p->sites[i].kind == kind)
			return true;
	return false;
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
