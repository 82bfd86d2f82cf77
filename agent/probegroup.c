// SPDX-License-Identifier: Apache-2.0
#include "probegroup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>
#include <linux/types.h>

#include "bpf/cookie.h"
#include "bpf/wire.h"
#include "log.h"
#include "plan.h"
#include "probecloser.h"
#include "target.h"

static __u8 probegroup_kind(const struct probegroup_options *o, const struct plan_site *s)
{
	if (!o->kept_set)
		return s->kind;
	return (__u8)((s->kind == WIRE_SITE_POLL ? WIRE_SITE_KEPT_POLL : WIRE_SITE_KEPT_END) +
		      o->kept_set - 1);
}

/* Offsets that the cookie has no room for are asked of the vtable at each hit. */
static __u64 probegroup_cookie(const struct probegroup_options *o, const struct plan_site *s,
			       size_t number)
{
	unsigned id_words = s->id_off / 8u, scheduler_words = s->scheduler_off / 8u;

	if (s->id_off % 8 || s->scheduler_off % 8 || id_words > WIRE_COOKIE_ID_WORDS_MAX ||
	    scheduler_words > WIRE_COOKIE_SCHEDULER_WORDS_MAX)
		id_words = scheduler_words = 0;
	if (s->kind == WIRE_SITE_SPAWN_ID)
		id_words = s->counter;
	return WIRE_COOKIE(probegroup_kind(o, s), s->reg, s->pushed_words, id_words, s->has_location,
			   scheduler_words) |
	       WIRE_COOKIE_STACK(s->stack_word, s->is_below_rbp) | WIRE_COOKIE_POPPED(s->is_popped) |
	       WIRE_COOKIE_NO_LIST(s->is_list_lost) |
	       WIRE_COOKIE_OF_COPY(s->file % WIRE_COPIES_MAX) | /* all but raise sites are below it */
	       WIRE_COOKIE_NUMBER(number);
}

static const char *probegroup_path(const struct target *t, const struct plan *plan, size_t file)
{
	return t->files[plan->files[file].target_file].path;
}

/* Sites of one file by one link. */
static int probegroup_multi(struct probegroup *g, const struct probegroup_options *o,
			    const struct target *t, const struct plan *plan, size_t file,
			    const bool *is_picked)
{
	unsigned long *offs = calloc(plan->sites_cnt, sizeof(*offs));
	__u64 *cookies = calloc(plan->sites_cnt, sizeof(*cookies));
	pid_t pid = o->has_pid_filter ? t->pid : -1;
	struct bpf_link *link;
	size_t cnt = 0;
	int err = -ENOMEM;

	if (!offs || !cookies)
		goto out;
	err = 0;
	for (size_t i = 0; i < plan->sites_cnt; i++) {
		if (plan->sites[i].file != file || !is_picked[i])
			continue;
		offs[cnt] = plan->sites[i].file_off;
		cookies[cnt++] = probegroup_cookie(o, &plan->sites[i], i);
	}
	if (!cnt)
		goto out;
	LIBBPF_OPTS(bpf_uprobe_multi_opts, opts, .offsets = offs, .cookies = cookies, .cnt = cnt);
	link = bpf_program__attach_uprobe_multi(o->multi, pid,
						t->files[plan->files[file].target_file].link, NULL,
						&opts);
	if (!link) {
		err = log_error(-errno, "cannot put %zu probes into %s of pid %d: %s", cnt,
				probegroup_path(t, plan, file), t->pid, strerror(errno));
		goto out;
	}
	g->links[g->links_cnt++] = link;
	g->sites_cnt += cnt;
out:
	free(cookies);
	free(offs);
	return err;
}

static int probegroup_single(struct probegroup *g, const struct probegroup_options *o,
			     const struct target *t, const struct plan *plan, size_t file,
			     const bool *is_picked)
{
	for (size_t i = 0; i < plan->sites_cnt; i++) {
		const struct plan_site *s = &plan->sites[i];
		LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = probegroup_cookie(o, s, i));
		struct bpf_link *link;

		if (s->file != file || !is_picked[i])
			continue;
		link = bpf_program__attach_uprobe_opts(o->single, t->pid,
						       t->files[plan->files[file].target_file].link,
						       s->file_off, &opts);
		if (!link)
			return log_error(-errno, "cannot put a probe at %s+0x%llx of pid %d: %s",
					 probegroup_path(t, plan, file),
					 (unsigned long long)s->file_off, t->pid, strerror(errno));
		g->links[g->links_cnt++] = link;
		g->sites_cnt++;
	}
	return 0;
}

int probegroup_attach(struct probegroup *g, const struct probegroup_options *o,
		      const struct target *t, const struct plan *plan, probegroup_pick pick,
		      void *ctx)
{
	bool *is_picked = calloc(plan->sites_cnt + 1, sizeof(*is_picked));
	size_t cnt = 0;
	int err = 0;

	if (!is_picked)
		return -ENOMEM;
	for (size_t i = 0; i < plan->sites_cnt; i++)
		cnt += is_picked[i] = pick(ctx, &plan->sites[i]);
	*g = (struct probegroup){ .links = NULL };
	if (!cnt)
		goto out;
	g->links = calloc(o->multi ? plan->files_cnt : cnt, sizeof(struct bpf_link *));
	if (!g->links)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < plan->files_cnt; i++)
		err = o->multi ? probegroup_multi(g, o, t, plan, i, is_picked) :
				 probegroup_single(g, o, t, plan, i, is_picked);
	if (err)
		probegroup_detach(g, o->closer);
out:
	free(is_picked);
	return err;
}

void probegroup_detach(struct probegroup *g, struct probecloser *c)
{
	probecloser_take(c, g->links, g->links_cnt);
	*g = (struct probegroup){ .links = NULL };
}
