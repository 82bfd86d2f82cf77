/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h - the running agent: one loop over rings, sessions, signals and process ends.
 */
#ifndef DIAL9_RECORDER_H
#define DIAL9_RECORDER_H

struct opt;

#define RECORDER_TICK_NS 10000000ull /* drain, order, emit */

/*
 * Records every process of `o` until it ends, a signal comes or the duration is over; then drains,
 * detaches, seals and prints each summary. 0, or the first failure (logged): without
 * --best-effort one target that cannot be recorded fails the whole run before it begins.
 */
int recorder_run(const struct opt *o);

/* --dry-run: prints the plan of each process; attaches nothing. */
int recorder_dry_run(const struct opt *o);

#endif /* DIAL9_RECORDER_H */
