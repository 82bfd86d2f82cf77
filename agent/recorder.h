/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.h - the running agent: one loop over rings, sessions, signals and process ends.
 */
#ifndef DIAL9_RECORDER_H
#define DIAL9_RECORDER_H

struct opt;

/*
 * Records every process of `o` until it ends, a signal comes or the duration is over; then drains,
 * detaches, seals and prints each summary. A process that becomes another program, or loads a Tokio
 * that is not recorded, gets a recording of its own from then on, in the same directory. 0, or the first failure (logged): without
 * --best-effort one target that cannot be recorded fails the whole run before it begins.
 */
int recorder_run(const struct opt *o);

#endif /* DIAL9_RECORDER_H */
