/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_state.h - what a session is made of: for session.c, which runs it, and session_open.c,
 * which puts it together and takes it apart. Private to these two.
 */
#ifndef DIAL9_SESSION_STATE_H
#define DIAL9_SESSION_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "answer.h"
#include "calibration.h"
#include "losses.h"
#include "polltypes.h"
#include "seatlearn.h"
#include "session.h"
#include "summary.h"

struct session {
	struct target *target;
	struct plan *plan;
	struct polltypes types;
	struct segments *segments;
	struct symbols *symbols;
	struct seats *seats;
	struct roster *roster;
	struct metadata *metadata;
	struct emit *emit;
	struct track *track;
	struct taskword *taskword;
	struct answer answer;
	struct arrivals *arrivals;
	struct probe *probe;
	unsigned slot;
	struct ladder *ladder;
	struct calibration calibration;
	struct overhead *overhead;
	struct control *control; /* NULL = it could not be made */
	bool is_attached, has_execed;
	struct seatlearn seatlearn;
	struct losses losses;
	struct summary summary;
	uint32_t hit_cost_ns;
	double max_overhead; /* 0 = no budget */
};

/* Detaches first. Accepts what session_open() left half made. */
void session_free(struct session *s);

#endif /* DIAL9_SESSION_STATE_H */
