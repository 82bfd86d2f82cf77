/* SPDX-License-Identifier: Apache-2.0 */
/* dryrun.h - `dial9-agent --dry-run`: what would be probed. */
#ifndef DIAL9_DRYRUN_H
#define DIAL9_DRYRUN_H

struct opt;

/* Prints the plan of each process; attaches nothing. 0, or the first failure (logged). */
int dryrun_run(const struct opt *o);

#endif /* DIAL9_DRYRUN_H */
