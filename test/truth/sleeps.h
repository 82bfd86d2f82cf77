/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sleeps.h - each park of ours (the thread left its CPU) lies inside one of dial9's (Tokio went to
 * wait) on that thread. dial9's without one of ours never slept. Three kinds of ours need not:
 * those whose switch-in the kernel did not report, of which the begin counts; those of a worker
 * that shuts down, after its last hook; those of a thread that gave its worker away.
 */
#ifndef TRUTH_SLEEPS_H
#define TRUTH_SLEEPS_H

#include "test/truth/pair.h"
#include "test/truth/side.h"

void sleeps_pair(struct pairing *p, struct side *theirs, struct side *ours);

#endif
