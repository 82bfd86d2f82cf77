// SPDX-License-Identifier: Apache-2.0
#include "zoom.h"

#include <stddef.h>

#include "control.h"
#include "log.h"
#include "opt.h"
#include "target.h"

int zoom_run(const struct opt *o)
{
	int ret = 0;

	for (size_t i = 0; i < o->pids_cnt; i++) {
		struct target *t = NULL;
		int err = target_open(o->pids[i], &t);

		if (!err)
			err = control_ask(NULL, t->pid, t->start_ticks, o->zoom);
		if (!err)
			log_info("pid %d: a closer look is taken: %s", (int)o->pids[i], o->zoom);
		target_close(t);
		if (err && !ret)
			ret = err;
	}
	return ret;
}
