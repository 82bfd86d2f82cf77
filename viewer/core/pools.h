/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pools.h - the tables that need no joining: samples of queues, records, clocks, metadata, files,
 * and what numbers stand for (texts, stacks, frames, symbols, schemas).
 */
#ifndef DIAL9_POOLS_H
#define DIAL9_POOLS_H

struct columns;
struct gather;

/* Last of all: names may still be added before. 0, -ENOMEM or -E2BIG. */
int pools_run(struct columns *c, struct gather *g);

#endif /* DIAL9_POOLS_H */
