/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probetypes.h - tells BPF the task types of a target, and takes them back. By them it finds a task on
 * a thread's stack where polls are not probed (bpf/taskfind.bpf.h).
 */
#ifndef DIAL9_PROBETYPES_H
#define DIAL9_PROBETYPES_H

struct plan;
struct probetypes;

/* Puts the plan's vtables into the map `fd` (task_types) for `slot`. Those for which it has no room
 * are warned about and left out. 0 or -ENOMEM. */
int probetypes_fill(int fd, unsigned slot, const struct plan *plan, struct probetypes **ret);

/* Takes them out again. NULL is fine. */
void probetypes_clear(struct probetypes *m);

#endif /* DIAL9_PROBETYPES_H */
