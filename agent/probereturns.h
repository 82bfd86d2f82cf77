/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probereturns.h - tells BPF which addresses of a target polls return to and are probed, and takes it
 * back. A poll that returns elsewhere has no exact end (bpf/maps.bpf.h, return_addrs).
 */
#ifndef DIAL9_PROBERETURNS_H
#define DIAL9_PROBERETURNS_H

struct plan;
struct probereturns;

/* Puts the plan's return sites into the map `fd` for `slot`. Those for which it has no room are
 * warned about and left out. 0 or -ENOMEM. */
int probereturns_fill(int fd, unsigned slot, const struct plan *plan, struct probereturns **ret);

/* Takes them out again. NULL is fine. */
void probereturns_clear(struct probereturns *m);

#endif /* DIAL9_PROBERETURNS_H */
