/* SPDX-License-Identifier: Apache-2.0 */
/* zoom.h - `dial9-agent --pid N --zoom full:10s`: asks the agent that records N for a closer look. */
#ifndef DIAL9_ZOOM_H
#define DIAL9_ZOOM_H

struct opt;

/* Each --pid in turn. 0, or the first failure (logged). */
int zoom_run(const struct opt *o);

#endif /* DIAL9_ZOOM_H */
