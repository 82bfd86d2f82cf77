/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probecloser.h - takes probes out in the background.
 *
 * The breakpoints are gone within a few ms, but the kernel then waits for its own readers: 40 ms a
 * link, 100 ms a site where each has a perf event. The agent must not sit through that, nor the
 * target keep the probes of one link while another's is waited for: each handful has a thread.
 */
#ifndef DIAL9_PROBECLOSER_H
#define DIAL9_PROBECLOSER_H

#include <pthread.h>
#include <stddef.h>

struct bpf_link;

struct probecloser { /* zero but for the two locks: probecloser_init */
	pthread_mutex_t lock;
	pthread_cond_t is_done;
	size_t running_cnt;
};

void probecloser_init(struct probecloser *c);

/* Closes the links and frees the array, which are its own from here on. Returns at once, unless no
 * thread could be made. */
void probecloser_take(struct probecloser *c, struct bpf_link **links, size_t cnt);

/* Returns when all is closed that was taken. */
void probecloser_wait(struct probecloser *c);

#endif /* DIAL9_PROBECLOSER_H */
