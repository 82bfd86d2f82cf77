// SPDX-License-Identifier: Apache-2.0
#include "probereturns.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "bpf/cookie.h"
#include "bpf/wire.h"
#include "log.h"
#include "plan.h"

struct probereturns {
	int fd;
	size_t cnt;
	struct probereturns_key { /* struct return_key of maps.bpf.h */
		uint64_t addr, slot;
	} keys[];
};

int probereturns_fill(int fd, unsigned slot, const struct plan *plan, struct probereturns **ret)
{
	struct probereturns *m = calloc(1, sizeof(*m) + plan->sites_cnt * sizeof(m->keys[0]));
	__u8 value = 1;

	if (!m)
		return -ENOMEM;
	m->fd = fd;
	for (size_t i = 0; i < plan->sites_cnt; i++) {
		const struct plan_site *s = &plan->sites[i];
		struct probereturns_key *key = &m->keys[m->cnt];

		if (s->kind != WIRE_SITE_RETURN)
			continue;
		*key = (struct probereturns_key){ s->return_vaddr + plan->files[s->file].bias, slot };
		if (bpf_map_update_elem(fd, key, &value, 0)) {
			log_warn(-errno,
				 "no room for return address %zu (%s): the poll ends there will be "
				 "inferred",
				 m->cnt, strerror(errno));
			break;
		}
		m->cnt++;
	}
	*ret = m;
	return 0;
}

void probereturns_clear(struct probereturns *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->cnt; i++)
		bpf_map_delete_elem(m->fd, &m->keys[i]);
	free(m);
}
