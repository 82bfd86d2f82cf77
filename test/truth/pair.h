/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair.h - the two sides held against each other, all but the wakes.
 *
 * Only what lies inside a window counts: an interval in which the recorder said it records. What
 * crosses an edge of one is left out and counted. dial9's hooks run around our probes (start hook,
 * our start, our end, end hook), so a poll of ours lies inside its twin.
 *
 * A poll or spawn of ours that dial9 cannot have is "unseen" and no error: LocalSet tasks and
 * blocking tasks have no hooks in Tokio, and a runtime may not be attached to dial9. They are
 * known by dial9 having neither spawn nor poll of that id and their worker not being one of its.
 */
#ifndef TRUTH_PAIR_H
#define TRUTH_PAIR_H

#include "test/truth/diffs.h"
#include "test/truth/side.h"

#define PAIR_WINDOWS_MAX 64
#define PAIR_WORKERS_MAX 1024 /* of dial9; a higher id counts as a wrong one */
#define PAIR_SLACK_NS 5000ull /* the limit on differences, and how far a stamp may lie */
/*
 * Between the two stamps lie dial9's encoder and our probe, on a core that has slept with cold
 * caches. All count: a row in which no more workers than CPUs are alive at once is held to
 * PAIR_SLACK_NS at the 99th percentile of all its polls. Where there are more, the thread may have
 * lost its CPU between the two.
 */

struct window {
	uint64_t from_ns, to_ns;
};

struct tally {
	uint64_t theirs, ours, both; /* in the windows */
	uint64_t theirs_only, ours_only;
	uint64_t edge; /* left out, both sides */
	uint64_t unseen; /* ours, dial9 has no hook there */
	uint64_t wrong_loc, wrong_worker;
};

enum pair_level { PAIR_FULL, PAIR_WAKES, PAIR_POLLS }; /* at which ours was recorded */

struct pairing {
	enum pair_level level;
	const struct window *windows;
	size_t windows_cnt;
	bool verbose;
	unsigned workers_given; /* to the runtime: more may exist than have polled */

	struct tally polls, births, deaths;
	uint64_t polls_outside; /* not inside their twin: a stamp on the wrong side */
	uint64_t polls_inferred, polls_overtaken;
	struct diffs start, end, birth, death;
	struct diffs start_cold; /* those of start that are the first after a sleep or long poll */
	uint64_t far_cold, far_warm; /* starts more than PAIR_SLACK_NS apart */
	uint64_t queue_read, queue_off, queue_stolen; /* depths.h: compared, less by 2 or more */
	uint64_t queue_more; /* more by 2 or more */
	uint64_t metric_read, metric_deep, global_off; /* global queue: compared, of two or more, off */
	uint64_t alive_read, alive_off; /* against the spawns and ends that dial9 saw until then */

	uint64_t worker_of[PAIR_WORKERS_MAX]; /* theirs -> ours, UINT64_MAX unknown */
	struct window life_of[PAIR_WORKERS_MAX]; /* first to last poll */
	uint64_t workers, worker_clash, runtime_clash;

	uint64_t parks_ours, parks_theirs, parks_inside, parks_stray, never_slept;
	uint64_t parks_guessed; /* begin in one of theirs, the switch-in was not reported */
	uint64_t parks_given; /* of a thread whose worker another one has: block_in_place */
	uint64_t parks_locked; /* between polls, for a lock: see README.md */
	uint64_t parks_after; /* a worker that shuts down: after its last hook */
};

/* -1: not in any window; else its number. */
int window_of(const struct pairing *p, uint64_t from_ns, uint64_t to_ns);

/* The most workers of dial9's that polled in one time, at least those given. */
unsigned pair_workers_at_once(const struct pairing *p);

void pair_all(struct pairing *p, struct side *theirs, struct side *ours);
void pairing_free(struct pairing *p);

/* One line about a difference, the first few of each kind; only when verbose. */
void pair_say(const struct pairing *p, const char *kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
