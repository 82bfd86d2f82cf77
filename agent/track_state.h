/* SPDX-License-Identifier: Apache-2.0 */
/*
 * track_state.h - what the parts of the track room share; private to track.c, life.c, poll.c and
 * offcpu.c. Each handler takes one wire record and says whether it used it: became an event, part
 * of one, or changed what is known. What is not used is counted by its kind.
 */
#ifndef DIAL9_TRACK_STATE_H
#define DIAL9_TRACK_STATE_H

#include <linux/types.h>

#include "agent/emit.h"
#include "agent/place.h"
#include "agent/runtime.h"
#include "agent/spawn.h"
#include "agent/task.h"
#include "agent/tasklist.h"
#include "agent/thread.h"
#include "agent/track.h"
#include "agent/unread.h"
#include "agent/wake.h"
#include "agent/worker.h"
#include "bpf/wire.h"

struct offcpu;

struct track {
	struct track_options o;
	struct emit *e;
	struct threads *threads;
	struct tasks *tasks;
	struct places *places;
	struct runtimes *runtimes;
	struct workers *workers;
	struct spawns *spawns;
	struct offcpu *offcpu;
	struct tasklists lists;
	struct wakes wakes;
	bool has_polls; /* poll starts are recorded at this level */
	struct unread unread;
	bool has_lost; /* records were lost: our own counts of tasks are not exact */
	struct track_stats stats;
};

#endif /* DIAL9_TRACK_STATE_H */
