/* SPDX-License-Identifier: Apache-2.0 */
/*
 * longpolls.h - the longest polls of a recording, longest first, then earliest first.
 */
#ifndef DIAL9_LONGPOLLS_H
#define DIAL9_LONGPOLLS_H

#include <stdint.h>

#include "workertable.h"

#define LONGPOLLS_MAX 10

struct longpoll {
	uint64_t ns;
	uint32_t worker;
	struct worker_poll poll;
};

struct longpolls {
	uint32_t cnt;
	struct longpoll polls[LONGPOLLS_MAX];
};

/* A poll of `ns` ended: it is kept if it is among the longest so far. */
void longpolls_add(struct longpolls *l, uint64_t ns, uint32_t worker,
		   const struct worker_poll *poll);

#endif /* DIAL9_LONGPOLLS_H */
