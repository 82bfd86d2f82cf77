/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probegroup.h - some of a plan's sites, put into a target and taken out of it together.
 *
 * One uprobe_multi link per file where the kernel has it, as each link costs tens of milliseconds
 * to close; else one perf event a site.
 */
#ifndef DIAL9_PROBEGROUP_H
#define DIAL9_PROBEGROUP_H

#include <stdbool.h>
#include <stddef.h>

struct bpf_program;
struct plan;
struct probecloser;
struct plan_site;
struct target;

struct probegroup_options {
	struct bpf_program *multi; /* NULL = this kernel has no uprobe_multi */
	struct bpf_program *single;
	struct probecloser *closer; /* takes out what a failed attach has put in */
	bool has_pid_filter; /* of uprobe_multi: else other processes of the same file are hit too */
	unsigned kept_set; /* 1 or 2: the sites are one of the kept sets of wire.h; 0 = they are not */
};

struct probegroup {
	struct bpf_link **links;
	size_t links_cnt, sites_cnt;
};

/* Which sites. `ctx` is the caller's. */
typedef bool (*probegroup_pick)(void *ctx, const struct plan_site *s);

/* Puts the picked sites in, in the plan's order. None picked: an empty group. On failure (logged)
 * none stays. `g` must be empty. */
int probegroup_attach(struct probegroup *g, const struct probegroup_options *o,
		      const struct target *t, const struct plan *plan, probegroup_pick pick,
		      void *ctx);

/* Takes them out, in the background; `g` is empty then. */
void probegroup_detach(struct probegroup *g, struct probecloser *c);

#endif /* DIAL9_PROBEGROUP_H */
