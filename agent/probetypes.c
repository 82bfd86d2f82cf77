// SPDX-License-Identifier: Apache-2.0
#include "probetypes.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "bpf/wire.h"
#include "log.h"
#include "plan.h"

struct probetypes {
	int fd;
	size_t cnt;
	struct probetypes_key { /* struct return_key of maps.bpf.h */
		uint64_t addr, slot;
	} keys[];
};

static int probetypes_put(struct probetypes *m, unsigned slot, const struct plan_file *f)
{
	for (size_t i = 0; i < f->vtables_cnt; i++) {
		const struct plan_vtable *v = &f->vtables[i];
		const struct wire_task_type type = {
			.id_off = v->id_off,
			.flags = v->is_blocking ? WIRE_TYPE_BLOCKING : WIRE_TYPE_ASYNC,
		};
		struct probetypes_key *key = &m->keys[m->cnt];

		*key = (struct probetypes_key){ v->vaddr + f->bias, slot };
		if (bpf_map_update_elem(m->fd, key, &type, 0))
			return -errno;
		m->cnt++;
	}
	return 0;
}

int probetypes_fill(int fd, unsigned slot, const struct plan *plan, struct probetypes **ret)
{
	struct probetypes *m;
	size_t cnt = 0;
	int err = 0;

	for (size_t i = 0; i < plan->files_cnt; i++)
		cnt += plan->files[i].vtables_cnt;
	m = calloc(1, sizeof(*m) + cnt * sizeof(m->keys[0]));
	if (!m)
		return -ENOMEM;
	m->fd = fd;
	for (size_t i = 0; !err && i < plan->files_cnt; i++)
		err = probetypes_put(m, slot, &plan->files[i]);
	if (err)
		log_warn(err,
			 "no room for task type %zu (%s): without probes, tasks of the further ones "
			 "have no type",
			 m->cnt, strerror(-err));
	*ret = m;
	return 0;
}

void probetypes_clear(struct probetypes *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->cnt; i++)
		bpf_map_delete_elem(m->fd, &m->keys[i]);
	free(m);
}
