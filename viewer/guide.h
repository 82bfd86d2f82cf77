/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guide.h - `dial9-view guide`: from a symptom to its cause, for people and for programs that call
 * dial9-view. Every command line in it is run by test/cli/guide.bats.
 */
#ifndef DIAL9_GUIDE_H
#define DIAL9_GUIDE_H

struct request;
struct traceset;

/* Needs no recording. Returns an exit code of notice.h. */
int guide_run(const struct request *req, const struct traceset *set);

#endif /* DIAL9_GUIDE_H */
