// SPDX-License-Identifier: Apache-2.0
#include "polltypes.h"

#include <errno.h>
#include <stdlib.h>

#include <linux/types.h>

#include "bpf/cookie.h"
#include "bpf/wire.h"
#include "plan.h"

static int polltypes_compare(const void *key, const void *type, void *arg)
{
	const struct plan_site *a = key;
	const struct plan *plan = arg;
	const struct plan_site *b = &plan->sites[((const struct polltypes_type *)type)->site];

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->func_vaddr < b->func_vaddr ? -1 : a->func_vaddr > b->func_vaddr;
}

static int polltypes_order(const void *a, const void *b, void *arg)
{
	const struct plan *plan = arg;

	return polltypes_compare(&plan->sites[((const struct polltypes_type *)a)->site], b, arg);
}

/* The type whose poll function that is, or NONE. They are sorted by it. */
static uint32_t polltypes_find(const struct polltypes *p, const struct plan_site *s)
{
	size_t lo = 0, hi = p->cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int order = polltypes_compare(s, &p->types[mid], (void *)p->plan);

		if (!order)
			return (uint32_t)mid;
		if (order < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return POLLTYPES_NONE;
}

int polltypes_open(const struct plan *plan, struct polltypes *ret)
{
	struct polltypes p = { .plan = plan };

	p.of_site = malloc((plan->sites_cnt + 1) * sizeof(*p.of_site));
	p.types = calloc(plan->sites_cnt + 1, sizeof(*p.types));
	if (!p.of_site || !p.types) {
		polltypes_close(&p);
		return -ENOMEM;
	}
	for (size_t i = 0; i < plan->sites_cnt; i++) {
		p.of_site[i] = POLLTYPES_NONE;
		if (plan->sites[i].kind == WIRE_SITE_POLL)
			p.types[p.cnt++].site = (uint32_t)i;
	}
	qsort_r(p.types, p.cnt, sizeof(*p.types), polltypes_order, (void *)plan);
	for (size_t i = 0; i < plan->sites_cnt; i++) {
		const struct plan_site *s = &plan->sites[i];

		if (s->kind != WIRE_SITE_POLL && s->kind != WIRE_SITE_OWN_END)
			continue;
		p.of_site[i] = polltypes_find(&p, s);
		if (s->kind != WIRE_SITE_OWN_END || p.of_site[i] == POLLTYPES_NONE)
			continue;
		p.types[p.of_site[i]].has_own_ends = true;
		p.types[p.of_site[i]].has_stepped_ends |= !s->is_emulated;
	}
	*ret = p;
	return 0;
}

void polltypes_close(struct polltypes *p)
{
	free(p->of_site);
	free(p->types);
	*p = (struct polltypes){ .cnt = 0 };
}

const struct plan_vtable *polltypes_vtable(const struct polltypes *p, size_t type, size_t *at,
					   uint64_t *ret_addr)
{
	const struct plan_site *s = &p->plan->sites[p->types[type].site];
	const struct plan_file *f = &p->plan->files[s->file];

	while (*at < f->vtables_cnt) {
		const struct plan_vtable *v = &f->vtables[(*at)++];

		if (v->poll != s->func_vaddr)
			continue;
		*ret_addr = v->vaddr + f->bias;
		return v;
	}
	return NULL;
}
