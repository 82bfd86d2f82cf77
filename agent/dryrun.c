// SPDX-License-Identifier: Apache-2.0
#include "dryrun.h"

#include <stdio.h>

#include "opt.h"
#include "plan.h"
#include "target.h"

int dryrun_run(const struct opt *o)
{
	struct plan_options po = {
		.level = (enum plan_level)opt_plan_level(o),
		.allow_stepped = o->allow_stepped,
		.allow_stack = true,
		.has_own_ends = o->level == OPT_LEVEL_AUTO && o->max_overhead > 0,
	};
	int ret = 0;

	for (size_t i = 0; i < o->pids_cnt; i++) {
		struct target *t = NULL;
		struct plan *p = NULL;
		int err = target_open(o->pids[i], &t);

		if (!err)
			err = plan_build(t, &po, NULL, &p);
		if (!err)
			err = o->json ? plan_print_json(p, t, stdout) : plan_print(p, t, stdout);
		plan_free(p);
		target_close(t);
		if (err && !ret && !o->best_effort)
			ret = err;
	}
	return ret;
}
