/* SPDX-License-Identifier: Apache-2.0 */
/* probe_state.h - what a loaded probe is made of; private to probe.c and probe_tell.c. */
#ifndef DIAL9_PROBE_STATE_H
#define DIAL9_PROBE_STATE_H

#include <stdint.h>
#include <sys/types.h>

#include <linux/types.h>

#include "bpf/wire.h"
#include "feature.h"
#include "probe.h"
#include "probecloser.h"
#include "probecost.h"
#include "probehits.h"
#include "recorder.skel.h"

struct probe_slot {
	pid_t pid; /* 0 = free */
	struct probegroup groups[PROBE_GROUPS_MAX];
	struct probereturns *returns;
	struct probetypes *types;
	uint32_t session; /* number of the session: never 0, never twice */
};

struct probe {
	struct recorder_bpf *skel;
	struct features features;
	struct probesample *samples; /* NULL = none asked for */
	int *ring_fds; /* cpus_cnt + 1 */
	unsigned cpus_cnt;
	uint32_t sessions_cnt;
	struct probe_slot slots[WIRE_TARGETS_MAX];
	struct probehits hits;
	struct probecloser closer;
	struct probecost cost;
};

#endif /* DIAL9_PROBE_STATE_H */
